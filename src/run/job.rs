//! A pipeline with its clock and its tables: rows go in one by one, in the order of their arrival.

use std::sync::Arc;

use super::change::{Change, Event};
use super::error::{RunError, RunResult};
use super::pipeline::{ClockUse, Emitted, Pipeline};
use super::unread;
use crate::catalog::Table;
use crate::eval::Session;
use crate::exec::{NodeId, Operator, Plan};

/// Processing time without a wall clock: it starts somewhere, and each row moves it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Processing time when the first row arrives, in milliseconds since the epoch.
    pub start: i64,
    /// How many milliseconds each row takes.
    pub tick: i64,
}

/// What happens when the rows are at an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndOfInput {
    /// The input was bounded: everything that waits for event time is due.
    Fire,
    /// The stream goes on: what waits goes on waiting.
    Hold,
}

/// A table that a plan reads.
#[derive(Debug, Clone)]
pub struct InputTable {
    /// The table.
    pub table: Arc<Table>,
    /// Its first scan.
    pub scan: NodeId,
    /// The numbers of its scans in the pipeline.
    scans: Vec<usize>,
    /// The places, among the stored columns, of those that some scan reads.
    pub read: Vec<usize>,
    /// For each stored column, whether its values can matter. Cells of the others are read only to see that they are right.
    pub kept: Vec<bool>,
}

/// A plan at work on rows.
pub struct Job {
    pipeline: Pipeline,
    tables: Vec<InputTable>,
    now: i64,
    tick: i64,
    /// The clock as the pipeline knows it.
    told: Option<i64>,
    batch: Vec<Event>,
}

/// How many events go through a chain of operators together.
const BATCH: usize = 512;

impl Job {
    /// Makes the tasks of a plan.
    pub fn new(plan: &Plan, session: &Session, clock: Clock) -> RunResult<Job> {
        let pipeline = Pipeline::build(plan, session)?;
        let mut tables: Vec<InputTable> = Vec::new();
        let scans = plan.ids().filter(|id| matches!(plan.node(*id).op, Operator::TableSourceScan(_)));
        for (number, id) in scans.enumerate() {
            let Operator::TableSourceScan(scan) = &plan.node(id).op else { continue };
            if scan.table.inferred {
                return Err(no_types(&scan.table));
            }
            let stored = stored_places(&scan.table);
            let places = || scan.fields.iter().map(|f| stored.iter().position(|s| s == f));
            let read = places().flatten();
            let mut kept = vec![false; stored.len()];
            for (place, _) in places().zip(unread::kept(plan, id)).filter(|(_, kept)| *kept) {
                place.into_iter().for_each(|place| kept[place] = true);
            }
            match tables.iter_mut().find(|t| t.table.path == scan.table.path) {
                Some(known) => {
                    known.scans.push(number);
                    known.read.extend(read);
                    known.kept.iter_mut().zip(kept).for_each(|(known, kept)| *known |= kept);
                }
                None => {
                    let read = read.collect();
                    tables.push(InputTable { table: scan.table.clone(), scan: id, scans: vec![number], read, kept });
                }
            }
        }
        Ok(Job { pipeline, tables, now: clock.start, tick: clock.tick, told: None, batch: Vec::new() })
    }

    /// The tables that the plan reads.
    pub fn tables(&self) -> &[InputTable] {
        &self.tables
    }

    /// The pipeline, for savepoints.
    pub fn pipeline(&mut self) -> &mut Pipeline {
        &mut self.pipeline
    }

    /// Processing time at the next row.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Sets processing time at the next row: a restored run goes on with the clock of the savepoint.
    pub fn set_now(&mut self, now: i64) {
        self.now = now;
    }

    /// A row of table number `table`, in the order of [`Job::tables`].
    pub fn row(&mut self, table: usize, change: Change, emit: &mut dyn FnMut(Emitted)) -> RunResult<()> {
        self.tell_time(emit)?;
        self.now = self.now.saturating_add(self.tick);
        let scans = &self.tables[table].scans;
        if self.pipeline.is_chain {
            self.batch.push(Event::Row(change));
            return if self.batch.len() >= BATCH { self.flush(emit) } else { Ok(()) };
        }
        for scan in scans {
            self.pipeline.source(*scan, vec![Event::Row(change.clone())], emit)?;
        }
        Ok(())
    }

    /// The rows are at an end.
    pub fn end(&mut self, end: EndOfInput, emit: &mut dyn FnMut(Emitted)) -> RunResult<()> {
        self.tell_time(emit)?;
        self.flush(emit)?;
        match end {
            EndOfInput::Fire => self.pipeline.end(emit),
            EndOfInput::Hold => self.pipeline.before_savepoint(emit),
        }
    }

    /// Sends on what waits only to be sent together with more.
    pub fn flush(&mut self, emit: &mut dyn FnMut(Emitted)) -> RunResult<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        self.pipeline.source(0, batch, emit)
    }

    /// Tells the pipeline the time, as finely as it looks at it.
    fn tell_time(&mut self, emit: &mut dyn FnMut(Emitted)) -> RunResult<()> {
        let tell = match (self.told, self.pipeline.clock_use()) {
            (None, _) => true,
            (Some(_), ClockUse::Never) => false,
            (Some(told), ClockUse::EveryRow) => self.now > told,
            (Some(told), ClockUse::Interval(interval)) => self.now.div_euclid(interval) > told.div_euclid(interval),
        };
        if !tell {
            return Ok(());
        }
        let first = self.told.replace(self.now).is_none();
        if self.pipeline.is_chain && !first {
            self.batch.push(Event::Clock(self.now));
            return Ok(());
        }
        self.pipeline.clock(self.now, emit)
    }
}

fn stored_places(table: &Table) -> Vec<usize> {
    use crate::catalog::TableColumnKind::Computed;
    (0..table.columns.len()).filter(|i| !matches!(table.columns[*i].kind, Computed(_))).collect()
}

fn no_types(table: &Table) -> Box<RunError> {
    let mut error =
        RunError::unsupported(format!("a query over the table `{}`, whose columns have no types,", table.path.name))
            .at(&crate::logical::rex::Origins::at(table.span));
    error.help = Some(format!("declare it: CREATE TABLE {} (...)", table.path.name));
    error
}
