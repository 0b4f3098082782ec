//! Rows of several tables in the order of their arrival: `{"table": "...", "row": {...}}` per line.

use std::io::BufRead;

use serde_json::Value;

use super::RowSchema;
use super::error::RowError;
use super::jsonl::{next_line, object, row};
use crate::run::Change;

/// Reads lines that name their table.
pub struct StdinReader<R> {
    input: R,
    schemas: Vec<RowSchema>,
    text: String,
    line: u64,
}

const FILE: &str = "<stdin>";

impl<R: BufRead> StdinReader<R> {
    /// A reader of rows of these tables.
    pub fn new(input: R, schemas: Vec<RowSchema>) -> StdinReader<R> {
        StdinReader { input, schemas, text: String::new(), line: 0 }
    }

    /// The next row with the place of its table.
    pub fn next_row(&mut self) -> Result<Option<(usize, Change)>, Box<RowError>> {
        if !next_line(&mut self.input, &mut self.text, FILE, &mut self.line)? {
            return Ok(None);
        }
        let object = object(&self.text, FILE, self.line)?;
        let shape = || {
            RowError::new(FILE, self.line, "the line names no table and row")
                .help("write {\"table\": \"orders\", \"row\": {\"column\": value, ...}}")
        };
        let (Some(Value::String(table)), Some(Value::Object(columns))) = (object.get("table"), object.get("row"))
        else {
            return Err(shape());
        };
        if let Some(other) = object.keys().find(|k| !["table", "row", "op"].contains(&k.as_str())) {
            return Err(
                RowError::new(FILE, self.line, format!("`{other}` is unknown")).help("a line has table, row and op")
            );
        }
        let Some(place) = self.schemas.iter().position(|s| s.table == *table) else {
            let names: Vec<&str> = self.schemas.iter().map(|s| s.table.as_str()).collect();
            let message = format!("the query reads no table `{table}`");
            return Err(RowError::new(FILE, self.line, message).help(format!("it reads {}", names.join(", "))));
        };
        let mut change = row(columns, &self.schemas[place], FILE, self.line)?;
        if let Some(op) = object.get("op") {
            change.kind = self.schemas[place].kind(op.as_str().unwrap_or_default(), FILE, self.line)?;
        }
        Ok(Some((place, change)))
    }
}
