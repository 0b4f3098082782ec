//! `Deduplicate`: the first or last row per key by a time attribute. State: one row (or a mark) per key.

use super::rank::Ranking;
use super::{ExecNode, Target, TextContext};

/// A rank of range 1..1 by a time attribute.
#[derive(Debug, Clone)]
pub struct Deduplicate {
    /// The ranking it comes from.
    pub ranking: Ranking,
    /// Ordered by processing time.
    pub proctime: bool,
}

impl Deduplicate {
    /// True if the last row is kept.
    pub fn keeps_last(&self) -> bool {
        self.ranking.order[0].descending
    }
}

impl ExecNode for Deduplicate {
    fn kind(&self) -> &'static str {
        "Deduplicate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let mut out = vec![
            ("keep", if self.keeps_last() { "LastRow" } else { "FirstRow" }.to_owned()),
            ("key", context.names(&self.ranking.partition)),
            ("order", if self.proctime { "PROCTIME" } else { "ROWTIME" }.to_owned()),
        ];
        if context.plan.target == Target::Flink22 {
            out.push(("outputInsertOnly", context.node.changelog.is_insert_only().to_string()));
        }
        out
    }
}
