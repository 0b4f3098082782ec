//! `GlobalGroupAggregate`: results per key, updated with every bundle of local accumulators (`MiniBatchGlobalGroupAggFunction`).

use super::aggregate::{Aggregator, Scope};
use super::build::{Build, Runnable};
use super::bundle::Bundle;
use super::change::Change;
use super::error::RunResult;
use super::group_state::GroupState;
use super::task::{Output, States, Task};
use crate::eval::Datum;
use crate::exec::global_group_aggregate::GlobalGroupAggregate;

struct GlobalTask {
    state: GroupState,
    /// How many columns the key has; the accumulator follows.
    width: usize,
    /// Merges what comes within one bundle.
    local: Aggregator<()>,
    bundle: Bundle<Vec<Datum>>,
}

impl Runnable for GlobalGroupAggregate {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let layout = self.accumulators(build.plan.local_input(build.id));
        let local = Aggregator::local(&self.local_calls, layout.clone(), build)?;
        let keys = &self.aggregate.keys;
        let mut aggregator = Aggregator::build(&self.local_calls, layout, build)?;
        aggregator.show(self.aggregate.calls.len());
        let state = GroupState::build(build, keys, aggregator, false)?;
        Ok(Box::new(GlobalTask { state, width: keys.len(), local, bundle: Bundle::of(build, keys) }))
    }
}

impl GlobalTask {
    fn finish(&mut self, out: &mut Output) -> RunResult<()> {
        for (id, key, mut buffered) in self.bundle.take() {
            self.local.export(&mut buffered, &Scope::kept(id, ()));
            let key = self.state.keys.of_key(&key);
            self.state.update(key, out, |aggregator, acc, at| aggregator.merge_exported(acc, at, &buffered))?;
        }
        Ok(())
    }
}

impl Task for GlobalTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let local = &mut self.local;
        let (id, acc) = self.bundle.of_row(&change.row, || local.create());
        local.merge_exported(acc, &Scope::kept(id, ()), &change.row[self.width..])?;
        if self.bundle.is_full() { self.finish(out) } else { Ok(()) }
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        self.finish(out)?;
        out.advance(watermark);
        Ok(())
    }

    fn before_savepoint(&mut self, out: &mut Output) -> RunResult<()> {
        self.finish(out)
    }

    fn empty_accumulator(&self) -> Option<Vec<Datum>> {
        Some(self.state.aggregator.create())
    }

    fn states(&mut self) -> Option<States<'_>> {
        Some(self.state.states())
    }
}
