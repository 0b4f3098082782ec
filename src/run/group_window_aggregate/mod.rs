//! `GroupWindowAggregate`: the legacy `GROUP BY TUMBLE|HOP|SESSION(...)`, row by row (Flink's `AggregateWindowOperator`).

mod trigger;

use super::aggregate::{Aggregator, Scope};
use super::build::{Build, Runnable};
use super::change::{Change, RowKind};
use super::error::{RunError, RunResult};
use super::session_aggregate::{accumulate, merge_accumulators};
use super::store::{KeyId, KeyedState, Keys, StateTable, Window};
use super::task::{Output, States, Task};
use super::window::{MergingWindows, Property, Shift, event_time, kept_places, properties_of, window_start};
use crate::eval::{Datum, Row};
use crate::exec::group_window_aggregate::GroupWindowAggregate;
use crate::logical::rel::WindowKind;
use crate::state;
use trigger::{Times, Trigger, WindowTimers};

/// How rows find their windows, and windows their accumulators.
enum Assigner {
    /// Every window has its own (`GeneralWindowProcessFunction`).
    Tumble { size: i64 },
    /// Windows are made of panes; there can be gaps between them (`PanedWindowProcessFunction`).
    Hop { size: i64, slide: i64, pane: i64 },
    /// Windows merge (`MergingWindowProcessFunction`).
    Session { gap: i64, windows: MergingWindows },
}

struct WindowTask {
    keys: Keys,
    assigner: Assigner,
    /// None is the clock.
    rowtime: Option<usize>,
    shift: Shift,
    aggregator: Aggregator<Window>,
    properties: Vec<Property>,
    /// How long windows stay after their end.
    lateness: i64,
    accumulators: KeyedState<Window, Vec<Datum>>,
    /// The results sent last, if results are sent again.
    previous: Option<KeyedState<Window, Row>>,
    trigger: Trigger,
    timers: WindowTimers,
}

impl Runnable for GroupWindowAggregate {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let layout = state::accumulators(build.plan, build.id)
            .ok_or_else(|| RunError::internal("a window aggregate has no accumulators"))?;
        let aggregator = Aggregator::build(&self.calls, layout, build)?;
        let shift = Shift::of(self.time.map(|t| &build.input[t].ty), &build.session.zone);
        let late = state::late_firing(build.plan, build.id);
        let entries = &mut build.entries;
        let properties = self.property_names().into_iter().map(|name| match name {
            "start" => Property::Start,
            "end" => Property::End,
            "rowtime" => Property::Rowtime,
            _ => Property::Proctime,
        });
        if let WindowKind::Hop { size, slide } = self.window
            && size / slide > MOST_WINDOWS
        {
            let what = format!("a HOP with more than {MOST_WINDOWS} windows at a time");
            let mut error = RunError::unsupported(what);
            error.help = Some("write it as TABLE(HOP(...)), which keeps a timer per key only".to_owned());
            return Err(error);
        }
        let rowtime = if self.proctime { None } else { self.time };
        Ok(Box::new(WindowTask {
            keys: Keys::of(self.keys.as_slice()),
            assigner: match self.window {
                WindowKind::Session { gap } => Assigner::Session { gap, windows: MergingWindows::new(entries)? },
                WindowKind::Hop { size, slide } => Assigner::Hop { size, slide, pane: common_divisor(size, slide) },
                WindowKind::Tumble { size } | WindowKind::Cumulate { max_size: size, .. } => Assigner::Tumble { size },
            },
            rowtime,
            aggregator,
            properties: properties.collect(),
            lateness: self.emit.allow_lateness,
            accumulators: entries.keyed("window-aggs")?,
            previous: self.emit.produces_updates().then(|| entries.keyed("previous-aggs")).transpose()?,
            trigger: Trigger::new(self.emit, rowtime.is_some(), shift.clone(), entries, late)?,
            timers: WindowTimers { event: entries.event_timers()?, processing: entries.processing_timers()? },
            shift,
        }))
    }
}

fn common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The panes in which the key has rows, from `start` to `end`, in order.
fn panes(
    accumulators: &KeyedState<Window, Vec<Datum>>,
    key: KeyId,
    (start, end): (i64, i64),
    pane: i64,
) -> Vec<Window> {
    let there = (accumulators.count(key), accumulators.namespaces(key).copied());
    kept_places(
        (start, end - pane, pane),
        there,
        |pane| pane.start,
        |start| {
            let pane = Window { start, end: start + pane };
            accumulators.get(key, pane).map(|_| pane)
        },
    )
}

/// A row that falls into more windows than this at once is not run: Flink keeps a timer for each of them.
const MOST_WINDOWS: i64 = 1_000_000;

