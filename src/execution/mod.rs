//! From a planned script and rows to changelogs: the whole way of `keepstate run` but for files and terminals.

mod savepoint;

use jiff::tz::TimeZone;

use crate::catalog::session_zone;
use crate::catalog::types::DataType;
use crate::eval::Session;
use crate::exec::{NodeId, Operator, Plan};
use crate::observe::loses_rows_by_offset;
use crate::report::model::{ErrorCode, ErrorItem, Place};
use crate::rows::{Arrivals, EventTime, RowError, RowSchema};
use crate::run::{Clock, Emitted, EndOfInput, InputTable, Job, RunError, RunErrorKind};
use crate::source::SourceMap;

pub use savepoint::{SAVEPOINT_LARGEST, Savepoint, fingerprint};

/// The session of a plan's job. The zone of the machine plays no part: where none is set it is UTC.
pub fn session(plan: &Plan) -> Result<Session, Box<ErrorItem>> {
    let id = plan.options.get("table.local-time-zone").map(String::as_str).filter(|id| *id != "default");
    match id.map(|id| (id, session_zone(id))) {
        None => Ok(Session { zone: TimeZone::UTC }),
        Some((_, Some(zone))) => Ok(Session { zone }),
        Some((id, None)) => {
            let error = ErrorItem::new(ErrorCode::Config, format!("there is no time zone `{id}`"));
            Err(Box::new(error.help("name one like Europe/Berlin, UTC or GMT+08:00 in `table.local-time-zone`")))
        }
    }
}

/// A plan ready to take rows.
pub struct Execution<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Time zone and the like.
    pub session: Session,
    /// The plan at work.
    pub job: Job,
}

impl<'a> Execution<'a> {
    /// Makes a plan ready.
    pub fn new(plan: &'a Plan, clock: Clock, sources: &SourceMap) -> Result<Execution<'a>, Box<ErrorItem>> {
        let session = session(plan)?;
        let job = Job::new(plan, &session, clock).map_err(|e| run_error(sources, &e))?;
        Ok(Execution { plan, session, job })
    }

    /// What rows of an input table look like.
    pub fn schema(&self, input: &InputTable) -> RowSchema {
        let sends = self.plan.node(input.scan).changelog;
        RowSchema::of(&input.table, sends, self.session.zone.clone()).keeping(&input.kept)
    }

    /// The event time of rows of an input table.
    pub fn event_time(&self, input: &InputTable) -> Option<EventTime> {
        EventTime::of(self.plan, input.scan, &self.session)
    }

    /// Runs all rows.
    pub fn run(
        &mut self,
        rows: &mut dyn Arrivals,
        end: EndOfInput,
        sources: &SourceMap,
        emit: &mut dyn FnMut(Emitted),
    ) -> Result<u64, Box<ErrorItem>> {
        let mut count = 0;
        while let Some((table, change)) = rows.next_row().map_err(|e| row_error(&e))? {
            self.job.row(table, change, emit).map_err(|e| run_error(sources, &e))?;
            count += 1;
        }
        self.job.end(end, emit).map_err(|e| run_error(sources, &e))?;
        Ok(count)
    }
}

/// What should be known of a plan before its results are trusted.
pub fn notes(plan: &Plan) -> Vec<&'static str> {
    let offset = plan.nodes.iter().any(|node| loses_rows_by_offset(&node.op));
    let mut notes = Vec::new();
    if offset {
        notes.push(
            "Flink loses rows of windows with an offset, and so does this run: it looks into its buffers at multiples of the \
             interval without the offset, when the windows there have fired already; shift the time column instead",
        );
    }
    if plan.options.contains_key("table.exec.state.ttl") {
        notes.push("table.exec.state.ttl is set, but no state expires in this run");
    }
    if plan.nodes.iter().any(|node| node.op.state_ttl().iter().any(Option::is_some)) {
        notes.push("hints give state a time to live, but no state expires in this run");
    }
    notes
}

/// The columns of a sink as results name them: those of the sink's table, or those that the query gives.
pub fn sink_columns(plan: &Plan, sink: NodeId) -> Vec<(String, DataType)> {
    let node = plan.node(sink);
    let named = match &node.op {
        Operator::Sink(op) => op.target_columns.as_slice(),
        _ => &[],
    };
    let name = |i: usize| named.get(i).cloned().unwrap_or_else(|| node.columns[i].name.to_string());
    node.columns.iter().enumerate().map(|(i, c)| (name(i), c.ty.clone())).collect()
}

/// A run that stopped, as an error of a report.
pub fn run_error(sources: &SourceMap, error: &RunError) -> Box<ErrorItem> {
    let code = match error.kind {
        RunErrorKind::Job => ErrorCode::Run,
        RunErrorKind::Unsupported => ErrorCode::Unsupported,
        RunErrorKind::Savepoint => ErrorCode::Io,
        RunErrorKind::Internal => ErrorCode::Internal,
    };
    let mut item = ErrorItem::new(code, error.message.clone());
    item.help = error.help.clone();
    item.at = error.origins.first().map(|span| Place::of(sources, span));
    Box::new(item)
}

/// Rows that cannot be read, as an error of a report.
pub fn row_error(error: &RowError) -> Box<ErrorItem> {
    let mut item = ErrorItem::new(ErrorCode::Io, format!("{}:{}: {}", error.file, error.line, error.message));
    item.help = error.help.clone();
    Box::new(item)
}
