//! The changes of a job on their way to stdout, printed by a thread of their own.

use std::io::{self, BufWriter, Stdout, Write};
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, scope};

use crate::rows::Printer;
use crate::run::{Change, Emitted};

/// How many changes go from thread to thread together.
const BATCH: usize = 1024;

/// How many batches may wait, so that memory does not follow the rows.
const WAITING: usize = 3;

/// What a job prints: one printer per sink.
pub(super) struct Output {
    printers: Vec<Printer>,
    out: BufWriter<Stdout>,
    /// Tables of several sinks stand one below the other, so all but the first wait.
    waiting: Option<Vec<Vec<u8>>>,
    /// After an error nothing more is written.
    written: io::Result<()>,
}

impl Output {
    /// Output through these printers. With `stacked` the output of each sink stands below that of the one before.
    pub fn new(printers: Vec<Printer>, stacked: bool) -> Output {
        let waiting = stacked.then(|| vec![Vec::new(); printers.len()]);
        Output { printers, out: BufWriter::with_capacity(1 << 16, io::stdout()), waiting, written: Ok(()) }
    }

    /// Prints what `work` emits, in its order, while it goes on.
    pub fn print<R>(self, work: impl FnOnce(&mut dyn FnMut(Emitted)) -> R) -> io::Result<(Output, R)> {
        scope(|scope| {
            let (sender, batches) = sync_channel::<Vec<Emitted>>(WAITING);
            let printer = Builder::new().name("printer".to_owned()).spawn_scoped(scope, move || {
                let mut output = self;
                for batch in batches {
                    for (sink, change) in batch {
                        output.change(sink, &change);
                    }
                }
                output
            })?;
            let mut batch = Vec::with_capacity(BATCH);
            let result = work(&mut |change| {
                batch.push(change);
                if batch.len() == BATCH {
                    // If no one takes it, the printer broke: joining it will say so.
                    let _ = sender.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)));
                }
            });
            let _ = sender.send(batch);
            drop(sender);
            match printer.join() {
                Ok(output) => Ok((output, result)),
                Err(panic) => resume_unwind(panic),
            }
        })
    }

    fn change(&mut self, sink: usize, change: &Change) {
        if self.written.is_ok() {
            let to: &mut dyn Write = match &mut self.waiting {
                Some(waiting) if sink > 0 => &mut waiting[sink],
                _ => &mut self.out,
            };
            self.written = self.printers[sink].change(change, to);
        }
    }

    /// Writes what stands behind the last change, if the job came to its end, and all that was held back.
    pub fn end(mut self, complete: bool) -> io::Result<()> {
        self.written?;
        if complete {
            for (sink, printer) in self.printers.iter_mut().enumerate() {
                if let Some(waiting) = &self.waiting {
                    self.out.write_all(&waiting[sink])?;
                }
                printer.end(&mut self.out)?;
            }
        }
        self.out.flush()
    }
}
