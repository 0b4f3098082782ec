//! `WindowAggregate` (one phase) and `GlobalWindowAggregate` (second of two): aggregates over the windows of a window function.
//!
//! State: the accumulators of every open window (or slice) per key, and timers.

use super::aggregate_text::{Accumulators, call_text, global_call_texts};
use super::window_spec::WindowSpec;
use super::{ExecNode, TextContext};
use crate::logical::rel::{AggCall, Split, WrittenCall, WrittenKey};
use crate::logical::rex::Origins;
use crate::source::Span;

/// What both forms share. Columns count in the input of the aggregate before it was split into phases.
#[derive(Debug, Clone)]
pub struct WindowAggregate {
    /// Group keys that are not window columns.
    pub keys: Vec<usize>,
    /// The window.
    pub window: WindowSpec,
    /// The calls that the query asks for.
    pub calls: Vec<AggCall>,
    /// A COUNT(*) that Flink adds to know when a window is empty.
    pub hidden_count: bool,
    /// window_time is put out.
    pub window_time: bool,
    /// The input has updates.
    pub retracts: bool,
    /// What the documents judge and the plan forgets.
    pub origin: WindowAggregateOrigin,
    /// Which half of a split aggregate it is.
    pub split: Split,
}

/// The aggregate as written.
#[derive(Debug, Clone)]
pub struct WindowAggregateOrigin {
    /// Where each key is written.
    pub key_origins: Vec<Origins>,
    /// GROUP BY in the order written.
    pub written_keys: Vec<WrittenKey>,
    /// The calls as written.
    pub written: Vec<WrittenCall>,
    /// GROUPING SETS, CUBE or ROLLUP.
    pub grouping_sets: Option<Span>,
    /// A step that computes aggregated fields between the window function and GROUP BY.
    pub step: Option<Origins>,
    /// The step computes more than conditions of FILTER clauses.
    pub step_computes_fields: bool,
}

/// The second phase. Its input is the local aggregate's output: keys, accumulators, slice end.
#[derive(Debug, Clone)]
pub struct GlobalWindowAggregate {
    /// The aggregate; `keys` count in its own input, where they stand first.
    pub aggregate: WindowAggregate,
    /// The calls over the local aggregate's input, a hidden COUNT(*) last.
    pub local_calls: Vec<AggCall>,
}

impl WindowAggregate {
    /// The calls with the hidden COUNT(*).
    pub fn all_calls(&self) -> Vec<AggCall> {
        let mut calls = self.calls.clone();
        if self.hidden_count {
            calls.push(hidden_count());
        }
        calls
    }

    fn properties(&self) -> Vec<&'static str> {
        let mut out = vec!["start('w$)", "end('w$)"];
        if self.window_time {
            out.push(if self.window.proctime { "proctime('w$)" } else { "rowtime('w$)" });
        }
        out
    }
}

/// The COUNT(*) that Flink adds.
pub fn hidden_count() -> AggCall {
    AggCall {
        function: "COUNT".into(),
        args: Vec::new(),
        distinct: false,
        filter: None,
        ty: crate::catalog::types::TypeKind::BigInt.not_null(),
        name: "count1".into(),
        monotonic: false,
        origins: Origins::none(),
    }
}

impl ExecNode for WindowAggregate {
    fn kind(&self) -> &'static str {
        "WindowAggregate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let calls = self.calls.iter().map(|c| call_text(c, self.retracts, context)).collect();
        attributes(self, calls, context)
    }
}

impl ExecNode for GlobalWindowAggregate {
    fn kind(&self) -> &'static str {
        "GlobalWindowAggregate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let retracts = self.aggregate.retracts;
        let accumulators = Accumulators::of(&self.local_calls, retracts);
        let calls = global_call_texts(&self.local_calls, &accumulators, retracts);
        attributes(&self.aggregate, calls, context)
    }
}

/// Flink prints the output names against calls and properties in order, so a hidden count shifts them.
fn attributes(node: &WindowAggregate, calls: Vec<String>, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    if !node.keys.is_empty() {
        out.push(("groupBy", context.names(&node.keys)));
    }
    out.push(("window", node.window.text(context)));
    let columns = &context.node.columns;
    let mut select: Vec<String> = columns[..node.keys.len()].iter().map(|c| c.name.to_string()).collect();
    let values = calls.into_iter().chain(node.properties().into_iter().map(str::to_owned));
    select.extend(columns[node.keys.len()..].iter().zip(values).map(|(c, v)| format!("{v} AS {}", c.name)));
    out.push(("select", select.join(", ")));
    out
}
