//! `RowTimeRowsBoundedPrecedingFunction`: `ROWS n PRECEDING` in event time.

use super::accumulators::Accumulators;
use super::cleanup::IdleCleanup;
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
    /// How many rows the frame has, the current one included.
    frame: i64,
    keys: Keys,
    accumulators: Accumulators,
    rows: InputRows,
    /// How many rows are in the frame.
    count: KeyedState<(), i64>,
    last_fired: KeyedState<(), i64>,
    timers: Timers<()>,
    cleanup: Option<IdleCleanup>,
}

impl Function {
    pub fn build(over: &OverAggregate, time: usize, frame: i64, build: &mut Build<'_>) -> RunResult<Function> {
        Ok(Function {
            time,
            frame,
            keys: Keys::of(over.partition.clone()),
            accumulators: Accumulators::build(over, build)?,
            rows: InputRows::build(build)?,
            count: build.entries.keyed("processedCountState")?,
            last_fired: build.entries.keyed("lastTriggeringTsState")?,
            timers: build.entries.event_timers()?,
            cleanup: IdleCleanup::build("RowTimeBoundedRowsOverCleanupTime", build)?,
        })
    }

    fn fire(&mut self, time: i64, key: KeyId, out: &mut Output) -> RunResult<()> {
        if let Some(rows) = self.rows.of(key) {
            let current = rows.places(time);
            if !current.is_empty() {
                // Where the next row of this moment stands.
                let mut place = current.start;
                let mut count = number(&self.count, key);
                self.accumulators.of(key, |accumulator| {
                    // The oldest row leaves the frame when one comes in: first rows of earlier moments, then those of this one.
                    for _ in current {
                        let oldest = if count < self.frame { None } else { rows.pop() };
                        count += i64::from(oldest.is_none());
                        if let Some(oldest) = &oldest {
                            accumulator.take_back(oldest)?;
                        }
                        let row = match &oldest {
                            None => {
                                place += 1;
                                rows.row(place - 1)
                            }
                            // If no row stands before it, a row leaves itself.
                            Some(own) if place == 0 => own,
                            Some(_) => rows.row(place - 1),
                        };
                        accumulator.add(row)?;
                        accumulator.send(row, out)?;
                    }
                    Ok(())
                })?;
                self.count.put(key, (), count)?;
                self.rows.forget_empty(key);
            }
        }
        self.last_fired.put(key, (), time)?;
        self.touch(key, out.now)
    }

    fn touch(&mut self, key: KeyId, now: i64) -> RunResult<()> {
        self.cleanup.as_mut().map_or(Ok(()), |c| c.touch(key, now))
    }

    /// A key was idle. It is kept while rows of it wait for a watermark.
    fn expire(&mut self, key: KeyId, now: i64) -> RunResult<()> {
        let last = number(&self.last_fired, key);
        if self.rows.of(key).is_some_and(|rows| rows.last_time().is_some_and(|time| time > last)) {
            return self.touch(key, now);
        }
        self.rows.clear(key);
        self.accumulators.clear(key);
        self.count.remove(key, ());
        self.last_fired.remove(key, ());
        if let Some(cleanup) = &mut self.cleanup {
            cleanup.done(key);
        }
        Ok(())
    }
}

impl Task for Function {
    /// A row is late if its key has fired at or after its time, whatever the watermark says.
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let key = self.keys.of_row(&change.row);
        self.touch(key, out.now)?;
        let time = event_time(&change.row, self.time);
        if time > number(&self.last_fired, key) && self.rows.add(key, time, change.row)? {
            self.timers.set(time, key, ());
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

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        while let Some(key) = self.cleanup.as_mut().and_then(|c| c.due(out.now)) {
            self.expire(key, out.now)?;
        }
        Ok(())
    }

    fn empty_accumulator(&self) -> Option<Vec<Datum>> {
        Some(self.accumulators.empty())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let mut tables = self.accumulators.tables();
        tables.extend([self.rows.table(), &mut self.count, &mut self.last_fired, &mut self.timers]);
        tables.extend(self.cleanup.iter_mut().flat_map(IdleCleanup::tables));
        Some(States { keys: &mut self.keys, tables })
    }
}
