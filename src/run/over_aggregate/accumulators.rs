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
}

/// The accumulator of one key at work.
pub(super) struct Accumulator<'a> {
    aggregator: &'a mut Aggregator<()>,
    values: &'a mut [Datum],
    scope: Scope<()>,
}

impl Accumulators {
    pub fn build(over: &OverAggregate, build: &mut Build<'_>) -> RunResult<Accumulators> {
        let input = build.input;
        let state = build.entries.keyed("accState")?;
        let aggregator = Aggregator::build(&over.calls, over.accumulators(input), build)?;
        let empty = aggregator.create();
        Ok(Accumulators { aggregator, state, empty })
    }

    /// Works on the accumulator of a key, a new one if it has none.
    pub fn of<R>(&mut self, key: KeyId, work: impl FnOnce(&mut Accumulator<'_>) -> RunResult<R>) -> RunResult<R> {
        let Accumulators { aggregator, state, empty } = self;
        let scope = Scope { key, namespace: Some(()) };
        state.update(key, (), || empty.clone(), |values| work(&mut Accumulator { aggregator, values, scope }))
    }

    /// Forgets the accumulator of a key.
    pub fn clear(&mut self, key: KeyId) {
        self.state.remove(key, ());
        self.aggregator.clear(&Scope { key, namespace: Some(()) });
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
        let results = self.aggregator.values(self.values, &self.scope)?;
        out.send(RowKind::Insert, row.extended(results.into_iter()));
        Ok(())
    }

    /// Sends rows that share the results.
    pub fn send_all<'r>(&mut self, rows: impl IntoIterator<Item = &'r Row>, out: &mut Output) -> RunResult<()> {
        let results = self.aggregator.values(self.values, &self.scope)?;
        for row in rows {
            out.send(RowKind::Insert, row.extended(results.iter().cloned()));
        }
        Ok(())
    }
}
