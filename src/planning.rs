//! From texts to plans: the one place where the check meets the parser, the planner and the diff.

use crate::diff::change::JobDiff;
use crate::exec::NodeId;
use crate::logical::error::PlanError;
use crate::report::model::StateEntry;
use crate::source::{SourceMap, Span};
use crate::syntax::ast::Script;
pub use crate::syntax::parse;
use crate::target::Target;

/// What the planner says of one side.
#[derive(Debug, Default)]
pub struct PlannedScript {
    /// The jobs of the script.
    pub jobs: Vec<JobPlan>,
    /// What could not be planned.
    pub errors: Vec<PlanError>,
    /// What should be known about the plans.
    pub notes: Vec<Note>,
    /// The value of `pipeline.name`.
    pub name: Option<String>,
}

/// Something to know about a plan.
#[derive(Debug, Clone)]
pub struct Note {
    /// What.
    pub message: String,
    /// Where.
    pub span: Option<Span>,
}

/// The plan of one job.
#[derive(Debug, Default)]
pub struct JobPlan {
    /// The names of its sinks, in order.
    pub sinks: Vec<String>,
}

impl JobPlan {
    /// The plan in the notation of Flink's EXPLAIN.
    pub fn tree_text(&self) -> String {
        String::new()
    }

    /// The `plans` of the JSON form.
    pub fn to_json(&self) -> Vec<serde_json::Value> {
        Vec::new()
    }

    /// The kind of an operator and its state.
    pub fn operator(&self, _id: NodeId) -> (String, Vec<StateEntry>) {
        (String::new(), Vec::new())
    }
}

/// Plans the last script; those before it declare tables.
pub fn plan(_sources: &SourceMap, _scripts: &[&Script], _target: Target) -> PlannedScript {
    PlannedScript {
        errors: vec![PlanError {
            kind: crate::logical::error::PlanErrorKind::Unsupported,
            message: "scripts cannot be planned yet".to_owned(),
            span: None,
            label: String::new(),
            help: None,
        }],
        ..Default::default()
    }
}

/// States what differs between two plans.
pub fn diff(_old: &JobPlan, _new: &JobPlan) -> JobDiff {
    JobDiff::default()
}
