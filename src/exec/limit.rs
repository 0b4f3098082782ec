//! `Limit`: the first rows, in no order. State: how many rows have passed.

use super::{ExecNode, TextContext};
use crate::logical::rex::Origins;

/// Lets `fetch` rows through after `offset` rows.
#[derive(Debug, Clone)]
pub struct Limit {
    /// Rows that are skipped.
    pub offset: i64,
    /// Rows that pass.
    pub fetch: i64,
    /// Where LIMIT is written, or else OFFSET.
    pub range_origins: Origins,
}

impl ExecNode for Limit {
    fn kind(&self) -> &'static str {
        "Limit"
    }

    fn attributes(&self, _context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        vec![("offset", self.offset.to_string()), ("fetch", self.fetch.to_string())]
    }
}
