//! `RowTimeRangeBoundedPrecedingFunction`: `RANGE INTERVAL ... PRECEDING` in event time.

use super::accumulators::Accumulators;
use super::cleanup::RangeCleanup;
use super::input_rows::InputRows;
use super::{event_time, number};
use crate::eval::Datum;
use crate::exec::over_aggregate::OverAggregate;
use crate::run::build::Build;
use crate::run::change::Change;
use crate::run::error::RunResult;
use crate::run::store::{KeyId, KeyedState, Keys, Timers};
use crate::run::task::{Output, States, Task};

pub(super) struct Function {
    time: usize,
    range: i64,
    keys: Keys,
    accumulators: Accumulators,
    rows: InputRows,
    last_fired: KeyedState<(), i64>,
    timers: Timers<()>,
    cleanup: RangeCleanup,
}

impl Function {
    pub fn build(over: &OverAggregate, time: usize, range: i64, build: &mut Build<'_>) -> RunResult<Function> {
        Ok(Function {
            time,
            range,
            keys: Keys::of(over.partition.clone()),
            accumulators: Accumulators::build(over, build)?,
            rows: InputRows::build(build)?,
            last_fired: build.entries.keyed("lastTriggeringTsState")?,
            timers: build.entries.event_timers()?,
            cleanup: RangeCleanup::build(range, build)?,
        })
    }

    fn fire(&mut self, time: i64, key: KeyId, out: &mut Output) -> RunResult<()> {
        if self.cleanup.is_due(key, time) {
            // With this Flink also forgets when the key fired last: rows older than that are welcome again.
            self.rows.clear(key);
            self.accumulators.clear(key);
            self.last_fired.remove(key, ());
            self.cleanup.done(key);
            return Ok(());
        }
        if let Some(rows) = self.rows.of(key).filter(|rows| !rows.places(time).is_empty()) {
            self.accumulators.of(key, |accumulator| {
                while rows.first_time().is_some_and(|first| time.wrapping_sub(first) > self.range) {
                    if let Some(row) = rows.pop() {
                        accumulator.take_back(&row)?;
                    }
                }
                let current = rows.places(time);
                for row in rows.rows(current.clone()) {
                    accumulator.add(row)?;
                }
                accumulator.send_all(rows.rows(current), out)
            })?;
        }
        // So does a timer of the cleanup that a later row has put off.
        self.last_fired.put(key, (), time)
    }
}

impl Task for Function {
    /// A row is late if a timer of its key has fired at or after its time, whatever the watermark says.
    fn row(&mut self, _: usize, change: Change, _: &mut Output) -> RunResult<()> {
        let key = self.keys.of_row(&change.row);
        let time = event_time(&change.row, self.time);
        if time > number(&self.last_fired, key) {
            if self.rows.add(key, time, change.row)? {
                self.timers.set(time, key, ());
            }
            self.cleanup.register(key, time, &mut self.timers)?;
        }
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        while let Some((time, key, ())) = self.timers.due(watermark) {
            self.fire(time, key, out)?;
            if out.pauses() {
                return Ok(());
            }
        }
        out.advance(watermark);
        Ok(())
    }

    fn empty_accumulator(&self) -> Option<Vec<Datum>> {
        Some(self.accumulators.empty())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let mut tables = self.accumulators.tables();
        tables.extend([self.rows.table(), &mut self.last_fired, self.cleanup.table(), &mut self.timers]);
        Some(States { keys: &mut self.keys, tables })
    }
}
