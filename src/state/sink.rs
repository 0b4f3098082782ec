//! `Sink` with a materializer: all rows per primary key that are not taken back yet (`SinkUpsertMaterializer`).

use super::types::{RowType, StateType};
use super::{Keyed, StateContext, StateEntry, Stateful};
use crate::catalog::{Table, TableColumn, TableColumnKind};
use crate::exec::sink::Sink;

/// Columns that a sink is sent.
fn is_sent(column: &TableColumn) -> bool {
    match &column.kind {
        TableColumnKind::Physical => true,
        TableColumnKind::Computed(_) => false,
        TableColumnKind::Metadata { is_virtual, .. } => !is_virtual,
    }
}

fn row<'a>(columns: impl Iterator<Item = &'a TableColumn>) -> RowType {
    RowType::new(columns.map(|c| (&*c.name, c.ty.clone().materialized())))
}

fn key(table: &Table) -> RowType {
    let columns = table.primary_key.iter().flat_map(|key| &key.columns);
    row(columns.filter_map(|i| table.columns.get(*i)))
}

impl Stateful for Sink {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let Some(table) = self.table.as_deref().filter(|_| self.upsert_materialize) else { return Vec::new() };
        let keyed = Keyed { key: key(table), namespace: StateType::Void };
        let rows = StateType::from(row(table.columns.iter().filter(|c| is_sent(c)))).list();
        vec![keyed.value("values", rows).compiled("sinkMaterializeState").with_ttl(context.ttl())]
    }
}
