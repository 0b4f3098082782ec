//! `Deduplicate`: the first or the last row per key (the functions of `org.apache.flink.table.runtime.operators.deduplicate`).

use super::build::{Build, Runnable};
use super::bundle::{self, Bundle};
use super::change::{Change, RowKind};
use super::error::{RunError, RunResult};
use super::keep_last::KeepLast;
use super::store::{KeyId, KeyedState, Keys, Timers};
use super::task::{Output, States, Task};
use crate::catalog::options::parse_bool;
use crate::eval::Row;
use crate::exec::deduplicate::Deduplicate;
use crate::target::Target;

/// Which row stays, and what is kept for it.
enum Keep {
    /// The first one in processing time (`ProcTimeDeduplicateKeepFirstRowFunction`): a mark that there was one.
    First(KeyedState<(), bool>),
    /// The last one in processing time (`ProcTimeDeduplicateKeepLastRowFunction`).
    Last(KeepLast),
    /// The first or last one in event time (`RowTimeDeduplicateFunction`).
    ByTime { last: bool, rowtime: usize, row: KeepLast },
    /// The first one in event time, sent when no earlier one can come (`RowTimeDeduplicateKeepFirstRowFunction` of Flink 2).
    FirstInTime { rowtime: usize, waiting: KeyedState<(), Row>, sent: KeyedState<(), bool>, timers: Timers<()> },
}

struct DeduplicateTask {
    keys: Keys,
    keep: Keep,
    bundle: Option<Bundle<Vec<Row>>>,
    /// `table.exec.deduplicate.mini-batch.compact-changes-enabled`: only the row that wins a bundle is looked at.
    compacts: bool,
}

impl Runnable for Deduplicate {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let partition = &self.ranking.partition;
        let rowtime = self.ranking.order[0].column;
        let waits = build.plan.target == Target::Flink22 && build.node.changelog.is_insert_only();
        let keep = match (self.proctime, self.keeps_last()) {
            (true, false) => Keep::First(build.entries.keyed("deduplicate-state")?),
            (true, true) => Keep::Last(KeepLast::build(build)?),
            (false, false) if waits => Keep::FirstInTime {
                rowtime,
                waiting: build.entries.keyed("waiting-to-emit-on-timer")?,
                sent: build.entries.keyed("already-emitted-state-boolean")?,
                timers: build.entries.event_timers()?,
            },
            (false, last) => Keep::ByTime { last, rowtime, row: KeepLast::build(build)? },
        };
        let bundles = bundle::is_on(build) && !matches!(keep, Keep::FirstInTime { .. });
        let compacts = build.option("table.exec.deduplicate.mini-batch.compact-changes-enabled").and_then(parse_bool);
        Ok(Box::new(DeduplicateTask {
            keys: Keys::of(partition.as_slice()),
            keep,
            bundle: bundles.then(|| Bundle::of(build, partition)),
            compacts: compacts.unwrap_or_default(),
        }))
    }
}

fn time_of(row: &Row, rowtime: usize) -> RunResult<i64> {
    row[rowtime].as_millis().ok_or_else(|| RunError::job("a row without a time came into a deduplication"))
}

/// `isDuplicate`: true if `row` takes the place of `before`.
fn wins(before: &Row, row: &Row, rowtime: usize, last: bool) -> RunResult<bool> {
    let (before, now) = (time_of(before, rowtime)?, time_of(row, rowtime)?);
    Ok(if last { before <= now } else { now < before })
}

impl Keep {
    fn take(&mut self, key: KeyId, row: Row, out: &mut Output) -> RunResult<()> {
        match self {
            Keep::First(seen) => {
                if seen.get(key, ()).is_none() {
                    seen.put(key, (), true)?;
                    out.send(RowKind::Insert, row);
                }
                Ok(())
            }
            Keep::Last(last) => last.last(key, row, out),
            Keep::ByTime { last, rowtime, row: kept } => match kept.kept.get(key, ()) {
                Some(before) if !wins(before, &row, *rowtime, *last)? => Ok(()),
                _ => kept.replace(key, row, out),
            },
            Keep::FirstInTime { rowtime, waiting, sent, timers } => {
                let time = time_of(&row, *rowtime)?;
                if time <= out.watermark || sent.get(key, ()).is_some() {
                    return Ok(());
                }
                if let Some(before) = waiting.get(key, ()) {
                    if !wins(before, &row, *rowtime, false)? {
                        return Ok(());
                    }
                    timers.delete(time_of(before, *rowtime)?, key, ());
                }
                timers.set(time, key, ());
                waiting.put(key, (), row)
            }
        }
    }
}

impl DeduplicateTask {
    fn finish(&mut self, out: &mut Output) -> RunResult<()> {
        let Some(bundle) = &mut self.bundle else { return Ok(()) };
        for (_, key, mut rows) in bundle.take() {
            let key = self.keys.of_key(&key);
            match &self.keep {
                Keep::First(_) => rows.truncate(1),
                Keep::Last(_) => {
                    rows.drain(..rows.len() - 1);
                }
                Keep::ByTime { last, rowtime, .. } if self.compacts => {
                    let mut best = 0;
                    for (i, row) in rows.iter().enumerate() {
                        if wins(&rows[best], row, *rowtime, *last)? {
                            best = i;
                        }
                    }
                    rows = vec![rows.swap_remove(best)];
                }
                _ => {}
            }
            for row in rows {
                self.keep.take(key, row, out)?;
            }
        }
        Ok(())
    }
}

impl Task for DeduplicateTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        if let Some(bundle) = &mut self.bundle {
            bundle.of_row(&change.row, Vec::new).1.push(change.row.clone());
            return if bundle.is_full() { self.finish(out) } else { Ok(()) };
        }
        let key = self.keys.of_row(&change.row);
        self.keep.take(key, change.row, out)
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        self.finish(out)?;
        if let Keep::FirstInTime { waiting, sent, timers, .. } = &mut self.keep {
            while let Some((_, key, ())) = timers.due(watermark) {
                if let Some(row) = waiting.remove(key, ()) {
                    sent.put(key, (), true)?;
                    out.send(RowKind::Insert, row);
                }
                if out.pauses() {
                    return Ok(());
                }
            }
        }
        out.advance(watermark);
        Ok(())
    }

    fn before_savepoint(&mut self, out: &mut Output) -> RunResult<()> {
        self.finish(out)
    }

    fn states(&mut self) -> Option<States<'_>> {
        let tables: Vec<&mut dyn super::store::StateTable> = match &mut self.keep {
            Keep::First(seen) => vec![seen],
            Keep::Last(row) | Keep::ByTime { row, .. } => vec![&mut row.kept],
            Keep::FirstInTime { waiting, sent, timers, .. } => vec![waiting, sent, timers],
        };
        Some(States { keys: &mut self.keys, tables })
    }
}
