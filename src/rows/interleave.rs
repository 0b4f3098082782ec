//! Several inputs as one: by event time where all of them have one, else one after the other.

use std::io::BufRead;

use super::error::RowError;
use super::{Arrivals, EventTime, RowReader, StdinReader};
use crate::run::Change;

/// Rows of one table.
pub struct Source {
    /// The place of the table among those that the plan reads.
    pub table: usize,
    /// The rows.
    pub rows: Box<dyn RowReader + Send>,
    /// Their event time.
    pub event_time: Option<EventTime>,
}

/// Rows of all tables, in the order in which they arrive.
pub enum Interleave {
    /// Files.
    Files {
        /// The files, in the order in which they were named.
        sources: Vec<Waiting>,
        /// All of them have an event time.
        by_time: bool,
    },
    /// One stream that has them in order.
    Stdin(StdinReader<Box<dyn BufRead + Send>>),
}

/// A file with its next row.
pub struct Waiting {
    source: Source,
    /// The next row with its event time; none before the first is read and after the last.
    next: Option<(Option<i64>, Change)>,
    started: bool,
    /// The event time of the row before: a row without one comes right after it.
    last: i64,
}

impl Interleave {
    /// Rows of files.
    pub fn files(sources: Vec<Source>) -> Interleave {
        let by_time = sources.len() > 1 && sources.iter().all(|s| s.event_time.is_some());
        let waiting = |source| Waiting { source, next: None, started: false, last: i64::MIN };
        Interleave::Files { sources: sources.into_iter().map(waiting).collect(), by_time }
    }
}

impl Arrivals for Interleave {
    fn next_row(&mut self) -> Result<Option<(usize, Change)>, Box<RowError>> {
        match self {
            Interleave::Stdin(reader) => reader.next_row(),
            Interleave::Files { sources, by_time: false } => {
                for waiting in sources {
                    if let Some(change) = waiting.source.rows.next_row()? {
                        return Ok(Some((waiting.source.table, change)));
                    }
                }
                Ok(None)
            }
            Interleave::Files { sources, by_time: true } => {
                for waiting in sources.iter_mut().filter(|w| !w.started) {
                    waiting.advance()?;
                }
                // Rows of one file keep their order, so only the first of each is compared; the file named first wins a tie.
                let first = sources.iter_mut().filter(|w| w.next.is_some()).min_by_key(|w| w.last);
                let Some(waiting) = first else { return Ok(None) };
                let row = waiting.next.take().map(|(_, change)| (waiting.source.table, change));
                waiting.advance()?;
                Ok(row)
            }
        }
    }
}

impl Waiting {
    fn advance(&mut self) -> Result<(), Box<RowError>> {
        self.started = true;
        self.next = self.source.rows.next_row()?.map(|change| {
            let time = self.source.event_time.as_ref().and_then(|t| t.of_row(&change.row));
            (time, change)
        });
        if let Some((Some(time), _)) = &self.next {
            self.last = *time;
        }
        Ok(())
    }
}