impl WindowTask {
    /// When a window is forgotten.
    fn cleanup_time(&self, window: Window) -> i64 {
        let lateness = if self.rowtime.is_some() { self.lateness } else { 0 };
        self.shift.timer((window.end - 1).saturating_add(lateness))
    }

    fn is_late(&self, window: Window, watermark: i64) -> bool {
        self.rowtime.is_some() && self.cleanup_time(window) <= watermark
    }

    /// Puts a row into state; then come the windows that it touches.
    fn assign(&mut self, key: KeyId, time: i64, change: &Change, watermark: i64) -> RunResult<Vec<Window>> {
        match self.assigner {
            Assigner::Tumble { size } => {
                let start = window_start(time, 0, size);
                let window = Window { start, end: start + size };
                if self.is_late(window, watermark) {
                    return Ok(Vec::new());
                }
                accumulate(&mut self.aggregator, &mut self.accumulators, key, window, change)?;
                Ok(vec![window])
            }
            Assigner::Hop { size, slide, pane } => {
                let start = window_start(time, 0, pane);
                let last = window_start(start, 0, slide);
                // A pane between two windows is kept as well.
                if !self.is_late(Window { start: last, end: last + size }, watermark) {
                    let pane = Window { start, end: start + pane };
                    accumulate(&mut self.aggregator, &mut self.accumulators, key, pane, change)?;
                }
                let mut windows = Vec::new();
                let mut start = window_start(time, 0, slide);
                while start > time - size {
                    let window = Window { start, end: start + size };
                    if !self.is_late(window, watermark) {
                        windows.push(window);
                    }
                    start -= slide;
                }
                Ok(windows)
            }
            Assigner::Session { gap, .. } => self.assign_session(key, time, gap, change, watermark),
        }
    }

    fn assign_session(
        &mut self,
        key: KeyId,
        time: i64,
        gap: i64,
        change: &Change,
        watermark: i64,
    ) -> RunResult<Vec<Window>> {
        let Assigner::Session { windows, .. } = &mut self.assigner else { return Ok(Vec::new()) };
        let (window, merge) = windows.add(key, Window { start: time, end: time + gap })?;
        if let Some(merge) = merge {
            self.trigger.on_merge(key, window, &merge.others, &mut self.timers)?;
            for gone in &merge.merged {
                self.trigger.clear(key, *gone, &mut self.timers);
                let cleanup = self.cleanup_time(*gone);
                let queue = if self.rowtime.is_some() { &mut self.timers.event } else { &mut self.timers.processing };
                queue.delete(cleanup, key, *gone);
            }
            merge_accumulators(&mut self.aggregator, &mut self.accumulators, key, &merge)?;
            if let Some(previous) = &mut self.previous {
                merge.others.iter().for_each(|other| {
                    previous.remove(key, *other);
                });
            }
        }
        let late = self.is_late(window, watermark);
        let Assigner::Session { windows, .. } = &mut self.assigner else { return Ok(Vec::new()) };
        if late {
            windows.retire(key, window);
            return Ok(Vec::new());
        }
        let kept_under = windows.state_window(key, window).unwrap_or(window);
        accumulate(&mut self.aggregator, &mut self.accumulators, key, kept_under, change)?;
        Ok(vec![window])
    }

