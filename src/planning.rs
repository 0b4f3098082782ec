//! From texts to plans: the one place where the check meets the parser, the planner and the diff.

use crate::diff::change::JobDiff;
use crate::exec::{self, NodeId, Plan};
use crate::plan_error::PlanError;
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
#[derive(Debug)]
pub struct JobPlan {
    /// The names of its sinks, in order.
    pub sinks: Vec<String>,
    /// The operators.
    pub plan: Plan,
}

impl JobPlan {
    /// The plan in the notation of Flink's EXPLAIN.
    pub fn tree_text(&self) -> String {
        self.plan.tree_text()
    }

    /// The `plans` of the JSON form.
    pub fn to_json(&self) -> Vec<serde_json::Value> {
        self.plan.to_json()
    }

    /// The kind of an operator and its state.
    pub fn operator(&self, id: NodeId) -> (String, Vec<StateEntry>) {
        (self.plan.node(id).op.kind().to_owned(), Vec::new())
    }
}

/// Plans the last script; those before it declare tables.
pub fn plan(_sources: &SourceMap, scripts: &[&Script], target: Target) -> PlannedScript {
    let planned = exec::plan_script(scripts, target);
    let jobs = planned
        .plans
        .into_iter()
        .map(|plan| JobPlan { sinks: plan.sinks.iter().map(|s| plan.sink_name(*s).to_owned()).collect(), plan })
        .collect();
    let notes = planned.notes.into_iter().map(|n| Note { message: n.message, span: Some(n.span) }).collect();
    PlannedScript { jobs, errors: planned.errors, notes, name: planned.name }
}

/// States what differs between two plans.
pub fn diff(old: &JobPlan, new: &JobPlan) -> JobDiff {
    crate::diff::diff(&old.plan, &new.plan)
}
