//! `WindowRank`: per open window the rows that can still be among the first N (`WindowRankProcessor`).

use super::types::StateType;
use super::window_aggregate::watermark;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::window_rank::WindowRank;

impl Stateful for WindowRank {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.ranking.partition.iter().copied(), StateType::bigint());
        let sort_key = context.row_of(self.ranking.order.iter().map(|k| k.column));
        let rows = StateType::from(context.input_row()).list();
        let mut out = vec![keyed.map("window_rank", sort_key, rows), watermark()];
        out.extend(keyed.timers("window-timers"));
        out
    }
}
