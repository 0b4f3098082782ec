//! The first rows of each partition, if rows are updated by key and only move up (`UpdatableTopNFunction`).

use hashbrown::HashMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Order;
use super::ends::Ends;
use super::output::Ranked;
use super::sorted::Sorted;
use crate::eval::Row;
use crate::run::build::Build;
use crate::run::change::{Change, RowKind};
use crate::run::error::{RunError, RunResult};
use crate::run::store::{KeyId, KeyedState, Keys, StateTable};
use crate::run::task::{Output, States, Task};
use crate::state::types::StateType;

/// Rows by their key, with their place among those of the same sort key.
type Rows = HashMap<Row, (Row, i32), FxBuildHasher>;

/// The task.
pub(super) struct UpdateTopN {
    keys: Keys,
    /// The columns of the row key.
    row_key: Vec<usize>,
    order: Order,
    ranked: Ranked,
    ends: Ends,
    rows: KeyedState<(), Rows>,
    /// Row keys by sort key: what the state holds, in order. Made from the state when it is not there.
    sorted: FxHashMap<KeyId, Sorted<Vec<Row>>>,
    /// The types of row keys and of rows with their places.
    types: (StateType, StateType),
}

impl UpdateTopN {
    /// Takes its entry from `build`.
    pub fn build(
        partition: &[usize],
        row_key: &[usize],
        order: Order,
        (ranked, ends): (Ranked, Ends),
        build: &mut Build<'_>,
    ) -> RunResult<UpdateTopN> {
        let rows: KeyedState<(), Rows> = build.entries.keyed("data-state-with-update")?;
        let StateType::Map(key, row) = rows.declared() else {
            return Err(RunError::internal("the rows of a rank are not kept in a map"));
        };
        let types = (key.as_ref().clone(), row.as_ref().clone());
        let (keys, row_key) = (Keys::of(partition), row_key.to_vec());
        Ok(UpdateTopN { keys, row_key, order, ranked, ends, rows, sorted: FxHashMap::default(), types })
    }

    fn sorted(&self, rows: &Rows) -> Sorted<Vec<Row>> {
        let mut sorted = Sorted::<Vec<Row>>::new(&self.order.keys);
        let mut kept: Vec<_> = rows.iter().collect();
        kept.sort_by_key(|(key, (_, place))| (*place, *key));
        for (key, (row, _)) in kept {
            sorted.change(&self.order.key(row), |keys| keys.push(key.clone()));
        }
        sorted
    }
}

impl Task for UpdateTopN {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let row = change.row;
        let key = self.keys.of_row(&row);
        let mut sorted = match self.sorted.remove(&key) {
            Some(sorted) if self.rows.get(key, ()).is_some() => sorted,
            _ => self.rows.get(key, ()).map_or_else(|| Sorted::new(&self.order.keys), |rows| self.sorted(rows)),
        };
        let ranked = self.ends.of(key, &row, &self.ranked)?;
        let row_key = row.project(&self.row_key);
        self.rows.check(&row_key, &self.types.0)?;
        self.rows.check(&(row.clone(), 0), &self.types.1)?;
        let rows = self.rows.entry_mut(key, (), Rows::default);
        let mut top = Partition { order: &self.order, ranked: &ranked, rows, sorted: &mut sorted };
        if ranked.by_number() {
            top.take_by_number(row_key, row, out);
        } else {
            top.take(row_key, row, out);
        }
        self.sorted.insert(key, sorted);
        Ok(())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let mut tables: Vec<&mut dyn StateTable> = vec![&mut self.rows];
        tables.extend(self.ends.table());
        Some(States { keys: &mut self.keys, tables })
    }
}

/// The rows of one partition.
struct Partition<'a> {
    order: &'a Order,
    ranked: &'a Ranked,
    rows: &'a mut Rows,
    sorted: &'a mut Sorted<Vec<Row>>,
}

