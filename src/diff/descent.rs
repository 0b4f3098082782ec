//! The way down a plan over the operators that say something: sinks, stateful operators, lookup joins, unions and sources.

use super::family::{family, is_join};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rel::Split;

/// An operator that is matched, with the ones in between left out.
pub(super) struct Step {
    /// The operator.
    pub node: NodeId,
    /// What stands between it and its reader, top down.
    pub path: Vec<NodeId>,
    /// A join that only this side has: the other inputs, beside the one that the chain goes on with.
    pub beside: Option<Vec<Step>>,
}

fn is_significant(op: &Operator) -> bool {
    // The partial half of a split aggregate goes with the final one.
    (op.is_stateful() && !matches!(op.split(), Split::Partial(_)))
        || matches!(
            op,
            Operator::TemporalSort(_)
                | Operator::LookupJoin(_)
                | Operator::Sink(_)
                | Operator::Union(_)
                | Operator::TableSourceScan(_)
                | Operator::Values(_)
        )
}

/// The operators that the inputs of a node come from.
pub(super) fn below(plan: &Plan, id: NodeId) -> Vec<Step> {
    if matches!(plan.node(id).op, Operator::Union(_)) {
        return union_branches(plan, id).into_iter().map(|b| significant_below(plan, b)).collect();
    }
    plan.node(id).inputs.iter().map(|i| significant_below(plan, *i)).collect()
}

pub(super) fn significant_below(plan: &Plan, mut id: NodeId) -> Step {
    let mut path = Vec::new();
    loop {
        let node = plan.node(id);
        match node.inputs.as_slice() {
            [input] if !is_significant(&node.op) => {
                path.push(id);
                id = *input;
            }
            _ => return Step { node: id, path, beside: None },
        }
    }
}

/// The branches of a union of unions.
pub fn union_branches(plan: &Plan, id: NodeId) -> Vec<NodeId> {
    let mut out = Vec::new();
    let mut stack: Vec<NodeId> = plan.node(id).inputs.iter().rev().copied().collect();
    while let Some(next) = stack.pop() {
        match &plan.node(next).op {
            Operator::Union(_) => stack.extend(plan.node(next).inputs.iter().rev()),
            _ => out.push(next),
        }
    }
    out
}

/// From a step down to the first operator that has not just one input.
fn chain(plan: &Plan, first: Step) -> Vec<Step> {
    let mut out = vec![first];
    loop {
        let last = out.last().map(|s| s.node).expect("a chain has a first step");
        if matches!(plan.node(last).op, Operator::Union(_)) {
            return out;
        }
        let mut next = below(plan, last);
        if next.len() != 1 {
            return out;
        }
        out.push(next.remove(0));
    }
}

/// The chain from a step, through joins that only this side has, on towards the tables that the other side reads.
pub(super) fn chain_to(plan: &Plan, first: Step, wanted: &[String]) -> Vec<Step> {
    let mut out = chain(plan, first);
    loop {
        let Some(last) = out.last_mut() else { return out };
        let more = sources(plan, last.node);
        if !is_join(&plan.node(last.node).op) || more.len() <= wanted.len() || wanted.is_empty() {
            return out;
        }
        let mut branches = below(plan, last.node);
        let Some(at) = branches.iter().position(|b| holds_all(&sources(plan, b.node), wanted)) else { return out };
        let next = branches.remove(at);
        last.beside = Some(branches);
        out.extend(chain(plan, next));
    }
}

/// True if a list has everything that another one has, as often as that.
fn holds_all(list: &[String], wanted: &[String]) -> bool {
    let mut rest: Vec<&String> = list.iter().collect();
    wanted.iter().all(|w| {
        let found = rest.iter().position(|r| *r == w);
        found.map(|at| rest.swap_remove(at)).is_some()
    })
}

/// A branch with everything below it, as text.
pub(super) fn text(plan: &Plan, step: &Step) -> String {
    let mut out = String::new();
    let mut stack: Vec<NodeId> = std::iter::once(step.node).chain(step.path.iter().rev().copied()).collect();
    let mut on_path = step.path.len();
    while let Some(id) = stack.pop() {
        out.push_str(&plan.text(id));
        out.push('\n');
        if on_path > 0 {
            on_path -= 1;
        } else {
            stack.extend(plan.node(id).inputs.iter().rev());
        }
    }
    out
}

/// The families below a node, top down.
pub(super) fn shape(plan: &Plan, id: NodeId) -> Vec<&'static str> {
    let mut out = vec![family(&plan.node(id).op)];
    for step in below(plan, id) {
        out.extend(shape(plan, step.node));
    }
    out
}

/// The tables below a node.
pub(super) fn sources(plan: &Plan, id: NodeId) -> Vec<String> {
    let mut out = Vec::new();
    if let Operator::TableSourceScan(scan) = &plan.node(id).op {
        out.push(scan.table.path.to_string());
    }
    for step in below(plan, id) {
        out.extend(sources(plan, step.node));
    }
    out
}
