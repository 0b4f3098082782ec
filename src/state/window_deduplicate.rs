//! `WindowDeduplicate`: one row per key and open window (`RowTimeWindowDeduplicateProcessor`).

use super::types::StateType;
use super::window_aggregate::watermark;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::window_deduplicate::WindowDeduplicate;

impl Stateful for WindowDeduplicate {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.ranking.partition.iter().copied(), StateType::bigint());
        let mut out = vec![keyed.value("window_deduplicate", context.input_row()), watermark()];
        out.extend(keyed.timers("window-timers"));
        out
    }
}
