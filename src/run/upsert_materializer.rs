//! What brings the changes of a primary key into order before they reach the sink (`SinkUpsertMaterializer`).

use super::build::Build;
use super::change::{Change, RowKind};
use super::error::{RunError, RunResult};
use super::group_state::equal_values;
use super::store::{KeyedState, Keys};
use super::task::{Output, States};
use crate::eval::Row;
use crate::exec::sink::Sink;
use crate::state::types::StateType;

/// All rows per primary key that were not taken back, in the order of their arrival. The last one is what the sink has.
pub struct UpsertMaterializer {
    keys: Keys,
    rows: KeyedState<(), Vec<Row>>,
    /// The type of a row.
    row: StateType,
    /// The columns by which the input identifies rows, if it does.
    upsert_key: Option<Vec<usize>>,
}

impl UpsertMaterializer {
    /// Takes its entry from `build`.
    pub fn build(sink: &Sink, build: &mut Build<'_>) -> RunResult<UpsertMaterializer> {
        let key = sink.table.as_ref().and_then(|table| {
            let columns = &table.primary_key.as_ref()?.columns;
            let place = |c: &usize| sink.target_columns.iter().position(|t| **t == *table.columns[*c].name);
            columns.iter().map(place).collect::<Option<Vec<usize>>>()
        });
        let key = key.ok_or_else(|| RunError::internal("a materializer without a primary key"))?;
        let rows: KeyedState<(), Vec<Row>> = build.entries.keyed("values")?;
        let StateType::List(row) = rows.declared() else {
            return Err(RunError::internal("a materializer keeps no list of rows"));
        };
        let row = row.as_ref().clone();
        // `UpsertKeyUtil.smallestKey`
        let input = build.node.inputs.first().map(|i| build.plan.node(*i));
        let upsert_key = input.and_then(|i| i.upsert_keys.iter().min_by_key(|k| (k.len(), *k)).cloned());
        Ok(UpsertMaterializer { keys: Keys::of(key), rows, row, upsert_key })
    }

    /// Takes a change; sends what becomes of the row of its primary key.
    pub fn take(&mut self, change: Change, out: &mut Output) -> RunResult<()> {
        let Change { kind, row } = change;
        let key = self.keys.of_row(&row);
        self.rows.check(&row, &self.row)?;
        let upsert_key = &self.upsert_key;
        let same = |kept: &Row| match upsert_key {
            Some(columns) => columns.iter().all(|c| equal_values(&kept[*c..=*c], &row[*c..=*c])),
            None => equal_values(kept, &row),
        };
        if kind.adds() {
            let rows = self.rows.entry_mut(key, (), Vec::new);
            let kind = if rows.is_empty() { RowKind::Insert } else { RowKind::UpdateAfter };
            match rows.iter().position(same).filter(|_| upsert_key.is_some()) {
                Some(place) => rows[place] = row.clone(),
                None => rows.push(row.clone()),
            }
            out.send(kind, row);
            return Ok(());
        }
        // What is not there was forgotten (`STATE_CLEARED_WARN_MSG`).
        let Some(rows) = self.rows.get_mut(key, ()) else { return Ok(()) };
        let Some(place) = rows.iter().position(same) else { return Ok(()) };
        rows.remove(place);
        match rows.last() {
            None => {
                self.rows.remove(key, ());
                out.send(RowKind::Delete, row);
            }
            // The last row went; the one before is what the sink has now.
            Some(last) if place == rows.len() => out.send(RowKind::UpdateAfter, last.clone()),
            Some(_) => {}
        }
        Ok(())
    }

    /// For savepoints.
    pub fn states(&mut self) -> States<'_> {
        States { keys: &mut self.keys, tables: vec![&mut self.rows] }
    }
}
