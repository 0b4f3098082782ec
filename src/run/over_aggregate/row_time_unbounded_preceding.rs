//! `UNBOUNDED PRECEDING` in event time: `RowTimeRowsUnboundedPrecedingFunction` and `RowTimeRangeUnboundedPrecedingFunction`
//! (`AbstractRowTimeUnboundedPrecedingOver`), in Flink 2 `RowTimeUnboundedPrecedingOverFunctionV2`.

use super::accumulators::Accumulators;
use super::cleanup::IdleCleanup;
use super::event_time;
use super::input_rows::InputRows;
use crate::eval::Datum;
use crate::exec::over_aggregate::OverAggregate;
use crate::run::build::Build;
use crate::run::change::Change;
use crate::run::error::RunResult;
use crate::run::store::{KeyId, Keys, Timers};
use crate::run::task::{Output, States, Task};

/// When timers are set. It shows in the order of rows of different keys only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timing {
    /// For whatever watermark comes next: a key sends all that is due at once.
    NextWatermark,
    /// For the time of each row: rows of all keys come in the order of their time.
    PerTimestamp,
}

pub(super) struct Function {
    time: usize,
    /// ROWS; rows of one time do not share the results.
    one_by_one: bool,
    timing: Timing,
    keys: Keys,
    accumulators: Accumulators,
    rows: InputRows,
    timers: Timers<()>,
    cleanup: Option<IdleCleanup>,
}

impl Function {
    pub fn build(
        over: &OverAggregate,
        time: usize,
        one_by_one: bool,
        timing: Timing,
        build: &mut Build<'_>,
    ) -> RunResult<Function> {
        Ok(Function {
            time,
            one_by_one,
            timing,
            keys: Keys::of(over.partition.clone()),
            accumulators: Accumulators::build(over, build)?,
            rows: InputRows::build(build)?,
            timers: build.entries.event_timers()?,
            cleanup: IdleCleanup::build("RowTimeUnboundedOverCleanupTime", build)?,
        })
    }

    fn fire(&mut self, time: i64, key: KeyId, out: &mut Output) -> RunResult<()> {
        let until = match self.timing {
            Timing::NextWatermark => out.watermark,
            Timing::PerTimestamp => time,
        };
        if let Some(rows) = self.rows.of(key) {
            self.accumulators.of(key, |accumulator| {
                while let Some(first) = rows.first_time().filter(|first| *first <= until) {
                    let tied = rows.places(first);
                    for row in rows.rows(tied.clone()) {
                        accumulator.add(row)?;
                        if self.one_by_one {
                            accumulator.send(row, out)?;
                        }
                    }
                    if !self.one_by_one {
                        accumulator.send_all(rows.rows(tied.clone()), out)?;
                    }
                    tied.for_each(|_| drop(rows.pop()));
                }
                Ok(())
            })?;
            if !rows.is_empty() && self.timing == Timing::NextWatermark {
                self.timers.set(out.watermark.saturating_add(1), key, ());
            }
            self.rows.forget_empty(key);
        }
        self.touch(key, out.now)
    }

    fn touch(&mut self, key: KeyId, now: i64) -> RunResult<()> {
        self.cleanup.as_mut().map_or(Ok(()), |c| c.touch(key, now))
    }

    /// A key was idle. It is kept while rows of it wait for a watermark.
    fn expire(&mut self, key: KeyId, now: i64) -> RunResult<()> {
        if self.rows.of(key).is_some_and(|rows| !rows.is_empty()) {
            return self.touch(key, now);
        }
        self.accumulators.clear(key);
        if let Some(cleanup) = &mut self.cleanup {
            cleanup.done(key);
        }
        Ok(())
    }
}

impl Task for Function {
    /// A row at or below the watermark is late.
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let key = self.keys.of_row(&change.row);
        self.touch(key, out.now)?;
        let time = event_time(&change.row, self.time);
        if time <= out.watermark {
            return Ok(());
        }
        let first = self.rows.add(key, time, change.row)?;
        match self.timing {
            // Before 1970 it is 0: Flink avoids an overflow before the first watermark that way.
            Timing::NextWatermark => self.timers.set(if out.watermark < 0 { 0 } else { out.watermark + 1 }, key, ()),
            Timing::PerTimestamp if first => self.timers.set(time, key, ()),
            Timing::PerTimestamp => {}
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
        tables.extend([self.rows.table(), &mut self.timers]);
        tables.extend(self.cleanup.iter_mut().flat_map(IdleCleanup::tables));
        Some(States { keys: &mut self.keys, tables })
    }
}
