//! `SortLimit`: the first rows of an order, as a rank over all rows (`StreamExecSortLimit`).

use super::build::{Build, Runnable};
use super::error::RunResult;
use super::rank::TopN;
use super::task::Task;
use crate::exec::sort_limit::SortLimit;
use crate::logical::rel::RankEnd;

impl Runnable for SortLimit {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let (start, end) = (self.offset + 1, self.offset.saturating_add(self.fetch));
        let end = RankEnd::At(end);
        TopN { partition: &[], order: &self.order, start, end, number: false, strategy: &self.strategy }.task(build)
    }
}
