//! What differs between the aggregate calls of two matched operators.

use std::collections::BTreeSet;

use super::change::AggregatesChange;
use super::view::{AggregateView, CallView};
use crate::source::Span;

/// The difference with the words and places that messages need.
pub struct AggregatesDiff {
    /// The counts.
    pub change: AggregatesChange,
    /// Words for messages.
    pub args: Vec<(&'static str, String)>,
    /// The first call that differs on the old side.
    pub old: Option<Span>,
    /// The first call that differs on the new side.
    pub new: Option<Span>,
    /// How many calls only the old side has, and only the new side.
    pub lone: (usize, usize),
    /// Columns that only the differing calls read.
    pub differing: Vec<super::lineage::Ident>,
}

/// Pairs calls that compute the same, then by name; states what is left. `None` if both sides compute the same in one order.
pub fn compare(old: &AggregateView, new: &AggregateView) -> Option<AggregatesDiff> {
    if old.planned == new.planned && !permuted(&old.calls, &new.calls) {
        return None;
    }
    let mut partner: Vec<Option<usize>> = vec![None; old.calls.len()];
    let mut taken = vec![false; new.calls.len()];
    for (i, o) in old.calls.iter().enumerate() {
        let found = new.calls.iter().enumerate().position(|(j, n)| !taken[j] && n.computation == o.computation);
        if let Some(j) = found {
            partner[i] = Some(j);
            taken[j] = true;
        }
    }
    let survivors: Vec<(usize, usize)> = partner.iter().enumerate().filter_map(|(i, p)| p.map(|j| (i, j))).collect();
    let order = |distinct: bool| -> Vec<usize> {
        survivors.iter().filter(|(i, _)| old.calls[*i].distinct == distinct).map(|(_, j)| *j).collect()
    };
    let moved = |places: &[usize]| places.windows(2).any(|w| w[0] > w[1]);

    let old_left: Vec<&CallView> =
        old.calls.iter().enumerate().filter(|(i, _)| partner[*i].is_none()).map(|(_, c)| c).collect();
    let new_left: Vec<&CallView> = new.calls.iter().enumerate().filter(|(j, _)| !taken[*j]).map(|(_, c)| c).collect();
    let mut change = AggregatesChange {
        old: old.calls.len(),
        new: new.calls.len(),
        survivors: survivors.len(),
        moved: moved(&order(false)),
        distinct_moved: moved(&order(true)),
        ..AggregatesChange::default()
    };
    let (mut added, mut removed): (Vec<&CallView>, Vec<&CallView>) = (Vec::new(), Vec::new());
    let (mut changed, mut recomputed, mut distinct, mut said) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut refiltered = Vec::new();
    let mut matched_new = vec![false; new_left.len()];
    for o in &old_left {
        if o.distinct {
            distinct.push(&o.name);
            said.push(o.said.clone());
            continue;
        }
        let by_name = new_left.iter().enumerate().position(|(j, n)| !matched_new[j] && !n.distinct && n.name == o.name);
        match by_name {
            Some(j) => {
                matched_new[j] = true;
                let n = new_left[j];
                if n.function != o.function {
                    changed.push(n.said.clone());
                } else if n.unfiltered != o.unfiltered {
                    recomputed.push(n.said.clone());
                }
                if n.filter != o.filter {
                    refiltered.push(n.said.clone());
                }
            }
            None => removed.push(o),
        }
    }
    for (j, n) in new_left.iter().enumerate() {
        if n.distinct {
            if !distinct.contains(&&n.name) {
                distinct.push(&n.name);
                said.push(n.said.clone());
            }
        } else if !matched_new[j] {
            added.push(n);
        }
    }
    change.added = added.len();
    change.removed = removed.len();
    change.changed = changed.len();
    change.recomputed = recomputed.len();
    change.filter_changed = refiltered.len();
    change.distinct_changed = distinct.len();
    let nothing = change.added + change.removed + change.changed + change.recomputed + change.distinct_changed == 0
        && change.filter_changed == 0
        && !change.moved
        && !change.distinct_moved;
    if nothing {
        return None;
    }
    let differing = || old_left.iter().chain(&new_left);
    change.filtered = differing().filter(|c| c.filter.is_some()).count();
    let out_of_place = displaced(&survivors).into_iter().map(|i| &old.calls[i]);
    let functions: BTreeSet<&str> =
        differing().copied().chain(out_of_place).map(|call| call.function.as_str()).collect();
    change.functions = functions.into_iter().map(str::to_owned).collect();
    let names = |list: &[&CallView]| list.iter().map(|c| c.said.clone()).collect::<Vec<_>>();
    let args = vec![
        ("added_names", quoted(&names(&added))),
        ("removed_names", quoted(&names(&removed))),
        ("changed_names", quoted(&changed)),
        ("recomputed_names", quoted(&recomputed)),
        ("filter_names", quoted(&refiltered)),
        ("distinct_names", quoted(&said)),
    ]
    .into_iter()
    .filter(|(_, v)| !v.is_empty())
    .collect();
    let place = |list: &[&CallView]| list.iter().find_map(|c| c.origins.first());
    let any = |calls: &[CallView]| calls.iter().find_map(|c| c.origins.first());
    let differing = differing().flat_map(|c| c.reads.iter().copied()).collect();
    Some(AggregatesDiff {
        change,
        args,
        old: place(&old_left).or_else(|| any(&old.calls)),
        new: place(&new_left).or_else(|| any(&new.calls)),
        lone: (old_left.len(), new_left.len()),
        differing,
    })
}

/// The old places of those that stand at another place among the calls that stay.
fn displaced(survivors: &[(usize, usize)]) -> Vec<usize> {
    let mut places: Vec<usize> = survivors.iter().map(|(_, new)| *new).collect();
    places.sort_unstable();
    let moved = survivors.iter().zip(places).filter(|((_, new), place)| new != place);
    moved.map(|((old, _), _)| *old).collect()
}

/// The same calls, written in another order.
fn permuted(old: &[CallView], new: &[CallView]) -> bool {
    let in_order = |calls: &[CallView]| calls.iter().map(|c| c.computation.clone()).collect::<Vec<_>>();
    let (mut a, mut b) = (in_order(old), in_order(new));
    let moved = a != b;
    a.sort_unstable();
    b.sort_unstable();
    moved && a == b
}

/// Where the calls of one side differ from the other's, or else where its first call is.
pub fn place(view: &AggregateView, other: &AggregateView) -> Option<Span> {
    let differs = |c: &&CallView| !other.calls.iter().any(|o| o.computation == c.computation);
    view.calls.iter().find(differs).or(view.calls.first()).and_then(|c| c.origins.first())
}

/// `` `a`, `b` ``.
pub fn quoted(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}
