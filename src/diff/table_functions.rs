//! What differs between the table functions that are called between two matched operators: `UNNEST` and `LATERAL TABLE`. They keep
//! nothing, but decide which rows, and how many, reach what does.

use super::change::{ChangeKind, Item};
use super::compare::Comparison;
use super::lineage::Ident;
use super::matching::{Pair, Side};
use super::places::{Places, lacking};
use crate::exec::{NodeId, Operator};
use crate::logical::correlate::TableFunction;
use crate::logical::join::JoinType;
use crate::logical::print::expression;
use crate::source::Span;

/// A call, in the terms that are compared.
struct Call {
    /// What it makes of which columns, and whether a row is sent alone.
    identity: String,
    /// The columns that it makes.
    made: Vec<Ident>,
    /// The columns that its arguments are.
    reads: Vec<Ident>,
    text: String,
    span: Option<Span>,
    /// It sends the rows of INTERSECT ALL or EXCEPT ALL, which are compared where they are counted.
    of_set: bool,
}

/// Compares the calls on the way from a pair to a reader.
pub fn compare(c: &mut Comparison<'_>, number: usize, pair: &Pair) {
    let old = calls(c, Side::Old, &pair.old_path);
    let new = calls(c, Side::New, &pair.new_path);
    let identities = |list: &[Call]| {
        let mut all: Vec<String> = list.iter().map(|x| x.identity.clone()).collect();
        all.sort_unstable();
        all
    };
    // One after the other makes the same rows in whatever order, up to the order of columns.
    if identities(&old) == identities(&new) {
        return;
    }
    let only = |a: &[Call], b: &[Call]| -> Vec<usize> {
        let mut rest: Vec<&str> = b.iter().map(|x| x.identity.as_str()).collect();
        let lone = (0..a.len()).filter(|i| match rest.iter().position(|other| *other == a[*i].identity) {
            Some(at) => {
                rest.swap_remove(at);
                false
            }
            None => true,
        });
        lone.collect()
    };
    let (removed, added) = (only(&old, &new), only(&new, &old));
    let lone = || removed.iter().map(|i| &old[*i]).chain(added.iter().map(|i| &new[*i]));
    let cause = match (removed.as_slice(), added.as_slice()) {
        // Another collection because of what is below.
        ([was], [is]) if same_but_for_args(&old[*was], &new[*is]) => {
            let differing = |a: &Call, b: &Call| -> Vec<Ident> {
                a.reads.iter().filter(|i| !b.reads.contains(i)).copied().collect()
            };
            let mut all = differing(&old[*was], &new[*is]);
            all.extend(differing(&new[*is], &old[*was]));
            if all.is_empty() { None } else { c.cause_of(&all, usize::MAX) }
        }
        _ => None,
    };
    // What reads the columns of a call that only one side has differs because of that.
    let made: Vec<Ident> = lone().flat_map(|x| x.made.iter().copied()).collect();
    let text = |list: &[Call]| list.iter().map(|x| x.text.as_str()).collect::<Vec<_>>().join(", ");
    let word = |list: &[Call]| if list.is_empty() { "no table function".to_owned() } else { text(list) };
    let args = vec![("old", word(&old)), ("new", word(&new))];
    let span = |list: &[Call], lone: &[usize]| lone.first().or(Some(&0)).and_then(|i| list.get(*i)?.span);
    let (old_span, new_span) = (span(&old, &removed), span(&new, &added));
    let places =
        Places::beside(old_span, new_span.or_else(|| c.surviving(number)), lacking(removed.len(), added.len()));
    let below_stateful = pair.parent.is_some_and(|p| c.keeps_state(p) || c.stateful_above(p));
    let of_sets = removed.iter().all(|i| old[*i].of_set) && added.iter().all(|i| new[*i].of_set);
    if of_sets && !below_stateful {
        return;
    }
    let kind = ChangeKind::TableFunction { below_stateful, added: added.len(), removed: removed.len() };
    c.key_causes.extend(made.into_iter().map(|i| (i, number)));
    let item = if below_stateful { Item::Filter } else { Item::Other };
    c.state_on_way(number, pair, kind, args, places, item, cause, Vec::new());
}

fn same_but_for_args(a: &Call, b: &Call) -> bool {
    let kind = |x: &Call| x.identity.split_once('(').map(|(kind, _)| kind.to_owned());
    kind(a) == kind(b)
}

fn calls(c: &mut Comparison<'_>, side: Side, path: &[NodeId]) -> Vec<Call> {
    let Comparison { old, new, matching, interner, .. } = c;
    let view = if side == Side::Old { old } else { new };
    let plan = view.plan;
    let mut out = Vec::new();
    for id in path {
        let Operator::Correlate(correlate) = &plan.node(*id).op else { continue };
        let call = &correlate.call;
        let input = view.input_idents(*id, matching, interner);
        let own = view.idents(*id, matching, interner);
        let made: Vec<Ident> = own[input.len()..].to_vec();
        let mut reads = Vec::new();
        for arg in &call.args {
            arg.visit(&mut |r| reads.extend(r.as_input().map(|i| input[i])));
        }
        let mut conditions: Vec<Ident> = call.conditions.iter().filter_map(|x| interner.condition(x, &made)).collect();
        conditions.sort_unstable();
        // A condition of an inner join is a filter like others.
        let (word, conditions) = match call.join_type {
            JoinType::Left => ("LEFT", conditions),
            _ => ("INNER", Vec::new()),
        };
        let args: Vec<usize> = call.args.iter().map(|e| interner.expr(e, &input).index()).collect();
        let identity = format!("{word} {:?} {:?}({args:?}) {conditions:?}", call.function, call.columns.len());
        let names: Vec<String> =
            plan.input_columns(*id, 0).iter().zip(&input).map(|(c, i)| view.said(&c.name, *i, interner)).collect();
        let args: Vec<String> = call.args.iter().map(|e| expression(e, &names).to_string()).collect();
        let of_set = call.function == TableFunction::ReplicateRows;
        let text = format!("{}{}({})", if word == "LEFT" { "LEFT JOIN " } else { "" }, call.function, args.join(", "));
        let text = if of_set { "INTERSECT ALL or EXCEPT ALL".to_owned() } else { text };
        out.push(Call { identity, made, reads, text, span: call.call_origins.first(), of_set });
    }
    out
}
