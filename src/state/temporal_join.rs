//! `TemporalJoin`: the rows that wait for the watermark by the order in which they came, and the versions by the times that they
//! begin at (`TemporalRowTimeJoinOperator`).

use super::types::StateType;
use super::{StateContext, StateEntry, Stateful, row_of};
use crate::exec::temporal_join::TemporalJoin;

impl Stateful for TemporalJoin {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.side_keys(0), StateType::Void);
        let long = StateType::bigint;
        let row = |side: usize| StateType::from(row_of(context.plan.input_columns(context.id, side)));
        let mut out = vec![
            keyed.value("next-index", long()),
            keyed.map("left", long(), row(0)),
            keyed.map("right", long(), row(1)).of_input(1),
            keyed.value("timer", long()),
        ];
        // `BaseTwoInputStreamOperatorWithStateRetention`
        if context.ttl().is_some() {
            out.push(keyed.value("cleanup-timestamp", long()));
        }
        out.extend(keyed.timers("timers"));
        out
    }
}
