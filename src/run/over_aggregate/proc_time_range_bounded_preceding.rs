//! `ProcTimeRangeBoundedPrecedingFunction`: `RANGE INTERVAL ... PRECEDING` in processing time.

use super::accumulators::Accumulators;
use super::cleanup::RangeCleanup;
use super::input_rows::InputRows;
use crate::eval::Datum;
use crate::exec::over_aggregate::OverAggregate;
use crate::run::build::Build;
use crate::run::change::Change;
use crate::run::error::RunResult;
use crate::run::store::{KeyId, Keys, Timers};
use crate::run::task::{Output, States, Task};

pub(super) struct Function {
    range: i64,
    keys: Keys,
    accumulators: Accumulators,
    rows: InputRows,
    timers: Timers<()>,
    cleanup: RangeCleanup,
}

impl Function {
    pub fn build(over: &OverAggregate, range: i64, build: &mut Build<'_>) -> RunResult<Function> {
        Ok(Function {
            range,
            keys: Keys::of(over.partition.clone()),
            accumulators: Accumulators::build(over, build)?,
            rows: InputRows::build(build)?,
            timers: build.entries.processing_timers()?,
            cleanup: RangeCleanup::build(range, build)?,
        })
    }

    fn fire(&mut self, timer: i64, key: KeyId, out: &mut Output) -> RunResult<()> {
        if self.cleanup.is_due(key, timer) {
            self.rows.clear(key);
            self.accumulators.clear(key);
            self.cleanup.done(key);
            return Ok(());
        }
        let time = timer - 1;
        let Some(rows) = self.rows.of(key).filter(|rows| !rows.places(time).is_empty()) else { return Ok(()) };
        self.accumulators.of(key, |accumulator| {
            let limit = time.wrapping_sub(self.range);
            while rows.first_time().is_some_and(|first| first < limit) {
                if let Some(row) = rows.pop() {
                    accumulator.take_back(&row)?;
                }
            }
            let current = rows.places(time);
            for row in rows.rows(current.clone()) {
                accumulator.add(row)?;
            }
            accumulator.send_all(rows.rows(current), out)
        })
    }
}

impl Task for Function {
    /// Rows of one millisecond are sent together, when it has passed.
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let key = self.keys.of_row(&change.row);
        if self.rows.add(key, out.now, change.row)? {
            self.timers.set(out.now + 1, key, ());
            self.cleanup.register(key, out.now, &mut self.timers)?;
        }
        Ok(())
    }

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        while let Some((time, key, ())) = self.timers.due(out.now) {
            self.fire(time, key, out)?;
            if out.pauses() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn empty_accumulator(&self) -> Option<Vec<Datum>> {
        Some(self.accumulators.empty())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let mut tables = self.accumulators.tables();
        tables.extend([self.rows.table(), self.cleanup.table(), &mut self.timers]);
        Some(States { keys: &mut self.keys, tables })
    }
}
