//! `WindowTableFunction`: appends window_start, window_end and window_time.
//!
//! Aligned windows are assigned row by row (Flink's `AlignedWindowTableFunctionOperator`). A SESSION window is known when it is
//! complete, so its rows wait for it (`UnalignedWindowTableFunctionOperator`).

use std::collections::BTreeMap;

use super::build::{Build, Runnable};
use super::change::Change;
use super::error::{RunError, RunResult};
use super::store::{KeyId, KeyedState, Keys, StateTable, Timers, Window};
use super::task::{Output, States, Task};
use super::window::{MergingWindows, Shift, time_type, window_start};
use crate::eval::{Datum, Row};
use crate::exec::window_spec::WindowAttachment;
use crate::exec::window_table_function::WindowTableFunction;
use crate::logical::rel::WindowKind;

/// The time that assigns a row's windows.
struct RowTime {
    /// None is the clock.
    column: Option<usize>,
    shift: Shift,
}

impl RowTime {
    /// In local time. `None` for rows without a time, which are dropped.
    fn of(&self, row: &[Datum], now: i64) -> Option<i64> {
        match self.column {
            Some(column) => row[column].as_millis().map(|time| self.shift.to_local(time)),
            None => Some(self.shift.to_local(now)),
        }
    }

    fn with_window(&self, row: &Row, window: Window) -> Row {
        let bounds = [window.start, window.end, self.shift.to_epoch(window.end - 1)];
        row.extended(bounds.into_iter().map(Datum::timestamp))
    }
}

impl Runnable for WindowTableFunction {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let WindowAttachment::TimeColumn(column) = self.window.attachment else {
            return Err(RunError::internal("a window function has no time attribute"));
        };
        let shift = Shift::of(time_type(build.plan, build.id, &self.window), &build.session.zone);
        let time = RowTime { column: (!self.window.proctime).then_some(column), shift };
        let WindowKind::Session { gap } = self.window.kind else {
            return Ok(Box::new(AlignedTask {
                time,
                kind: self.window.kind,
                offset: self.window.offset.unwrap_or(0),
                paused: None,
            }));
        };
        let entries = &mut build.entries;
        Ok(Box::new(SessionTask {
            keys: Keys::of(self.window.partition.as_slice()),
            gap,
            rows: entries.keyed("session-window-tvf-acc")?,
            counter: entries.keyed("session-window-tvf-counter")?,
            windows: MergingWindows::new(entries)?,
            timers: if self.window.proctime { entries.processing_timers()? } else { entries.event_timers()? },
            time,
        }))
    }
}

/// Assigns aligned windows.
struct AlignedTask {
    time: RowTime,
    kind: WindowKind,
    offset: i64,
    /// A row with more windows than could be sent at once: it, the next window, and the moment of the row.
    paused: Option<(Change, Window, i64)>,
}

impl AlignedTask {
    /// The first window of a moment, in the order in which they are sent.
    fn first(&self, time: i64) -> Option<Window> {
        match self.kind {
            WindowKind::Tumble { size } | WindowKind::Session { gap: size } => {
                let start = window_start(time, self.offset, size);
                Some(Window { start, end: start + size })
            }
            WindowKind::Hop { size, slide } => {
                let start = window_start(time, self.offset, slide);
                (start > time - size).then_some(Window { start, end: start + size })
            }
            WindowKind::Cumulate { max_size, step } => {
                let start = window_start(time, self.offset, max_size);
                let end = window_start(time, self.offset, step) + step;
                (end <= start + max_size).then_some(Window { start, end })
            }
        }
    }

    /// The window of a moment that is sent after this one.
    fn next(&self, Window { start, end }: Window, time: i64) -> Option<Window> {
        match self.kind {
            WindowKind::Tumble { .. } | WindowKind::Session { .. } => None,
            WindowKind::Hop { size, slide } => {
                (start - slide > time - size).then_some(Window { start: start - slide, end: end - slide })
            }
            WindowKind::Cumulate { max_size, step } => {
                (end + step <= start + max_size).then_some(Window { start, end: end + step })
            }
        }
    }

    fn send(&mut self, change: Change, from: Window, time: i64, out: &mut Output) {
        let mut at = Some(from);
        while let Some(window) = at {
            out.send(change.kind, self.time.with_window(&change.row, window));
            at = self.next(window, time);
            if let Some(next) = at
                && out.pauses()
            {
                self.paused = Some((change, next, time));
                return;
            }
        }
    }
}

impl Task for AlignedTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let Some(time) = self.time.of(&change.row, out.now) else { return Ok(()) };
        if let Some(first) = self.first(time) {
            self.send(change, first, time, out);
        }
        Ok(())
    }

    fn proceed(&mut self, out: &mut Output) -> RunResult<()> {
        if let Some((change, next, time)) = self.paused.take() {
            self.send(change, next, time, out);
        }
        Ok(())
    }
}

/// Keeps the rows of SESSION windows until they are complete.
struct SessionTask {
    keys: Keys,
    time: RowTime,
    gap: i64,
    /// Rows by the number of their arrival, each with its kind: nothing is compacted.
    rows: KeyedState<Window, BTreeMap<i64, Change>>,
    counter: KeyedState<(), i64>,
    windows: MergingWindows,
    timers: Timers<Window>,
}

impl SessionTask {
    fn timer(&self, window: Window) -> i64 {
        self.time.shift.timer(window.end - 1)
    }

    fn is_event_time(&self) -> bool {
        self.time.column.is_some()
    }

    fn fire(&mut self, key: KeyId, window: Window, out: &mut Output) {
        let Some(kept_under) = self.windows.state_window(key, window) else { return };
        for change in self.rows.remove(key, kept_under).unwrap_or_default().values() {
            out.send(change.kind, self.time.with_window(&change.row, window));
        }
        self.windows.retire(key, window);
    }
}

impl Task for SessionTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let Some(start) = self.time.of(&change.row, out.now) else { return Ok(()) };
        let key = self.keys.of_row(&change.row);
        let order = self.counter.get(key, ()).copied().unwrap_or(0);
        self.counter.put(key, (), order + 1)?;
        let (window, merge) = self.windows.add(key, Window { start, end: start + self.gap })?;
        if let Some(merge) = merge {
            for gone in &merge.merged {
                self.timers.delete(self.timer(*gone), key, *gone);
            }
            for other in &merge.others {
                let moved = self.rows.remove(key, *other).unwrap_or_default();
                self.rows.entry_mut(key, merge.target, BTreeMap::new).extend(moved);
            }
        }
        if self.is_event_time() && self.timer(window) <= out.watermark {
            self.windows.retire(key, window);
            return Ok(());
        }
        let kept_under = self.windows.state_window(key, window).unwrap_or(window);
        if let crate::state::types::StateType::Map(_, ty) = self.rows.declared() {
            self.rows.check(&change, ty)?;
        }
        self.rows.entry_mut(key, kept_under, BTreeMap::new).insert(order, change);
        self.timers.set(self.timer(window), key, window);
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        if self.is_event_time() {
            while let Some((_, key, window)) = self.timers.due(watermark) {
                self.fire(key, window, out);
                if out.pauses() {
                    return Ok(());
                }
            }
        }
        out.advance(watermark);
        Ok(())
    }

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        if !self.is_event_time() {
            while let Some((_, key, window)) = self.timers.due(out.now) {
                self.fire(key, window, out);
                if out.pauses() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let tables: Vec<&mut dyn StateTable> =
            vec![&mut self.rows, &mut self.counter, self.windows.table(), &mut self.timers];
        Some(States { keys: &mut self.keys, tables })
    }
}
