//! What of an old operator stands for what of a new one: the ground on which state is carried over, aggregate by aggregate.
//!
//! As everywhere in `diff`, a column or call is the same if it is computed the same, whatever it is called and wherever it stands.

use super::job::pair_sinks;
use super::lineage::{Interner, Lineage};
use super::matching::{Matching, Side, match_sinks};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rel::AggCall;

/// A pair of operators, part by part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correspondence {
    /// The old operator.
    pub old: NodeId,
    /// The new operator.
    pub new: NodeId,
    /// For each column that the new operator reads, the column of the old one that is computed the same. Two-phase aggregates
    /// read what their first phase reads.
    pub columns: Vec<Option<usize>>,
    /// For each planned call of the new operator, the call of the old one that computes the same.
    pub calls: Vec<Option<usize>>,
}

/// All pairs of operators that read something, in print order of the new plan.
pub fn correspondences(old: &Plan, new: &Plan) -> Vec<Correspondence> {
    let mut matching = Matching::default();
    for (o, n) in pair_sinks(old, new).0 {
        match_sinks(&mut matching, old, o, new, n);
    }
    let mut interner = Interner::default();
    let (mut olds, mut news) = (Lineage::new(old, Side::Old), Lineage::new(new, Side::New));
    let mut out = Vec::new();
    for number in 0..matching.pairs.len() {
        let (Some(o), Some(n)) = (matching.pairs[number].old, matching.pairs[number].new) else { continue };
        let before = olds.aggregate_input(o, &matching, &mut interner);
        let after = news.aggregate_input(n, &matching, &mut interner);
        let columns = after.iter().map(|ident| before.iter().position(|b| b == ident)).collect();
        let text = |call: &AggCall, input: &[_]| interner.computation(call, input, &mut Vec::new());
        let had: Vec<String> = calls(&old.node(o).op).iter().map(|c| text(c, &before)).collect();
        let calls = calls(&new.node(n).op).iter().map(|c| had.iter().position(|h| *h == text(c, &after))).collect();
        out.push(Correspondence { old: o, new: n, columns, calls });
    }
    out.sort_by_key(|c| c.new);
    out
}

/// The calls that an operator keeps accumulators of, in the order of the accumulator row.
fn calls(op: &Operator) -> &[AggCall] {
    match op {
        Operator::WindowAggregate(a) => &a.calls,
        Operator::GlobalWindowAggregate(a) => &a.local_calls,
        Operator::GroupWindowAggregate(a) => &a.calls,
        Operator::GroupAggregate(a) => &a.calls,
        Operator::GlobalGroupAggregate(a) => &a.local_calls,
        Operator::OverAggregate(a) => &a.calls,
        _ => &[],
    }
}
