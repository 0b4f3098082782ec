//! Slices: the parts of aligned windows that no row shares with another (Flink's `SliceAssigners`).

use super::Shift;
use crate::eval::Datum;
use crate::exec::window_spec::{WindowAttachment, WindowSpec};
use crate::logical::rel::WindowKind;
use crate::run::error::{RunError, RunResult};
use crate::run::store::IN_TIME;

/// The start of the window of this size that a moment falls into (`TimeWindow.getWindowStartWithOffset`).
#[inline]
pub fn window_start(time: i64, offset: i64, size: i64) -> i64 {
    time - (time - offset).rem_euclid(size)
}

/// The event time of a row.
#[inline]
pub fn event_time(row: &[Datum], column: usize) -> RunResult<i64> {
    row[column]
        .as_millis()
        .ok_or_else(|| RunError::job("rowtimeIndex should not be null, please convert it to a non-null long value."))
}

/// Of the starts (or ends) `first`, `first + step`, ..., up to `last` those that are among `kept`, in order. There can be many
/// more places than values, or more values than places; it takes as long as the fewer of them do.
pub fn kept_places<T: Copy>(
    (first, last, step): (i64, i64, i64),
    (count, kept): (usize, impl Iterator<Item = T>),
    place: impl Fn(T) -> i64,
    get: impl Fn(i64) -> Option<T>,
) -> Vec<T> {
    let places = (last - first) / step + 1;
    if places <= count as i64 {
        return (0..places).filter_map(|i| get(first + i * step)).collect();
    }
    let mut found: Vec<T> =
        kept.filter(|k| (first..=last).contains(&place(*k)) && (place(*k) - first) % step == 0).collect();
    found.sort_unstable_by_key(|k| place(*k));
    found
}

/// Where the slice of a row comes from.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// A time attribute.
    Time(usize),
    /// The clock.
    Clock,
    /// A column with the end of the window.
    End(usize),
}

/// Slices are named by their ends.
#[derive(Debug, Clone)]
pub struct Slices {
    kind: WindowKind,
    offset: i64,
    source: Source,
    shift: Shift,
}

impl Slices {
    /// The slices of a window. `None` for SESSION, which has none.
    pub fn of(window: &WindowSpec, shift: Shift) -> Option<Slices> {
        if matches!(window.kind, WindowKind::Session { .. }) {
            return None;
        }
        let source = match window.attachment {
            WindowAttachment::TimeColumn(_) if window.proctime => Source::Clock,
            WindowAttachment::TimeColumn(column) => Source::Time(column),
            WindowAttachment::Bounds { end, .. } => Source::End(end),
            // What a local aggregate attaches is computed here: its rows come through as they are.
            WindowAttachment::SliceEnd | WindowAttachment::WindowEnd => return None,
        };
        Some(Slices { kind: window.kind, offset: window.offset.unwrap_or(0), source, shift })
    }

    /// True for event time: windows that come in columns always are.
    pub fn is_event_time(&self) -> bool {
        !matches!(self.source, Source::Clock)
    }

    /// The time line of the windows.
    pub fn shift(&self) -> &Shift {
        &self.shift
    }

    /// The length of a slice (`getSliceEndInterval`).
    pub fn interval(&self) -> i64 {
        match self.kind {
            WindowKind::Tumble { size } => size,
            WindowKind::Hop { slide, .. } => slide,
            WindowKind::Cumulate { step, .. } => step,
            WindowKind::Session { gap } => gap,
        }
    }

    /// True if slices can end while Flink does not look into its buffers: see [`Shift::next_trigger`].
    pub fn needs_buffer(&self) -> bool {
        self.offset % self.interval() != 0 || self.shift.is_local()
    }

    /// The end of a row's slice. `now` is the processing time.
    #[inline]
    pub fn slice_end(&self, row: &[Datum], now: i64) -> RunResult<i64> {
        let time = match self.source {
            Source::Time(column) => self.shift.to_local(event_time(row, column)?),
            Source::Clock => self.shift.to_local(now),
            Source::End(column) => return event_time(row, column),
        };
        let interval = self.interval();
        Ok(window_start(time, self.offset, interval) + interval)
    }

    /// True if windows share slices (`SliceSharedAssigner`). A row whose window came in a column belongs to that one only.
    fn is_shared(&self) -> bool {
        !matches!(self.source, Source::End(_))
    }

    /// The end of the last window that a slice belongs to.
    pub fn last_window_end(&self, slice: i64) -> i64 {
        match self.kind {
            WindowKind::Hop { size, slide } if self.is_shared() => slice - slide + size,
            WindowKind::Cumulate { max_size, .. } if self.is_shared() => self.window_start(slice) + max_size,
            _ => slice,
        }
    }

    /// The start of the window with this end.
    pub fn window_start(&self, end: i64) -> i64 {
        match self.kind {
            WindowKind::Tumble { size } | WindowKind::Hop { size, .. } => end - size,
            WindowKind::Cumulate { max_size, .. } => window_start(end - 1, self.offset, max_size),
            WindowKind::Session { gap } => end - gap,
        }
    }

    /// How the slices of a window come together when it fires.
    pub fn sharing(&self) -> Sharing {
        match self.kind {
            WindowKind::Hop { .. } if self.is_shared() => Sharing::Hop,
            WindowKind::Cumulate { .. } if self.is_shared() => Sharing::Cumulate,
            _ => Sharing::None,
        }
    }

    /// True if a slice or a window can end there: what a savepoint holds under another end can come from no row.
    pub fn fits(&self, end: i64) -> bool {
        IN_TIME.contains(&end) && end == window_start(end, self.offset, self.interval())
    }

    /// The end of the first window of a slice that is not due yet at `progress`, if the last one is not: they end one interval
    /// after the other.
    pub fn first_open_end(&self, slice: i64, progress: i64) -> i64 {
        let (mut fired, mut open) = (-1, (self.last_window_end(slice) - slice) / self.interval());
        while open - fired > 1 {
            let middle = fired + (open - fired) / 2;
            if self.shift.is_fired(slice + middle * self.interval(), progress) { fired = middle } else { open = middle }
        }
        slice + open * self.interval()
    }

    /// The first slice of the window with this end.
    pub fn first_slice(&self, end: i64) -> i64 {
        self.window_start(end) + self.interval()
    }

    /// Where a row goes whose slice was due already while a later window still needs it (`sliceStateMergeTarget`).
    pub fn late_target(&self, slice: i64) -> i64 {
        match self.sharing() {
            Sharing::Cumulate => self.first_slice(slice),
            Sharing::None | Sharing::Hop => slice,
        }
    }
}

/// How windows share slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Every window is a slice.
    None,
    /// A window has several, which are merged when it fires.
    Hop,
    /// The first slice of a window collects those after it.
    Cumulate,
}
