//! Rows in and rows out: CSV and JSON lines, read into changes and printed from them.
//!
//! Readers take any `BufRead` and printers any `Write`; files are opened by the command line. Types come from the DDL; a cell
//! that does not fit its type is an error with its place, nothing is guessed.

mod cells;
mod csv;
mod error;
mod event_time;
mod interleave;
mod jsonl;
mod lines;
mod print;
mod schema;
mod stdin;

use crate::run::Change;
pub use csv::CsvReader;
pub use error::RowError;
pub use event_time::EventTime;
pub use interleave::{Interleave, Source};
pub use jsonl::JsonReader;
pub use print::{Printer, RowFormat};
pub use schema::RowSchema;
pub use stdin::StdinReader;

/// Rows of one table in the order of their arrival.
pub trait RowReader {
    /// The next row: every stored column of the table, in its order.
    fn next_row(&mut self) -> Result<Option<Change>, Box<RowError>>;
}

/// Rows of all tables of a plan in the order of their arrival.
pub trait Arrivals {
    /// The next row with the place of its table among those that the plan reads.
    fn next_row(&mut self) -> Result<Option<(usize, Change)>, Box<RowError>>;
}
