//! What ranks send: rows whose number is in the range, with or without the number.

use crate::eval::{Datum, Row};
use crate::run::change::RowKind;
use crate::run::task::Output;

/// The range of ranks that is sent, and how.
#[derive(Clone, Copy)]
pub(super) struct Ranked {
    pub start: i64,
    pub end: i64,
    /// How many rows are taken before it counts which (`getDefaultTopNSize`).
    pub reach: i64,
    /// The rank number is a column.
    pub number: bool,
    /// Somebody below needs `-U`.
    pub before: bool,
}

impl Ranked {
    /// True if what is sent depends on the places of rows, and not only on which rows there are: the number is sent, or the first
    /// rows are skipped.
    pub fn by_number(&self) -> bool {
        self.number || self.start > 1
    }

    /// True if there may be rows of this rank.
    pub fn in_end(&self, rank: i64) -> bool {
        rank <= self.end
    }

    /// True if rows of this rank are sent.
    pub fn in_range(&self, rank: i64) -> bool {
        rank >= self.start && rank <= self.end
    }

    /// Sends a row of this rank.
    pub fn send(&self, kind: RowKind, row: &Row, rank: i64, out: &mut Output) {
        if !self.in_range(rank) || (kind == RowKind::UpdateBefore && !self.before) {
            return;
        }
        let row = if self.number { row.extended([Datum::Int(rank)].into_iter()) } else { row.clone() };
        out.send(kind, row);
    }

    /// Sends that `new` took the place of `old`.
    pub fn replace(&self, old: &Row, new: &Row, rank: i64, out: &mut Output) {
        self.send(RowKind::UpdateBefore, old, rank, out);
        self.send(RowKind::UpdateAfter, new, rank, out);
    }

    /// Sends a row whose rank plays no part.
    pub fn send_unranked(&self, kind: RowKind, row: &Row, out: &mut Output) {
        if kind != RowKind::UpdateBefore || self.before {
            out.send(kind, row.clone());
        }
    }
}
