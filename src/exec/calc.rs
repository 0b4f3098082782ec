//! `Calc`: projection and filter in one. Stateless.

use super::{ExecNode, TextContext, join};
use crate::logical::print::expression;
use crate::logical::rex::Rex;

/// Computes `exprs` for the rows for which all `conditions` hold.
#[derive(Debug, Clone)]
pub struct Calc {
    /// One expression per output column, over the input's columns.
    pub exprs: Vec<Rex>,
    /// Conjuncts.
    pub conditions: Vec<Rex>,
}

impl ExecNode for Calc {
    fn kind(&self) -> &'static str {
        "Calc"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let names = context.input_names();
        let select = join(self.exprs.iter().zip(&context.node.columns).map(|(e, column)| {
            let text = expression(e, &names).to_string();
            if e.as_input().is_some() && text == *column.name { text } else { format!("{text} AS {}", column.name) }
        }));
        let mut out = vec![("select", select)];
        if !self.conditions.is_empty() {
            out.push(("where", conjunction(&self.conditions, &names)));
        }
        out
    }
}

/// Conjuncts as Flink prints them: `((a > 1) AND (b < 2))`.
pub fn conjunction(conditions: &[Rex], names: &[&str]) -> String {
    match conditions {
        [one] => expression(one, names).to_string(),
        many => {
            let parts: Vec<String> = many.iter().map(|c| expression(c, names).to_string()).collect();
            format!("({})", parts.join(" AND "))
        }
    }
}
