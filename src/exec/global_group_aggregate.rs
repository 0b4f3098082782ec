//! `GlobalGroupAggregate`: the second phase of a GROUP BY under mini-batch. State: one accumulator row per key, without end.

use super::aggregate_text::{Accumulators, global_call_texts};
use super::group_aggregate::{GroupAggregate, split_attribute};
use super::incremental_group_aggregate::final_call_texts;
use super::{ExecNode, Operator, TextContext};
use crate::logical::rel::AggCall;

/// Merges the bundles of local aggregates.
#[derive(Debug, Clone)]
pub struct GlobalGroupAggregate {
    /// What is computed; its keys are columns of the local aggregate's output.
    pub aggregate: GroupAggregate,
    /// The calls of the local aggregate, a hidden count among them.
    pub local_calls: Vec<AggCall>,
    /// The call that tells how many rows a key has left, where it sums up counts of an incremental aggregate.
    pub row_count: Option<usize>,
}

impl ExecNode for GlobalGroupAggregate {
    fn kind(&self) -> &'static str {
        "GlobalGroupAggregate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let mut out = Vec::new();
        let keys = &self.aggregate.keys;
        if !keys.is_empty() {
            out.push(("groupBy", context.names(keys)));
        }
        out.extend(split_attribute(&self.aggregate.split));
        let mut select: Vec<String> = keys.iter().map(|k| context.name(*k).to_owned()).collect();
        let accumulators = Accumulators::of(&self.local_calls, self.aggregate.retracts);
        let columns = &context.node.columns[keys.len()..];
        let texts = match context.phase_below() {
            Some(Operator::IncrementalGroupAggregate(below)) => {
                final_call_texts(&self.local_calls, below, self.aggregate.retracts)
            }
            _ => global_call_texts(&self.local_calls, &accumulators, self.aggregate.retracts),
        };
        select.extend(texts.iter().zip(columns).map(|(text, column)| format!("{text} AS {}", column.name)));
        out.push(("select", select.join(", ")));
        out
    }
}
