//! `WindowDeduplicate`: the first or last row of every key and window by event time
//! (Flink's `RowTimeWindowDeduplicateProcessor`).

use super::build::{Build, Runnable};
use super::change::{Change, RowKind};
use super::error::{RunError, RunResult};
use super::store::{KeyedState, Keys, OperatorState, StateTable, Timers};
use super::task::{Output, States, Task};
use super::window::{Shift, event_time, time_type, window_column};
use crate::eval::{Datum, Row};
use crate::exec::window_deduplicate::WindowDeduplicate;

struct DeduplicateTask {
    keys: Keys,
    rowtime: usize,
    keeps_last: bool,
    output_number: bool,
    window_end: usize,
    shift: Shift,
    rows: KeyedState<i64, Row>,
    timers: Timers<i64>,
    watermark: OperatorState<i64>,
}

impl Runnable for WindowDeduplicate {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let (Some(window_end), Some(order)) = (window_column(&self.window), self.ranking.order.first()) else {
            return Err(RunError::internal("a window deduplication has no window columns, or no order"));
        };
        Ok(Box::new(DeduplicateTask {
            keys: Keys::of(self.ranking.partition.as_slice()),
            rowtime: order.column,
            keeps_last: order.descending,
            output_number: self.ranking.output_number,
            window_end,
            shift: Shift::of(time_type(build.plan, build.id, &self.window), &build.session.zone),
            rows: build.entries.keyed("window_deduplicate")?,
            timers: build.entries.event_timers()?,
            watermark: build.entries.operator("watermark")?,
        }))
    }
}

impl Task for DeduplicateTask {
    fn row(&mut self, _: usize, change: Change, _: &mut Output) -> RunResult<()> {
        if !change.kind.adds() {
            return Err(RunError::job(format!("Window deduplicate does not support input RowKind: {}", change.kind)));
        }
        let window = event_time(&change.row, self.window_end)?;
        if self.shift.is_fired(window, self.watermark.get().copied().unwrap_or(i64::MIN)) {
            return Ok(());
        }
        let key = self.keys.of_row(&change.row);
        let time = |row: &[Datum]| event_time(row, self.rowtime);
        // Of rows at one time the one that came first is the first, and the one that came last the last
        // (`DeduplicateFunctionHelper.isDuplicate`).
        let takes = match self.rows.get(key, window) {
            None => true,
            Some(kept) if self.keeps_last => time(kept)? <= time(&change.row)?,
            Some(kept) => time(&change.row)? < time(kept)?,
        };
        if takes {
            self.rows.put(key, window, change.row)?;
        }
        self.timers.set(self.shift.timer(window - 1), key, window);
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        let watermark = self.watermark.get().map_or(watermark, |before| watermark.max(*before));
        self.watermark.put(watermark)?;
        while let Some((_, key, window)) = self.timers.due(watermark) {
            if let Some(row) = self.rows.remove(key, window) {
                let number = self.output_number.then(|| row.extended([Datum::Int(1)].into_iter()));
                out.send(RowKind::Insert, number.unwrap_or(row));
            }
            if out.pauses() {
                return Ok(());
            }
        }
        out.advance(watermark);
        Ok(())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let tables: Vec<&mut dyn StateTable> = vec![&mut self.rows, &mut self.watermark, &mut self.timers];
        Some(States { keys: &mut self.keys, tables })
    }
}
