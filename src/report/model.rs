//! The JSON report, version 1. Field order is the order here; fields may be added, never removed or renamed.

use schemars::JsonSchema;
use serde::Serialize;

use super::witness::Witness;
use crate::diff::change::{Fate, MatchStatus};
use crate::diff::matching::Side;
use crate::rules::verdict::{Basis, Consequence, Verdict};
use crate::source::{Position, SourceMap, Span};
use crate::target::Target;

/// The version of the report's form.
pub const SCHEMA_VERSION: u32 = 1;

/// All that a run of `check` says.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Report {
    /// Always [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// The engine whose behaviour is predicted.
    pub target: Target,
    /// The worst verdict of the jobs.
    pub verdict: Verdict,
    /// The exit status of the run.
    pub exit_code: u8,
    /// The jobs.
    pub jobs: Vec<Job>,
    /// What should be known about the run as a whole.
    pub notes: Vec<Note>,
    /// Why something could not be checked.
    pub errors: Vec<ErrorItem>,
}

impl Report {
    /// Every place that the report points at.
    pub fn each_place(&mut self, f: &mut impl FnMut(&mut Place)) {
        for job in &mut self.jobs {
            for finding in &mut job.findings {
                finding.old.iter_mut().chain(&mut finding.new).for_each(&mut *f);
                for related in &mut finding.related {
                    related.old.iter_mut().chain(&mut related.new).for_each(&mut *f);
                }
            }
            job.notes.iter_mut().filter_map(|n| n.at.as_mut()).for_each(&mut *f);
        }
        self.notes.iter_mut().filter_map(|n| n.at.as_mut()).for_each(&mut *f);
        self.errors.iter_mut().filter_map(|e| e.at.as_mut()).for_each(f);
    }
}

/// The program.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tool {
    /// `keepstate`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

impl Default for Tool {
    fn default() -> Self {
        Tool { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") }
    }
}

/// One job, old against new.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Job {
    /// Its `pipeline.name`, or the stem of its file.
    pub name: String,
    /// The old file; none if the job is new.
    pub old: Option<String>,
    /// The new file; none if the job is gone.
    pub new: Option<String>,
    /// The worst verdict of the findings.
    pub verdict: Verdict,
    /// The findings, the worst first.
    pub findings: Vec<Finding>,
    /// All operators of both plans.
    pub operators: Vec<OperatorEntry>,
    /// The new query's outputs.
    pub columns: Vec<Column>,
    /// The verdict on what reaches each sink, those of the new script first.
    pub sinks: Vec<SinkVerdict>,
    /// What should be known about the check itself.
    pub notes: Vec<Note>,
    /// What a rehearsal of the change showed, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
}

/// A rule applied to a change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Finding {
    /// The rule's id.
    pub rule: String,
    /// Row ids of the documented rules.
    pub documented: Vec<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is believed.
    pub basis: Basis,
    /// What happens at the restore.
    pub consequence: Consequence,
    /// What changes.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Where the rule comes from.
    pub url: Option<String>,
    /// The operator, if it is about one.
    pub operator: Option<Operator>,
    /// Names of the state entries of the operator.
    pub state: Vec<String>,
    /// The clause in the old text.
    pub old: Option<Place>,
    /// The clause in the new text.
    pub new: Option<Place>,
    /// The side that only shows what stands around the thing.
    #[serde(skip)]
    pub beside: Option<Side>,
    /// What else comes of the change.
    pub related: Vec<Related>,
    /// A stable name of this finding.
    pub fingerprint: String,
    /// Set if the finding was accepted.
    pub suppressed: Option<Suppressed>,
    /// Whether it makes the run fail.
    #[serde(skip)]
    pub fails: bool,
    /// What a rehearsal of the job's change showed, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
}

/// The operator of a finding.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Operator {
    /// Its kind, such as `WindowRank`.
    pub kind: String,
    /// Its place from the sink.
    pub path: String,
    /// Its number in the old plan, in print order.
    pub old_id: Option<u32>,
    /// Its number in the new plan.
    pub new_id: Option<u32>,
}

