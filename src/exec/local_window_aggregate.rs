//! `LocalWindowAggregate`: aggregates per slice before the exchange. Buffers between watermarks, keeps nothing in savepoints.

use super::aggregate_text::{Accumulators, local_call_texts};
use super::window_spec::{WindowAttachment, WindowSpec};
use super::{ExecNode, TextContext};
use crate::logical::rel::AggCall;

/// The first phase of a two-phase window aggregate.
#[derive(Debug, Clone)]
pub struct LocalWindowAggregate {
    /// Group keys that are not window columns.
    pub keys: Vec<usize>,
    /// The window.
    pub window: WindowSpec,
    /// The calls, a hidden COUNT(*) last where Flink adds one.
    pub calls: Vec<AggCall>,
    /// The input has updates.
    pub retracts: bool,
}

impl ExecNode for LocalWindowAggregate {
    fn kind(&self) -> &'static str {
        "LocalWindowAggregate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let mut out = Vec::new();
        if !self.keys.is_empty() {
            out.push(("groupBy", context.names(&self.keys)));
        }
        out.push(("window", self.window.text(context)));
        let accumulators = Accumulators::of(&self.calls, self.retracts);
        let mut select: Vec<String> = self.keys.iter().map(|k| context.name(*k).to_owned()).collect();
        select.extend(local_call_texts(&self.calls, &accumulators, self.retracts, context));
        let end = match self.window.attachment {
            WindowAttachment::TimeColumn(_) => "$slice_end",
            _ => "$window_end",
        };
        select.push(format!("slice_end('w$) AS {end}"));
        out.push(("select", select.join(", ")));
        out
    }
}
