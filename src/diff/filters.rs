//! What differs between the conditions that stand between two matched operators and their reader.

use super::change::{ChangeKind, Fact, Item};
use super::compare::{Comparison, is_stateful};
use super::lineage::{Ident, Interner};
use super::matching::{Pair, Side};
use super::places::{Places, lacking};
use crate::catalog::{TableColumn, TableColumnKind};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::print::expression;
use crate::logical::rex::{Rex, Value};
use crate::source::Span;

/// A condition: what it computes, its text, and its place.
struct Condition {
    /// None if it always holds where the columns are not NULL that may not be on one of the sides.
    ident: Option<Ident>,
    planned: Ident,
    /// The columns of CREATE TABLE whose expressions stand in it.
    computed: Vec<DdlPart>,
    /// What it computes if these are taken as they are.
    outside: Option<Ident>,
    text: String,
    span: Option<Span>,
}

/// Compares the conditions on the way from a pair to a reader (and, with `own`, those that a source applies itself).
pub fn compare(c: &mut Comparison<'_>, number: usize, pair: &Pair, own: bool) {
    let old = conditions(c, Side::Old, pair.old.filter(|_| own), &pair.old_path);
    let new = conditions(c, Side::New, pair.new.filter(|_| own), &pair.new_path);
    let only = |a: &[Condition], b: &[Condition]| -> Vec<usize> {
        (0..a.len()).filter(|i| a[*i].ident.is_some() && !b.iter().any(|x| x.ident == a[*i].ident)).collect()
    };
    let (removed, added) = (only(&old, &new), only(&new, &old));
    if removed.is_empty() && added.is_empty() {
        let planned = |list: &[Condition]| list.iter().map(|x| x.planned).collect::<Vec<_>>();
        let (a, b) = (planned(&old), planned(&new));
        let lone: Vec<Ident> = a.iter().chain(&b).filter(|x| !(a.contains(x) && b.contains(x))).copied().collect();
        c.condition_without_null(pair, &lone);
        return;
    }
    let ident = |x: &Condition| x.ident.unwrap_or(x.planned);
    let differing: Vec<Ident> =
        removed.iter().map(|i| ident(&old[*i])).chain(added.iter().map(|i| ident(&new[*i]))).collect();
    let cause = c.cause_of(&differing, usize::MAX);
    let reader_stateful = pair.parent.is_some_and(|p| {
        let reader = &c.matching.pairs[p];
        reader.new.is_some_and(|id| is_stateful(c.new.plan, id))
            || reader.old.is_some_and(|id| is_stateful(c.old.plan, id))
    });
    let below_stateful = reader_stateful || pair.parent.is_some_and(|p| c.stateful_above(p));
    let having = removed.iter().any(|i| in_having(c.old.plan, &old[*i]))
        || added.iter().any(|i| in_having(c.new.plan, &new[*i]));
    let ignored = c.ignore_filter;
    let kind = ChangeKind::Filter { below_stateful, added: added.len(), removed: removed.len(), ignored, having };
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
    let mut places = Places::beside(old_span, new_span, lacking(removed.len(), added.len()));
    if let Some(column) = c.computed_in_ddl(&differing) {
        places = column.places(places);
    } else if let ([was], [is]) = (removed.as_slice(), added.as_slice())
        && let Some(part) = redefined(&old[*was], &new[*is])
    {
        places = part;
    }
    // The page of the operator that the condition bears on may judge it.
    let reader = pair.parent.and_then(|p| c.nearest_keeper(p));
    let more = reader.map(|family| ("reader", Fact::from(family))).into_iter().collect();
    c.state_on_way(number, pair, kind, args, places, item, cause, more);
    c.reads(differing);
}

/// A column of CREATE TABLE whose expression a condition took over.
struct DdlPart {
    name: String,
    ident: Ident,
    span: Span,
}

/// The definition that makes two conditions differ, if nothing else does.
fn redefined(old: &Condition, new: &Condition) -> Option<Places> {
    if old.outside != new.outside || old.computed.len() != new.computed.len() {
        return None;
    }
    let (was, is) = old.computed.iter().zip(&new.computed).find(|(o, n)| o.name == n.name && o.ident != n.ident)?;
    Some(Places::from((Some(was.span), Some(is.span))))
}

/// The condition with each expression of CREATE TABLE replaced by its column's name; notes the expressions.
fn outside_ddl(e: &Rex, columns: &[&TableColumn], parts: &mut Vec<(String, Rex, Span)>) -> Rex {
    let origin = e.origins.first().filter(|_| e.as_input().is_none() && e.as_literal().is_none());
    let column = origin.and_then(|at| columns.iter().find(|c| c.span.contains(at)));
    match column {
        Some(column) => {
            parts.push((column.name.clone(), e.clone(), column.span));
            Rex::literal(Value::Placeholder(column.name.as_str().into()), e.ty.kind.clone().nullable())
        }
        None => e.map_children(&mut |child| outside_ddl(child, columns, parts)),
    }
}

fn in_having(plan: &Plan, condition: &Condition) -> bool {
    condition.span.is_some_and(|span| plan.having.iter().any(|having| having.contains(span)))
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
    let tables = plan.nodes.iter().filter_map(|n| match &n.op {
        Operator::TableSourceScan(scan) => Some(&scan.table.columns),
        _ => None,
    });
    let columns: Vec<&TableColumn> =
        tables.flatten().filter(|c| matches!(c.kind, TableColumnKind::Computed(_))).collect();
    let mut push = |interner: &mut Interner, condition: &Rex, input: &[Ident], names: &[&str]| {
        let (ident, planned) = (interner.condition(condition, input), interner.as_planned(condition, input));
        if !out.iter().any(|x: &Condition| x.planned == planned) {
            let text = expression(condition, names).to_string();
            let mut parts = Vec::new();
            let outside = outside_ddl(condition, &columns, &mut parts);
            let outside = interner.condition(&outside, input);
            let part = |(name, e, span): (String, Rex, Span)| DdlPart { name, ident: interner.expr(&e, input), span };
            let computed = parts.into_iter().map(part).collect();
            out.push(Condition { ident, planned, computed, outside, text, span: condition.origins.first() });
        }
    };
    for id in path {
        if let Operator::Calc(calc) = &plan.node(*id).op {
            let input = view.input_idents(*id, matching, interner);
            let said: Vec<String> =
                plan.input_columns(*id, 0).iter().zip(&input).map(|(c, i)| view.said(&c.name, *i, interner)).collect();
            let names: Vec<&str> = said.iter().map(String::as_str).collect();
            for condition in &calc.conditions {
                push(interner, condition, &input, &names);
            }
        }
    }
    for id in path {
        // Those of an outer join are part of the call.
        if let Operator::Correlate(correlate) = &plan.node(*id).op
            && !correlate.keeps_lone_rows()
        {
            let width = plan.input_columns(*id, 0).len();
            let made = view.idents(*id, matching, interner).split_off(width);
            let names: Vec<&str> = correlate.call.columns.iter().map(|c| &*c.name).collect();
            for condition in &correlate.call.conditions {
                push(interner, condition, &made, &names);
            }
        }
    }
    if let Some(id) = node
        && let Operator::TableSourceScan(scan) = &plan.node(id).op
    {
        let own = view.idents(id, matching, interner);
        let names: Vec<&str> = plan.node(id).columns.iter().map(|c| &*c.name).collect();
        for condition in &scan.filters {
            push(interner, condition, &own, &names);
        }
    }
    out
}
