//! `LocalGroupAggregate`: accumulators per key of a bundle (`MiniBatchLocalGroupAggFunction`). It sends the key and the
//! accumulator row, with maps and lists in it.

use super::aggregate::{Aggregator, Scope};
use super::build::{Build, Runnable};
use super::bundle::Bundle;
use super::change::{Change, RowKind};
use super::error::RunResult;
use super::task::{Output, Task};
use crate::eval::Datum;
use crate::exec::local_group_aggregate::LocalGroupAggregate;
use crate::state::accumulators::{AccumulatorLayout, AggregateUse};

struct LocalTask {
    aggregator: Aggregator<()>,
    bundle: Bundle<Vec<Datum>>,
}

impl Runnable for LocalGroupAggregate {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let usage = AggregateUse { retracts: self.retracts, counts_rows: self.retracts, keeps_time: false };
        let layout = AccumulatorLayout::of(&self.calls, build.input, usage);
        let aggregator = Aggregator::local(&self.calls, layout, build)?;
        Ok(Box::new(LocalTask { aggregator, bundle: Bundle::of(build, &self.keys) }))
    }
}

impl LocalTask {
    fn finish(&mut self, out: &mut Output) {
        for (id, key, mut acc) in self.bundle.take() {
            self.aggregator.export(&mut acc, &Scope::kept(id, ()));
            out.send(RowKind::Insert, key.extended(acc.into_iter()));
        }
    }
}

impl Task for LocalTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let aggregator = &mut self.aggregator;
        let (id, acc) = self.bundle.of_row(&change.row, || aggregator.create());
        let at = Scope::kept(id, ());
        if change.kind.adds() {
            aggregator.accumulate(acc, &change.row, &at)?;
        } else {
            aggregator.retract(acc, &change.row, &at)?;
        }
        if self.bundle.is_full() {
            self.finish(out);
        }
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        self.finish(out);
        out.advance(watermark);
        Ok(())
    }

    fn before_savepoint(&mut self, out: &mut Output) -> RunResult<()> {
        self.finish(out);
        Ok(())
    }
}
