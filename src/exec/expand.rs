//! `Expand`: GROUPING SETS written out, each row once per set. Stateless.

use super::{ExecNode, TextContext, join};
use crate::logical::print::expression;
use crate::logical::rex::{Rex, RexKind, Value};

/// Emits each input row once per projection.
#[derive(Debug, Clone)]
pub struct Expand {
    /// One list of expressions per grouping set.
    pub projects: Vec<Vec<Rex>>,
}

impl ExecNode for Expand {
    fn kind(&self) -> &'static str {
        "Expand"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let names = context.input_names();
        let sets = self.projects.iter().map(|p| {
            let row = join(p.iter().zip(&context.node.columns).map(|(e, column)| {
                let text = match &e.kind {
                    RexKind::Literal(Value::Null) => "null".to_owned(),
                    _ => expression(e, &names).to_string(),
                };
                if text == *column.name { text } else { format!("{text} AS {}", column.name) }
            }));
            format!("{{{row}}}")
        });
        vec![("projects", join(sets))]
    }
}
