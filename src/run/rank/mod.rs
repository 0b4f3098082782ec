//! `Rank`: the first rows of every partition (Flink's `AbstractTopNFunction`s). `Limit` and `SortLimit` are ranks of all rows.

mod append;
mod ends;
mod output;
mod retract;
mod sorted;
mod top_one;
mod update;

use std::sync::Arc;

use super::build::{Build, Runnable};
use super::error::RunResult;
use super::task::Task;
use crate::eval::{Datum, Row};
use crate::exec::rank::{Rank, RankStrategy};
use crate::logical::rel::{RankEnd, SortKey};
use ends::Ends;

/// What is ranked, and how.
pub(super) struct TopN<'a> {
    /// PARTITION BY.
    pub partition: &'a [usize],
    /// ORDER BY.
    pub order: &'a [SortKey],
    /// The first rank that is sent.
    pub start: i64,
    /// The last rank that is sent.
    pub end: RankEnd,
    /// The rank number is sent, too.
    pub number: bool,
    /// How rows are kept.
    pub strategy: &'a RankStrategy,
}

impl TopN<'_> {
    /// The task, as `StreamExecRank` chooses it.
    pub fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let order = Order::of(self.order);
        let before = build.node.changelog.update_before;
        let ends = Ends::build(self.end, build)?;
        let ranked = ends.ranked(self, before);
        let top_one = (self.start, self.end) == (1, RankEnd::At(1));
        Ok(match self.strategy {
            RankStrategy::AppendFast | RankStrategy::UpdateFast(_) if top_one => {
                Box::new(top_one::TopOne::build(self.partition, order, ranked, build)?)
            }
            RankStrategy::AppendFast => {
                Box::new(append::AppendTopN::build(self.partition, order, (ranked, ends), build)?)
            }
            RankStrategy::UpdateFast(key) => {
                Box::new(update::UpdateTopN::build(self.partition, key, order, (ranked, ends), build)?)
            }
            RankStrategy::Retract => {
                Box::new(retract::RetractTopN::build(self.partition, order, (ranked, ends), build)?)
            }
        })
    }
}

impl Runnable for Rank {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let ranking = &self.ranking;
        let top = TopN {
            partition: &ranking.partition,
            order: &ranking.order,
            start: ranking.start,
            end: ranking.end,
            number: ranking.output_number,
            strategy: &self.strategy,
        };
        top.task(build)
    }
}

/// ORDER BY, for rows and for sort keys.
struct Order {
    /// The columns of rows.
    columns: Vec<usize>,
    /// The columns count in the sort key.
    keys: Arc<[SortKey]>,
}

impl Order {
    fn of(order: &[SortKey]) -> Order {
        Order {
            columns: order.iter().map(|k| k.column).collect(),
            keys: order.iter().enumerate().map(|(i, k)| SortKey { column: i, ..k.clone() }).collect(),
        }
    }

    /// The sort key of a row.
    fn key(&self, row: &Row) -> Row {
        row.project(&self.columns)
    }

    /// The order of a row and a sort key.
    fn compare(&self, row: &[Datum], key: &[Datum]) -> std::cmp::Ordering {
        let columns = self.columns.iter().zip(self.keys.iter()).zip(key);
        let mut orders = columns.map(|((column, by), value)| super::order::compare_by(by, &row[*column], value));
        orders.find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    }
}
