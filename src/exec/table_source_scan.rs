//! `TableSourceScan`: reads a table. What the source itself keeps (offsets, splits) belongs to the connector.

use std::sync::Arc;

use super::{ExecNode, TextContext, join};
use crate::catalog::{Table, TableColumnKind};
use crate::logical::print::print_prefix;
use crate::logical::rex::Rex;

/// Reads a table.
#[derive(Debug, Clone)]
pub struct TableSourceScan {
    /// The table.
    pub table: Arc<Table>,
    /// Indices into `table.columns` of what is read, in output order.
    pub fields: Vec<usize>,
    /// The source was asked for these fields only.
    pub projected: bool,
    /// The watermark strategy, if the source makes watermarks itself.
    pub watermark: Option<Rex>,
    /// Conditions that the source applies.
    pub filters: Vec<Rex>,
    /// OPTIONS hints.
    pub hints: Vec<(String, String)>,
}

impl ExecNode for TableSourceScan {
    fn kind(&self) -> &'static str {
        "TableSourceScan"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let columns: Vec<&str> = context.node.columns.iter().map(|c| &*c.name).collect();
        let path = &self.table.path;
        let mut table = format!("{}, {}, {}", path.catalog, path.database, path.name);
        let metadata = join(self.fields.iter().filter_map(|f| match &self.table.columns[*f].kind {
            TableColumnKind::Metadata { key, .. } => Some(key.as_str()),
            _ => None,
        }));
        if self.projected {
            table += &format!(", project=[{}]", columns.join(", "));
        }
        if !metadata.is_empty() {
            table += &format!(", metadata=[{metadata}]");
        }
        if let Some(watermark) = &self.watermark {
            let text = print_prefix(watermark, &columns);
            table += &format!(", watermark=[{text}], watermarkEmitStrategy=[on-periodic]");
        }
        if !self.filters.is_empty() {
            let text = self.filters.iter().map(|f| print_prefix(f, &columns)).reduce(|a, b| format!("and({a}, {b})"));
            table += &format!(", filter=[{}]", text.unwrap_or_default());
        }
        let mut out = vec![("table", format!("[{table}]")), ("fields", columns.join(", "))];
        if !self.hints.is_empty() {
            let hints = join(self.hints.iter().map(|(k, v)| format!("{k}={}", v)));
            out.push(("hints", format!("[[OPTIONS options:{{{hints}}}]]")));
        }
        out
    }
}
