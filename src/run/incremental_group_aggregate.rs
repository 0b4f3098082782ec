//! `IncrementalGroupAggregate`: bundles of local accumulators per bucket become one accumulator per key
//! (`MiniBatchIncrementalGroupAggFunction`). DISTINCT lets through what its state has not seen yet; nothing else is kept.

use super::aggregate::{Aggregator, Scope};
use super::build::{Build, Runnable};
use super::bundle::Bundle;
use super::change::{Change, RowKind};
use super::error::RunResult;
use super::hash_order;
use super::store::Keys;
use super::task::{Output, States, Task};
use crate::catalog::types::DataType;
use crate::eval::{Datum, Row};
use crate::exec::global_group_aggregate::GlobalGroupAggregate;
use crate::exec::incremental_group_aggregate::{IncrementalGroupAggregate, undistinct};

struct IncrementalTask {
    /// The buckets.
    keys: Keys,
    /// How many columns the key of a bucket has; the accumulator follows.
    width: usize,
    /// The types of the key of the whole aggregate, which stands first.
    key_types: Vec<DataType>,
    /// Merges what comes within one bundle.
    local: Aggregator<()>,
    /// Lets through what DISTINCT has not seen in any bundle.
    aggregator: Aggregator<()>,
    /// Merges the buckets of a key.
    total: Aggregator<()>,
    /// How many fields of the accumulator go on: those of the calls.
    sent: usize,
    bundle: Bundle<Vec<Datum>>,
}

impl Runnable for IncrementalGroupAggregate {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let (aggregate, calls) = (&self.partial.aggregate, &self.partial.local_calls);
        let layout = self.partial.accumulators(build.plan.local_input(build.id));
        let sent = layout.calls.last().map_or(0, |fields| fields.end);
        let local = Aggregator::local(calls, layout.clone(), build)?;
        let aggregator = Aggregator::keeping_distinct(calls, layout, build)?;
        let whole = GlobalGroupAggregate { local_calls: undistinct(calls), ..self.partial.clone() };
        let layout = whole.accumulators(build.plan.local_input(build.id));
        let total = Aggregator::local(&whole.local_calls, layout, build)?;
        let key_types = aggregate.keys[..self.keys].iter().map(|k| build.input[*k].ty.clone()).collect();
        Ok(Box::new(IncrementalTask {
            keys: Keys::of(aggregate.keys.as_slice()),
            width: aggregate.keys.len(),
            key_types,
            local,
            aggregator,
            total,
            sent,
            bundle: Bundle::of(build, &aggregate.keys),
        }))
    }
}

/// A key with what the bundle brought to each of its buckets.
type Buckets = (Row, Vec<(Row, Vec<Datum>)>);

impl IncrementalTask {
    fn finish(&mut self, out: &mut Output) -> RunResult<()> {
        let types = &self.key_types;
        let mut whole: Vec<Buckets> = Vec::new();
        let mut places = Keys::of((0..types.len()).collect::<Vec<_>>());
        for (id, bucket, mut acc) in self.bundle.take() {
            self.local.export(&mut acc, &Scope::kept(id, ()));
            let place = places.of_row(&bucket).index();
            if place == whole.len() {
                whole.push((bucket.iter().take(types.len()).cloned().collect(), Vec::new()));
            }
            // Bundles come in the order of a hash map, and so do the buckets of a key, which is the same order.
            whole[place].1.push((bucket, acc));
        }
        hash_order::sort(&mut whole, types, |(key, _)| key);
        for (key, buckets) in whole {
            let mut total = self.total.create();
            let mut last = None;
            for (bucket, seen) in buckets {
                let at = Scope::kept(self.keys.of_key(&bucket), ());
                let mut new = self.aggregator.create();
                self.aggregator.merge_exported(&mut new, &at, &seen)?;
                self.aggregator.export_functions(&mut new, &at);
                self.total.merge_exported(&mut total, last.get_or_insert(at), &new)?;
            }
            if let Some(at) = last {
                self.total.export(&mut total, &at);
            }
            total.truncate(self.sent);
            out.send(RowKind::Insert, key.extended(total.into_iter()));
        }
        Ok(())
    }
}

impl Task for IncrementalTask {
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
        Some(self.aggregator.create())
    }

    fn states(&mut self) -> Option<States<'_>> {
        Some(States { keys: &mut self.keys, tables: self.aggregator.tables() })
    }
}
