//! Rows that wait outside of state (Flink's `RecordsWindowBuffer`).
//!
//! Flink buffers all rows of a window and looks into the buffer when a window can be due. Where windows are due just then, it is
//! the same to put rows into state at once; where they are not, because Flink knows of no offset there, rows are lost, and only
//! a buffer loses the same ones.

use super::Shift;
use crate::run::change::Change;

/// When buffers are looked into.
#[derive(Debug, Clone)]
pub struct FlushClock {
    interval: i64,
    next: i64,
}

impl FlushClock {
    /// The first time is at `first`.
    pub fn new(interval: i64, first: i64) -> FlushClock {
        FlushClock { interval, next: first }
    }

    /// True if buffers are looked into at `progress`.
    pub fn strikes(&mut self, progress: i64, shift: &Shift) -> bool {
        if progress < self.next {
            return false;
        }
        self.next = shift.next_trigger(progress, self.interval);
        true
    }
}

/// Rows with the ends of their slices.
#[derive(Debug)]
pub struct RowBuffer {
    rows: Vec<(i64, Change)>,
    /// The least of their slices.
    least: i64,
}

impl RowBuffer {
    /// An empty buffer.
    pub fn new() -> RowBuffer {
        RowBuffer { rows: Vec::new(), least: i64::MAX }
    }

    /// Keeps a row.
    pub fn add(&mut self, slice: i64, change: Change) {
        self.least = self.least.min(slice);
        self.rows.push((slice, change));
    }

    /// All rows, if one of them belongs to a slice that is due at `progress`; else none.
    pub fn due(&mut self, progress: i64, shift: &Shift) -> Vec<(i64, Change)> {
        if shift.is_fired(self.least, progress) { self.take() } else { Vec::new() }
    }

    /// All rows.
    pub fn take(&mut self) -> Vec<(i64, Change)> {
        self.least = i64::MAX;
        std::mem::take(&mut self.rows)
    }
}
