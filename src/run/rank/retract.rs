//! The first rows of each partition, whatever happens to rows (`RetractableTopNFunction`). All rows are kept.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Order;
use super::append::part_types;
use super::ends::Ends;
use super::output::Ranked;
use super::sorted::Sorted;
use crate::eval::Row;
use crate::run::build::Build;
use crate::run::change::{Change, RowKind};
use crate::run::error::RunResult;
use crate::run::group_state::equal_values;
use crate::run::store::{KeyedState, Keys, StateTable};
use crate::run::task::{Output, States, Task};
use crate::state::types::StateType;

/// Rows by sort key.
type Rows = HashMap<Row, Vec<Row>, FxBuildHasher>;

/// The task.
pub(super) struct RetractTopN {
    keys: Keys,
    order: Order,
    ranked: Ranked,
    ends: Ends,
    rows: KeyedState<(), Rows>,
    /// How many rows each sort key has.
    counts: KeyedState<(), Sorted<i64>>,
    /// The types of sort keys and rows.
    types: (StateType, StateType),
}

impl RetractTopN {
    /// Takes its entries from `build`.
    pub fn build(
        partition: &[usize],
        order: Order,
        (ranked, ends): (Ranked, Ends),
        build: &mut Build<'_>,
    ) -> RunResult<RetractTopN> {
        let rows: KeyedState<(), Rows> = build.entries.keyed("data-state")?;
        let counts = build.entries.keyed("sorted-map")?;
        let types = part_types(rows.declared())?;
        Ok(RetractTopN { keys: Keys::of(partition), order, ranked, ends, rows, counts, types })
    }
}

impl Task for RetractTopN {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let Change { kind, row } = change;
        let key = self.keys.of_row(&row);
        let sort_key = self.order.key(&row);
        let ranked = &self.ends.of(key, &row, &self.ranked)?;
        self.rows.check(&sort_key, &self.types.0)?;
        self.rows.check(&row, &self.types.1)?;
        let counts = self.counts.entry_mut(key, (), || Sorted::new(&self.order.keys));
        counts.arrange(&self.order.keys);
        let rows = self.rows.entry_mut(key, (), Rows::default);
        if kind.adds() {
            counts.change(&sort_key, |n| *n += 1);
            if ranked.by_number() {
                add_by_number(counts, rows, &sort_key, &row, ranked, out);
            } else {
                add(counts, rows, &sort_key, &row, ranked, out);
            }
            rows.entry(sort_key).or_default().push(row);
            return Ok(());
        }
        let removed = if ranked.by_number() {
            remove_by_number(counts, rows, &sort_key, &row, ranked, out)
        } else {
            remove(counts, rows, &sort_key, &row, ranked, out)
        };
        // Flink counts the sort key down although no row of it may be the one that goes, and goes on without a sort key.
        if counts.get(&sort_key).is_some() {
            counts.change(&sort_key, |n| *n -= 1);
        }
        if !removed {
            take(rows, &sort_key, &row);
        }
        if counts.is_empty() {
            self.counts.remove(key, ());
            self.rows.remove(key, ());
        }
        Ok(())
    }

    fn states(&mut self) -> Option<States<'_>> {
        let mut tables: Vec<&mut dyn StateTable> = vec![&mut self.rows, &mut self.counts];
        tables.extend(self.ends.table());
        Some(States { keys: &mut self.keys, tables })
    }
}

/// Takes out the first row that equals `row`; gives its place among those of its sort key.
fn take(rows: &mut Rows, sort_key: &Row, row: &Row) -> Option<(usize, Row)> {
    let of_key = rows.get_mut(sort_key)?;
    let place = of_key.iter().position(|r| equal_values(r, row))?;
    let removed = of_key.remove(place);
    if of_key.is_empty() {
        rows.remove(sort_key);
    }
    Some((place, removed))
}

/// Rows of a sort key, in the order of their arrival.
fn of<'a>(rows: &'a Rows, key: &Row) -> &'a [Row] {
    rows.get(key).map_or(&[], Vec::as_slice)
}

