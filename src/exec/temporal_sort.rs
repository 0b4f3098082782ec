//! `TemporalSort`: rows in the order of their time. State: the rows that wait for the watermark.

use super::over_aggregate::order_text;
use super::{ExecNode, TextContext};
use crate::logical::rel::SortKey;

/// Puts rows in order; the first key is an ascending time attribute.
#[derive(Debug, Clone)]
pub struct TemporalSort {
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// Processing time.
    pub proctime: bool,
}

impl TemporalSort {
    /// Rows arrive in the order of processing time: sorted by it alone, they pass (`StreamExecTemporalSort`).
    pub fn is_stateful(&self) -> bool {
        !self.proctime || self.order.len() > 1
    }
}

impl ExecNode for TemporalSort {
    fn kind(&self) -> &'static str {
        "TemporalSort"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        vec![("orderBy", order_text(&self.order, context))]
    }
}
