//! `Limit`: a Top-N over all rows without an order; it keeps the rows that passed.

use super::rank::Kept;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::limit::Limit;
use crate::exec::rank::RankStrategy;
use crate::logical::rel::RankEnd;

impl Stateful for Limit {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let inserts = context.node.inputs.first().is_some_and(|i| context.plan.node(*i).changelog.is_insert_only());
        let strategy = if inserts { RankStrategy::AppendFast } else { RankStrategy::Retract };
        let range = (self.offset + 1, RankEnd::At(self.offset.saturating_add(self.fetch)));
        Kept { partition: &[], order: &[], range, strategy: &strategy }.entries(context)
    }
}
