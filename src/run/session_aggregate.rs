//! Aggregates over SESSION windows (Flink's `UnsliceWindowAggProcessor`).

use super::aggregate::{Aggregator, Scope};
use super::build::Build;
use super::change::{Change, RowKind};
use super::error::{RunError, RunResult};
use super::store::{KeyId, KeyedState, Keys, OperatorState, StateTable, Timers, Window};
use super::task::{Output, States, Task};
use super::window::{Merge, MergingWindows, Property, Shift, event_time, properties_of};
use super::window_aggregate::Parts;
use crate::eval::{Datum, Row};
use crate::exec::window_spec::WindowAttachment;
use crate::logical::rel::WindowKind;
use crate::state;

/// Where the window of a row comes from.
enum Source {
    Time(usize),
    Clock,
    /// From columns: such windows are complete, and do not merge.
    Bounds(usize, usize),
}

/// Aggregates SESSION windows.
pub(super) struct SessionTask {
    keys: Keys,
    source: Source,
    gap: i64,
    shift: Shift,
    aggregator: Aggregator<Window>,
    shown: usize,
    properties: Vec<Property>,
    accumulators: KeyedState<Window, Vec<Datum>>,
    windows: MergingWindows,
    timers: Timers<Window>,
    watermark: OperatorState<i64>,
    /// How far the timers have come: what is late is decided by it.
    fired: i64,
}

/// Merges accumulators as windows merge (`MergingWindowProcessFunction.MergingFunctionImpl`).
pub(super) fn merge_accumulators(
    aggregator: &mut Aggregator<Window>,
    accumulators: &mut KeyedState<Window, Vec<Datum>>,
    key: KeyId,
    merge: &Merge,
) -> RunResult<()> {
    if merge.others.is_empty() {
        return Ok(());
    }
    let at = Scope::kept(key, merge.target);
    let mut acc = accumulators.remove(key, merge.target).unwrap_or_else(|| aggregator.create());
    for other in &merge.others {
        let from = Scope::kept(key, *other);
        if let Some(part) = accumulators.remove(key, *other) {
            aggregator.merge(&mut acc, &at, &part, &from)?;
        }
        aggregator.clear(&from);
    }
    accumulators.put(key, merge.target, acc)
}

/// Puts a row into a window's accumulator.
pub(super) fn accumulate(
    aggregator: &mut Aggregator<Window>,
    accumulators: &mut KeyedState<Window, Vec<Datum>>,
    key: KeyId,
    window: Window,
    change: &Change,
) -> RunResult<()> {
    accumulators.update(key, window, Vec::new, |acc| {
        if acc.is_empty() {
            *acc = aggregator.create();
        }
        let at = Scope::kept(key, window);
        if change.kind.adds() {
            aggregator.accumulate(acc, &change.row, &at)
        } else {
            aggregator.retract(acc, &change.row, &at)
        }
    })
}

impl SessionTask {
    pub(super) fn new(parts: Parts<'_>, build: &mut Build<'_>) -> RunResult<SessionTask> {
        let source = match parts.window.attachment {
            WindowAttachment::TimeColumn(_) if parts.window.proctime => Source::Clock,
            WindowAttachment::TimeColumn(column) => Source::Time(column),
            WindowAttachment::Bounds { start, end } => Source::Bounds(start, end),
            WindowAttachment::SliceEnd | WindowAttachment::WindowEnd => {
                return Err(RunError::internal("SESSION windows have no slices"));
            }
        };
        let WindowKind::Session { gap } = parts.window.kind else {
            return Err(RunError::internal("this is no SESSION window"));
        };
        let layout = state::accumulators(build.plan, build.id)
            .ok_or_else(|| RunError::internal("a window aggregate has no accumulators"))?;
        let aggregator = Aggregator::build(parts.calls, layout, build)?;
        Ok(SessionTask {
            keys: Keys::of(parts.keys),
            gap,
            shift: parts.shift,
            aggregator,
            shown: parts.shown,
            properties: parts.properties,
            accumulators: build.entries.keyed("window-aggs")?,
            windows: MergingWindows::new(&mut build.entries)?,
            timers: match source {
                Source::Clock => build.entries.processing_timers()?,
                Source::Time(_) | Source::Bounds(..) => build.entries.event_timers()?,
            },
            watermark: build.entries.operator("watermark")?,
            fired: i64::MIN,
            source,
        })
    }

    fn window(&self, row: &[Datum], now: i64) -> RunResult<Window> {
        let start = match self.source {
            Source::Time(column) => self.shift.to_local(event_time(row, column)?),
            Source::Clock => self.shift.to_local(now),
            Source::Bounds(start, end) => {
                return Ok(Window { start: event_time(row, start)?, end: event_time(row, end)? });
            }
        };
        Ok(Window { start, end: start + self.gap })
    }

    fn is_event_time(&self) -> bool {
        !matches!(self.source, Source::Clock)
    }

    fn timer(&self, window: Window) -> i64 {
        self.shift.timer(window.end - 1)
    }

    fn fire(&mut self, key: KeyId, window: Window, out: &mut Output) -> RunResult<()> {
        let Some(kept_under) = self.windows.state_window(key, window) else { return Ok(()) };
        let at = Scope::kept(key, kept_under);
        let acc = self.accumulators.remove(key, kept_under).unwrap_or_else(|| self.aggregator.create());
        if self.aggregator.rows(&acc) != Some(0) {
            let mut values = self.keys.key(key).to_vec();
            let keys = values.len();
            self.aggregator.append_values(&acc, &at, &mut values)?;
            values.truncate(keys + self.shown);
            properties_of(&self.properties, window, &self.shift, out.now, &mut values);
            out.send(RowKind::Insert, Row::new(values));
        }
        self.aggregator.clear(&at);
        self.windows.retire(key, window);
        Ok(())
    }
}

impl Task for SessionTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let new = self.window(&change.row, out.now)?;
        let key = self.keys.of_row(&change.row);
        let (window, merge) = match self.source {
            Source::Bounds(..) => (self.windows.add_whole(key, new)?, None),
            Source::Time(_) | Source::Clock => self.windows.add(key, new)?,
        };
        if let Some(merge) = merge {
            for gone in &merge.merged {
                self.timers.delete(self.timer(*gone), key, *gone);
            }
            merge_accumulators(&mut self.aggregator, &mut self.accumulators, key, &merge)?;
        }
        if self.is_event_time() && self.timer(window) <= self.fired {
            self.windows.retire(key, window);
            return Ok(());
        }
        let kept_under = self.windows.state_window(key, window).unwrap_or(window);
        accumulate(&mut self.aggregator, &mut self.accumulators, key, kept_under, &change)?;
        self.timers.set(self.timer(window), key, window);
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        let watermark = self.watermark.get().map_or(watermark, |before| watermark.max(*before));
        self.watermark.put(watermark)?;
        self.fired = watermark;
        if self.is_event_time() {
            while let Some((_, key, window)) = self.timers.due(watermark) {
                self.fire(key, window, out)?;
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
                self.fire(key, window, out)?;
                if out.pauses() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn resume(&mut self, watermark: i64) {
        self.fired = watermark;
    }

    fn empty_accumulator(&self) -> Option<Vec<Datum>> {
        Some(self.aggregator.create())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let mut tables: Vec<&mut dyn StateTable> = vec![&mut self.accumulators, self.windows.table()];
        tables.extend(self.aggregator.tables());
        tables.push(&mut self.watermark);
        tables.push(&mut self.timers);
        Some(States { keys: &mut self.keys, tables })
    }
}