/// `emitRecordsWithRowNumber`: every row behind the new one takes the next place. The new row is counted, but not kept yet.
fn add_by_number(counts: &Sorted<i64>, rows: &Rows, sort_key: &Row, row: &Row, ranked: &Ranked, out: &mut Output) {
    let mut rank = 0;
    let mut moving: Option<&Row> = None;
    for (key, count) in counts.iter() {
        if !ranked.in_end(rank) {
            break;
        }
        if moving.is_none() {
            rank += count;
            if key == sort_key {
                moving = Some(row);
            }
            continue;
        }
        for next in of(rows, key) {
            let Some(moved) = moving.filter(|_| ranked.in_end(rank)) else { break };
            ranked.replace(next, moved, rank, out);
            moving = Some(next);
            rank += 1;
        }
    }
    if let Some(moving) = moving
        && ranked.in_end(rank)
    {
        ranked.send(RowKind::Insert, moving, rank, out);
    }
}

/// `emitRecordsWithoutRowNumber`: the new row may push out another.
fn add(counts: &Sorted<i64>, rows: &Rows, sort_key: &Row, row: &Row, ranked: &Ranked, out: &mut Output) {
    let mut rank = 0;
    let mut found = false;
    let (mut comes, mut goes) = (false, None);
    for (key, count) in counts.iter() {
        if !ranked.in_end(rank) {
            break;
        }
        if !found {
            rank += count;
            if key == sort_key {
                comes = ranked.in_range(rank);
                found = true;
            }
        } else if ranked.in_end(rank + count) {
            rank += count;
        } else {
            goes = of(rows, key).get((ranked.end - rank) as usize);
            break;
        }
    }
    if let Some(row) = goes {
        ranked.send_unranked(RowKind::Delete, row, out);
    }
    if comes {
        ranked.send_unranked(RowKind::Insert, row, out);
    }
}

/// `retractRecordWithRowNumber`: every row behind takes the place before it. True if the row was found and taken out.
fn remove_by_number(
    counts: &Sorted<i64>,
    rows: &mut Rows,
    sort_key: &Row,
    row: &Row,
    ranked: &Ranked,
    out: &mut Output,
) -> bool {
    let mut rank = 0;
    let mut moving: Option<Row> = None;
    for (key, count) in counts.iter() {
        if !ranked.in_end(rank) {
            break;
        }
        let mut from = 0;
        if moving.is_none() {
            if key != sort_key {
                rank += count;
                continue;
            }
            let reach = (ranked.end - rank).max(0) as usize;
            let of_key = of(rows, key);
            match of_key.iter().take(reach + 1).position(|r| equal_values(r, row)) {
                Some(place) => {
                    rank += place as i64 + 1;
                    from = place;
                    moving = take(rows, sort_key, row).map(|(_, removed)| removed);
                }
                None => {
                    rank += of_key.len().min(reach + 1) as i64;
                    continue;
                }
            }
        }
        for next in of(rows, key).iter().skip(from) {
            let Some(moved) = moving.as_mut().filter(|_| ranked.in_end(rank)) else { break };
            ranked.replace(moved, next, rank, out);
            *moved = next.clone();
            rank += 1;
        }
    }
    match moving {
        Some(last) => {
            if ranked.in_end(rank) {
                ranked.send(RowKind::Delete, &last, rank, out);
            }
            true
        }
        None => false,
    }
}

/// `retractRecordWithoutRowNumber`: another row may take the place that gets free. True if the row was found and taken out.
fn remove(counts: &Sorted<i64>, rows: &mut Rows, sort_key: &Row, row: &Row, ranked: &Ranked, out: &mut Output) -> bool {
    // The rank of the next row, without the one that goes.
    let mut next_rank = 1;
    let mut found = false;
    for (key, count) in counts.iter() {
        if !ranked.in_end(next_rank) {
            break;
        }
        if !found && key == sort_key {
            let reach = (ranked.end - next_rank + 1) as usize;
            let of_key = of(rows, key);
            let Some(place) = of_key.iter().take(reach).position(|r| equal_values(r, row)) else {
                next_rank += of_key.len().min(reach) as i64;
                continue;
            };
            found = true;
            next_rank += place as i64;
            if let Some((_, removed)) = take(rows, sort_key, row) {
                ranked.send(RowKind::Delete, &removed, next_rank, out);
            }
            for row in of(rows, key).iter().skip(place) {
                if !ranked.in_end(next_rank) {
                    break;
                }
                if next_rank == ranked.end {
                    ranked.send(RowKind::Insert, row, next_rank, out);
                }
                next_rank += 1;
            }
        } else if found {
            if next_rank + count - 1 < ranked.end {
                next_rank += count;
            } else {
                if let Some(row) = of(rows, key).get((ranked.end - next_rank) as usize) {
                    ranked.send_unranked(RowKind::Insert, row, out);
                }
                break;
            }
        } else {
            next_rank += count;
        }
    }
    found
}
