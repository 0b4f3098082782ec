//! An operator at run time.

use super::change::{Change, Event, RowKind};
use super::error::RunResult;
use super::store::{Keys, StateTable};
use crate::eval::{Datum, Row};

/// What an operator sends, and what it may know of the time.
#[derive(Debug)]
pub struct Output {
    pub(super) events: Vec<Event>,
    /// The task has more to send: see [`Output::pauses`].
    pub(super) paused: bool,
    /// Processing time in milliseconds.
    pub now: i64,
    /// The operator's event time: the least of its inputs' watermarks.
    pub watermark: i64,
}

/// So many events are sent on before a task goes on.
const FULL: usize = 4096;

impl Output {
    /// An output at the beginning of time.
    pub(super) fn new() -> Output {
        Output { events: Vec::new(), paused: false, now: i64::MIN, watermark: i64::MIN }
    }

    /// True if so much waits to be sent that it should go on first.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= FULL
    }

    /// To be asked between two things that a task sends because of one event, which together can be more than memory holds. If it
    /// is true the task returns, and is called again: [`Task::watermark`] and [`Task::clock`] with the same time,
    /// [`Task::proceed`] after a row.
    #[inline]
    pub fn pauses(&mut self) -> bool {
        self.paused |= self.is_full();
        self.paused
    }

    /// Sends a change.
    pub fn send(&mut self, kind: RowKind, row: Row) {
        self.events.push(Event::Row(Change { kind, row }));
    }

    /// Sends a change.
    pub fn change(&mut self, change: Change) {
        self.events.push(Event::Row(change));
    }

    /// Sends a watermark.
    pub fn advance(&mut self, watermark: i64) {
        self.events.push(Event::Watermark(watermark));
    }
}

/// The state of a keyed operator, for savepoints and for forgetting keys that hold nothing.
pub struct States<'a> {
    /// Its keys.
    pub keys: &'a mut Keys,
    /// Its entries, timers included.
    pub tables: Vec<&'a mut dyn StateTable>,
}

/// An operator at run time (Flink's `StreamOperator`). An operator sees one event at a time and keeps nothing but its state.
pub trait Task {
    /// Takes a change from its input number `input`.
    fn row(&mut self, input: usize, change: Change, out: &mut Output) -> RunResult<()>;

    /// Goes on with the row at which it paused.
    fn proceed(&mut self, _out: &mut Output) -> RunResult<()> {
        Ok(())
    }

    /// Event time went on to `watermark`; fires what is due and passes the watermark on. Watermarks only rise.
    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        out.advance(watermark);
        Ok(())
    }

    /// One of the inputs sent a watermark, whether or not event time goes on by it: for what ends bundles.
    fn input_watermark(&mut self, _out: &mut Output) -> RunResult<()> {
        Ok(())
    }

    /// Processing time went on to `out.now`; fires what is due. The clock itself is passed on by the pipeline.
    fn clock(&mut self, _out: &mut Output) -> RunResult<()> {
        Ok(())
    }

    /// A savepoint is about to be taken: sends what is buffered outside of state (`prepareSnapshotPreBarrier`).
    fn before_savepoint(&mut self, _out: &mut Output) -> RunResult<()> {
        Ok(())
    }

    /// An accumulator that has seen no row, if the operator aggregates: what a new aggregate starts from at a restore.
    fn empty_accumulator(&self) -> Option<Vec<Datum>> {
        None
    }

    /// Event time goes on from `watermark`, as if there had been no stop: for operators that make watermarks, and for those that
    /// remember one outside of their state.
    fn resume(&mut self, _watermark: i64) {}

    /// Its state was restored: what follows from it is to be set up again.
    fn restored(&mut self) -> RunResult<()> {
        Ok(())
    }

    /// Its state was carried over from another plan's by an engine that migrates: what has no place in this one is dropped.
    fn migrated(&mut self) {}

    /// Its state, if it has any.
    fn states(&mut self) -> Option<States<'_>> {
        None
    }
}
