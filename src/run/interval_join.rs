//! `IntervalJoin`: rows whose times lie close to each other (Flink's `TimeIntervalJoin`, `RowTimeIntervalJoin`,
//! `ProcTimeIntervalJoin`).

use super::build::{Build, Runnable};
use super::change::{Change, RowKind};
use super::error::{RunError, RunResult};
use super::join::{Condition, Pairs};
use super::store::{KeyId, KeyedState, Keys, MapState, StateTable, Timers};
use super::task::{Output, States, Task};
use crate::catalog::options::parse_duration;
use crate::eval::Row;
use crate::exec::interval_join::IntervalJoin;
use crate::logical::join::JoinType;
use crate::logical::time_bounds::is_time_predicate;

/// The rows of one time, each with whether it has been sent.
type Rows = Vec<(Row, bool)>;

/// One side of the join.
struct Side {
    key_columns: Vec<usize>,
    /// The column of the time; none for processing time.
    time: Option<usize>,
    /// How much later than a row of this side its last partner is.
    reach: i64,
    /// Rows without a partner are sent alone.
    is_outer: bool,
    rows: MapState<i64, Rows>,
    /// When the rows of this side are looked through next. Flink names it after the other side, whose time it waits for.
    cleanup: KeyedState<(), i64>,
    /// Rows up to this time have gone, or go when they are met. Flink keeps it outside of its state, for all keys together.
    expired: i64,
}

struct IntervalTask {
    keys: Keys,
    sides: [Side; 2],
    condition: Condition,
    pairs: Pairs,
    timers: Timers<()>,
    event_time: bool,
    /// `table.exec.interval-join.min-cleanup-interval`
    min_cleanup: i64,
}

/// The interval is empty: no row has a partner (`StreamExecIntervalJoin.createNegativeWindowSizeJoin`).
struct EmptyInterval {
    join_type: JoinType,
    pairs: Pairs,
}

impl Runnable for IntervalJoin {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let columns = [0, 1].map(|side| build.plan.input_columns(build.id, side));
        let pairs = Pairs::new(columns[0].len(), columns[1].len());
        let bounds = &self.interval;
        if bounds.is_empty() {
            return Ok(Box::new(EmptyInterval { join_type: self.join_type, pairs }));
        }
        let rest = self.conditions.iter().filter(|c| !is_time_predicate(c, columns[0], columns[1]));
        let condition = Condition::build(rest, &self.keys, columns[0].len(), build)?;
        let mut side = |side: usize, rows: &str, cleanup: &str| -> RunResult<Side> {
            let time = if side == 0 { bounds.left_time } else { bounds.right_time };
            Ok(Side {
                key_columns: self.side_keys(side),
                time: bounds.event_time.then_some(time),
                reach: if side == 0 { bounds.lower.saturating_neg() } else { bounds.upper },
                is_outer: if side == 0 { self.join_type.pads_right() } else { self.join_type.pads_left() },
                rows: build.entries.map(rows)?,
                cleanup: build.entries.keyed(cleanup)?,
                expired: 0,
            })
        };
        let left = side(0, "IntervalJoinLeftCache", "IntervalJoinRightTimerState")?;
        let right = side(1, "IntervalJoinRightCache", "IntervalJoinLeftTimerState")?;
        let timers =
            if bounds.event_time { build.entries.event_timers()? } else { build.entries.processing_timers()? };
        let min_cleanup = build.option("table.exec.interval-join.min-cleanup-interval").and_then(parse_duration);
        Ok(Box::new(IntervalTask {
            keys: Keys::of(self.side_keys(0)),
            sides: [left, right],
            condition,
            pairs,
            timers,
            event_time: bounds.event_time,
            min_cleanup: min_cleanup.unwrap_or_default(),
        }))
    }
}

impl IntervalTask {
    /// The time that both inputs have reached (`updateOperatorTime`).
    fn time(&self, out: &Output) -> i64 {
        if self.event_time { out.watermark.max(0) } else { out.now }
    }

    /// Rows of `side` up to this time have no more partners to come (`calExpirationTime`).
    fn expired(&self, side: usize, now: i64) -> i64 {
        // The end of all time is no time to count from.
        if now == i64::MAX { now } else { now.saturating_sub(self.sides[side].reach).saturating_sub(1) }
    }

    /// Looks at the rows of `side` again once one of `time` has no more partners to come (`registerCleanUpTimer`).
    fn set_cleanup(&mut self, side: usize, time: i64, key: KeyId) -> RunResult<()> {
        let at = time.saturating_add(self.sides[side].reach).saturating_add(self.min_cleanup).saturating_add(1);
        self.timers.set(at, key, ());
        self.sides[side].cleanup.put(key, (), at)
    }