/// A place that belongs to a finding.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Related {
    /// What is there.
    pub message: String,
    /// The clause in the old text.
    pub old: Option<Place>,
    /// The clause in the new text.
    pub new: Option<Place>,
    /// The side that only shows what stands around the thing.
    #[serde(skip)]
    pub beside: Option<Side>,
}

/// Why a finding does not count.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Suppressed {
    /// The reason given.
    pub reason: String,
    /// The last day on which it holds.
    pub until: Option<String>,
    /// Where that was said.
    pub by: SuppressedBy,
}

/// Where it is said that a finding is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SuppressedBy {
    /// A comment in a script.
    Comment,
    /// An entry or a level of the configuration.
    Configuration,
}

/// An operator of either plan.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OperatorEntry {
    /// Its number in the old plan.
    pub old_id: Option<u32>,
    /// Its number in the new plan.
    pub new_id: Option<u32>,
    /// Its kind.
    pub kind: String,
    /// How the two sides compare.
    pub status: MatchStatus,
    /// Its state.
    pub state: Vec<StateEntry>,
}

/// A piece of state.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StateEntry {
    /// Its name in the savepoint.
    pub name: String,
    /// `value`, `map`, `list` or `timer`.
    pub kind: String,
    /// The type of the key that it is kept under.
    pub key: String,
    /// The type of its namespace.
    pub namespace: String,
    /// The type of its values.
    pub value: String,
    /// How much of it the new job takes over.
    pub carried: Carried,
}

/// How much of a piece of state is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Carried {
    /// All of it.
    All,
    /// A part.
    Part,
    /// None, or nothing tells.
    None,
}

/// An output column of the new job.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Column {
    /// The sink.
    pub sink: String,
    /// Its name there.
    pub name: String,
    /// What becomes of it.
    pub fate: Fate,
}

/// What a change means for one sink of a job.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SinkVerdict {
    /// The sink.
    pub name: String,
    /// The worst verdict of the findings that its rows depend on.
    pub verdict: Verdict,
}

/// Something to know about the check itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Note {
    /// What.
    pub message: String,
    /// Where.
    pub at: Option<Place>,
}

/// Why something could not be checked.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorItem {
    /// Its kind.
    pub code: ErrorCode,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Where.
    pub at: Option<Place>,
    /// Words at the place, for people.
    #[serde(skip)]
    pub label: String,
}

impl ErrorItem {
    /// An error without a place.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> ErrorItem {
        ErrorItem { code, message: message.into(), help: None, at: None, label: String::new() }
    }

    /// Adds one thing to do next.
    pub fn help(mut self, help: impl Into<String>) -> ErrorItem {
        self.help = Some(help.into());
        self
    }
}

/// The kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorCode {
    /// The text is not Flink SQL.
    Parse,
    /// Flink would refuse it.
    Plan,
    /// Flink would plan it; keepstate cannot yet.
    Unsupported,
    /// A file cannot be read.
    Io,
    /// Wrong use or configuration.
    Config,
    /// The job fails on the rows it was given, as it would in Flink.
    Run,
    /// A mistake in keepstate.
    Internal,
}

impl ErrorCode {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            ErrorCode::Parse => "parse",
            ErrorCode::Plan => "plan",
            ErrorCode::Unsupported => "unsupported",
            ErrorCode::Io => "io",
            ErrorCode::Config => "config",
            ErrorCode::Run => "run",
            ErrorCode::Internal => "internal",
        }
    }
}

/// A place in a text.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Place {
    /// The file's name as given.
    pub file: String,
    /// Its first character.
    pub start: Position,
    /// After its last character.
    pub end: Position,
    /// The same as offsets, for excerpts.
    #[serde(skip)]
    pub span: Span,
}

impl Place {
    /// The place of a span.
    pub fn of(sources: &SourceMap, span: Span) -> Place {
        let (start, end) = sources.positions(span);
        Place { file: sources.file(span.file).name.clone(), start, end, span }
    }
}
