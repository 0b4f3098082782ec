//! `WindowAggregate` and `GlobalWindowAggregate`: aggregates over windows (Flink's `WindowAggOperator`).
//!
//! Aligned windows are made of slices (`AbstractSliceWindowAggProcessor`): a slice is aggregated once, and windows that share it
//! merge its accumulator when they fire. SESSION windows are in `session_aggregate`. The second of two phases takes the rows that
//! come into the first one, which gives what merging its accumulators would.

use super::aggregate::{Aggregator, Scope};
use super::build::{Build, Runnable};
use super::change::{Change, RowKind};
use super::error::{RunError, RunResult};
use super::session_aggregate::SessionTask;
use super::store::{KeyId, KeyedState, Keys, OperatorState, StateTable, Timers, Window};
use super::task::{Output, States, Task};
use super::window::{FlushClock, Property, RowBuffer, Sharing, Shift, Slices, kept_places, properties_of, time_type};
use crate::eval::{Datum, Row};
use crate::exec::window_aggregate::{GlobalWindowAggregate, WindowAggregate};
use crate::exec::window_spec::WindowSpec;
use crate::exec::{NodeId, Operator};
use crate::logical::rel::{AggCall, WindowKind};
use crate::state;

/// What both phases and SESSION are made from.
pub(super) struct Parts<'a> {
    /// Group keys: columns of the rows that come in.
    pub keys: &'a [usize],
    /// The window over these rows.
    pub window: &'a WindowSpec,
    /// All calls, hidden ones last.
    pub calls: &'a [AggCall],
    /// How many of them are put out.
    pub shown: usize,
    /// The time line of the windows.
    pub shift: Shift,
    /// The window columns that are put out.
    pub properties: Vec<Property>,
}

impl<'a> Parts<'a> {
    /// `id` is the operator that assigns the windows.
    fn new(
        node: &'a WindowAggregate,
        calls: &'a [AggCall],
        (keys, window): (&'a [usize], &'a WindowSpec),
        id: NodeId,
        build: &Build<'a>,
    ) -> Parts<'a> {
        let mut properties = vec![Property::Start, Property::End];
        if node.window_time {
            properties.push(if node.window.proctime { Property::Proctime } else { Property::Rowtime });
        }
        let shift = Shift::of(time_type(build.plan, id, window), &build.session.zone);
        Parts { keys, window, calls, shown: node.calls.len(), shift, properties }
    }

    fn task(self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        match self.window.kind {
            WindowKind::Session { .. } => Ok(Box::new(SessionTask::new(self, build)?)),
            _ => Ok(Box::new(SlicingTask::new(self, build)?)),
        }
    }
}

impl Runnable for WindowAggregate {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        Parts::new(self, &self.calls, (&self.keys, &self.window), build.id, build).task(build)
    }
}

impl Runnable for GlobalWindowAggregate {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let local = build.plan.local_phase(build.id).map(|id| (id, &build.plan.node(id).op));
        let Some((id, Operator::LocalWindowAggregate(local))) = local else {
            return Err(RunError::internal("a global window aggregate has no local phase"));
        };
        Parts::new(&self.aggregate, &self.local_calls, (&local.keys, &local.window), id, build).task(build)
    }
}

/// Aggregates slices.
struct SlicingTask {
    keys: Keys,
    slices: Slices,
    aggregator: Aggregator<i64>,
    shown: usize,
    properties: Vec<Property>,
    accumulators: KeyedState<i64, Vec<Datum>>,
    timers: Timers<i64>,
    /// How far event time has come, also before a restore: what is late is decided by it.
    watermark: OperatorState<i64>,
    /// How far the timers have come, which begins anew with a restore (`InternalTimerService.currentWatermark`).
    fired: i64,
    /// Where Flink's buffers show, such a buffer.
    buffer: Option<(RowBuffer, FlushClock)>,
}

