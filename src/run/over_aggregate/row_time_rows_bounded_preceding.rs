//! `RowTimeRowsBoundedPrecedingFunction`: `ROWS n PRECEDING` in event time.

use super::accumulators::Accumulators;
use super::cleanup::IdleCleanup;
use super::input_rows::{InputRows, RowsByTime};
use super::{event_time, number};
use crate::eval::{Datum, Row};
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
            // Rows of earlier moments leave the frame first; only then those of this one, while later ones of it come in.
            if let Some(mut current) = rows.remove(&time) {
                let mut left = 0;
                let mut count = number(&self.count, key);
                self.accumulators.of(key, |accumulator| {
                    for row in &current {
                        if count < self.frame {
                            count += 1;
                        } else if let Some(oldest) = pop_before(rows, time) {
                            accumulator.take_back(&oldest)?;
                        } else {
                            accumulator.take_back(&current[left])?;
                            left += 1;
                        }
                        accumulator.add(row)?;
                        accumulator.send(row, out)?;
                    }
                    Ok(())
                })?;
                current.drain(..left);
                if !current.is_empty() {
                    rows.insert(time, current);
                }
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
        if self.rows.of(key).is_some_and(|rows| rows.last_key_value().is_some_and(|(time, _)| *time > last)) {
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

/// Takes the oldest row out that is older than `time`.
fn pop_before(rows: &mut RowsByTime, time: i64) -> Option<Row> {
    let mut first = rows.first_entry().filter(|first| *first.key() < time)?;
    let row = first.get_mut().pop_front();
    if first.get().is_empty() {
        first.remove();
    }
    row
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
