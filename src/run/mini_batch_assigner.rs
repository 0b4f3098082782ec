//! `MiniBatchAssigner`: sends the watermarks that end bundles (`ProcTimeMiniBatchAssignerOperator`,
//! `RowTimeMiniBatchAssginerOperator`).

use super::build::{Build, Runnable};
use super::change::{Change, MAX_WATERMARK};
use super::error::RunResult;
use super::task::{Output, Task};
use crate::exec::mini_batch_assigner::MiniBatchAssigner;

/// Follows the clock.
struct ProcTimeTask {
    interval: i64,
    current: i64,
}

/// Passes on one watermark per interval.
struct RowTimeTask {
    interval: i64,
    current: i64,
    sent: i64,
    next: i64,
}

impl Runnable for MiniBatchAssigner {
    fn task(&self, _: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let interval = self.interval.max(1);
        if self.rowtime {
            return Ok(Box::new(RowTimeTask { interval, current: 0, sent: i64::MIN, next: interval - 1 }));
        }
        Ok(Box::new(ProcTimeTask { interval, current: 0 }))
    }
}

impl ProcTimeTask {
    fn advance(&mut self, out: &mut Output) {
        let batch = out.now - out.now.rem_euclid(self.interval);
        if batch > self.current {
            self.current = batch;
            out.advance(batch);
        }
    }
}

impl Task for ProcTimeTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        self.advance(out);
        out.change(change);
        Ok(())
    }

    /// Only the last watermark passes.
    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        if watermark == MAX_WATERMARK {
            self.current = watermark;
            out.advance(watermark);
        }
        Ok(())
    }

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        self.advance(out);
        Ok(())
    }
}

impl Task for RowTimeTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        out.change(change);
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        self.current = self.current.max(watermark);
        if self.current >= self.next && self.current > self.sent {
            self.sent = self.current;
            out.advance(self.current);
            if self.current < MAX_WATERMARK {
                let start = self.current - self.current.rem_euclid(self.interval);
                let end = start + self.interval - 1;
                self.next = if end > self.current { end } else { end + self.interval };
            }
        }
        Ok(())
    }
}
