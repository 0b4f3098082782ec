//! What differs between the conditions that stand between two matched operators and their reader.

use super::change::{ChangeKind, Fact, Item};
use super::compare::{Comparison, is_stateful};
use super::lineage::Ident;
use super::matching::{Pair, Side};
use crate::exec::{NodeId, Operator};
use crate::logical::print::expression;
use crate::source::Span;

/// A condition: what it computes, its text, and its place.
struct Condition {
    ident: Ident,
    text: String,
    span: Option<Span>,
}

/// Compares the conditions on the way from a pair to a reader (and, with `own`, those that a source applies itself).
pub fn compare(c: &mut Comparison<'_>, number: usize, pair: &Pair, own: bool) {
    let old = conditions(c, Side::Old, pair.old.filter(|_| own), &pair.old_path);
    let new = conditions(c, Side::New, pair.new.filter(|_| own), &pair.new_path);
    let only = |a: &[Condition], b: &[Condition]| -> Vec<usize> {
        (0..a.len()).filter(|i| !b.iter().any(|x| x.ident == a[*i].ident)).collect()
    };
    let (removed, added) = (only(&old, &new), only(&new, &old));
    if removed.is_empty() && added.is_empty() {
        return;
    }
    let differing: Vec<Ident> =
        removed.iter().map(|i| old[*i].ident).chain(added.iter().map(|i| new[*i].ident)).collect();
    let cause = c.cause_of(&differing, usize::MAX);
    let reader_stateful = pair.parent.is_some_and(|p| {
        let reader = &c.matching.pairs[p];
        reader.new.is_some_and(|id| is_stateful(c.new.plan, id))
            || reader.old.is_some_and(|id| is_stateful(c.old.plan, id))
    });
    let below_stateful = reader_stateful || pair.parent.is_some_and(|p| c.stateful_above(p));
    let kind =
        ChangeKind::Filter { below_stateful, added: added.len(), removed: removed.len(), ignored: c.ignore_filter };
    let text = |list: &[Condition]| list.iter().map(|x| x.text.as_str()).collect::<Vec<_>>().join(" AND ");
    let mut args = Vec::new();
    if !old.is_empty() {
        args.push(("old", text(&old)));
    }
    if !new.is_empty() {
        args.push(("new", text(&new)));
    }
    if old.is_empty() {
        args.push(("old", "no condition".to_owned()));
    }
    if new.is_empty() {
        args.push(("new", "no condition".to_owned()));
    }
    let old_span = removed.iter().find_map(|i| old[*i].span).or_else(|| old.first().and_then(|x| x.span));
    let new_span = added
        .iter()
        .find_map(|i| new[*i].span)
        .or_else(|| new.first().and_then(|x| x.span))
        .or_else(|| surviving(c, pair));
    let item = if below_stateful { Item::Filter } else { Item::Other };
    // The page of the operator that the condition bears on may judge it.
    let reader = pair.parent.and_then(|p| c.nearest_keeper(p));
    let more = reader.map(|family| ("reader", Fact::from(family))).into_iter().collect();
    c.state_with(number, kind, args, (old_span, new_span), item, cause, more);
}

/// The reader's clause, where a condition is gone.
fn surviving(c: &Comparison<'_>, pair: &Pair) -> Option<Span> {
    let mut at = pair.parent;
    while let Some(p) = at {
        let reader = &c.matching.pairs[p];
        if let Some(span) = reader.new.and_then(|id| c.new.plan.node(id).origins.first()) {
            return Some(span);
        }
        at = reader.parent;
    }
    None
}

fn conditions(c: &mut Comparison<'_>, side: Side, node: Option<NodeId>, path: &[NodeId]) -> Vec<Condition> {
    let Comparison { old, new, matching, interner, .. } = c;
    let view = if side == Side::Old { old } else { new };
    let plan = view.plan;
    let mut out: Vec<Condition> = Vec::new();
    let mut push = |ident: Ident, text: String, span: Option<Span>| {
        if !out.iter().any(|x: &Condition| x.ident == ident) {
            out.push(Condition { ident, text, span });
        }
    };
    for id in path {
        if let Operator::Calc(calc) = &plan.node(*id).op {
            let input = view.input_idents(*id, matching, interner);
            let names: Vec<&str> = plan.input_columns(*id, 0).iter().map(|c| &*c.name).collect();
            for condition in &calc.conditions {
                let ident = interner.expr(condition, &input);
                push(ident, expression(condition, &names).to_string(), condition.origins.first());
            }
        }
    }
    if let Some(id) = node
        && let Operator::TableSourceScan(scan) = &plan.node(id).op
    {
        let own = view.idents(id, matching, interner);
        let names: Vec<&str> = plan.node(id).columns.iter().map(|c| &*c.name).collect();
        for condition in &scan.filters {
            let ident = interner.expr(condition, &own);
            push(ident, expression(condition, &names).to_string(), condition.origins.first());
        }
    }
    out
}
