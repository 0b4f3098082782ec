//! `GroupAggregate`: one accumulator row per key (`GroupAggFunction`).

use super::accumulators::{AccumulatorLayout, AggregateUse};
use super::types::StateType;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::Column;
use crate::exec::group_aggregate::GroupAggregate;

impl GroupAggregate {
    /// The accumulator row, over the columns of the aggregate's input.
    pub fn accumulators(&self, input: &[Column]) -> AccumulatorLayout {
        let usage = AggregateUse { retracts: self.retracts, counts_rows: self.retracts, keeps_time: false };
        AccumulatorLayout::of(&self.calls, input, usage)
    }
}

impl Stateful for GroupAggregate {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.keys.iter().copied(), StateType::Void);
        let layout = self.accumulators(context.input);
        let mut out = vec![keyed.value("accState", layout.row.clone())];
        out.extend(layout.view_entries(&keyed));
        let ttl = context.ttl_of(0);
        let mut out: Vec<_> = out.into_iter().map(|e| e.compiled("groupAggregateState").with_ttl(ttl)).collect();
        if !context.mini_batch() {
            out.extend(keyed.user_timers());
        }
        out
    }

    fn layout(&self, context: &StateContext<'_>) -> Option<AccumulatorLayout> {
        Some(self.accumulators(context.input))
    }
}
