//! Rows that cannot be read.

use thiserror::Error;

/// A row that cannot be read, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct RowError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub message: String,
    /// One thing to do next.
    pub help: Option<String>,
}

impl RowError {
    /// An error at a line of a file.
    pub fn new(file: &str, line: u64, message: impl Into<String>) -> Box<RowError> {
        Box::new(RowError { file: file.to_owned(), line, message: message.into(), help: None })
    }

    /// Adds one thing to do next.
    pub fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<RowError> {
        self.help = Some(help.into());
        self
    }
}
