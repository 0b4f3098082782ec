//! Aggregate functions over accumulator rows, laid out as `state::accumulators` says (Flink's generated `AggsHandleFunction`s).

use crate::eval::Datum;
use crate::exec::Column;
use crate::logical::rel::AggCall;
use crate::run::build::Build;
use crate::run::error::{RunError, RunResult};
use crate::run::store::{KeyId, Namespace, StateTable};
use crate::state::accumulators::AccumulatorLayout;

/// Whose accumulator it is: maps and lists that an aggregate keeps in states of their own are found by it.
#[derive(Debug, Clone)]
pub struct Scope<N> {
    /// The key.
    pub key: KeyId,
    /// The namespace; `None` for an accumulator that is in no state, as when the slices of a window are merged to be sent.
    pub namespace: Option<N>,
}

/// The aggregate calls of one operator.
pub struct Aggregator<N> {
    layout: AccumulatorLayout,
    states: std::marker::PhantomData<N>,
}

impl<N: Namespace> Aggregator<N> {
    /// The calls over `input`, with accumulators of `layout`. Takes the entries of the layout's views from `build`.
    pub fn build(
        _calls: &[AggCall],
        layout: AccumulatorLayout,
        _input: &[Column],
        _build: &mut Build<'_>,
    ) -> RunResult<Self> {
        Ok(Aggregator { layout, states: std::marker::PhantomData })
    }

    /// An accumulator that has seen no row.
    pub fn create(&self) -> Vec<Datum> {
        vec![Datum::Null; self.layout.row.fields.len()]
    }

    /// Adds a row.
    pub fn accumulate(&mut self, _acc: &mut [Datum], _row: &[Datum], _at: &Scope<N>) -> RunResult<()> {
        Err(RunError::unsupported("an aggregate"))
    }

    /// Takes a row back.
    pub fn retract(&mut self, _acc: &mut [Datum], _row: &[Datum], _at: &Scope<N>) -> RunResult<()> {
        Err(RunError::unsupported("an aggregate"))
    }

    /// Adds what another accumulator has seen.
    pub fn merge(&mut self, _acc: &mut [Datum], _at: &Scope<N>, _other: &[Datum], _from: &Scope<N>) -> RunResult<()> {
        Err(RunError::unsupported("an aggregate"))
    }

    /// The results, one per call.
    pub fn values(&mut self, _acc: &[Datum], _at: &Scope<N>) -> RunResult<Vec<Datum>> {
        Err(RunError::unsupported("an aggregate"))
    }

    /// How many rows it has seen, if the layout counts them.
    pub fn rows(&self, acc: &[Datum]) -> Option<i64> {
        self.layout.count_star.map(|i| acc[i].as_int().unwrap_or(0))
    }

    /// Forgets the maps and lists of an accumulator.
    pub fn clear(&mut self, _at: &Scope<N>) {}

    /// The states beside the accumulator row.
    pub fn tables(&mut self) -> Vec<&mut dyn StateTable> {
        Vec::new()
    }
}
