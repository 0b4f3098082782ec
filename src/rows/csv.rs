//! CSV files with a header line.

use std::io::BufRead;

use super::cells::{BadRecord, Record};
use super::error::RowError;
use super::lines::unreadable;
use super::schema::OP;
use super::{RowReader, RowSchema};
use crate::eval::{Datum, text};
use crate::run::{Change, RowKind};

/// What a cell of a file is for.
#[derive(Debug, Clone, Copy)]
enum Use {
    /// Stored column `i` of the table.
    Column(usize),
    /// Stored column `i`, which nothing reads: its cells have to be right all the same.
    Unread(usize),
    /// The kind of the change.
    Op,
    /// Nothing.
    Skip,
}

impl Use {
    /// The stored column that the cell belongs to.
    fn column(&self) -> Option<usize> {
        match self {
            Use::Column(place) | Use::Unread(place) => Some(*place),
            Use::Op | Use::Skip => None,
        }
    }
}

/// Reads a CSV file.
pub struct CsvReader<R> {
    input: R,
    file: String,
    schema: RowSchema,
    /// The text of NULL; by default an empty cell without quotes.
    null: Option<String>,
    header: Vec<Use>,
    record: Record,
    /// The values of a row before they are one; empty in between.
    values: Vec<Datum>,
    /// The line on which the record ends.
    line: u64,
}

impl<R: BufRead> CsvReader<R> {
    /// Reads the header. Columns that the header leaves out are NULL in every row if they are not in `read`, which lists the
    /// columns that the plan reads; others must be there.
    pub fn open(
        mut input: R,
        file: &str,
        schema: RowSchema,
        read: &[usize],
        null: Option<String>,
    ) -> Result<CsvReader<R>, Box<RowError>> {
        let mut record = Record::default();
        let line = match record.read(&mut input).map_err(|e| bad_record(file, 1, &e))? {
            Some(lines) => lines,
            None => return Err(RowError::new(file, 1, "the file is empty").help("its first line names the columns")),
        };
        let mut header = Vec::with_capacity(record.len());
        for i in 0..record.len() {
            let name = record.cell(i).0.trim().trim_start_matches('\u{feff}');
            let place = schema.place(name);
            header.push(match place {
                Some(place) => {
                    if header.iter().any(|u: &Use| u.column() == Some(place)) {
                        return Err(RowError::new(file, line, format!("the column `{name}` is named twice")));
                    }
                    if schema.unread.contains(&place) { Use::Unread(place) } else { Use::Column(place) }
                }
                None if name == OP && i == 0 => Use::Op,
                None if schema.ignores(name) => Use::Skip,
                None => {
                    let message = format!("the table `{}` has no stored column `{name}`", schema.table);
                    return Err(RowError::new(file, line, message).help(schema.hint(name)));
                }
            });
        }
        let there = |c: &usize| header.iter().any(|u| u.column().as_ref() == Some(c));
        if let Some(missing) = read.iter().find(|c| !there(c)) {
            let name = &schema.columns[*missing].0;
            let message = format!("the header has no column `{name}`, which the query reads");
            return Err(RowError::new(file, line, message).help("add the column; leave its cells empty for NULL"));
        }
        Ok(CsvReader { input, file: file.to_owned(), schema, null, header, record, values: Vec::new(), line })
    }
}

fn bad_record(file: &str, line: u64, error: &BadRecord) -> Box<RowError> {
    match error {
        BadRecord::Io(e) => unreadable(file, line, e),
        BadRecord::Encoding => RowError::new(file, line, "the line is not UTF-8").help("convert the file to UTF-8"),
        BadRecord::OpenQuote => {
            RowError::new(file, line, "a quote is not closed").help("write a quote within quotes twice")
        }
        BadRecord::AfterQuote => {
            RowError::new(file, line, "a comma or the end of the line must follow a closing quote")
                .help("write a quote within quotes twice")
        }
    }
}

impl<R: BufRead> RowReader for CsvReader<R> {
    fn next_row(&mut self) -> Result<Option<Change>, Box<RowError>> {
        let first = self.line + 1;
        match self.record.read(&mut self.input).map_err(|e| bad_record(&self.file, first, &e))? {
            Some(lines) => self.line += lines,
            None => return Ok(None),
        }
        if self.record.len() != self.header.len() {
            let message = format!("the line has {} cells, the header {}", self.record.len(), self.header.len());
            return Err(RowError::new(&self.file, self.line, message).help("put text with commas in quotes"));
        }
        self.values.clear();
        self.values.resize(self.schema.columns.len(), Datum::Null);
        let mut kind = RowKind::Insert;
        for (i, of) in self.header.iter().enumerate() {
            let (cell, quoted) = self.record.cell(i);
            match of {
                Use::Skip => {}
                Use::Op => kind = self.schema.kind(cell, &self.file, self.line)?,
                // Any text is right.
                Use::Unread(place) if self.schema.columns[*place].1.is_character() => {}
                Use::Unread(place) | Use::Column(place) => {
                    let is_null = match &self.null {
                        Some(null) => !quoted && cell == null,
                        None => !quoted && cell.is_empty(),
                    };
                    if is_null {
                        continue;
                    }
                    let (name, ty) = &self.schema.columns[*place];
                    let value = text::read(cell, ty, &self.schema.zone)
                        .map_err(|bad| RowError::new(&self.file, self.line, format!("column `{name}`: {bad}")))?;
                    if matches!(of, Use::Column(_)) {
                        self.values[*place] = value;
                    }
                }
            }
        }
        Ok(Some(Change { kind, row: self.values.drain(..).collect() }))
    }
}
