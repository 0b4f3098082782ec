//! `Limit`: the first rows in the order of their arrival, as a rank without an order (`StreamExecLimit`).

use super::build::{Build, Runnable};
use super::error::RunResult;
use super::rank::TopN;
use super::task::Task;
use crate::exec::limit::Limit;
use crate::exec::rank::RankStrategy;
use crate::logical::rel::RankEnd;

impl Runnable for Limit {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let inserts = build.node.inputs.first().is_some_and(|i| build.plan.node(*i).changelog.is_insert_only());
        let strategy = if inserts { RankStrategy::AppendFast } else { RankStrategy::Retract };
        let end = self.offset.saturating_add(self.fetch);
        let top = TopN {
            partition: &[],
            order: &[],
            start: self.offset + 1,
            end: RankEnd::At(end),
            number: false,
            strategy: &strategy,
        };
        top.task(build)
    }
}