    /// Sends the result of a window (`AggregateWindowOperator.emitWindowResult`).
    fn emit(&mut self, key: KeyId, window: Window, out: &mut Output) -> RunResult<()> {
        let mut empty;
        let (acc, at): (&mut Vec<Datum>, _) = match &self.assigner {
            Assigner::Hop { size, pane, .. } => {
                let at = Scope::loose(key);
                empty = self.aggregator.create();
                for pane in panes(&self.accumulators, key, (window.start, window.start + size), *pane) {
                    if let Some(part) = self.accumulators.get(key, pane) {
                        self.aggregator.merge(&mut empty, &at, part, &Scope::kept(key, pane))?;
                    }
                }
                (&mut empty, at)
            }
            Assigner::Tumble { .. } | Assigner::Session { .. } => {
                let kept_under = match &self.assigner {
                    Assigner::Session { windows, .. } => windows.state_window(key, window).unwrap_or(window),
                    Assigner::Tumble { .. } | Assigner::Hop { .. } => window,
                };
                let acc = match self.accumulators.get_mut(key, kept_under) {
                    Some(acc) => acc,
                    None => {
                        empty = self.aggregator.create();
                        &mut empty
                    }
                };
                (acc, Scope::kept(key, kept_under))
            }
        };
        let no_rows = self.aggregator.rows(acc) == Some(0);
        let results = self.aggregator.values(acc, &at)?;
        if at.namespace.is_none() {
            self.aggregator.clear(&at);
        }
        match &mut self.previous {
            None if no_rows => {}
            None => self.send(RowKind::Insert, key, &results, window, out),
            Some(previous) => {
                let before = previous.get(key, window).cloned();
                match before {
                    None if no_rows => {}
                    None => {
                        previous.put(key, window, Row::new(results.clone()))?;
                        self.send(RowKind::Insert, key, &results, window, out);
                    }
                    Some(before) if no_rows => {
                        previous.remove(key, window);
                        self.send(RowKind::Delete, key, &before, window, out);
                    }
                    Some(before) if *before != *results => {
                        previous.put(key, window, Row::new(results.clone()))?;
                        self.send(RowKind::UpdateBefore, key, &before, window, out);
                        self.send(RowKind::UpdateAfter, key, &results, window, out);
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    fn send(&self, kind: RowKind, key: KeyId, results: &[Datum], window: Window, out: &mut Output) {
        let mut values = self.keys.key(key).to_vec();
        values.extend_from_slice(results);
        properties_of(&self.properties, window, &self.shift, out.now, &mut values);
        out.send(kind, Row::new(values));
    }

    /// Forgets a window.
    fn clean(&mut self, key: KeyId, window: Window) {
        let mut gone = Vec::new();
        match &mut self.assigner {
            Assigner::Tumble { .. } => gone.push(window),
            Assigner::Hop { size, slide, pane } => {
                // The panes that no later window has.
                let end = window.start + *size.min(slide);
                gone.extend(panes(&self.accumulators, key, (window.start, end), *pane));
            }
            Assigner::Session { windows, .. } => {
                gone.extend(windows.state_window(key, window));
                windows.retire(key, window);
            }
        }
        for window in gone {
            self.accumulators.remove(key, window);
            self.aggregator.clear(&Scope::kept(key, window));
        }
        self.trigger.clear(key, window, &mut self.timers);
        // Flink forgets to do so for SESSION.
        if let (Some(previous), Assigner::Tumble { .. } | Assigner::Hop { .. }) = (&mut self.previous, &self.assigner) {
            previous.remove(key, window);
        }
    }
}

impl Task for WindowTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let time = match self.rowtime {
            Some(column) => self.shift.to_local(event_time(&change.row, column)?),
            None => self.shift.to_local(out.now),
        };
        let key = self.keys.of_row(&change.row);
        for window in self.assign(key, time, &change, out.watermark)? {
            let times = Times { watermark: out.watermark, now: out.now };
            if self.trigger.on_row(key, window, times, &mut self.timers)? {
                self.emit(key, window, out)?;
            }
            let cleanup = self.cleanup_time(window);
            if cleanup != self.trigger.time(window) {
                self.timers.event.set(cleanup, key, window);
            }
        }
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        while let Some((time, key, window)) = self.timers.event.due(watermark) {
            if self.trigger.on_event_time(time, key, window)? {
                self.emit(key, window, out)?;
            }
            if time == self.cleanup_time(window) {
                self.clean(key, window);
            }
            if out.pauses() {
                return Ok(());
            }
        }
        out.advance(watermark);
        Ok(())
    }

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        while let Some((time, key, window)) = self.timers.processing.due(out.now) {
            if self.trigger.on_processing_time(time, key, window, &mut self.timers)? {
                self.emit(key, window, out)?;
            }
            if self.rowtime.is_none() && time == self.cleanup_time(window) {
                self.clean(key, window);
            }
            if out.pauses() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn restored(&mut self) -> RunResult<()> {
        let (size, slide, part) = match self.assigner {
            Assigner::Tumble { size } => (size, size, size),
            Assigner::Hop { size, slide, pane } => (size, slide, pane),
            Assigner::Session { .. } => return Ok(()),
        };
        let misfit = |window: &&Window, length: i64, step: i64| {
            window.end - window.start != length || window.start != window_start(window.start, 0, step)
        };
        let timers = self.timers.event.all_namespaces().chain(self.timers.processing.all_namespaces());
        let windows = { timers }.find(|window| misfit(window, size, slide));
        match windows.or_else(|| self.accumulators.all_namespaces().find(|pane| misfit(pane, part, part))) {
            Some(Window { start, end }) => {
                Err(RunError::savepoint(format!("it holds a window from {start} to {end}, where none can be")))
            }
            None => Ok(()),
        }
    }

    fn empty_accumulator(&self) -> Option<Vec<Datum>> {
        Some(self.aggregator.create())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let mut tables: Vec<&mut dyn StateTable> = vec![&mut self.accumulators];
        tables.extend(self.previous.iter_mut().map(|p| p as &mut dyn StateTable));
        if let Assigner::Session { windows, .. } = &mut self.assigner {
            tables.push(windows.table());
        }
        tables.extend(self.trigger.tables());
        tables.extend(self.aggregator.tables());
        tables.push(&mut self.timers.processing);
        tables.push(&mut self.timers.event);
        Some(States { keys: &mut self.keys, tables })
    }
}
