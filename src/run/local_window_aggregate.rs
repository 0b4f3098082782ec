//! `LocalWindowAggregate`: the first of two phases (Flink's `LocalSlicingWindowAggOperator`).
//!
//! Flink sends accumulators of what it has buffered; here the rows themselves go on, and the second phase aggregates them, which
//! gives the same. What a buffer holds back is held back here too, as rows that come late are lost.

use super::build::{Build, Runnable};
use super::change::Change;
use super::error::{RunError, RunResult};
use super::task::{Output, Task};
use super::window::{FlushClock, RowBuffer, Shift, Slices, time_type};
use crate::exec::local_window_aggregate::LocalWindowAggregate;

struct LocalTask {
    slices: Slices,
    /// The buffer hides nothing: once event time is positive, rows may go through.
    transparent: bool,
    watermark: i64,
    buffer: RowBuffer,
    clock: FlushClock,
}

impl Runnable for LocalWindowAggregate {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let shift = Shift::of(time_type(build.plan, build.id, &self.window), &build.session.zone);
        let slices = Slices::of(&self.window, shift).ok_or_else(|| RunError::internal("a window has no slices"))?;
        Ok(Box::new(LocalTask {
            transparent: !slices.needs_buffer(),
            // Flink's operator starts at 0: watermarks before 1970 do not reach its buffer.
            watermark: 0,
            buffer: RowBuffer::new(),
            clock: FlushClock::new(slices.interval(), 0),
            slices,
        }))
    }
}

impl Task for LocalTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        if self.transparent && self.watermark > 0 {
            out.change(change);
            return Ok(());
        }
        let slice = self.slices.slice_end(&change.row, out.now)?;
        if self.transparent && slice > 0 {
            out.change(change);
        } else {
            self.buffer.add(slice, change);
        }
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        if watermark > self.watermark {
            self.watermark = watermark;
            if self.clock.strikes(watermark, self.slices.shift()) {
                let rows = self.buffer.due(watermark, self.slices.shift());
                rows.into_iter().for_each(|(_, change)| out.change(change));
            }
        }
        out.advance(watermark);
        Ok(())
    }

    fn before_savepoint(&mut self, out: &mut Output) -> RunResult<()> {
        self.buffer.take().into_iter().for_each(|(_, change)| out.change(change));
        Ok(())
    }
}
