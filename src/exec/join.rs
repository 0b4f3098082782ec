//! `Join`: a regular join. Keeps the rows of both sides for as long as the state lives.

use super::calc::conjunction;
use std::sync::Arc;

use super::{ExecNode, Node, Plan, TextContext};
use crate::logical::join::{JoinKey, JoinType, unique_names};
use crate::logical::rex::{Origins, Rex};
use crate::logical::state_ttl::StateTtl;

/// Joins every row of one side with all of the other that fulfil the condition.
#[derive(Debug, Clone)]
pub struct Join {
    /// What becomes of rows without a partner.
    pub join_type: JoinType,
    /// Conjuncts over both rows side by side.
    pub conditions: Vec<Rex>,
    /// The equalities among them, by whose columns rows are exchanged and kept.
    pub keys: Vec<JoinKey>,
    /// How the rows of the left and of the right side are told apart.
    pub inputs: [InputSpec; 2],
    /// It works in bundles.
    pub mini_batch: bool,
    /// Where the condition is written.
    pub condition_origins: Origins,
    /// How long the rows of either side are kept, by hints.
    pub ttl: [Option<StateTtl>; 2],
}

/// How the rows of one side are told apart (Flink's `JoinInputSideSpec`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputSpec {
    /// By nothing but their values.
    NoUniqueKey,
    /// By these columns.
    HasUniqueKey(Vec<usize>),
    /// There is at most one per join key.
    JoinKeyContainsUniqueKey(Vec<usize>),
}

impl InputSpec {
    /// The spec of a side with these upsert keys and join keys: of several keys the shortest.
    pub fn of(upsert_keys: &[Vec<usize>], join_keys: &[usize]) -> InputSpec {
        let within = |key: &&Vec<usize>| key.iter().all(|c| join_keys.contains(c));
        if let Some(key) = upsert_keys.iter().find(within) {
            return InputSpec::JoinKeyContainsUniqueKey(key.clone());
        }
        match upsert_keys.iter().min_by_key(|key| key.len()) {
            Some(key) => InputSpec::HasUniqueKey(key.clone()),
            None => InputSpec::NoUniqueKey,
        }
    }

    /// Flink's word for it.
    pub fn name(&self) -> &'static str {
        match self {
            InputSpec::NoUniqueKey => "NoUniqueKey",
            InputSpec::HasUniqueKey(_) => "HasUniqueKey",
            InputSpec::JoinKeyContainsUniqueKey(_) => "JoinKeyContainsUniqueKey",
        }
    }
}

impl Join {
    /// The join keys of one side, as columns of its row.
    pub fn side_keys(&self, side: usize) -> Vec<usize> {
        side_keys(&self.keys, side)
    }
}

/// The columns of one side among join keys.
pub fn side_keys(keys: &[JoinKey], side: usize) -> Vec<usize> {
    keys.iter().map(|k| if side == 0 { k.left } else { k.right }).collect()
}

/// The names of the columns of both sides, those that the join does not send among them.
pub fn both_names(plan: &Plan, node: &Node) -> Vec<Arc<str>> {
    let sides = node.inputs.iter().flat_map(|i| &plan.node(*i).columns);
    let all = unique_names(sides.map(|c| c.name.clone()));
    let sent = node.columns.iter().map(|c| c.name.clone());
    sent.chain(all.into_iter().skip(node.columns.len())).collect()
}

/// A join's condition over the names of its own row.
pub fn condition(conditions: &[Rex], context: &TextContext<'_>) -> String {
    if conditions.is_empty() {
        return "true".to_owned();
    }
    let names = both_names(context.plan, context.node);
    conjunction(conditions, &names.iter().map(|n| &**n).collect::<Vec<_>>())
}

impl ExecNode for Join {
    fn kind(&self) -> &'static str {
        "Join"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let mut out = vec![
            ("joinType", self.join_type.name().to_owned()),
            ("where", condition(&self.conditions, context)),
            ("select", context.output_names()),
            ("leftInputSpec", self.inputs[0].name().to_owned()),
            ("rightInputSpec", self.inputs[1].name().to_owned()),
        ];
        if self.mini_batch {
            out.push(("miniBatch", "true".to_owned()));
        }
        out
    }
}
