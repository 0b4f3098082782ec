//! What of an old operator stands for what of a new one: the ground on which state is carried over, aggregate by aggregate.
//!
//! As everywhere in `diff`, a column or call is the same if it is computed the same, whatever it is called and wherever it stands.

use super::job::pair_sinks;
use super::lineage::{Ident, Interner, Lineage};
use super::matching::{Matching, Side, match_sinks};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::print::digest;
use crate::logical::rel::AggCall;
use crate::logical::rex::RexKind;

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
    /// The same for the second input of a join.
    pub right_columns: Vec<Option<usize>>,
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
    let (mut old_side, mut new_side) = (Lineage::new(old, Side::Old), Lineage::new(new, Side::New));
    let mut out = Vec::new();
    for number in 0..matching.pairs.len() {
        let (Some(o), Some(n)) = (matching.pairs[number].old, matching.pairs[number].new) else { continue };
        let halves = (old.partial_half(o), new.partial_half(n));
        if halves.0.is_some() != halves.1.is_some() {
            // What one of two halves keeps is not what a whole aggregate keeps.
            continue;
        }
        let before = old_side.aggregate_input(o, &matching, &mut interner);
        let after = new_side.aggregate_input(n, &matching, &mut interner);
        let places = |before: &[Ident], after: &[Ident]| -> Vec<Option<usize>> {
            after.iter().map(|ident| before.iter().position(|b| b == ident)).collect()
        };
        let columns = places(&before, &after);
        let right_columns = match (old.node(o).inputs.as_slice(), new.node(n).inputs.as_slice()) {
            ([_, was], [_, is]) => {
                let (was, is) = (*was, *is);
                places(&old_side.of(was, &matching, &mut interner), &new_side.of(is, &matching, &mut interner))
            }
            _ => Vec::new(),
        };
        let text = |call: &AggCall, input: &[_]| interner.computation(call, input, &mut Vec::new());
        let (olds, news) = (calls(old, o), calls(new, n));
        let mut calls: Vec<Option<usize>> =
            news.iter().map(|c| olds.iter().position(|h| text(h, &before) == text(c, &after))).collect();
        // The condition of a FILTER may be `b > 3` on one side and `(b > 3) IS TRUE` on the other, if only NOT NULL came or went:
        // the same call over the same columns at the same place is the same.
        for (i, call) in news.iter().enumerate().filter(|(_, c)| c.filter.is_some()) {
            let bare = |c: &AggCall, input: &[_]| text(&AggCall { filter: None, ..c.clone() }, input);
            let reads = |c: &AggCall, input: &[Ident]| c.filter.map(|f| interner.info(input[f]).parts.clone());
            if let (None, Some(was)) = (calls[i], olds.get(i))
                && bare(was, &before) == bare(call, &after)
                && reads(was, &before) == reads(call, &after)
                && same_condition(old, o, was, new, n, call)
            {
                calls[i] = Some(i);
            }
        }
        let whole = Correspondence { old: o, new: n, columns, right_columns, calls };
        if let (Some(old), Some(new)) = halves {
            out.push(Correspondence { old, new, ..whole.clone() });
        }
        out.push(whole);
    }
    out.sort_by_key(|c| c.new);
    out
}

/// The calls that an operator keeps accumulators of, in the order of the accumulator row; those of a half of a split aggregate as
/// they were before.
fn calls(plan: &Plan, id: NodeId) -> Vec<AggCall> {
    let kept: &[AggCall] = match &plan.node(id).op {
        Operator::WindowAggregate(a) => &a.calls,
        Operator::GlobalWindowAggregate(a) => &a.local_calls,
        Operator::GroupWindowAggregate(a) => &a.calls,
        Operator::GroupAggregate(a) => &a.calls,
        Operator::GlobalGroupAggregate(a) => &a.local_calls,
        Operator::OverAggregate(a) => &a.calls,
        _ => &[],
    };
    match (plan.partial_half(id), plan.aggregated(id)) {
        (Some(_), Some((_, whole))) => {
            whole.iter().chain(kept.get(whole.len()..).unwrap_or_default()).cloned().collect()
        }
        _ => kept.to_vec(),
    }
}

/// True if the conditions of two FILTER clauses are one, but for an `IS TRUE` that only NULL needs.
fn same_condition(old: &Plan, o: NodeId, was: &AggCall, new: &Plan, n: NodeId, is: &AggCall) -> bool {
    let of = |plan: &Plan, id: NodeId, call: &AggCall| {
        let mut at = plan.first_phase(id);
        loop {
            at = *plan.node(at).inputs.first()?;
            if let Operator::Calc(calc) = &plan.node(at).op {
                let condition = calc.exprs.get(call.filter?)?;
                let bare = match &condition.kind {
                    RexKind::Call(f, args) if f.name() == "IS TRUE" => args.first()?,
                    _ => condition,
                };
                return Some(digest(bare));
            }
        }
    };
    of(old, o, was).is_some_and(|d| Some(d) == of(new, n, is))
}
