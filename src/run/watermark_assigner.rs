//! `WatermarkAssigner`: sends watermarks for a rowtime column (Flink's `WatermarkAssignerOperator`).

use super::build::{Build, Runnable};
use super::change::{Change, MAX_WATERMARK};
use super::error::{RunError, RunResult};
use super::task::{Output, Task};
use super::watermark::WatermarkGenerator;
use crate::eval::compile;
use crate::exec::watermark_assigner::WatermarkAssigner;

struct AssignerTask {
    rowtime: usize,
    generator: WatermarkGenerator,
}

impl Runnable for WatermarkAssigner {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let strategy = compile(&self.expr, build.session)?;
        // Flink's operator starts at 0, so rows before 1970 raise no watermark.
        Ok(Box::new(AssignerTask { rowtime: self.rowtime, generator: WatermarkGenerator::new(strategy, build, 0) }))
    }
}

impl Task for AssignerTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        if change.row[self.rowtime].is_null() {
            return Err(RunError::job("RowTime field should not be null, please convert it to a non-null long value."));
        }
        let watermark = self.generator.after_row(&change.row, out.now)?;
        out.change(change);
        watermark.into_iter().for_each(|watermark| out.advance(watermark));
        Ok(())
    }

    /// Watermarks from below are not passed on, but for the last one.
    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        if watermark == MAX_WATERMARK {
            out.advance(watermark);
        }
        Ok(())
    }

    fn resume(&mut self, watermark: i64) {
        self.generator.resume(watermark);
    }

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        self.generator.after_clock(out);
        Ok(())
    }
}
