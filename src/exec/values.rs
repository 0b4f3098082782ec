//! `Values`: literal rows, a bounded source without state.

use super::{ExecNode, TextContext, join};
use crate::logical::print::digest;
use crate::logical::rex::{Rex, Value};

/// Literal rows.
#[derive(Debug, Clone)]
pub struct Values {
    /// The rows.
    pub rows: Vec<Vec<Rex>>,
}

impl ExecNode for Values {
    fn kind(&self) -> &'static str {
        "Values"
    }

    fn attributes(&self, _: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let rows = join(self.rows.iter().map(|row| format!("{{ {} }}", join(row.iter().map(value)))));
        vec![("tuples", format!("[{rows}]"))]
    }
}

/// Text is printed with its character set, as Calcite does.
fn value(e: &Rex) -> String {
    match e.as_literal() {
        Some(Value::String(text)) => format!("_UTF-16LE'{text}'"),
        _ => digest(e),
    }
}
