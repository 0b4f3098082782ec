//! `Values`: literal rows, a bounded source without state.

use super::{ExecNode, TextContext, join};
use crate::logical::print::print_value;
use crate::logical::rex::Rex;

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
        let rows = join(self.rows.iter().map(|row| format!("{{ {} }}", join(row.iter().map(print_value)))));
        vec![("tuples", format!("[{rows}]"))]
    }
}
