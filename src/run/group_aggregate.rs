//! `GroupAggregate`: results per key, updated with every row (`GroupAggFunction`) or every bundle (`MiniBatchGroupAggFunction`).

use super::aggregate::Aggregator;
use super::build::{Build, Runnable};
use super::bundle::{self, Bundle};
use super::change::Change;
use super::error::RunResult;
use super::group_state::GroupState;
use super::task::{Output, States, Task};
use crate::eval::Datum;
use crate::exec::group_aggregate::GroupAggregate;

struct GroupTask {
    state: GroupState,
    bundle: Option<Bundle<Vec<Change>>>,
}

impl Runnable for GroupAggregate {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let aggregator = Aggregator::build(&self.calls, self.accumulators(build.input), build)?;
        let bundles = bundle::is_on(build);
        let lives = build.state_ttl().is_some();
        let state = GroupState::build(build, &self.keys, aggregator, lives && !bundles)?;
        let bundle = bundles.then(|| Bundle::of(build, &self.keys));
        Ok(Box::new(GroupTask { state, bundle }))
    }
}

impl GroupTask {
    fn finish(&mut self, out: &mut Output) -> RunResult<()> {
        let Some(bundle) = &mut self.bundle else { return Ok(()) };
        for (_, key, changes) in bundle.take() {
            let key = self.state.keys.of_key(&key);
            let begins = if self.state.is_new(key) { changes.iter().position(|c| c.kind.adds()) } else { Some(0) };
            // Rows that are taken back before any was added belong to state that was forgotten.
            let Some(begins) = begins else { continue };
            self.state.update(key, out, |aggregator, acc, at| {
                changes[begins..].iter().try_for_each(|change| match change.kind.adds() {
                    true => aggregator.accumulate(acc, &change.row, at),
                    false => aggregator.retract(acc, &change.row, at),
                })
            })?;
        }
        Ok(())
    }
}

impl Task for GroupTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        if let Some(bundle) = &mut self.bundle {
            let row = change.row.clone();
            bundle.of_row(&row, Vec::new).1.push(change);
            return if bundle.is_full() { self.finish(out) } else { Ok(()) };
        }
        let key = self.state.keys.of_row(&change.row);
        if change.kind.adds() {
            self.state.update(key, out, |aggregator, acc, at| aggregator.accumulate(acc, &change.row, at))
        } else if self.state.is_new(key) {
            // It may be the first change of the key after its state was forgotten.
            Ok(())
        } else {
            self.state.update(key, out, |aggregator, acc, at| aggregator.retract(acc, &change.row, at))
        }
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
