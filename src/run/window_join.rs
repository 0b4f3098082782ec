//! `WindowJoin`: the rows of a window, joined once the window has passed (Flink's `WindowJoinOperator`).

use super::build::{Build, Runnable};
use super::change::{Change, RowKind};
use super::error::{RunError, RunResult};
use super::join::{Condition, Pairs};
use super::store::{KeyId, KeyedState, Keys, StateTable, Timers};
use super::task::{Output, States, Task};
use super::window::{Shift, event_time, time_type, window_column};
use crate::eval::Row;
use crate::exec::window_join::WindowJoin;
use crate::logical::join::JoinType;
use crate::state::types::StateType;

struct Side {
    key_columns: Vec<usize>,
    window_end: usize,
    rows: KeyedState<i64, Vec<Row>>,
    /// The type of a row.
    row: StateType,
}

struct WindowJoinTask {
    keys: Keys,
    join_type: JoinType,
    sides: [Side; 2],
    condition: Condition,
    pairs: Pairs,
    shift: Shift,
    timers: Timers<i64>,
}

impl Runnable for WindowJoin {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let widths = [0, 1].map(|side| build.plan.input_columns(build.id, side).len());
        let condition = Condition::build(&self.conditions, &self.keys, widths[0], build)?;
        let mut side = |side: usize, name: &str| -> RunResult<Side> {
            let Some(window_end) = window_column(&self.windows[side]) else {
                return Err(RunError::internal("a window join has no window columns"));
            };
            let rows: KeyedState<i64, Vec<Row>> = build.entries.keyed(name)?;
            let StateType::List(row) = rows.declared().clone() else {
                return Err(RunError::internal("the rows of a window join are no list"));
            };
            Ok(Side { key_columns: self.side_keys(side), window_end, rows, row: *row })
        };
        let sides = [side(0, "left-records")?, side(1, "right-records")?];
        Ok(Box::new(WindowJoinTask {
            keys: Keys::of(self.side_keys(0)),
            join_type: self.join_type,
            sides,
            condition,
            pairs: Pairs::new(widths[0], widths[1]),
            shift: Shift::of(time_type(build.plan, build.id, &self.windows[0]), &build.session.zone),
            timers: build.entries.event_timers()?,
        }))
    }
}

impl WindowJoinTask {
    /// Sends what the rows of a window give (`SemiAntiJoin`, `InnerJoin`, `LeftOuterJoin` ... of `WindowJoinOperator`).
    fn fire(&mut self, key: KeyId, window: i64, out: &mut Output) -> RunResult<()> {
        let [left, right] = &mut self.sides;
        let lefts = left.rows.remove(key, window).unwrap_or_default();
        let rights = right.rows.remove(key, window).unwrap_or_default();
        let refused = self.condition.refuses(self.keys.key(key));
        let (condition, pairs, now) = (&self.condition, self.pairs, out.now);
        let partner = |l: &Row, r: &Row| -> RunResult<Option<Row>> {
            let both = pairs.pair(0, l, r);
            Ok((!refused && condition.holds(&both, now)?).then_some(both))
        };
        if self.join_type == JoinType::Right {
            for r in &rights {
                let mut found = false;
                for l in &lefts {
                    if let Some(both) = partner(l, r)? {
                        found = true;
                        out.send(RowKind::Insert, both);
                    }
                }
                if !found {
                    out.send(RowKind::Insert, pairs.alone(1, r));
                }
            }
            return Ok(());
        }
        let mut met = vec![false; rights.len()];
        for l in &lefts {
            let mut found = false;
            for (r, met) in rights.iter().zip(&mut met) {
                let Some(both) = partner(l, r)? else { continue };
                found = true;
                *met = true;
                if !self.join_type.keeps_right() {
                    break;
                }
                out.send(RowKind::Insert, both);
            }
            match self.join_type {
                JoinType::Semi if found => out.send(RowKind::Insert, l.clone()),
                JoinType::Anti if !found => out.send(RowKind::Insert, l.clone()),
                JoinType::Left | JoinType::Full if !found => out.send(RowKind::Insert, pairs.alone(0, l)),
                _ => {}
            }
        }
        if self.join_type == JoinType::Full {
            let alone = rights.iter().zip(met).filter(|(_, met)| !met);
            alone.for_each(|(r, _)| out.send(RowKind::Insert, pairs.alone(1, r)));
        }
        Ok(())
    }
}

impl Task for WindowJoinTask {
    fn row(&mut self, side: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let Side { key_columns, window_end, rows, row } = &mut self.sides[side];
        let window = event_time(&change.row, *window_end)?;
        if self.shift.is_fired(window, out.watermark) {
            return Ok(());
        }
        if !change.kind.adds() {
            return Err(RunError::job(format!("Window join does not support input RowKind: {}", change.kind)));
        }
        let key = self.keys.of_key(&change.row.project(key_columns));
        rows.check(&change.row, row)?;
        rows.entry_mut(key, window, Vec::new).push(change.row);
        self.timers.set(self.shift.timer(window - 1), key, window);
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        while let Some((_, key, window)) = self.timers.due(watermark) {
            self.fire(key, window, out)?;
            if out.pauses() {
                return Ok(());
            }
        }
        out.advance(watermark);
        Ok(())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let [left, right] = &mut self.sides;
        let tables: Vec<&mut dyn StateTable> = vec![&mut left.rows, &mut right.rows, &mut self.timers];
        Some(States { keys: &mut self.keys, tables })
    }
}
