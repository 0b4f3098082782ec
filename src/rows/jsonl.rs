//! JSON lines: one object per row.

use std::io::BufRead;

use serde_json::{Map, Value};

use super::error::RowError;
use super::lines::{read_line, unreadable};
use super::schema::OP;
use super::{RowReader, RowSchema};
use crate::eval::{Datum, Row, json};
use crate::run::{Change, RowKind};

/// Reads a file of JSON lines.
pub struct JsonReader<R> {
    input: R,
    file: String,
    schema: RowSchema,
    text: String,
    line: u64,
}

impl<R: BufRead> JsonReader<R> {
    /// A reader of a file.
    pub fn new(input: R, file: &str, schema: RowSchema) -> JsonReader<R> {
        JsonReader { input, file: file.to_owned(), schema, text: String::new(), line: 0 }
    }
}

/// Reads lines until one is not blank. Gives its number; none at the end.
pub(super) fn next_line(
    input: &mut dyn BufRead,
    text: &mut String,
    file: &str,
    line: &mut u64,
) -> Result<bool, Box<RowError>> {
    loop {
        text.clear();
        *line += 1;
        let mut bytes = std::mem::take(text).into_bytes();
        let length = read_line(input, &mut bytes).map_err(|e| unreadable(file, *line, &e))?;
        *text = String::from_utf8(bytes)
            .map_err(|_| RowError::new(file, *line, "the line is not UTF-8").help("convert the file to UTF-8"))?;
        if length == 0 {
            return Ok(false);
        }
        if !text.trim().is_empty() {
            return Ok(true);
        }
    }
}

/// A JSON object on one line.
pub(super) fn object(text: &str, file: &str, line: u64) -> Result<Map<String, Value>, Box<RowError>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(RowError::new(file, line, "the line is not a JSON object").help("write {\"column\": value, ...}")),
        Err(e) => Err(RowError::new(file, line, format!("the line is not JSON: {e}"))),
    }
}

/// A row from an object of columns. What is not in it is NULL.
pub(super) fn row(
    object: &Map<String, Value>,
    schema: &RowSchema,
    file: &str,
    line: u64,
) -> Result<Change, Box<RowError>> {
    let mut values = vec![Datum::Null; schema.columns.len()];
    let mut kind = RowKind::Insert;
    for (name, cell) in object {
        match schema.place(name) {
            Some(place) => {
                let ty = &schema.columns[place].1;
                values[place] = json::read(cell, ty, &schema.zone)
                    .map_err(|bad| RowError::new(file, line, format!("column `{name}`: {bad}")))?;
            }
            None if name == OP => kind = schema.kind(cell.as_str().unwrap_or_default(), file, line)?,
            None if schema.ignores(name) => {}
            None => {
                let message = format!("the table `{}` has no stored column `{name}`", schema.table);
                return Err(RowError::new(file, line, message).help(schema.hint(name)));
            }
        }
    }
    Ok(Change { kind, row: Row::new(values) })
}

impl<R: BufRead> RowReader for JsonReader<R> {
    fn next_row(&mut self) -> Result<Option<Change>, Box<RowError>> {
        if !next_line(&mut self.input, &mut self.text, &self.file, &mut self.line)? {
            return Ok(None);
        }
        let object = object(&self.text, &self.file, self.line)?;
        // What `keepstate run --format jsonl` prints can be read again: {"op": "+I", "row": {...}}.
        if let Some(Value::Object(columns)) = object.get("row")
            && self.schema.place("row").is_none()
            && object.keys().all(|k| k == "row" || k == OP)
        {
            let mut change = row(columns, &self.schema, &self.file, self.line)?;
            if let Some(op) = object.get(OP) {
                change.kind = self.schema.kind(op.as_str().unwrap_or_default(), &self.file, self.line)?;
            }
            return Ok(Some(change));
        }
        row(&object, &self.schema, &self.file, self.line).map(Some)
    }
}
