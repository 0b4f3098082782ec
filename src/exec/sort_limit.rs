//! `SortLimit`: the first rows of an order, a Top-N over all rows. State: the rows that can still be among them.

use super::over_aggregate::order_text;
use super::rank::RankStrategy;
use super::{ExecNode, TextContext};
use crate::logical::rel::SortKey;
use crate::logical::rex::Origins;

/// Keeps the rows `offset` to `offset + fetch` of an order.
#[derive(Debug, Clone)]
pub struct SortLimit {
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// Rows that are skipped.
    pub offset: i64,
    /// Rows that are kept.
    pub fetch: i64,
    /// Where LIMIT is written, or else OFFSET.
    pub range_origins: Origins,
    /// How rows are kept.
    pub strategy: RankStrategy,
}

impl ExecNode for SortLimit {
    fn kind(&self) -> &'static str {
        "SortLimit"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        vec![
            ("orderBy", order_text(&self.order, context)),
            ("offset", self.offset.to_string()),
            ("fetch", self.fetch.to_string()),
            ("strategy", self.strategy.text()),
        ]
    }
}