impl SlicingTask {
    fn new(parts: Parts<'_>, build: &mut Build<'_>) -> RunResult<SlicingTask> {
        let Some(slices) = Slices::of(parts.window, parts.shift) else {
            return Err(RunError::internal("a window has no slices"));
        };
        let layout = state::accumulators(build.plan, build.id)
            .ok_or_else(|| RunError::internal("a window aggregate has no accumulators"))?;
        let aggregator = Aggregator::build(parts.calls, layout, build)?;
        let accumulators = build.entries.keyed("window-aggs")?;
        let watermark = build.entries.operator("watermark")?;
        let timers =
            if slices.is_event_time() { build.entries.event_timers()? } else { build.entries.processing_timers()? };
        let buffer = slices.needs_buffer().then(|| (RowBuffer::new(), FlushClock::new(slices.interval(), i64::MIN)));
        Ok(SlicingTask {
            keys: Keys::of(parts.keys),
            slices,
            aggregator,
            shown: parts.shown,
            properties: parts.properties,
            accumulators,
            timers,
            watermark,
            fired: i64::MIN,
            buffer,
        })
    }

    /// Puts a row into its slice, or into the buffer.
    fn add(&mut self, slice: i64, change: Change) -> RunResult<()> {
        match &mut self.buffer {
            Some((buffer, _)) => {
                buffer.add(slice, change);
                Ok(())
            }
            None => self.combine(slice, &change),
        }
    }

    /// Puts a row into its slice (`AggCombiner`).
    fn combine(&mut self, slice: i64, change: &Change) -> RunResult<()> {
        let key = self.keys.of_row(&change.row);
        let aggregator = &mut self.aggregator;
        let mut is_new = false;
        let empty = || {
            is_new = true;
            Vec::new()
        };
        self.accumulators.update(key, slice, empty, |acc| {
            if acc.is_empty() {
                *acc = aggregator.create();
            }
            let at = Scope::kept(key, slice);
            if change.kind.adds() {
                aggregator.accumulate(acc, &change.row, &at)
            } else {
                aggregator.retract(acc, &change.row, &at)
            }
        })?;
        // A slice that is there has its timer already, or had it.
        if (is_new || self.buffer.is_some())
            && self.slices.is_event_time()
            && !self.slices.shift().is_fired(slice, self.fired)
        {
            self.set_timer(key, slice);
        }
        Ok(())
    }

    fn set_timer(&mut self, key: KeyId, end: i64) {
        self.timers.set(self.slices.shift().timer(end - 1), key, end);
    }

    /// Puts what is buffered into state, if it is time for it.
    fn advance(&mut self, progress: i64) -> RunResult<()> {
        let Some((buffer, clock)) = &mut self.buffer else { return Ok(()) };
        if !clock.strikes(progress, self.slices.shift()) {
            return Ok(());
        }
        for (slice, change) in buffer.due(progress, self.slices.shift()) {
            self.combine(slice, &change)?;
        }
        Ok(())
    }

    /// Sends the result of a window, forgets what no other window needs, and sees to it that the next window fires too
    /// (`SliceSharedWindowAggProcessor`, `SliceUnsharedWindowAggProcessor`).
    fn fire(&mut self, key: KeyId, end: i64, out: &mut Output) -> RunResult<()> {
        match self.slices.sharing() {
            Sharing::None => {
                let at = Scope::kept(key, end);
                let acc = self.accumulators.remove(key, end).unwrap_or_else(|| self.aggregator.create());
                self.send(&acc, &at, end, out)?;
                self.aggregator.clear(&at);
            }
            Sharing::Hop => {
                let at = Scope::loose(key);
                let mut acc = self.aggregator.create();
                let kept = &self.accumulators;
                let places = (self.slices.first_slice(end), end, self.slices.interval());
                let there = (kept.count(key), kept.namespaces(key).copied());
                let slices = kept_places(places, there, |s| s, |s| kept.get(key, s).map(|_| s));
                // From the last slice to the first, as Flink goes through them.
                for slice in slices.into_iter().rev() {
                    if let Some(part) = self.accumulators.get(key, slice) {
                        self.aggregator.merge(&mut acc, &at, part, &Scope::kept(key, slice))?;
                    }
                }
                let empty = !self.send(&acc, &at, end, out)?;
                self.aggregator.clear(&at);
                if !empty {
                    self.set_timer(key, end + self.slices.interval());
                }
                self.forget(key, self.slices.first_slice(end));
            }
            Sharing::Cumulate => {
                let first = self.slices.first_slice(end);
                let at = Scope::kept(key, first);
                let mut acc = self.accumulators.remove(key, first).unwrap_or_else(|| self.aggregator.create());
                if end != first {
                    if let Some(part) = self.accumulators.get(key, end) {
                        self.aggregator.merge(&mut acc, &at, part, &Scope::kept(key, end))?;
                    }
                    self.forget(key, end);
                }
                self.send(&acc, &at, end, out)?;
                if end < self.slices.last_window_end(end) {
                    self.accumulators.put(key, first, acc)?;
                    self.set_timer(key, end + self.slices.interval());
                } else {
                    self.aggregator.clear(&at);
                }
            }
        }
        Ok(())
    }

