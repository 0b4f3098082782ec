//! The first rows of each partition, if rows only come (`AppendOnlyTopNFunction`).

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

/// The task.
pub(super) struct AppendTopN {
    keys: Keys,
    order: Order,
    ranked: Ranked,
    ends: Ends,
    rows: KeyedState<(), Sorted<Vec<Row>>>,
    /// The types of sort keys and rows.
    types: (StateType, StateType),
}

/// The types of the keys of a map and of the elements of its lists.
pub(super) fn part_types(ty: &StateType) -> RunResult<(StateType, StateType)> {
    if let StateType::Map(key, rows) = ty
        && let StateType::List(row) = rows.as_ref()
    {
        return Ok((key.as_ref().clone(), row.as_ref().clone()));
    }
    Err(RunError::internal(format!("the rows of a rank are kept as {ty}")))
}

impl AppendTopN {
    /// Takes its entry from `build`.
    pub fn build(
        partition: &[usize],
        order: Order,
        (ranked, ends): (Ranked, Ends),
        build: &mut Build<'_>,
    ) -> RunResult<AppendTopN> {
        let rows: KeyedState<(), Sorted<Vec<Row>>> = build.entries.keyed("data-state-with-append")?;
        let types = part_types(rows.declared())?;
        Ok(AppendTopN { keys: Keys::of(partition), order, ranked, ends, rows, types })
    }
}

impl Task for AppendTopN {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let key = self.keys.of_row(&change.row);
        let row = change.row;
        let (order, ranked) = (&self.order, &self.ends.of(key, &row, &self.ranked)?);
        // `checkSortKeyInBufferRange`: most rows are too late for the first N, and leave no trace.
        if let Some(kept) = self.rows.get(key, ()) {
            // What was restored may be in another order, then it is looked at below.
            if kept.is_arranged() && !in_reach(kept, &row, order, ranked) {
                return Ok(());
            }
        }
        let sort_key = order.key(&row);
        self.rows.check(&sort_key, &self.types.0)?;
        self.rows.check(&row, &self.types.1)?;
        let kept = self.rows.entry_mut(key, (), || Sorted::new(&order.keys));
        kept.arrange(&order.keys);
        if !in_reach(kept, &row, order, ranked) {
            return Ok(());
        }
        kept.change(&sort_key, |rows| rows.push(row.clone()));
        if ranked.by_number() {
            move_down(kept, &sort_key, row, ranked, out);
        } else {
            push_out(kept, &row, ranked, out);
        }
        Ok(())
    }

    /// A rank that sends the number out keeps all rows of its last sort key; those have no place among the first N here.
    fn migrated(&mut self) {
        if self.ranked.by_number() {
            return;
        }
        let keys: Vec<KeyId> = self.rows.keys().collect();
        for key in keys {
            let Some(kept) = self.rows.get_mut(key, ()) else { continue };
            let ranked = self.ends.known(key, &self.ranked);
            kept.arrange(&self.order.keys);
            while kept.rows() > ranked.end
                && let Some(last) = kept.last().map(|(key, _)| key.clone())
            {
                kept.change(&last, Vec::pop);
            }
        }
    }

    fn states(&mut self) -> Option<States<'_>> {
        let mut tables: Vec<&mut dyn StateTable> = vec![&mut self.rows];
        tables.extend(self.ends.table());
        Some(States { keys: &mut self.keys, tables })
    }
}

fn in_reach(kept: &Sorted<Vec<Row>>, row: &Row, order: &Order, ranked: &Ranked) -> bool {
    match kept.last() {
        Some((last, _)) => order.compare(row, last).is_lt() || kept.rows() < ranked.reach,
        None => true,
    }
}

/// Every row behind the new one takes the next place (`processElementWithRowNumber`).
fn move_down(kept: &mut Sorted<Vec<Row>>, sort_key: &Row, row: Row, ranked: &Ranked, out: &mut Output) {
    let mut rank = 0;
    let mut moving: Option<Row> = None;
    let mut last = None;
    for (key, rows) in kept.iter() {
        if !ranked.in_end(rank) {
            break;
        }
        last = Some(key.clone());
        match &mut moving {
            None => {
                rank += rows.len() as i64;
                if key == sort_key {
                    moving = Some(row.clone());
                }
            }
            Some(moving) => {
                for next in rows {
                    if !ranked.in_end(rank) {
                        break;
                    }
                    ranked.replace(next, moving, rank, out);
                    *moving = next.clone();
                    rank += 1;
                }
            }
        }
    }
    if let Some(moving) = moving
        && ranked.in_end(rank)
    {
        ranked.send(RowKind::Insert, &moving, rank, out);
    }
    // Sort keys that no row among the first has are forgotten; rows of the last one stay, all of them.
    if let Some(last) = last {
        kept.split_off(&last);
    }
}

/// The last row makes room (`processElementWithoutRowNumber`).
fn push_out(kept: &mut Sorted<Vec<Row>>, row: &Row, ranked: &Ranked, out: &mut Output) {
    if kept.rows() > ranked.end
        && let Some(key) = kept.last().map(|(key, _)| key.clone())
        && let Some(removed) = kept.change(&key, Vec::pop)
    {
        if removed == *row {
            return;
        }
        ranked.send_unranked(RowKind::Delete, &removed, out);
    }
    ranked.send_unranked(RowKind::Insert, row, out);
}
