//! The columns that rows of a table have: those that the table stores.

use jiff::tz::TimeZone;

use crate::catalog::types::DataType;
use crate::catalog::{Table, TableColumnKind};
use crate::nearest::nearest;

/// The stored columns of a table: physical and metadata columns, computed ones left out.
#[derive(Debug, Clone)]
pub struct RowSchema {
    /// The table's name, for messages.
    pub table: String,
    /// Name and type of each column.
    pub columns: Vec<(String, DataType)>,
    /// Columns that are passed over: those that only the other side of a comparison has.
    pub ignored: Vec<String>,
    /// The zone in which TIMESTAMP_LTZ without a zone is read.
    pub zone: TimeZone,
}

/// The name of the column that holds the kind of a change, if the table has no such column.
pub const OP: &str = "op";

impl RowSchema {
    /// The columns of a table.
    pub fn of(table: &Table, zone: TimeZone) -> RowSchema {
        let stored = |c: &&crate::catalog::TableColumn| !matches!(c.kind, TableColumnKind::Computed(_));
        RowSchema {
            table: table.path.name.to_string(),
            columns: table.columns.iter().filter(stored).map(|c| (c.name.clone(), c.ty.clone())).collect(),
            ignored: Vec::new(),
            zone,
        }
    }

    /// The same, passing over some columns.
    pub fn ignoring(mut self, columns: &[String]) -> RowSchema {
        self.ignored = columns.to_vec();
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
