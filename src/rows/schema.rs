//! The columns that rows of a table have: those that the table stores.

use jiff::tz::TimeZone;

use super::RowError;
use crate::catalog::types::DataType;
use crate::catalog::{Table, TableColumnKind};
use crate::exec::ChangelogMode;
use crate::nearest::nearest;
use crate::run::RowKind;

/// The stored columns of a table: physical and metadata columns, computed ones left out.
#[derive(Debug, Clone)]
pub struct RowSchema {
    /// The table's name, for messages.
    pub table: String,
    /// Name and type of each column.
    pub columns: Vec<(String, DataType)>,
    /// Columns that are passed over: those that only the other side of a comparison has.
    pub ignored: Vec<String>,
    /// The kinds of changes that the table's source sends.
    pub sends: ChangelogMode,
    /// The places of columns that nothing reads: their cells are checked, and stay NULL.
    pub unread: Vec<usize>,
    /// The zone in which TIMESTAMP_LTZ without a zone is read.
    pub zone: TimeZone,
}

/// The name of the column that holds the kind of a change, if the table has no such column.
pub const OP: &str = "op";

impl RowSchema {
    /// The columns of a table.
    pub fn of(table: &Table, sends: ChangelogMode, zone: TimeZone) -> RowSchema {
        let stored = |c: &&crate::catalog::TableColumn| !matches!(c.kind, TableColumnKind::Computed(_));
        RowSchema {
            table: table.path.name.to_string(),
            columns: table.columns.iter().filter(stored).map(|c| (c.name.clone(), c.ty.clone())).collect(),
            ignored: Vec::new(),
            sends,
            unread: Vec::new(),
            zone,
        }
    }

    /// The same, passing over some columns.
    pub fn ignoring(mut self, columns: &[String]) -> RowSchema {
        self.ignored = columns.to_vec();
        self
    }

    /// The same, without the values of columns that are not kept.
    pub fn keeping(mut self, kept: &[bool]) -> RowSchema {
        self.unread = (0..self.columns.len()).filter(|i| kept.get(*i) == Some(&false)).collect();
        self
    }

    /// True for a column that is passed over.
    pub fn ignores(&self, name: &str) -> bool {
        self.ignored.iter().any(|i| i == name)
    }

    /// The place of a column.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|(n, _)| n == name)
    }

    /// The kind of a change from its name. A source that sends no such changes has to read none, since its query is planned
    /// without them.
    pub fn kind(&self, name: &str, file: &str, line: u64) -> Result<RowKind, Box<RowError>> {
        let Some(kind) = RowKind::from_name(name.trim()) else {
            return Err(RowError::new(file, line, format!("column `op`: expected +I, -U, +U or -D, found `{name}`")));
        };
        let sent = match kind {
            RowKind::Insert => self.sends.insert,
            RowKind::UpdateBefore => self.sends.update_before,
            RowKind::UpdateAfter => self.sends.update_after,
            RowKind::Delete => self.sends.delete,
        };
        if sent {
            return Ok(kind);
        }
        let message = if self.sends.is_insert_only() {
            format!("`{}` only sends inserts, so a row cannot be {}", self.table, kind.name())
        } else {
            format!("`{}` sends only {}, so a row cannot be {}", self.table, self.sends, kind.name())
        };
        Err(RowError::new(file, line, message).help(
            "declare the table with a connector and format that send such changes, such as 'kafka' with 'debezium-json', or \
             leave the column `op` out",
        ))
    }

    /// True if a column `op` holds the kind of each change.
    pub fn has_own_op(&self) -> bool {
        self.place(OP).is_some()
    }

    /// What to say of a name that is no column.
    pub fn hint(&self, name: &str) -> String {
        match nearest(name, self.columns.iter().map(|(n, _)| n.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let names: Vec<&str> = self.columns.iter().map(|(n, _)| n.as_str()).take(20).collect();
                format!("the stored columns of `{}` are {}", self.table, names.join(", "))
            }
        }
    }
}
