//! `WatermarkAssigner`: emits watermarks for a rowtime column. Keeps no keyed state (the last watermark is not in savepoints).

use super::{ExecNode, TextContext};
use crate::logical::print::expression;
use crate::logical::rex::Rex;

/// Emits watermarks as a column's strategy says.
#[derive(Debug, Clone)]
pub struct WatermarkAssigner {
    /// The rowtime column.
    pub rowtime: usize,
    /// The strategy, over the input's columns.
    pub expr: Rex,
}

impl ExecNode for WatermarkAssigner {
    fn kind(&self) -> &'static str {
        "WatermarkAssigner"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        vec![
            ("rowtime", context.name(self.rowtime).to_owned()),
            ("watermark", expression(&self.expr, &context.input_names()).to_string()),
        ]
    }
}
