//! `Deduplicate`: the row that is kept per key, or a mark that there was one (the functions of
//! `org.apache.flink.table.runtime.operators.deduplicate`).

use super::types::StateType;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::Target;
use crate::exec::deduplicate::Deduplicate;

impl Stateful for Deduplicate {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.ranking.partition.iter().copied(), StateType::Void);
        let row = context.input_row();
        let first = !self.keeps_last();
        let ttl = context.ttl();
        let named = |entry: StateEntry| entry.compiled("deduplicateState");
        let waits = first && context.plan.target == Target::Flink22 && context.node.changelog.is_insert_only();
        let mut out = match (self.proctime, first) {
            // `ProcTimeDeduplicateKeepFirstRowFunction`
            (true, true) => vec![named(keyed.value("deduplicate-state", StateType::boolean())).with_ttl(ttl)],
            // `RowTimeDeduplicateKeepFirstRowFunction`, since Flink 2
            (false, true) if waits => vec![
                named(keyed.value("waiting-to-emit-on-timer", row)),
                named(keyed.value("already-emitted-state-boolean", StateType::boolean())).with_ttl(ttl),
            ],
            // `ProcTimeDeduplicateKeepLastRowFunction`, `RowTimeDeduplicateFunction`
            _ => vec![named(keyed.value("deduplicate-state", row)).with_ttl(ttl)],
        };
        if !context.mini_batch() {
            out.extend(keyed.user_timers());
        }
        out
    }
}
