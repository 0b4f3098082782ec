//! `Rank`: Top-N. State: the rows that can still be among the first N, per partition key, as the strategy needs them.

use super::over_aggregate::order_text;
use super::{ExecNode, TextContext};
use crate::logical::rel::{RankEnd, RankType, SortKey};
use crate::logical::rex::Origins;

/// How a Top-N keeps its rows (Flink's `RankProcessStrategy`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RankStrategy {
    /// Input only inserts.
    AppendFast,
    /// Input updates by these key columns and only moves up.
    UpdateFast(Vec<usize>),
    /// Anything else: every row is kept.
    Retract,
}

impl RankStrategy {
    /// As Flink prints it.
    pub fn text(&self) -> String {
        match self {
            RankStrategy::AppendFast => "AppendFastStrategy".to_owned(),
            RankStrategy::UpdateFast(keys) => {
                let keys: Vec<String> = keys.iter().map(usize::to_string).collect();
                format!("UpdateFastStrategy[{}]", keys.join(","))
            }
            RankStrategy::Retract => "RetractStrategy".to_owned(),
        }
    }
}

/// What ranks with and without windows share.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// Which ranking function.
    pub rank_type: RankType,
    /// PARTITION BY in plan order (by column); without window columns in a window rank.
    pub partition: Vec<usize>,
    /// PARTITION BY in the order written, window columns included.
    pub written_partition: Vec<usize>,
    /// Where each written partition key stands.
    pub partition_origins: Vec<Origins>,
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// The first rank that is kept.
    pub start: i64,
    /// The last rank that is kept.
    pub end: RankEnd,
    /// Where the range is written.
    pub range_origins: Origins,
    /// The rank number is put out.
    pub output_number: bool,
}

impl Ranking {
    /// True if only the first row of each partition is kept.
    pub fn is_first(&self) -> bool {
        (self.start, self.end) == (1, RankEnd::At(1))
    }

    /// The attributes that all ranks print.
    pub fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let range = match self.end {
            RankEnd::At(end) => format!("rankStart={}, rankEnd={end}", self.start),
            RankEnd::Column(column) => format!("rankEnd={}", context.name(column)),
        };
        vec![
            ("rankType", self.rank_type.name().to_owned()),
            ("rankRange", range),
            ("partitionBy", context.names(&self.partition)),
            ("orderBy", order_text(&self.order, context)),
            ("select", context.output_names()),
        ]
    }
}

/// A Top-N without windows.
#[derive(Debug, Clone)]
pub struct Rank {
    /// The ranking.
    pub ranking: Ranking,
    /// How rows are kept.
    pub strategy: RankStrategy,
}

impl ExecNode for Rank {
    fn kind(&self) -> &'static str {
        "Rank"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let mut out = vec![("strategy", self.strategy.text())];
        out.extend(self.ranking.attributes(context));
        out
    }
}
