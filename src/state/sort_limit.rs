//! `SortLimit`: a Top-N over all rows.

use super::rank::Kept;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::sort_limit::SortLimit;

impl Stateful for SortLimit {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let top_one = (self.offset, self.fetch) == (0, 1);
        Kept { partition: &[], order: &self.order, top_one, strategy: &self.strategy }.entries(context)
    }
}
