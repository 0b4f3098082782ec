//! Rows read by a thread of their own, while those before them are at work.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::vec::IntoIter;

use crate::rows::{Arrivals, Interleave, RowError};
use crate::run::Change;

type Batch = Vec<(usize, Change)>;

/// How many rows go from thread to thread together.
const BATCH: usize = 1024;

/// How many batches may wait, so that memory does not follow the rows.
const WAITING: usize = 3;

/// Rows in the order in which they were read, and after them the error that reading ended with: what the job sees is the same as
/// if it read for itself.
pub(super) struct Ahead {
    batches: Receiver<Result<Batch, Box<RowError>>>,
    batch: IntoIter<(usize, Change)>,
    reader: Option<JoinHandle<()>>,
}

impl Ahead {
    /// Begins to read.
    pub fn start(rows: Interleave) -> io::Result<Ahead> {
        let (sender, batches) = sync_channel(WAITING);
        let reader = Builder::new().name("reader".to_owned()).spawn(move || read(rows, &sender))?;
        Ok(Ahead { batches, batch: Batch::new().into_iter(), reader: Some(reader) })
    }
}

/// Reads to the end, or until no one listens any more because the job has failed.
fn read(mut rows: Interleave, sender: &SyncSender<Result<Batch, Box<RowError>>>) {
    loop {
        let mut batch = Batch::with_capacity(BATCH);
        let end = loop {
            match rows.next_row() {
                Ok(Some(row)) if batch.len() + 1 < BATCH => batch.push(row),
                Ok(Some(row)) => {
                    batch.push(row);
                    break None;
                }
                Ok(None) => break Some(None),
                Err(error) => break Some(Some(error)),
            }
        };
        if sender.send(Ok(batch)).is_err() {
            return;
        }
        if let Some(error) = end {
            error.into_iter().for_each(|error| drop(sender.send(Err(error))));
            return;
        }
    }
}

impl Arrivals for Ahead {
    fn next_row(&mut self) -> Result<Option<(usize, Change)>, Box<RowError>> {
        loop {
            if let Some(row) = self.batch.next() {
                return Ok(Some(row));
            }
            match self.batches.recv() {
                Ok(batch) => self.batch = batch?.into_iter(),
                Err(_) => {
                    // The thread is done; if it broke, so does this one.
                    if let Some(Err(panic)) = self.reader.take().map(JoinHandle::join) {
                        resume_unwind(panic);
                    }
                    return Ok(None);
                }
            }
        }
    }
}
