//! `Join`: every row with its partners of the other side (`StreamingJoinOperator`, `StreamingSemiAntiJoinOperator`).

mod bundle;
mod condition;
mod records;
mod semi_anti;

pub use condition::{Condition, Pairs};

use bundle::BundledTask;
use records::{Partner, Records};
use semi_anti::SemiAntiTask;

use super::build::{Build, Runnable};
use super::change::{Change, RowKind};
use super::error::RunResult;
use super::store::{KeyId, Keys};
use super::task::{Output, States, Task};
use crate::eval::Row;
use crate::exec::join::Join;
use crate::logical::join::JoinType;

/// Both sides with what is kept of them.
struct Sides {
    keys: Keys,
    /// The key columns of each side.
    key_columns: [Vec<usize>; 2],
    records: [Records; 2],
    condition: Condition,
    pairs: Pairs,
}

struct JoinTask {
    sides: Sides,
}

impl Runnable for Join {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let widths = [0, 1].map(|side| build.plan.input_columns(build.id, side).len());
        let condition = Condition::build(&self.conditions, &self.keys, widths[0], build)?;
        let left = Records::build(build, "left-records", &self.inputs[0], self.join_type.counts_partners(0))?;
        let right = Records::build(build, "right-records", &self.inputs[1], self.join_type.counts_partners(1))?;
        let sides = Sides {
            keys: Keys::of(self.side_keys(0)),
            key_columns: [self.side_keys(0), self.side_keys(1)],
            records: [left, right],
            condition,
            pairs: Pairs::new(widths[0], widths[1]),
        };
        Ok(match self.join_type {
            JoinType::Semi => Box::new(SemiAntiTask { sides, is_anti: false }),
            JoinType::Anti => Box::new(SemiAntiTask { sides, is_anti: true }),
            _ if self.mini_batch => Box::new(BundledTask::build(self, sides, build)),
            _ => Box::new(JoinTask { sides }),
        })
    }
}

impl Sides {
    /// The key of a row of `side`, and its partners (`AssociatedRecords.of`).
    fn partners(&mut self, side: usize, row: &Row, now: i64) -> RunResult<(KeyId, Vec<Partner>)> {
        let key = self.keys.of_key(&row.project(&self.key_columns[side]));
        if self.condition.refuses(self.keys.key(key)) {
            return Ok((key, Vec::new()));
        }
        let (condition, pairs) = (&self.condition, self.pairs);
        let found =
            self.records[1 - side].partners(key, |other| condition.holds(&pairs.pair(side, row, other), now))?;
        Ok((key, found))
    }

    /// For savepoints.
    fn states(&mut self) -> States<'_> {
        let [left, right] = &mut self.records;
        States { keys: &mut self.keys, tables: vec![left.table(), right.table()] }
    }
}

/// A number of partners as it is kept.
fn count(partners: &[Partner]) -> i32 {
    i32::try_from(partners.len()).unwrap_or(i32::MAX)
}

impl JoinTask {
    /// Joins a change (`processElement`). With `suppress` it is a part of an update whose other part comes right before or after
    /// it: the row stays, and partners do not stand alone in between.
    fn process(&mut self, side: usize, change: Change, suppress: bool, out: &mut Output) -> RunResult<()> {
        let Change { kind, row } = change;
        let (key, found) = self.sides.partners(side, &row, out.now)?;
        let Sides { records, pairs, .. } = &mut self.sides;
        let [is_outer, other_is_outer] = [side, 1 - side].map(|s| records[s].is_counted());
        let pair = |partner: &Partner| pairs.pair(side, &row, &partner.row);
        let others = &mut records[1 - side];
        if kind.adds() {
            if is_outer && found.is_empty() {
                out.send(RowKind::Insert, pairs.alone(side, &row));
            }
            if other_is_outer {
                for partner in &found {
                    if partner.partners == 0 && !suppress {
                        out.send(RowKind::Delete, pairs.alone(1 - side, &partner.row));
                    }
                    others.set_partners(key, &partner.row, partner.partners + 1)?;
                }
            }
            // What was sent alone does not come back as an update.
            let sent = if is_outer || other_is_outer { RowKind::Insert } else { kind };
            found.iter().for_each(|partner| out.send(sent, pair(partner)));
            return records[side].add(key, row, count(&found));
        }
        if is_outer && found.is_empty() {
            out.send(RowKind::Delete, pairs.alone(side, &row));
        }
        let sent = if is_outer { RowKind::Delete } else { kind };
        found.iter().for_each(|partner| out.send(sent, pair(partner)));
        if other_is_outer {
            for partner in &found {
                if partner.partners == 1 && !suppress {
                    out.send(RowKind::Insert, pairs.alone(1 - side, &partner.row));
                }
                others.set_partners(key, &partner.row, partner.partners - 1)?;
            }
        }
        if !suppress {
            records[side].retract(key, &row);
        }
        Ok(())
    }
}

impl Task for JoinTask {
    fn row(&mut self, side: usize, change: Change, out: &mut Output) -> RunResult<()> {
        self.process(side, change, false, out)
    }

    fn states(&mut self) -> Option<States<'_>> {
        Some(self.sides.states())
    }
}