    /// Forgets the rows of `side` that have no more partners to come (`removeExpiredRows`).
    fn clean_up(&mut self, side: usize, key: KeyId, out: &mut Output) -> RunResult<()> {
        let expired = self.sides[side].expired;
        let pairs = self.pairs;
        let Side { rows, is_outer, .. } = &mut self.sides[side];
        let mut earliest = -1;
        rows.retain(key, |time, rows| {
            if *time > expired {
                earliest = if earliest < 0 { *time } else { earliest.min(*time) };
                return true;
            }
            if *is_outer {
                send_alone(rows, pairs, side, out);
            }
            false
        });
        if earliest > 0 {
            return self.set_cleanup(side, earliest, key);
        }
        self.sides[side].rows.retain(key, |_, _| false);
        self.sides[side].cleanup.remove(key, ());
        Ok(())
    }

    /// Fires what is due by `now`.
    fn fire(&mut self, now: i64, out: &mut Output) -> RunResult<()> {
        while let Some((at, key, ())) = self.timers.due(now) {
            for side in [1, 0] {
                if self.sides[side].cleanup.get(key, ()) == Some(&at) {
                    self.sides[side].expired = self.expired(side, self.time(out));
                    self.clean_up(side, key, out)?;
                }
            }
        }
        Ok(())
    }
}

fn send_alone(rows: &Rows, pairs: Pairs, side: usize, out: &mut Output) {
    for (row, _) in rows.iter().filter(|(_, sent)| !sent) {
        out.send(RowKind::Insert, pairs.alone(side, row));
    }
}

impl Task for IntervalTask {
    fn row(&mut self, side: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let row = change.row;
        let now = self.time(out);
        let time = match self.sides[side].time {
            None => now,
            Some(column) => match row[column].as_millis() {
                Some(time) => time,
                None => return Err(RunError::job("a row without a time came into an interval join")),
            },
        };
        let other = 1 - side;
        let earliest = time.saturating_sub(self.sides[other].reach);
        let latest = time.saturating_add(self.sides[side].reach);
        let key = self.keys.of_key(&row.project(&self.sides[side].key_columns));
        let (pairs, refused) = (self.pairs, self.condition.refuses(self.keys.key(key)));
        let mut emitted = false;
        if self.sides[other].expired < latest {
            let expired = self.expired(other, now);
            let condition = &self.condition;
            let Side { rows, is_outer, expired: gone, .. } = &mut self.sides[other];
            *gone = expired;
            let mut failed = None;
            rows.retain(key, |at, partners| {
                if failed.is_none() && (earliest..=latest).contains(at) && !refused {
                    for (partner, sent) in partners.iter_mut() {
                        let both = pairs.pair(side, &row, partner);
                        match condition.holds(&both, out.now) {
                            Ok(true) => {
                                out.send(RowKind::Insert, both);
                                emitted = true;
                                *sent |= *is_outer;
                            }
                            Ok(false) => {}
                            Err(e) => failed = Some(e),
                        }
                    }
                }
                if *at > expired {
                    return true;
                }
                if *is_outer {
                    send_alone(partners, pairs, other, out);
                }
                false
            });
            if let Some(e) = failed {
                return Err(e);
            }
        }
        if now < latest {
            self.sides[side].rows.update(key, time, Vec::new, |rows| rows.push((row, emitted)))?;
            if self.sides[side].cleanup.get(key, ()).is_none() {
                self.set_cleanup(side, time, key)?;
            }
        } else if !emitted && self.sides[side].is_outer {
            out.send(RowKind::Insert, pairs.alone(side, &row));
        }
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        if self.event_time {
            self.fire(watermark, out)?;
            // What is sent alone is as late as its last partner could have been (`KeyedCoProcessOperatorWithWatermarkDelay`).
            out.advance(watermark.saturating_sub(self.sides[0].reach.max(self.sides[1].reach)));
        } else {
            out.advance(watermark);
        }
        Ok(())
    }

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        if self.event_time { Ok(()) } else { self.fire(out.now, out) }
    }

    /// What is kept outside of the state follows from the time that has been reached.
    fn resume(&mut self, watermark: i64) {
        // In processing time no row is late.
        if self.event_time {
            for side in [0, 1] {
                self.sides[side].expired = self.expired(side, watermark.max(0));
            }
        }
    }

    fn states(&mut self) -> Option<States<'_>> {
        let [left, right] = &mut self.sides;
        let tables: Vec<&mut dyn StateTable> =
            vec![left.rows.table(), right.rows.table(), &mut right.cleanup, &mut left.cleanup, &mut self.timers];
        Some(States { keys: &mut self.keys, tables })
    }
}

impl Task for EmptyInterval {
    fn row(&mut self, side: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let is_outer = if side == 0 { self.join_type.pads_right() } else { self.join_type.pads_left() };
        if is_outer {
            out.send(RowKind::Insert, self.pairs.alone(side, &change.row));
        }
        Ok(())
    }
}