    fn forget(&mut self, key: KeyId, slice: i64) {
        self.accumulators.remove(key, slice);
        self.aggregator.clear(&Scope::kept(key, slice));
    }

    /// Sends a result, unless it is known that no row is in it. True if it was sent.
    fn send(&mut self, acc: &[Datum], at: &Scope<i64>, end: i64, out: &mut Output) -> RunResult<bool> {
        if self.aggregator.rows(acc) == Some(0) {
            return Ok(false);
        }
        let window = Window { start: self.slices.window_start(end), end };
        let mut values = self.keys.key(at.key).to_vec();
        let keys = values.len();
        self.aggregator.append_values(acc, at, &mut values)?;
        values.truncate(keys + self.shown);
        properties_of(&self.properties, window, self.slices.shift(), out.now, &mut values);
        out.send(RowKind::Insert, Row::new(values));
        Ok(true)
    }
}

impl Task for SlicingTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let slice = self.slices.slice_end(&change.row, out.now)?;
        if !self.slices.is_event_time() {
            let key = self.keys.of_row(&change.row);
            self.set_timer(key, slice);
            return self.add(slice, change);
        }
        let progress = self.watermark.get().copied().unwrap_or(i64::MIN);
        let shift = self.slices.shift();
        if !shift.is_fired(slice, progress) {
            return self.add(slice, change);
        }
        // Late; but a later window of the slice may be open.
        if shift.is_fired(self.slices.last_window_end(slice), progress) {
            return Ok(());
        }
        let open = self.slices.first_open_end(slice, progress);
        let key = self.keys.of_row(&change.row);
        self.set_timer(key, open);
        self.add(self.slices.late_target(slice), change)
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        // After a restore event time goes on from where it was.
        let before = self.watermark.get().copied().unwrap_or(i64::MIN);
        let watermark = watermark.max(before);
        if watermark > before {
            self.watermark.put(watermark)?;
            if self.slices.is_event_time() {
                self.advance(watermark)?;
            }
        }
        self.fired = watermark;
        if self.slices.is_event_time() {
            while let Some((_, key, end)) = self.timers.due(watermark) {
                self.fire(key, end, out)?;
                if out.pauses() {
                    return Ok(());
                }
            }
        }
        out.advance(watermark);
        Ok(())
    }

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        if !self.slices.is_event_time() {
            while let Some((time, key, end)) = self.timers.due(out.now) {
                self.advance(time)?;
                self.fire(key, end, out)?;
                if out.pauses() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn before_savepoint(&mut self, _: &mut Output) -> RunResult<()> {
        let rows = self.buffer.as_mut().map(|(buffer, _)| buffer.take()).unwrap_or_default();
        rows.iter().try_for_each(|(slice, change)| self.combine(*slice, change))
    }

    fn resume(&mut self, watermark: i64) {
        self.fired = watermark;
    }

    fn restored(&mut self) -> RunResult<()> {
        let mut ends = self.accumulators.all_namespaces().chain(self.timers.all_namespaces());
        match ends.find(|end| !self.slices.fits(**end)) {
            Some(end) => Err(RunError::savepoint(format!("it holds a slice that ends at {end}, where none can end"))),
            None => Ok(()),
        }
    }

    fn empty_accumulator(&self) -> Option<Vec<Datum>> {
        Some(self.aggregator.create())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let mut tables: Vec<&mut dyn StateTable> = vec![&mut self.accumulators];
        tables.extend(self.aggregator.tables());
        tables.push(&mut self.watermark);
        tables.push(&mut self.timers);
        Some(States { keys: &mut self.keys, tables })
    }
}
