//! What is to be seen in one plan: typed observations about its operators, their state and where they come from in the SQL.
//!
//! Nothing here judges: whether something observed will hurt is what the rules under `rules/lint/` say. Observations are made of
//! plans (operators, types, keys, kinds of changes, state entries), never of the text.

mod columns;
mod kept_state;
mod keys;
mod late_rows;
mod observation;
mod ranks;
mod sinks;
mod time_attributes;
mod trace;
mod windows;

pub use observation::{CONTEXT, Observation, ObservationKind, ObservedOperator, facts_of, kinds};
pub use windows::loses_rows_by_offset;

use crate::diff::places::said;
use crate::exec::{Node, NodeId, Operator, Plan};
use crate::logical::rex::Origins;
use crate::source::{SourceMap, Span};

/// All observations about a plan, in print order of the operators.
pub fn observe(sources: &SourceMap, plan: &Plan) -> Vec<Observation> {
    let mut observer = Observer { sources, plan, readers: readers(plan), found: Vec::new() };
    for id in plan.ids() {
        observer.kept_state(id);
        observer.unread_columns(id);
        observer.window(id);
        observer.rank(id);
        observer.keys(id);
        observer.time_attributes(id);
        observer.sink(id);
    }
    observer.late_rows();
    observer.found
}

struct Observer<'a> {
    sources: &'a SourceMap,
    plan: &'a Plan,
    /// Of each operator the one that reads it, the first in print order.
    readers: Vec<Option<NodeId>>,
    found: Vec<Observation>,
}

impl<'a> Observer<'a> {
    fn node(&self, id: NodeId) -> &'a Node {
        self.plan.node(id)
    }

    /// Adds an observation about an operator. The places are the innermost first; the outer ones are where views are used.
    fn add(&mut self, kind: ObservationKind, id: NodeId, args: Vec<(&'static str, String)>, at: &Origins) {
        let places = at.clone().or(&self.node(id).origins).or(&self.nearest_place(id));
        let mut spans = places.iter();
        let at = spans.next();
        let chain: Vec<Span> = spans.collect();
        let operator = ObservedOperator {
            id,
            kind: self.node(id).op.kind(),
            path: self.path(id),
            state: crate::state::kept(self.plan, id),
        };
        self.found.push(Observation { kind, operator, args, at, chain });
    }

    /// The place of the nearest operator above that has one.
    fn nearest_place(&self, id: NodeId) -> Origins {
        let mut at = id;
        while let Some(parent) = self.readers[at.index()] {
            let origins = &self.node(parent).origins;
            if origins.first().is_some() {
                return origins.clone();
            }
            at = parent;
        }
        Origins::none()
    }

    /// Names of columns of a node, as people know them.
    fn names(&self, node: NodeId, columns: impl IntoIterator<Item = usize>) -> String {
        let columns = columns.into_iter().map(|i| {
            let name = &self.node(node).columns[i].name;
            let origin = trace::trace(self.plan, node, i).into_iter().find_map(|t| t.origin(self.plan));
            format!("`{}`", said(self.sources, name, origin))
        });
        columns.collect::<Vec<_>>().join(", ")
    }

    /// `Sink(top)/WindowRank`: the operators from the sink down, as in the findings of a check.
    fn path(&self, id: NodeId) -> String {
        let mut words = Vec::new();
        let mut at = Some(id);
        while let Some(id) = at {
            let op = &self.node(id).op;
            let shown = match op {
                Operator::Sink(sink) => Some(format!("Sink({})", sink.name)),
                Operator::TableSourceScan(scan) => Some(format!("TableSourceScan({})", scan.table.path.name)),
                op if op.is_stateful() || words.is_empty() => Some(op.kind().to_owned()),
                _ => None,
            };
            words.extend(shown);
            at = self.readers[id.index()];
        }
        words.reverse();
        words.join("/")
    }
}

/// Of each operator the one that reads it, the first in print order.
fn readers(plan: &Plan) -> Vec<Option<NodeId>> {
    let mut readers = vec![None; plan.nodes.len()];
    for id in plan.ids() {
        for input in &plan.node(id).inputs {
            readers[input.index()].get_or_insert(id);
        }
    }
    readers
}
