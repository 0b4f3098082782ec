//! `GlobalGroupAggregate`: one accumulator row per key (`MiniBatchGlobalGroupAggFunction`). Bundles need no timers.

use super::accumulators::{AccumulatorLayout, AggregateUse};
use super::types::StateType;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::Column;
use crate::exec::global_group_aggregate::GlobalGroupAggregate;

impl GlobalGroupAggregate {
    /// The accumulator row, over the columns of the local aggregate's input.
    pub fn accumulators(&self, local_input: &[Column]) -> AccumulatorLayout {
        let retracts = self.aggregate.retracts;
        let usage = AggregateUse { retracts, counts_rows: retracts && self.row_count.is_none(), keeps_time: false };
        let mut layout = AccumulatorLayout::of(&self.local_calls, local_input, usage);
        if let Some(fields) = self.row_count.and_then(|call| layout.calls.get(call)) {
            layout.count_star = Some(fields.start);
        }
        layout
    }
}

impl Stateful for GlobalGroupAggregate {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.aggregate.keys.iter().copied(), StateType::Void);
        let layout = self.accumulators(context.local_input());
        let mut out = vec![keyed.value("accState", layout.row.clone())];
        out.extend(layout.view_entries(&keyed));
        let ttl = context.ttl_of(0);
        out.into_iter().map(|e| e.compiled("globalGroupAggregateState").with_ttl(ttl)).collect()
    }

    fn layout(&self, context: &StateContext<'_>) -> Option<AccumulatorLayout> {
        Some(self.accumulators(context.local_input()))
    }
}
