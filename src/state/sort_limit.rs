//! `SortLimit`: a Top-N over all rows.

use super::rank::Kept;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::sort_limit::SortLimit;
use crate::logical::rel::RankEnd;

impl Stateful for SortLimit {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let range = (self.offset + 1, RankEnd::At(self.offset.saturating_add(self.fetch)));
        Kept { partition: &[], order: &self.order, range, strategy: &self.strategy }.entries(context)
    }
}
