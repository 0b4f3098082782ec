//! The JSON report of `lint`, version 1. Field order is the order here; fields may be added, never removed or renamed.

use serde::Serialize;

use super::model::{ErrorItem, Note, Place, Suppressed, Tool};
use crate::rules::lint::Level;
use crate::rules::verdict::Basis;
use crate::target::Target;

/// All that a run of `lint` says.
#[derive(Debug, Clone, Serialize)]
pub struct LintReport {
    /// The version of the form.
    pub schema_version: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// The engine that the scripts are planned for.
    pub target: Target,
    /// The exit status of the run.
    pub exit_code: u8,
    /// The jobs, file by file.
    pub jobs: Vec<LintJob>,
    /// Why something could not be checked.
    pub errors: Vec<ErrorItem>,
}

/// One job of one file.
#[derive(Debug, Clone, Serialize)]
pub struct LintJob {
    /// Its `pipeline.name`, or the stem of its file.
    pub name: String,
    /// The file.
    pub file: String,
    /// The findings, the gravest first.
    pub findings: Vec<LintFinding>,
    /// What should be known about the plan.
    pub notes: Vec<Note>,
}

/// A lint rule that found something.
#[derive(Debug, Clone, Serialize)]
pub struct LintFinding {
    /// The rule's id.
    pub rule: String,
    /// How bad it is.
    pub level: Level,
    /// Why that is believed.
    pub basis: Basis,
    /// What is there.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Where the rule comes from.
    pub url: Option<String>,
    /// The operator.
    pub operator: LintOperator,
    /// Names of its state entries.
    pub state: Vec<String>,
    /// The clause.
    pub at: Option<Place>,
    /// The uses of the views that the clause stands in, the innermost first.
    pub used_at: Vec<Place>,
    /// A stable name of this finding.
    pub fingerprint: String,
    /// Set if the finding was accepted.
    pub suppressed: Option<Suppressed>,
}

/// The operator of a finding.
#[derive(Debug, Clone, Serialize)]
pub struct LintOperator {
    /// Its kind, such as `GroupAggregate`.
    pub kind: String,
    /// Its place from the sink.
    pub path: String,
    /// Its number in the plan, in print order.
    pub id: u32,
}
