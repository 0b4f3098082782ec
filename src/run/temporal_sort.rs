//! `TemporalSort`: rows in the order of their time (`RowTimeSortOperator`, `ProcTimeSortOperator`).

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::build::{Build, Runnable};
use super::change::Change;
use super::error::{RunError, RunResult};
use super::order;
use super::pass::Pass;
use super::store::{KeyedState, Keys, Timers};
use super::task::{Output, States, Task};
use crate::eval::Row;
use crate::exec::temporal_sort::TemporalSort;
use crate::logical::rel::SortKey;
use crate::state::types::StateType;

struct RowTimeTask {
    keys: Keys,
    rowtime: usize,
    /// The sort keys behind the time.
    order: Vec<SortKey>,
    rows: KeyedState<(), HashMap<i64, Vec<Row>, FxBuildHasher>>,
    /// The type of a row.
    row: StateType,
    fired: KeyedState<(), i64>,
    timers: Timers<()>,
}

struct ProcTimeTask {
    keys: Keys,
    order: Vec<SortKey>,
    rows: KeyedState<(), Vec<Row>>,
    row: StateType,
    timers: Timers<()>,
}

/// The element of a list, alone or in a map.
fn element(ty: &StateType) -> StateType {
    match ty {
        StateType::List(of) => of.as_ref().clone(),
        StateType::Map(_, of) => element(of),
        other => other.clone(),
    }
}

impl Runnable for TemporalSort {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        if !self.is_stateful() {
            return Ok(Box::new(Pass));
        }
        let order = self.order[1..].to_vec();
        if self.proctime {
            let rows: KeyedState<(), Vec<Row>> = build.entries.keyed("sortState")?;
            let (row, timers) = (element(rows.declared()), build.entries.processing_timers()?);
            return Ok(Box::new(ProcTimeTask { keys: Keys::of([]), order, rows, row, timers }));
        }
        let rows: KeyedState<(), HashMap<i64, Vec<Row>, FxBuildHasher>> = build.entries.keyed("dataState")?;
        Ok(Box::new(RowTimeTask {
            keys: Keys::of([]),
            rowtime: self.order[0].column,
            order,
            row: element(rows.declared()),
            rows,
            fired: build.entries.keyed("lastTriggeringTsState")?,
            timers: build.entries.event_timers()?,
        }))
    }
}

impl Task for RowTimeTask {
    fn row(&mut self, _: usize, change: Change, _: &mut Output) -> RunResult<()> {
        let Some(time) = change.row[self.rowtime].as_millis() else {
            return Err(RunError::job("a row without a time came into a sort"));
        };
        let key = self.keys.of_row(&change.row);
        if self.fired.get(key, ()).is_some_and(|fired| time <= *fired) {
            return Ok(());
        }
        self.rows.check(&change.row, &self.row)?;
        self.rows.entry_mut(key, (), HashMap::default).entry(time).or_default().push(change.row);
        self.timers.set(time, key, ());
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        while let Some((time, key, ())) = self.timers.due(watermark) {
            let Some(waiting) = self.rows.get_mut(key, ()) else { continue };
            let Some(mut rows) = waiting.remove(&time) else { continue };
            if waiting.is_empty() {
                self.rows.remove(key, ());
            }
            rows.sort_by(|a, b| order::compare(&self.order, a, b));
            rows.into_iter().for_each(|row| out.change(Change::insert(row)));
            self.fired.put(key, (), time)?;
            if out.pauses() {
                return Ok(());
            }
        }
        out.advance(watermark);
        Ok(())
    }

    fn states(&mut self) -> Option<States<'_>> {
        Some(States { keys: &mut self.keys, tables: vec![&mut self.rows, &mut self.fired, &mut self.timers] })
    }
}

impl Task for ProcTimeTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let key = self.keys.of_row(&change.row);
        self.rows.check(&change.row, &self.row)?;
        self.rows.entry_mut(key, (), Vec::new).push(change.row);
        self.timers.set(out.now.saturating_add(1), key, ());
        Ok(())
    }

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        while let Some((_, key, ())) = self.timers.due(out.now) {
            let mut rows = self.rows.remove(key, ()).unwrap_or_default();
            rows.sort_by(|a, b| order::compare(&self.order, a, b));
            rows.into_iter().for_each(|row| out.change(Change::insert(row)));
            if out.pauses() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn states(&mut self) -> Option<States<'_>> {
        Some(States { keys: &mut self.keys, tables: vec![&mut self.rows, &mut self.timers] })
    }
}
