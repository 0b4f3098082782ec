//! When legacy windows fire (Flink's `EventTimeTriggers`, `ProcessingTimeTriggers`, `ElementTriggers`).

use crate::exec::group_window_aggregate::EmitStrategy;
use crate::run::error::RunResult;
use crate::run::store::{Entries, KeyId, KeyedState, StateTable, Timers, Window};
use crate::run::window::Shift;
use crate::state::StateEntry;

/// A trigger before or after the end of a window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Firing {
    /// `ElementTriggers.EveryElement`
    EveryElement,
    /// `ProcessingTimeTriggers.AfterFirstElementPeriodic`, with the index of its state.
    Periodic(usize),
}

/// The timers of both kinds of time.
pub struct WindowTimers {
    /// Event time.
    pub event: Timers<Window>,
    /// Processing time.
    pub processing: Timers<Window>,
}

/// When the operator works.
#[derive(Clone, Copy)]
pub struct Times {
    /// Its event time.
    pub watermark: i64,
    /// Processing time.
    pub now: i64,
}

/// The trigger of an operator: at the end of a window, and perhaps before and after it.
pub struct Trigger {
    event_time: bool,
    early: Option<Firing>,
    late: Option<Firing>,
    /// When a periodic trigger fires next, with its interval.
    periods: Vec<(i64, KeyedState<Window, i64>)>,
    /// The window has fired at its end: kept where firing late differs from firing at every row.
    after_end: Option<KeyedState<Window, bool>>,
    shift: Shift,
}

impl Trigger {
    /// The trigger that a strategy asks for (`WindowEmitStrategy.getTrigger`). `late` is the entry of a periodic late trigger.
    pub fn new(
        emit: EmitStrategy,
        event_time: bool,
        shift: Shift,
        entries: &mut Entries,
        late: Option<StateEntry>,
    ) -> RunResult<Trigger> {
        let mut periods = Vec::new();
        let mut firing = |delay: i64, extra: Option<StateEntry>| -> RunResult<Firing> {
            if delay <= 0 {
                return Ok(Firing::EveryElement);
            }
            if let Some(i) = periods.iter().position(|(interval, _)| *interval == delay) {
                return Ok(Firing::Periodic(i));
            }
            let name = format!("processingTime-every-{delay}");
            let state = match extra {
                Some(entry) => Entries::new(vec![entry]).keyed(&name)?,
                None => entries.keyed(&name)?,
            };
            periods.push((delay, state));
            Ok(Firing::Periodic(periods.len() - 1))
        };
        let early = emit.early.map(|d| firing(d, None)).transpose()?;
        // Firing at every late row is what happens without a late trigger. There are no late rows in processing time.
        let late_delay = emit.late.filter(|d| *d > 0 && event_time);
        let late = late_delay.map(|d| firing(d, late)).transpose()?;
        let after_end = emit.late.filter(|d| *d > 0).map(|_| entries.keyed("eventTime-afterEOW")).transpose()?;
        Ok(Trigger { event_time, early, late, periods, after_end, shift })
    }

    /// When a window is due.
    pub fn time(&self, window: Window) -> i64 {
        self.shift.timer(window.end - 1)
    }

    fn has_fired(&self, key: KeyId, window: Window) -> bool {
        self.late.is_some() && self.after_end.as_ref().and_then(|s| s.get(key, window)).copied().unwrap_or(false)
    }

    /// A row came into a window. True if the window fires.
    pub fn on_row(&mut self, key: KeyId, window: Window, times: Times, timers: &mut WindowTimers) -> RunResult<bool> {
        let due = self.time(window);
        if !self.event_time {
            timers.processing.set(due, key, window);
            return self.on_row_of(self.early, key, window, times, timers);
        }
        if self.has_fired(key, window) {
            return self.on_row_of(self.late, key, window, times, timers);
        }
        if due <= times.watermark {
            return Ok(true);
        }
        timers.event.set(due, key, window);
        self.on_row_of(self.early, key, window, times, timers)
    }

    fn on_row_of(
        &mut self,
        firing: Option<Firing>,
        key: KeyId,
        window: Window,
        times: Times,
        timers: &mut WindowTimers,
    ) -> RunResult<bool> {
        match firing {
            None => Ok(false),
            Some(Firing::EveryElement) => Ok(true),
            Some(Firing::Periodic(i)) => {
                let (interval, next) = &mut self.periods[i];
                if next.get(key, window).is_none() {
                    let first = times.now + *interval;
                    timers.processing.set(first, key, window);
                    next.put(key, window, first)?;
                }
                Ok(false)
            }
        }
    }

    /// A timer of event time came due. True if the window fires.
    pub fn on_event_time(&mut self, time: i64, key: KeyId, window: Window) -> RunResult<bool> {
        if !self.event_time || time != self.time(window) || self.has_fired(key, window) {
            return Ok(false);
        }
        if self.late.is_some()
            && let Some(after_end) = &mut self.after_end
        {
            after_end.put(key, window, true)?;
        }
        Ok(true)
    }

    /// A timer of processing time came due. True if the window fires.
    pub fn on_processing_time(
        &mut self,
        time: i64,
        key: KeyId,
        window: Window,
        timers: &mut WindowTimers,
    ) -> RunResult<bool> {
        if !self.event_time && time == self.time(window) {
            return Ok(true);
        }
        let firing = if self.event_time && self.has_fired(key, window) { self.late } else { self.early };
        let Some(Firing::Periodic(i)) = firing else { return Ok(false) };
        let (interval, next) = &mut self.periods[i];
        if next.get(key, window) != Some(&time) {
            return Ok(false);
        }
        timers.processing.set(time + *interval, key, window);
        next.put(key, window, time + *interval)?;
        Ok(true)
    }

    /// Windows merged into `result`; what is known under `others`, the state windows that are given up, goes to it.
    pub fn on_merge(
        &mut self,
        key: KeyId,
        result: Window,
        others: &[Window],
        timers: &mut WindowTimers,
    ) -> RunResult<()> {
        for (_, next) in &mut self.periods {
            for other in others {
                if let Some(time) = next.remove(key, *other) {
                    let least = next.get(key, result).map_or(time, |t| time.min(*t));
                    next.put(key, result, least)?;
                }
            }
            if let Some(time) = next.get(key, result) {
                timers.processing.set(*time, key, result);
            }
        }
        if self.late.is_some()
            && let Some(after_end) = &mut self.after_end
        {
            after_end.put(key, result, false)?;
        }
        let due = self.time(result);
        let queue = if self.event_time { &mut timers.event } else { &mut timers.processing };
        queue.set(due, key, result);
        Ok(())
    }

    /// Forgets a window.
    pub fn clear(&mut self, key: KeyId, window: Window, timers: &mut WindowTimers) {
        for (_, next) in &mut self.periods {
            if let Some(time) = next.remove(key, window) {
                timers.processing.delete(time, key, window);
            }
        }
        if let Some(after_end) = &mut self.after_end {
            after_end.remove(key, window);
        }
        let due = self.time(window);
        let queue = if self.event_time { &mut timers.event } else { &mut timers.processing };
        queue.delete(due, key, window);
    }

    /// Its states.
    pub fn tables(&mut self) -> Vec<&mut dyn StateTable> {
        let mut out: Vec<&mut dyn StateTable> = Vec::new();
        out.extend(self.periods.iter_mut().map(|(_, state)| state as &mut dyn StateTable));
        out.extend(self.after_end.iter_mut().map(|state| state as &mut dyn StateTable));
        out
    }
}
