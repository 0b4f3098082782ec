//! `WindowJoin`: the rows of both sides by the ends of their windows (`WindowJoinOperator`).

use super::types::StateType;
use super::{StateContext, StateEntry, Stateful, row_of};
use crate::exec::window_join::WindowJoin;

impl Stateful for WindowJoin {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.side_keys(0), StateType::bigint());
        let rows = |side: usize| row_of(context.plan.input_columns(context.id, side));
        let mut out = vec![keyed.list("left-records", rows(0)), keyed.list("right-records", rows(1)).of_input(1)];
        out.extend(keyed.timers("window-timers"));
        out
    }
}
