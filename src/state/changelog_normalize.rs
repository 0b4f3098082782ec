//! `ChangelogNormalize`: the last row per key (`ProcTimeDeduplicateKeepLastRowFunction`).

use super::types::StateType;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::changelog_normalize::ChangelogNormalize;

impl Stateful for ChangelogNormalize {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.keys.iter().copied(), StateType::Void);
        let row = keyed.value("deduplicate-state", context.input_row());
        let mut out = vec![row.compiled("changelogNormalizeState").with_ttl(context.ttl())];
        if !context.mini_batch() {
            out.extend(keyed.user_timers());
        }
        out
    }
}
