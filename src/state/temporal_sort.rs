//! `TemporalSort`: the rows that wait for the watermark, or for the end of a millisecond of processing time
//! (`RowTimeSortOperator`, `ProcTimeSortOperator`).

use super::types::StateType;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::temporal_sort::TemporalSort;

impl Stateful for TemporalSort {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        if !self.is_stateful() {
            return Vec::new();
        }
        let keyed = context.keyed([], StateType::Void);
        let row: StateType = context.input_row().into();
        let mut out = if self.proctime {
            vec![keyed.list("sortState", row)]
        } else {
            let long = StateType::bigint;
            vec![keyed.map("dataState", long(), row.list()), keyed.value("lastTriggeringTsState", long())]
        };
        out.extend(keyed.user_timers());
        out
    }
}
