//! Changes as text: the table that Flink's client prints, CSV, JSON lines.

use std::io::{self, Write};

use jiff::tz::TimeZone;
use serde_json::Value;

use super::cells::write_cell;
use crate::catalog::types::DataType;
use crate::eval::{json, text};
use crate::run::Change;

/// The forms of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// Columns side by side, `op` first.
    Table,
    /// A header and one line per change, `op` first.
    Csv,
    /// `{"op": "+I", "row": {...}}`
    Jsonl,
}

/// Prints the changes of one sink.
pub struct Printer {
    format: RowFormat,
    columns: Vec<(String, DataType)>,
    zone: TimeZone,
    /// The sink's name, if there are several.
    sink: Option<String>,
    /// Lines of the table so far: its columns are as wide as their widest cell.
    lines: Vec<Vec<String>>,
    /// How many rows the table has.
    rows: usize,
    widths: Vec<usize>,
    text: String,
    started: bool,
}

/// How many rows decide the width of a table's columns, so that a long run prints as it goes.
const LOOKAHEAD: usize = 1000;

impl Printer {
    /// A printer for rows of these columns. With `sink` every line says where it goes.
    pub fn new(format: RowFormat, columns: Vec<(String, DataType)>, zone: TimeZone, sink: Option<String>) -> Printer {
        let widths = columns.iter().map(|(name, _)| width(name)).collect();
        Printer { format, columns, zone, sink, lines: Vec::new(), rows: 0, widths, text: String::new(), started: false }
    }

    /// Prints a change.
    pub fn change(&mut self, change: &Change, out: &mut dyn Write) -> io::Result<()> {
        self.text.clear();
        match self.format {
            RowFormat::Jsonl => {
                self.text.push_str("{\"op\": \"");
                self.text.push_str(change.kind.name());
                if let Some(sink) = &self.sink {
                    self.text.push_str("\", \"sink\": ");
                    self.text.push_str(&Value::from(sink.as_str()).to_string());
                    self.text.push_str(", \"row\": {");
                } else {
                    self.text.push_str("\", \"row\": {");
                }
                for (i, ((name, ty), value)) in self.columns.iter().zip(change.row.iter()).enumerate() {
                    self.text.push_str(if i > 0 { ", " } else { "" });
                    self.text.push_str(&Value::from(name.as_str()).to_string());
                    self.text.push_str(": ");
                    self.text.push_str(&json::write(value, ty, &self.zone).to_string());
                }
                self.text.push_str("}}\n");
            }
            RowFormat::Csv => {
                if !std::mem::replace(&mut self.started, true) {
                    self.text.push_str("op");
                    for (name, _) in &self.columns {
                        self.text.push(',');
                        write_cell(&mut self.text, |out| out.push_str(name));
                    }
                    self.text.push('\n');
                }
                self.text.push_str(change.kind.name());
                for ((_, ty), value) in self.columns.iter().zip(change.row.iter()) {
                    self.text.push(',');
                    if !value.is_null() {
                        write_cell(&mut self.text, |out| text::append(out, value, ty, &self.zone));
                    }
                }
                self.text.push('\n');
            }
            RowFormat::Table => {
                self.rows += 1;
                let cell = |(value, (_, ty)): (&crate::eval::Datum, &(String, DataType))| {
                    if value.is_null() { "<NULL>".to_owned() } else { shown(&text::print(value, ty, &self.zone)) }
                };
                let mut cells = vec![change.kind.name().to_owned()];
                cells.extend(change.row.iter().zip(&self.columns).map(cell));
                if self.started {
                    self.line(&cells);
                } else {
                    for (width, cell) in self.widths.iter_mut().zip(&cells[1..]) {
                        *width = (*width).max(self::width(cell));
                    }
                    self.lines.push(cells);
                    if self.lines.len() >= LOOKAHEAD {
                        self.begin_table();
                    }
                }
            }
        }
        out.write_all(self.text.as_bytes())
    }

    /// Ends the output.
    pub fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.text.clear();
        match self.format {
            RowFormat::Jsonl => {}
            // A file without rows still has its header.
            RowFormat::Csv if !self.started => {
                let names = self.columns.iter().map(|(n, _)| n.as_str());
                self.text = std::iter::once("op").chain(names).collect::<Vec<_>>().join(",") + "\n";
            }
            RowFormat::Csv => {}
            RowFormat::Table => {
                if !self.started {
                    self.begin_table();
                }
                self.border();
                let rows = if self.rows == 1 { "row" } else { "rows" };
                self.text.push_str(&format!("{} {rows}\n", self.rows));
            }
        }
        out.write_all(self.text.as_bytes())
    }

    fn begin_table(&mut self) {
        self.started = true;
        if let Some(sink) = &self.sink {
            self.text.push_str(sink);
            self.text.push('\n');
        }
        self.border();
        let names: Vec<String> =
            std::iter::once("op".to_owned()).chain(self.columns.iter().map(|(n, _)| shown(n))).collect();
        self.line(&names);
        self.border();
        for cells in std::mem::take(&mut self.lines) {
            self.line(&cells);
        }
    }

    fn border(&mut self) {
        self.text.push_str("+----+");
        for width in &self.widths {
            self.text.push_str(&"-".repeat(width + 2));
            self.text.push('+');
        }
        self.text.push('\n');
    }

    fn line(&mut self, cells: &[String]) {
        self.text.push('|');
        for (cell, width) in cells.iter().zip(std::iter::once(&2).chain(&self.widths)) {
            let space = width.saturating_sub(self::width(cell));
            self.text.push(' ');
            self.text.push_str(&" ".repeat(space));
            self.text.push_str(cell);
            self.text.push_str(" |");
        }
        self.text.push('\n');
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Text for a terminal: control characters, line breaks among them, are written out.
fn shown(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}
