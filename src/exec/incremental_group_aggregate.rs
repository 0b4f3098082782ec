//! `IncrementalGroupAggregate`: both halves of a split aggregate under mini-batch, one after the other without an exchange: what the
//! buckets of a key bring with a bundle goes on as one row. State: the values that DISTINCT has seen, per bucket, without end.

use super::aggregate_text::{Accumulators, function_name, global_call_texts};
use super::global_group_aggregate::GlobalGroupAggregate;
use super::{Column, ExecNode, TextContext, join};
use crate::logical::rel::AggCall;

/// Merges the bundles of local aggregates per bucket, and sends what is new per key.
#[derive(Debug, Clone)]
pub struct IncrementalGroupAggregate {
    /// The partial half.
    pub partial: GlobalGroupAggregate,
    /// How many of its keys are those of the whole aggregate; they stand first.
    pub keys: usize,
    /// The row that the partial half would send: what the final half computes with.
    pub results: Vec<Column>,
}

/// Calls after DISTINCT has been seen to.
pub fn undistinct(calls: &[AggCall]) -> Vec<AggCall> {
    calls.iter().map(|c| AggCall { distinct: false, ..c.clone() }).collect()
}

impl IncrementalGroupAggregate {
    /// The names of the accumulators that it sends.
    pub fn accumulators(&self) -> Accumulators {
        Accumulators::of(&undistinct(&self.partial.local_calls), self.partial.aggregate.retracts)
    }
}

impl ExecNode for IncrementalGroupAggregate {
    fn kind(&self) -> &'static str {
        "IncrementalGroupAggregate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let (calls, aggregate) = (&self.partial.local_calls, &self.partial.aggregate);
        let keys = &aggregate.keys[..self.keys];
        let names = Accumulators::of(calls, aggregate.retracts);
        let texts = global_call_texts(calls, &names, aggregate.retracts);
        let mut select: Vec<String> = keys.iter().map(|k| context.name(*k).to_owned()).collect();
        select.extend(texts.iter().zip(&names.names).map(|(text, name)| format!("{text} AS {name}")));
        vec![
            ("partialAggGrouping", context.names(&aggregate.keys)),
            ("finalAggGrouping", context.names(keys)),
            ("select", join(select)),
        ]
    }
}

/// The calls of the final half over what an incremental aggregate sends.
pub fn final_call_texts(calls: &[AggCall], incremental: &IncrementalGroupAggregate, retracts: bool) -> Vec<String> {
    let names = incremental.accumulators().names;
    calls.iter().zip(names).map(|(call, name)| format!("{}({name})", function_name(call, retracts))).collect()
}
