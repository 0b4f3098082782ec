//! `TemporalJoin`: rows with the version of another table's row that was valid at their event time. Keeps rows until the watermark
//! has passed them, and of the versions those that are not over yet.

use super::calc::conjunction;
use super::join::{both_names, side_keys};
use super::{ExecNode, TextContext};
use crate::logical::join::{JoinKey, JoinType};
use crate::logical::print::expression;
use crate::logical::rex::{Origins, Rex};

/// Joins every row of the left side with one version of a row of the right side.
#[derive(Debug, Clone)]
pub struct TemporalJoin {
    /// What becomes of rows without a version.
    pub join_type: JoinType,
    /// The event time that a version is looked for at: a column of the left row.
    pub time: usize,
    /// Since when a version is valid: a column of the right row.
    pub from: usize,
    /// Conjuncts over both rows side by side.
    pub conditions: Vec<Rex>,
    /// The equalities among them, by whose columns rows are exchanged and kept.
    pub keys: Vec<JoinKey>,
    /// The primary key of the versions: columns of the right row.
    pub primary_key: Vec<usize>,
    /// Where the condition is written.
    pub condition_origins: Origins,
}

impl TemporalJoin {
    /// The join keys of one side, as columns of its row.
    pub fn side_keys(&self, side: usize) -> Vec<usize> {
        side_keys(&self.keys, side)
    }
}

impl ExecNode for TemporalJoin {
    fn kind(&self) -> &'static str {
        "TemporalJoin"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let names = both_names(context.plan, context.node);
        let width = context.plan.node(context.node.inputs[0]).columns.len();
        let list =
            |columns: &mut dyn Iterator<Item = usize>| columns.map(|c| &*names[c]).collect::<Vec<&str>>().join(", ");
        let version = format!(
            "__TEMPORAL_JOIN_CONDITION({}, {}, __TEMPORAL_JOIN_CONDITION_PRIMARY_KEY({}), __TEMPORAL_JOIN_LEFT_KEY({}), \
             __TEMPORAL_JOIN_RIGHT_KEY({}))",
            names[self.time],
            names[width + self.from],
            list(&mut self.primary_key.iter().map(|c| c + width)),
            list(&mut self.keys.iter().map(|k| k.left)),
            list(&mut self.keys.iter().map(|k| k.right + width)),
        );
        let names: Vec<&str> = names.iter().map(|n| &**n).collect();
        let parts: Vec<String> = self.conditions.iter().map(|c| expression(c, &names).to_string()).collect();
        let condition = if parts.is_empty() {
            conjunction(&[], &names)
        } else {
            format!("({} AND {version})", parts.join(" AND "))
        };
        vec![("joinType", self.join_type.name().to_owned()), ("where", condition), ("select", context.output_names())]
    }
}
