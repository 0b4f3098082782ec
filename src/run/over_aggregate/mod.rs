//! `OverAggregate`: aggregates over the rows up to the current one. One file per function of
//! `org.apache.flink.table.runtime.operators.over`, which all differ in when rows are taken, sent and forgotten.

mod accumulators;
mod cleanup;
mod input_rows;
mod proc_time_range_bounded_preceding;
mod proc_time_rows_bounded_preceding;
mod proc_time_unbounded_preceding;
mod row_time_range_bounded_preceding;
mod row_time_rows_bounded_preceding;
mod row_time_unbounded_preceding;
mod rows_by_time;

use super::build::{Build, Runnable};
use super::error::{RunError, RunResult};
use super::store::{KeyId, KeyedState};
use super::task::Task;
use crate::eval::Datum;
use crate::exec::Target;
use crate::exec::over_aggregate::OverAggregate;
use crate::syntax::ast::FrameUnits;

impl Runnable for OverAggregate {
    /// Flink's choice of function in `StreamExecOverAggregate`.
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let time = match self.order.as_slice() {
            [key] => key.column,
            _ => return Err(RunError::internal("OVER is not ordered by one column")),
        };
        let ty = &build.input[time].ty;
        if !ty.is_rowtime() && !ty.is_proctime() {
            return Err(RunError::unsupported("OVER ordered by a column without a time attribute"));
        }
        let rows = self.frame.units == FrameUnits::Rows;
        Ok(match (self.proctime, self.frame.preceding) {
            (true, None) => Box::new(proc_time_unbounded_preceding::Function::build(self, build)?),
            (true, Some(preceding)) if rows => {
                Box::new(proc_time_rows_bounded_preceding::Function::build(self, preceding + 1, build)?)
            }
            (true, Some(range)) => Box::new(proc_time_range_bounded_preceding::Function::build(self, range, build)?),
            (false, None) => {
                let timing = unbounded_timing(build);
                Box::new(row_time_unbounded_preceding::Function::build(self, time, rows, timing, build)?)
            }
            (false, Some(preceding)) if rows => {
                Box::new(row_time_rows_bounded_preceding::Function::build(self, time, preceding + 1, build)?)
            }
            (false, Some(range)) => {
                Box::new(row_time_range_bounded_preceding::Function::build(self, time, range, build)?)
            }
        })
    }
}

/// `table.exec.unbounded-over.version`, which came with Flink 2.
fn unbounded_timing(build: &Build<'_>) -> row_time_unbounded_preceding::Timing {
    use row_time_unbounded_preceding::Timing;
    match (build.plan.target, build.option("table.exec.unbounded-over.version")) {
        (Target::Flink22, version) if version.is_none_or(|v| v.trim() != "1") => Timing::PerTimestamp,
        _ => Timing::NextWatermark,
    }
}

/// The event time of a row. A row without one counts as one of 1970: `RowData.getLong` reads 0 from a NULL.
fn event_time(row: &[Datum], column: usize) -> i64 {
    row[column].as_millis().unwrap_or(0)
}

/// A number that is kept per key, or 0.
fn number(state: &KeyedState<(), i64>, key: KeyId) -> i64 {
    state.get(key, ()).copied().unwrap_or(0)
}
