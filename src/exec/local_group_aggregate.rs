//! `LocalGroupAggregate`: the first phase of a GROUP BY under mini-batch. It keeps a bundle, no state.

use super::aggregate_text::{Accumulators, local_call_texts};
use super::group_aggregate::split_attribute;
use super::{ExecNode, TextContext};
use crate::logical::rel::{AggCall, Split};

/// Aggregates a bundle before the exchange.
#[derive(Debug, Clone)]
pub struct LocalGroupAggregate {
    /// Group keys.
    pub keys: Vec<usize>,
    /// The calls, a hidden count among them.
    pub calls: Vec<AggCall>,
    /// The input has updates.
    pub retracts: bool,
    /// Which half of a split aggregate it is the first phase of.
    pub split: Split,
}

impl ExecNode for LocalGroupAggregate {
    fn kind(&self) -> &'static str {
        "LocalGroupAggregate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let mut out = Vec::new();
        if !self.keys.is_empty() {
            out.push(("groupBy", context.names(&self.keys)));
        }
        out.extend(split_attribute(&self.split));
        let mut select: Vec<String> = self.keys.iter().map(|k| context.name(*k).to_owned()).collect();
        let accumulators = Accumulators::of(&self.calls, self.retracts);
        select.extend(local_call_texts(&self.calls, &accumulators, self.retracts, context));
        out.push(("select", select.join(", ")));
        out
    }
}
