//! `OverAggregate`: aggregates over rows up to the current one.
//!
//! State: accumulators per key; bounded frames and event time also keep input rows, with every column the operator carries.

use super::aggregate_text::call_text;
use super::{ExecNode, Target, TextContext};
use crate::logical::rel::{AggCall, SortKey, WrittenCall};
use crate::logical::rex::{Origins, OverFrame};
use crate::syntax::ast::FrameUnits;

/// An OVER window with its calls. Output: input columns, then one column per call.
#[derive(Debug, Clone)]
pub struct OverAggregate {
    /// PARTITION BY in plan order (by column).
    pub partition: Vec<usize>,
    /// PARTITION BY in the order written.
    pub written_partition: Vec<usize>,
    /// Where each written partition key stands.
    pub partition_origins: Vec<Origins>,
    /// ORDER BY: one ascending time attribute (Flink 2.2 takes other columns).
    pub order: Vec<SortKey>,
    /// The frame.
    pub frame: OverFrame,
    /// The calls.
    pub calls: Vec<AggCall>,
    /// The calls as written: SUM and AVG became COUNT and `$SUM0`.
    pub written: Vec<WrittenCall>,
    /// Ordered by processing time.
    pub proctime: bool,
}

impl ExecNode for OverAggregate {
    fn kind(&self) -> &'static str {
        "OverAggregate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let mut out = Vec::new();
        if !self.partition.is_empty() {
            out.push(("partitionBy", context.names(&self.partition)));
        }
        out.push(("orderBy", order_text(&self.order, context)));
        let units = match (self.frame.units, context.plan.target) {
            (FrameUnits::Rows, _) => "ROWS",
            // Flink 1.20 prints it this way.
            (FrameUnits::Range, Target::Vvr | Target::Flink120) => "RANG",
            (FrameUnits::Range, Target::Flink22) => "RANGE",
        };
        let bound = self.frame.preceding.map_or_else(|| "UNBOUNDED".to_owned(), |n| n.to_string());
        out.push(("window", format!(" {units} BETWEEN {bound} PRECEDING AND CURRENT ROW")));
        let columns = &context.node.columns;
        let mut select: Vec<String> = context.input.iter().map(|c| c.name.to_string()).collect();
        for (call, column) in self.calls.iter().zip(&columns[context.input.len()..]) {
            select.push(format!("{} AS {}", call_text(call, false, context), column.name));
        }
        out.push(("select", select.join(", ")));
        out
    }
}

/// `price DESC, order_id ASC`.
pub fn order_text(order: &[SortKey], context: &TextContext<'_>) -> String {
    super::join(
        order.iter().map(|k| format!("{} {}", context.name(k.column), if k.descending { "DESC" } else { "ASC" })),
    )
}
