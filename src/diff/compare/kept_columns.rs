//! Which change an operator's other columns come of: they are kept because something above reads them, or come through what keeps them
//! below.

use std::collections::HashSet;

use super::super::change::ChangeKind;
use super::super::lineage::Ident;
use super::{Comparison, Stated};

impl Comparison<'_> {
    /// Notes which columns only one side reads for what was stated last.
    pub fn reads(&mut self, columns: Vec<Ident>) {
        if let Some(stated) = self.stated.last_mut() {
            stated.reads = columns;
        }
    }

    /// The operator below that keeps, or kept, all of these columns on one side only as well: they come through it.
    pub(super) fn stored_below(&self, differing: &[Ident], number: usize) -> Option<usize> {
        let mut below = differing.iter().map(|id| self.passed_on.get(id).filter(|p| self.is_below(**p, number)));
        let first = *below.next()??;
        below.all(|p| p.is_some()).then_some(first)
    }

    /// Notes that columns which only one side keeps here are sent on.
    pub(super) fn passes_on(&mut self, differing: &[Ident], number: usize) {
        let pair = &self.matching.pairs[number];
        let (old, new) = (pair.old, pair.new);
        let mut sent: Vec<Ident> = Vec::new();
        sent.extend(old.into_iter().flat_map(|id| self.old.idents(id, &self.matching, &mut self.interner)));
        sent.extend(new.into_iter().flat_map(|id| self.new.idents(id, &self.matching, &mut self.interner)));
        let same = |id: &Ident| {
            differing.contains(id)
                || matches!(self.interner.info(*id).parts.as_slice(), [part] if differing.contains(part))
        };
        let passed: Vec<Ident> = sent.into_iter().filter(same).collect();
        self.passed_on.extend(passed.into_iter().map(|id| (id, number)));
    }

    /// What an operator keeps on one side only because a change above it reads it there comes of that change.
    pub fn kept_for_above(&mut self) {
        let causes: Vec<(usize, usize)> = (0..self.stated.len())
            .filter(|i| self.stated[*i].cause.is_none() && !self.stated[*i].keeps.is_empty())
            .filter_map(|i| Some((i, self.reader_of(&self.stated[i])?)))
            .collect();
        for (i, cause) in causes {
            self.stated[i].cause = Some(cause);
        }
    }

    /// The pair above with a change that reads all the columns that only one side keeps.
    fn reader_of(&self, stored: &Stated) -> Option<usize> {
        let stands_above = |above: &Stated| match above.change.kind {
            // A filter is stated for what it reads from.
            ChangeKind::Filter { .. } if above.pair == stored.pair => true,
            _ => self.is_below(stored.pair, above.pair),
        };
        let reads_all = |above: &&Stated| {
            above.cause != Some(stored.pair)
                && !above.reads.is_empty()
                && stands_above(above)
                && stored.keeps.iter().all(|column| self.made_of(&above.reads, *column))
        };
        self.stated.iter().find(reads_all).map(|above| above.pair)
    }

    /// True if a column is among others, or among what these are computed from.
    fn made_of(&self, columns: &[Ident], wanted: Ident) -> bool {
        let mut seen: HashSet<Ident> = HashSet::new();
        let mut left = columns.to_vec();
        while let Some(next) = left.pop() {
            if next == wanted {
                return true;
            }
            if seen.insert(next) {
                left.extend(&self.interner.info(next).parts);
            }
        }
        false
    }
}
