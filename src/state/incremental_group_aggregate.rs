//! `IncrementalGroupAggregate`: what DISTINCT has seen, per bucket (`MiniBatchIncrementalGroupAggFunction`). Its accumulators go on with
//! each bundle and are not kept.

use super::accumulators::AccumulatorLayout;
use super::types::StateType;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::incremental_group_aggregate::IncrementalGroupAggregate;

impl Stateful for IncrementalGroupAggregate {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.partial.aggregate.keys.iter().copied(), StateType::Void);
        let layout = self.partial.accumulators(context.local_input());
        let ttl = context.ttl_of(0);
        let views = layout.distinct_entries(&keyed).into_iter();
        views.map(|e| e.compiled("incrementalGroupAggregateState").with_ttl(ttl)).collect()
    }

    fn layout(&self, context: &StateContext<'_>) -> Option<AccumulatorLayout> {
        Some(self.partial.accumulators(context.local_input()))
    }
}
