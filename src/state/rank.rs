//! `Rank`: rows by their sort key, as the strategy needs them (`AppendOnlyTopNFunction`, `UpdatableTopNFunction`,
//! `RetractableTopNFunction`, `FastTop1Function`).

use super::types::StateType;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::rank::{Rank, RankStrategy};

impl Stateful for Rank {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.ranking.partition.iter().copied(), StateType::Void);
        let sort_key: StateType = context.row_of(self.ranking.order.iter().map(|k| k.column)).into();
        let row: StateType = context.input_row().into();
        let top_one = (self.ranking.start, self.ranking.end) == (1, 1);
        let states = match &self.strategy {
            RankStrategy::AppendFast | RankStrategy::UpdateFast(_) if top_one => {
                vec![keyed.value("Top1-Rank-State", row)]
            }
            RankStrategy::AppendFast => vec![keyed.map("data-state-with-append", sort_key, row.list())],
            RankStrategy::UpdateFast(key) => {
                let place = StateType::Tuple(vec![row, StateType::int()]);
                vec![keyed.map("data-state-with-update", context.row_of(key.iter().copied()), place)]
            }
            RankStrategy::Retract => {
                let counts = StateType::SortedMap(Box::new(sort_key.clone()), Box::new(StateType::bigint()));
                vec![keyed.map("data-state", sort_key, row.list()), keyed.value("sorted-map", counts)]
            }
        };
        let ttl = context.ttl();
        let mut out: Vec<_> = states.into_iter().map(|e| e.compiled("rankState").with_ttl(ttl)).collect();
        out.extend(keyed.user_timers());
        out
    }
}
