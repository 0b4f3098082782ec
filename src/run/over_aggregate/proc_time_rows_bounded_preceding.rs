//! `ProcTimeRowsBoundedPrecedingFunction`: `ROWS n PRECEDING` in processing time.

use super::accumulators::Accumulators;
use super::cleanup::IdleCleanup;
use super::input_rows::InputRows;
use super::number;
use crate::eval::{Datum, Row};
use crate::exec::over_aggregate::OverAggregate;
use crate::run::build::Build;
use crate::run::change::Change;
use crate::run::error::RunResult;
use crate::run::store::{KeyId, KeyedState, Keys};
use crate::run::task::{Output, States, Task};

pub(super) struct Function {
    /// How many rows the frame has, the current one included.
    frame: i64,
    keys: Keys,
    accumulators: Accumulators,
    rows: InputRows,
    /// How many rows are in the frame.
    count: KeyedState<(), i64>,
    /// The time of the oldest row.
    oldest: KeyedState<(), i64>,
    cleanup: Option<IdleCleanup>,
}

impl Function {
    pub fn build(over: &OverAggregate, frame: i64, build: &mut Build<'_>) -> RunResult<Function> {
        Ok(Function {
            frame,
            keys: Keys::of(over.partition.clone()),
            accumulators: Accumulators::build(over, build)?,
            rows: InputRows::build(build)?,
            count: build.entries.keyed("processedCountState")?,
            oldest: build.entries.keyed("smallestTSState")?,
            cleanup: IdleCleanup::build("ProcTimeBoundedRowsOverCleanupTime", build)?,
        })
    }

    /// Takes the row out that leaves the frame, if Flink finds it: after the only row of a frame was taken, the oldest time is
    /// beyond all times, and the next row that should leave is missed (`0 PRECEDING`).
    fn leaving(&mut self, key: KeyId) -> RunResult<Option<Row>> {
        let oldest = number(&self.oldest, key);
        let Some(rows) = self.rows.of(key) else {
            self.oldest.put(key, (), i64::MAX)?;
            return Ok(None);
        };
        let row = rows.places(oldest).next().and_then(|place| rows.take(place));
        if rows.places(oldest).is_empty() {
            let next = rows.first_time().unwrap_or(i64::MAX);
            self.oldest.put(key, (), next)?;
        }
        Ok(row)
    }
}

impl Task for Function {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let key = self.keys.of_row(&change.row);
        if let Some(cleanup) = &mut self.cleanup {
            cleanup.touch(key, out.now)?;
        }
        if self.oldest.get(key, ()).is_none() {
            self.oldest.put(key, (), out.now)?;
        }
        let count = number(&self.count, key);
        let leaving = if count == self.frame {
            self.leaving(key)?
        } else {
            self.count.put(key, (), count + 1)?;
            None
        };
        self.rows.add(key, out.now, change.row.clone())?;
        self.accumulators.of(key, |accumulator| {
            if let Some(row) = leaving {
                accumulator.take_back(&row)?;
            }
            accumulator.add(&change.row)?;
            accumulator.send(&change.row, out)
        })
    }

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        while let Some(cleanup) = &mut self.cleanup {
            let Some(key) = cleanup.due(out.now) else { break };
            cleanup.done(key);
            self.rows.clear(key);
            self.accumulators.clear(key);
            self.count.remove(key, ());
            self.oldest.remove(key, ());
        }
        Ok(())
    }

    fn empty_accumulator(&self) -> Option<Vec<Datum>> {
        Some(self.accumulators.empty())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let mut tables = self.accumulators.tables();
        tables.extend([self.rows.table(), &mut self.count, &mut self.oldest]);
        tables.extend(self.cleanup.iter_mut().flat_map(IdleCleanup::tables));
        Some(States { keys: &mut self.keys, tables })
    }
}
