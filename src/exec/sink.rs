//! `Sink`: writes to a table, or collects a bare SELECT. With `upsertMaterialize` it keeps rows per key (SinkUpsertMaterializer).

use std::sync::Arc;

use super::{ExecNode, TextContext};
use crate::catalog::Table;

/// Where rows go.
#[derive(Debug, Clone)]
pub struct Sink {
    /// The sink table; none for a bare SELECT.
    pub table: Option<Arc<Table>>,
    /// Its name: the table's, or `query1`, `query2`, ...
    pub name: String,
    /// For each input column the sink's column it goes to; unnamed for a bare SELECT.
    pub target_columns: Vec<String>,
    /// The columns an INSERT names, as indices of the sink's columns.
    pub listed: Option<Vec<usize>>,
    /// A materializer brings changes into order before they are written.
    pub upsert_materialize: bool,
    /// OPTIONS hints at the INSERT.
    pub hints: Vec<(String, String)>,
}

impl ExecNode for Sink {
    fn kind(&self) -> &'static str {
        "Sink"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let name = match &self.table {
            Some(t) => format!("{}.{}.{}", t.path.catalog, t.path.database, t.path.name),
            None => self.name.clone(),
        };
        let mut out = vec![("table", name)];
        if let Some(listed) = &self.listed {
            let list: Vec<String> = listed.iter().map(|i| format!("[{i}]")).collect();
            out.push(("targetColumns", list.join(",")));
        }
        out.push(("fields", context.output_names()));
        if self.upsert_materialize {
            out.push(("upsertMaterialize", "true".to_owned()));
        }
        out
    }
}