impl Partition<'_> {
    /// Puts a row at the end of those with its sort key.
    fn put(&mut self, row_key: Row, row: Row, sort_key: &Row) {
        let place = self.sorted.change(sort_key, |keys| {
            keys.push(row_key.clone());
            keys.len()
        });
        self.rows.insert(row_key, (row, place as i32));
    }

    /// Moves a row from one sort key to another.
    fn shift(&mut self, row_key: Row, row: Row, old_key: &Row, sort_key: &Row) {
        let rows = &mut *self.rows;
        self.sorted.change(old_key, |keys| {
            keys.retain(|k| *k != row_key);
            // `updateInnerRank`
            for (i, key) in keys.iter().enumerate() {
                if let Some((_, place)) = rows.get_mut(key) {
                    *place = i as i32 + 1;
                }
            }
        });
        self.put(row_key, row, sort_key);
    }

    fn in_reach(&self, row: &Row) -> bool {
        match self.sorted.last() {
            Some((last, _)) => self.order.compare(row, last).is_lt() || self.sorted.rows() < self.ranked.reach,
            None => true,
        }
    }

    /// `processElementWithoutRowNumber`
    fn take(&mut self, row_key: Row, row: Row, out: &mut Output) {
        let sort_key = self.order.key(&row);
        if let Some((old, _)) = self.rows.get_mut(&row_key) {
            let old_key = self.order.key(old);
            let old = if old_key == sort_key {
                std::mem::replace(old, row.clone())
            } else {
                let old = old.clone();
                self.shift(row_key, row.clone(), &old_key, &sort_key);
                old
            };
            self.ranked.send_unranked(RowKind::UpdateBefore, &old, out);
            self.ranked.send_unranked(RowKind::UpdateAfter, &row, out);
        } else if self.in_reach(&row) {
            self.put(row_key, row.clone(), &sort_key);
            if self.sorted.rows() > self.ranked.end
                && let Some(last) = self.sorted.last().map(|(key, _)| key.clone())
                && let Some(removed) = self.sorted.change(&last, Vec::pop)
                && let Some((removed, _)) = self.rows.remove(&removed)
            {
                self.ranked.send_unranked(RowKind::Delete, &removed, out);
            }
            self.ranked.send_unranked(RowKind::Insert, &row, out);
        }
    }

    /// `processElementWithRowNumber`
    fn take_by_number(&mut self, row_key: Row, row: Row, out: &mut Output) {
        let sort_key = self.order.key(&row);
        match self.rows.get(&row_key).cloned() {
            Some((old, place)) => {
                let old_key = self.order.key(&old);
                let old_rank = self.rank(&old_key, &row_key);
                if old_key == sort_key {
                    self.rows.insert(row_key, (row.clone(), place));
                    self.ranked.replace(&old, &row, old_rank, out);
                } else {
                    self.shift(row_key, row.clone(), &old_key, &sort_key);
                    self.move_down(&sort_key, row, Some((old, old_key, old_rank)), out);
                }
            }
            None if self.in_reach(&row) => {
                self.put(row_key, row.clone(), &sort_key);
                self.move_down(&sort_key, row, None, out);
            }
            None => {}
        }
    }

    /// The rank of a row (`rowNumber`).
    fn rank(&self, sort_key: &Row, row_key: &Row) -> i64 {
        let mut rank = 0;
        for (key, rows) in self.sorted.iter() {
            if key == sort_key {
                let place = rows.iter().position(|k| k == row_key).unwrap_or(rows.len());
                return rank + place as i64 + 1;
            }
            rank += rows.len() as i64;
        }
        rank
    }

    /// Every row between the new place and the old one, or the end, takes the next place (`emitRecordsWithRowNumber`).
    fn move_down(&mut self, sort_key: &Row, row: Row, old: Option<(Row, Row, i64)>, out: &mut Output) {
        let ranked = self.ranked;
        let mut rank = 0;
        let mut moving: Option<Row> = None;
        let mut last = None;
        for (key, keys) in self.sorted.iter() {
            if !ranked.in_end(rank) {
                break;
            }
            last = Some(key.clone());
            let Some(moved) = &mut moving else {
                rank += keys.len() as i64;
                if key == sort_key {
                    moving = Some(row.clone());
                }
                continue;
            };
            let until = match &old {
                None => ranked.end + 1,
                Some((_, old_key, old_rank)) => {
                    if crate::run::order::compare(&self.order.keys, key, old_key).is_gt() {
                        break;
                    }
                    *old_rank
                }
            };
            for key in keys {
                if rank >= until {
                    break;
                }
                let Some((next, _)) = self.rows.get(key) else { continue };
                ranked.replace(next, moved, rank, out);
                *moved = next.clone();
                rank += 1;
            }
        }
        if let Some(moving) = moving
            && ranked.in_end(rank)
        {
            match &old {
                None => ranked.send(RowKind::Insert, &moving, rank, out),
                Some((old, ..)) => ranked.replace(old, &moving, rank, out),
            }
        }
        if old.is_none()
            && let Some(last) = last
        {
            for key in self.sorted.split_off(&last).into_iter().flatten() {
                self.rows.remove(&key);
            }
        }
    }
}
