//! From texts to plans: the one place where the check meets the parser, the planner and the diff.

use std::sync::Arc;

use crate::catalog::connectors::Connectors;
use crate::diff::change::JobDiff;
use crate::exec::Purpose;
use crate::exec::{self, NodeId, Plan};
use crate::identity::{Identities, Process};
use crate::plan_error::PlanError;
use crate::report::model::{Carried, StateEntry};
use crate::source::{SourceMap, Span};
use crate::state;
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
    pub plan: Arc<Plan>,
    /// What the process that plans the script in one go has planned before it.
    pub process: Process,
}

impl JobPlan {
    /// The plan in the notation of Flink's EXPLAIN.
    pub fn tree_text(&self) -> String {
        self.plan.tree_text()
    }

    /// What its operators keep, operator by operator.
    pub fn state_text(&self) -> String {
        state::text::of_plan(&self.plan)
    }

    /// The `plans` of the JSON form.
    pub fn to_json(&self) -> Vec<serde_json::Value> {
        let plan = &self.plan;
        let identities = (plan.target != Target::Vvr).then(|| Identities::of(plan, self.process));
        plan.to_json(&|id| {
            let state = state::entries(plan, id).iter().map(state::StateEntry::to_json).collect();
            let identity = identities.as_ref().map(|i| i.to_json(plan, id)).unwrap_or_default();
            [("state", state)].into_iter().chain(identity).collect()
        })
    }

    /// The kind of an operator and its state.
    pub fn operator(&self, id: NodeId) -> (String, Vec<StateEntry>) {
        let state = state::entries(&self.plan, id)
            .into_iter()
            .map(|e| StateEntry {
                kind: e.kind.to_string(),
                key: e.key.map(|k| k.to_string()).unwrap_or_default(),
                namespace: e.namespace.to_string(),
                value: e.value.to_string(),
                name: e.name,
                carried: Carried::None,
            })
            .collect();
        (self.plan.node(id).op.kind().to_owned(), state)
    }
}

/// Plans the last script; those before it declare tables.
pub fn plan(scripts: &[&Script], target: Target, purpose: Purpose, connectors: &Connectors) -> PlannedScript {
    let planned = exec::plan_script_with(scripts, target, purpose, connectors);
    let jobs = planned
        .plans
        .into_iter()
        .enumerate()
        .map(|(i, plan)| JobPlan {
            process: if i == 0 { Process::Fresh } else { Process::Used },
            sinks: plan.sinks.iter().map(|s| plan.sink_name(*s).to_owned()).collect(),
            plan: Arc::new(plan),
        })
        .collect();
    let notes = planned.notes.into_iter().map(|n| Note { message: n.message, span: Some(n.span) }).collect();
    PlannedScript { jobs, errors: planned.errors, notes, name: planned.name }
}

/// States what differs between two plans.
pub fn diff(sources: &SourceMap, old: &JobPlan, new: &JobPlan) -> JobDiff {
    crate::diff::diff(sources, &old.plan, &new.plan)
}
