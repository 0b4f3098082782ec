//! `Rank`: rows by their sort key, as the strategy needs them (`AppendOnlyTopNFunction`, `UpdatableTopNFunction`,
//! `RetractableTopNFunction`, `FastTop1Function`).

use super::types::StateType;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::rank::{Rank, RankStrategy};
use crate::logical::rel::{RankEnd, SortKey};

/// The rows that are kept of an order.
pub(super) struct Kept<'a> {
    /// PARTITION BY.
    pub partition: &'a [usize],
    /// ORDER BY.
    pub order: &'a [SortKey],
    /// The first and the last rank that are kept.
    pub range: (i64, RankEnd),
    /// How.
    pub strategy: &'a RankStrategy,
}

impl Kept<'_> {
    /// The entries, also of the operators that Flink makes from `StreamExecRank`: `Limit` and `SortLimit`.
    pub(super) fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.partition.iter().copied(), StateType::Void);
        let sort_key: StateType = context.row_of(self.order.iter().map(|k| k.column)).into();
        let row: StateType = context.input_row().into();
        let mut states = match self.strategy {
            RankStrategy::AppendFast | RankStrategy::UpdateFast(_) if self.range == (1, RankEnd::At(1)) => {
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
        if let RankEnd::Column(_) = self.range.1 {
            states.insert(0, keyed.value("rankEnd", StateType::bigint()));
        }
        let ttl = context.ttl();
        let mut out: Vec<_> = states.into_iter().map(|e| e.compiled("rankState").with_ttl(ttl)).collect();
        out.extend(keyed.user_timers());
        out
    }
}

impl Stateful for Rank {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let ranking = &self.ranking;
        let kept = Kept {
            partition: &ranking.partition,
            order: &ranking.order,
            range: (ranking.start, ranking.end),
            strategy: &self.strategy,
        };
        kept.entries(context)
    }
}
