//! `LookupJoin`: rows that wait for answers (`AsyncWaitOperator`), or what was sent for the keys that are looked up by
//! (`KeyedLookupJoinWrapper`).

use super::types::StateType;
use super::{StateContext, StateEntry, StateKind, Stateful, row_of};
use crate::exec::lookup_join::LookupJoin;

impl Stateful for LookupJoin {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        if self.upsert_materialize {
            let keyed = context.keyed(self.input_keys(), StateType::Void);
            let sent = row_of(&context.node.columns[context.input.len()..]);
            let mut out = vec![keyed.value("values", StateType::from(sent).list()).with_ttl(context.ttl())];
            out.extend(keyed.user_timers());
            return out;
        }
        if self.asynchronous.is_none() {
            return Vec::new();
        }
        vec![StateEntry {
            name: "_async_wait_operator_state_".to_owned(),
            compiled_name: None,
            kind: StateKind::Operator,
            key: None,
            namespace: StateType::Void,
            value: StateType::Class("StreamElement", vec![context.input_row().into()]),
            ttl: None,
            input: 0,
        }]
    }
}
