//! `GroupAggregate`: GROUP BY without windows. State: one accumulator row per key, without end (unless a TTL is set).

use super::aggregate_text::call_text;
use super::{ExecNode, TextContext};
use crate::logical::rel::{AggCall, Split, WrittenCall};
use crate::logical::rex::Origins;
use crate::logical::state_ttl::StateTtl;
use crate::source::Span;

/// An unbounded aggregate.
#[derive(Debug, Clone)]
pub struct GroupAggregate {
    /// Group keys.
    pub keys: Vec<usize>,
    /// The calls.
    pub calls: Vec<AggCall>,
    /// The input has updates.
    pub retracts: bool,
    /// Where each key is written.
    pub key_origins: Vec<Origins>,
    /// The calls as written.
    pub written: Vec<WrittenCall>,
    /// GROUPING SETS, CUBE or ROLLUP.
    pub grouping_sets: Option<Span>,
    /// How long the state lives, by a hint.
    pub ttl: Option<StateTtl>,
    /// Which half of a split aggregate it is.
    pub split: Split,
}

/// How Flink prints which half of a split aggregate an operator is.
pub(super) fn split_attribute(split: &Split) -> Option<(&'static str, String)> {
    let half = match split {
        Split::None => return None,
        Split::Partial(_) => "PARTIAL",
        Split::Final => "FINAL",
    };
    Some(("partialFinalType", half.to_owned()))
}

impl ExecNode for GroupAggregate {
    fn kind(&self) -> &'static str {
        "GroupAggregate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let mut out = Vec::new();
        if !self.keys.is_empty() {
            out.push(("groupBy", context.names(&self.keys)));
        }
        out.extend(split_attribute(&self.split));
        let columns = &context.node.columns;
        let mut select: Vec<String> = self.keys.iter().map(|k| context.name(*k).to_owned()).collect();
        for (call, column) in self.calls.iter().zip(&columns[self.keys.len()..]) {
            select.push(format!("{} AS {}", call_text(call, self.retracts, context), column.name));
        }
        out.push(("select", select.join(", ")));
        out
    }
}
