//! What flows between operators.

use std::fmt;

use crate::eval::Row;

/// The kinds of changes (Flink's `RowKind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKind {
    /// `+I`
    Insert,
    /// `-U`
    UpdateBefore,
    /// `+U`
    UpdateAfter,
    /// `-D`
    Delete,
}

impl RowKind {
    /// Flink's short string.
    pub fn name(self) -> &'static str {
        match self {
            RowKind::Insert => "+I",
            RowKind::UpdateBefore => "-U",
            RowKind::UpdateAfter => "+U",
            RowKind::Delete => "-D",
        }
    }

    /// The kind of a short string.
    pub fn from_name(name: &str) -> Option<RowKind> {
        [RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter, RowKind::Delete]
            .into_iter()
            .find(|k| k.name() == name)
    }

    /// True for changes that add a row (`RowDataUtil.isAccumulateMsg`); the others take one back.
    pub fn adds(self) -> bool {
        matches!(self, RowKind::Insert | RowKind::UpdateAfter)
    }
}

impl fmt::Display for RowKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A row with what happens to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Change {
    /// What happens.
    pub kind: RowKind,
    /// The row.
    pub row: Row,
}

impl Change {
    /// `+I`
    pub fn insert(row: Row) -> Change {
        Change { kind: RowKind::Insert, row }
    }
}

/// What an operator receives and sends, in order.
#[derive(Debug, Clone)]
pub enum Event {
    /// A change.
    Row(Change),
    /// No row with an event time at or below this many milliseconds is expected any more.
    Watermark(i64),
    /// Processing time is now this many milliseconds.
    Clock(i64),
}

/// The watermark after the last row of a bounded input (`Watermark.MAX_WATERMARK`).
pub const MAX_WATERMARK: i64 = i64::MAX;
