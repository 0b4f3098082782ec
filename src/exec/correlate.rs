//! `Correlate`: each row beside every row that a table function makes of it. Stateless.

use super::{ExecNode, TextContext};
use crate::catalog::types::TypeKind;
use crate::logical::correlate::{Correlate as Logical, TableFunction};
use crate::logical::join::JoinType;
use crate::logical::print::{SqlType, print_call, print_prefix};
use crate::logical::rex::Rex;

/// Calls a table function for each row (Flink's `StreamExecCorrelate`).
#[derive(Debug, Clone)]
pub struct Correlate {
    /// The call, its kind of join and its condition.
    pub call: Logical,
}

impl Correlate {
    /// True if a row of which the function makes none is sent alone.
    pub fn keeps_lone_rows(&self) -> bool {
        self.call.join_type == JoinType::Left
    }
}

impl ExecNode for Correlate {
    fn kind(&self) -> &'static str {
        "Correlate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let variable = self.call.variable;
        let names: Vec<String> = self.call.input_names.iter().map(|name| format!("$cor{variable}.{name}")).collect();
        let name = match &self.call.function {
            TableFunction::Unnest { with_ordinality: false } => "$UNNEST_ROWS$1",
            TableFunction::Unnest { with_ordinality: true } => "$UNNEST_ROWS_WITH_ORDINALITY$1",
            TableFunction::User(name) => name,
            TableFunction::ReplicateRows => "$REPLICATE_ROWS$1",
        };
        let list = |print: &dyn Fn(&Rex) -> String, between: &str| {
            let args: Vec<String> = self.call.args.iter().map(print).collect();
            format!("{name}({})", args.join(between))
        };
        let input: Vec<String> = match &self.call.function {
            TableFunction::ReplicateRows => context.input.iter().map(|c| c.name.to_string()).collect(),
            _ => names.clone(),
        };
        let columns = &context.node.columns;
        let fields: Vec<String> = columns.iter().map(|c| format!("{} {}", nested(&c.ty.kind), c.name)).collect();
        let select: Vec<&str> = columns.iter().map(|c| &*c.name).collect();
        // Without a row to stand beside, the row is the function's own.
        let record = if context.input.is_empty() { NESTED } else { "RecordType" };
        let mut out = vec![
            ("invocation", list(&|e| print_call(e, &names), ", ")),
            ("correlate", format!("table({})", list(&|e| print_prefix(e, &input), ","))),
            ("select", select.join(",")),
            ("rowType", format!("{record}({})", fields.join(", "))),
            ("joinType", if self.keeps_lone_rows() { "LEFT" } else { "INNER" }.to_owned()),
        ];
        if !self.call.conditions.is_empty() {
            let parts: Vec<String> = self.call.conditions.iter().map(|c| print_call::<&str>(c, &[])).collect();
            let text = if parts.len() == 1 { parts.concat() } else { format!("AND({})", parts.join(", ")) };
            out.push(("condition", text));
        }
        out
    }
}

/// How Flink's row types are called inside of others.
const NESTED: &str = "RecordType:peek_no_expand";

fn nested(kind: &TypeKind) -> String {
    SqlType(kind).to_string().replace("RecordType(", &format!("{NESTED}("))
}
