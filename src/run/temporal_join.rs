//! `TemporalJoin`: rows wait for the watermark and then meet the version of their time (Flink's `TemporalRowTimeJoinOperator`).

use super::build::{Build, Runnable};
use super::change::Change;
use super::error::{RunError, RunResult};
use super::join::{Condition, Pairs};
use super::store::{KeyId, KeyedState, Keys, MapState, StateTable, Timers};
use super::task::{Output, States, Task};
use crate::eval::Row;
use crate::exec::temporal_join::TemporalJoin;

struct TemporalTask {
    keys: Keys,
    key_columns: [Vec<usize>; 2],
    /// The columns of the times.
    times: [usize; 2],
    /// The place of the next row of the left side.
    next: KeyedState<(), i64>,
    left: MapState<i64, Change>,
    right: MapState<i64, Change>,
    /// When the key is looked at next.
    timer: KeyedState<(), i64>,
    timers: Timers<()>,
    condition: Condition,
    pairs: Pairs,
    is_outer: bool,
}

impl Runnable for TemporalJoin {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        if build.state_ttl().is_some() {
            return Err(RunError::unsupported("a temporal join with `table.exec.state.ttl`"));
        }
        let widths = [0, 1].map(|side| build.plan.input_columns(build.id, side).len());
        // Rows of one key meet, NULL or not: Flink compares nothing but the keys of the state.
        let condition = Condition::build(&self.conditions, &self.keys, widths[0], build)?;
        Ok(Box::new(TemporalTask {
            keys: Keys::of(self.side_keys(0)),
            key_columns: [self.side_keys(0), self.side_keys(1)],
            times: [self.time, self.from],
            next: build.entries.keyed("next-index")?,
            left: build.entries.map("left")?,
            right: build.entries.map("right")?,
            timer: build.entries.keyed("timer")?,
            timers: build.entries.event_timers()?,
            condition,
            pairs: Pairs::new(widths[0], widths[1]),
            is_outer: self.join_type.pads_right(),
        }))
    }
}

/// The time of a row.
fn time_of(row: &Row, column: usize) -> RunResult<i64> {
    row[column].as_millis().ok_or_else(|| RunError::job("a row without a time came into a temporal join"))
}

impl TemporalTask {
    /// Looks at the key when `time` comes, unless it does so earlier (`registerSmallestTimer`).
    fn set_timer(&mut self, key: KeyId, time: i64) -> RunResult<()> {
        match self.timer.get(key, ()).copied() {
            Some(set) if set <= time => return Ok(()),
            Some(set) => self.timers.delete(set, key, ()),
            None => {}
        }
        self.timers.set(time, key, ());
        self.timer.put(key, (), time)
    }

    /// Sends the rows that the watermark has passed, and forgets versions that are over (`emitResultAndCleanUpState`).
    fn emit(&mut self, key: KeyId, out: &mut Output) -> RunResult<()> {
        self.timer.remove(key, ());
        let watermark = out.watermark;
        let mut versions: Vec<(i64, Change)> = self.right.iter(key).map(|(from, v)| (*from, v.clone())).collect();
        versions.sort_by_key(|(from, _)| *from);
        let time_column = self.times[0];
        let mut rows: Vec<(i64, i64, Change)> = Vec::new();
        let mut waiting: Option<i64> = None;
        let mut failed = None;
        self.left.retain(key, |place, change| match time_of(&change.row, time_column) {
            Ok(time) if time <= watermark => {
                rows.push((*place, time, change.clone()));
                false
            }
            Ok(time) => {
                waiting = Some(waiting.map_or(time, |w| w.min(time)));
                true
            }
            Err(e) => {
                failed = Some(e);
                true
            }
        });
        if let Some(e) = failed {
            return Err(e);
        }
        rows.sort_by_key(|(place, ..)| *place);
        for (_, time, change) in rows {
            let at = versions.partition_point(|(from, _)| *from <= time);
            let version = at.checked_sub(1).map(|i| &versions[i].1).filter(|v| v.kind.adds());
            let mut met = false;
            if let Some(version) = version {
                let both = self.pairs.pair(0, &change.row, &version.row);
                if self.condition.holds(&both, out.now)? {
                    out.send(change.kind, both);
                    met = true;
                }
            }
            if !met && self.is_outer {
                out.send(change.kind, self.pairs.alone(0, &change.row));
            }
        }
        // The last version that had begun is still valid.
        let begun = versions.partition_point(|(from, _)| *from <= watermark);
        if let Some(valid) = begun.checked_sub(1).map(|i| versions[i].0) {
            self.right.retain(key, |from, _| *from >= valid);
        }
        if let Some(time) = waiting {
            self.set_timer(key, time)?;
        }
        Ok(())
    }
}

impl Task for TemporalTask {
    fn row(&mut self, side: usize, change: Change, _: &mut Output) -> RunResult<()> {
        let time = time_of(&change.row, self.times[side])?;
        let key = self.keys.of_key(&change.row.project(&self.key_columns[side]));
        if side == 0 {
            let place = self.next.get(key, ()).copied().unwrap_or_default();
            self.left.put(key, place, change)?;
            self.next.put(key, (), place + 1)?;
        } else {
            self.right.put(key, time, change)?;
        }
        self.set_timer(key, time)
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        while let Some((_, key, ())) = self.timers.due(watermark) {
            self.emit(key, out)?;
        }
        out.advance(watermark);
        Ok(())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let tables: Vec<&mut dyn StateTable> =
            vec![&mut self.next, self.left.table(), self.right.table(), &mut self.timer, &mut self.timers];
        Some(States { keys: &mut self.keys, tables })
    }
}
