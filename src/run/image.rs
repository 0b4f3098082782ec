//! A plan's state as a whole: what a savepoint holds.

use serde::{Deserialize, Serialize};

use super::error::{RunError, RunResult};
use super::pipeline::Pipeline;
use super::store::{EntryImage, ImageError, StateData};
use crate::exec::{NodeId, Plan};
use crate::state::types::StateType;

/// The state of one operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorImage {
    /// Its id, as `keepstate plan` counts operators.
    pub id: u32,
    /// The exec node.
    pub kind: String,
    /// Its entries.
    pub entries: Vec<EntryImage>,
}

/// What an operator's state looks like from outside.
#[derive(Debug, Clone)]
pub struct StateShape {
    /// The columns of the rows it reads that make its key.
    pub key_columns: Vec<usize>,
    /// An accumulator that has seen no row, where the operator aggregates.
    pub empty_accumulator: Option<serde_json::Value>,
}

impl Pipeline {
    /// What the state of an operator looks like; none if it keeps none.
    pub fn shape(&mut self, id: NodeId) -> Option<StateShape> {
        let (_, task) = self.tasks().find(|(at, _)| *at == id)?;
        let row = task.empty_accumulator();
        let empty_accumulator = row.map(|acc| acc.to_json(&StateType::Void));
        task.states().map(|s| StateShape { key_columns: s.keys.columns().to_vec(), empty_accumulator })
    }

    /// The state of every operator that keeps some.
    pub fn image(&mut self, plan: &Plan) -> Vec<OperatorImage> {
        let mut images = Vec::new();
        for (id, task) in self.tasks() {
            if let Some(states) = task.states() {
                images.push(OperatorImage {
                    id: id.shown(),
                    kind: plan.node(id).op.kind().to_owned(),
                    entries: states.tables.iter().map(|t| t.image(states.keys)).collect(),
                });
            }
        }
        images
    }

    /// Takes over the state of a savepoint. Operators and entries that it does not name start empty; those that it names must be
    /// there, and of the same types.
    pub fn restore(&mut self, plan: &Plan, images: &[OperatorImage]) -> RunResult<()> {
        for image in images {
            let wrong = |what: String| RunError::savepoint(format!("operator {}: {what}", image.id));
            let found = self.tasks().find(|(id, _)| id.shown() == image.id);
            let Some((id, task)) = found else { return Err(wrong("the plan has no such operator".to_owned())) };
            let kind = plan.node(id).op.kind();
            if kind != image.kind {
                return Err(wrong(format!("the savepoint holds a {}, the plan has a {kind}", image.kind)));
            }
            let Some(states) = task.states() else { return Err(wrong(format!("a {kind} keeps no state here"))) };
            let mut tables = states.tables;
            for entry in &image.entries {
                let name = &entry.name;
                let Some(table) = tables.iter_mut().find(|t| t.entry().name == *name) else {
                    return Err(wrong(format!("it has no state `{name}`")));
                };
                let here = table.image_header();
                if (&here.kind, &here.key, &here.namespace, &here.value)
                    != (&entry.kind, &entry.key, &entry.namespace, &entry.value)
                {
                    let message = format!(
                        "the state `{name}` is {} {} by {} in the savepoint, {} {} by {} in the plan",
                        entry.kind, entry.value, entry.key, here.kind, here.value, here.key
                    );
                    return Err(wrong(message));
                }
                let restored = table.restore(&entry.slots, states.keys);
                restored.map_err(|ImageError { message }| wrong(format!("the state `{name}`: {message}")))?;
            }
            task.restored().map_err(|e| wrong(e.message))?;
        }
        Ok(())
    }
}
