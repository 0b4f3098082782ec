//! `IntervalJoin`: the rows of both sides by their times, each with whether it has been sent, and when to look for those that are
//! too old (`TimeIntervalJoin`).

use super::types::StateType;
use super::{StateContext, StateEntry, Stateful, row_of};
use crate::exec::interval_join::IntervalJoin;

impl Stateful for IntervalJoin {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        // Flink passes the rows by then (`createNegativeWindowSizeJoin`).
        if self.interval.is_empty() {
            return Vec::new();
        }
        let keyed = context.keyed(self.side_keys(0), StateType::Void);
        let long = StateType::bigint;
        let rows = |side: usize| {
            let row = row_of(context.plan.input_columns(context.id, side)).into();
            StateType::Tuple(vec![row, StateType::boolean()]).list()
        };
        let mut out = vec![
            keyed.map("IntervalJoinLeftCache", long(), rows(0)),
            keyed.map("IntervalJoinRightCache", long(), rows(1)).of_input(1),
            keyed.value("IntervalJoinLeftTimerState", long()),
            keyed.value("IntervalJoinRightTimerState", long()),
        ];
        out.extend(keyed.user_timers());
        out
    }
}
