//! The accumulators of an OVER (`accState`).

use crate::eval::{Datum, Row};
use crate::exec::over_aggregate::OverAggregate;
use crate::run::aggregate::{Aggregator, Scope};
use crate::run::build::Build;
use crate::run::change::RowKind;
use crate::run::error::RunResult;
use crate::run::store::{KeyId, KeyedState, StateTable};
use crate::run::task::Output;

/// One accumulator row per key, with what its aggregates keep in states of their own.
pub(super) struct Accumulators {
    aggregator: Aggregator<()>,
    state: KeyedState<(), Vec<Datum>>,
    /// An accumulator that has seen no row.
    empty: Vec<Datum>,
    /// Results on their way into a row; empty in between.
    results: Vec<Datum>,
}

/// The accumulator of one key at work.
pub(super) struct Accumulator<'a> {
    aggregator: &'a mut Aggregator<()>,
    values: &'a mut [Datum],
    results: &'a mut Vec<Datum>,
    scope: Scope<()>,
}

impl Accumulators {
    pub fn build(over: &OverAggregate, build: &mut Build<'_>) -> RunResult<Accumulators> {
        let state = build.entries.keyed("accState")?;
        let aggregator = Aggregator::build(&over.calls, over.accumulators(build.input), build)?;
        let empty = aggregator.create();
        Ok(Accumulators { aggregator, state, empty, results: Vec::new() })
    }

    /// Works on the accumulator of a key, a new one if it has none.
    pub fn of<R>(&mut self, key: KeyId, work: impl FnOnce(&mut Accumulator<'_>) -> RunResult<R>) -> RunResult<R> {
        let Accumulators { aggregator, state, empty, results } = self;
        let scope = Scope::kept(key, ());
        state.update(key, (), || empty.clone(), |values| work(&mut Accumulator { aggregator, values, results, scope }))
    }

    /// An accumulator that has seen no row.
    pub fn empty(&self) -> Vec<Datum> {
        self.empty.clone()
    }

    /// Forgets the accumulator of a key.
    pub fn clear(&mut self, key: KeyId) {
        self.state.remove(key, ());
        self.aggregator.clear(&Scope::kept(key, ()));
    }

    pub fn tables(&mut self) -> Vec<&mut dyn StateTable> {
        let mut tables = self.aggregator.tables();
        tables.insert(0, &mut self.state);
        tables
    }
}

impl Accumulator<'_> {
    pub fn add(&mut self, row: &Row) -> RunResult<()> {
        self.aggregator.accumulate(self.values, row, &self.scope)
    }

    pub fn take_back(&mut self, row: &Row) -> RunResult<()> {
        self.aggregator.retract(self.values, row, &self.scope)
    }

    /// Sends a row with the results as they stand.
    pub fn send(&mut self, row: &Row, out: &mut Output) -> RunResult<()> {
        self.aggregator.append_values(self.values, &self.scope, self.results)?;
        out.send(RowKind::Insert, row.extended(self.results.drain(..)));
        Ok(())
    }

    /// Sends rows that share the results.
    pub fn send_all<'r>(&mut self, rows: impl IntoIterator<Item = &'r Row>, out: &mut Output) -> RunResult<()> {
        self.aggregator.append_values(self.values, &self.scope, self.results)?;
        for row in rows {
            out.send(RowKind::Insert, row.extended(self.results.iter().cloned()));
        }
        self.results.clear();
        Ok(())
    }
}
