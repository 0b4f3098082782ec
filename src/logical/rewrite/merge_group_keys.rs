//! Group keys that are the same column, or the same expression of a `SELECT DISTINCT`, become one (`distinctify` of Calcite's
//! `SqlToRelConverter`, and its `AggregateProjectMergeRule`).

use std::sync::Arc;

use crate::logical::rel::{AggArg, Aggregate, Rel, RelOp};
use crate::logical::rex::{Origins, Rex};
use crate::logical::simplify::canonical;

/// Merges keys in the whole tree.
pub fn merge_group_keys(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let inputs: Vec<Rel> = inputs.into_iter().map(merge_group_keys).collect();
    let (RelOp::Aggregate(aggregate), Some(RelOp::Project(exprs))) = (&op, inputs.first().map(|i| &i.op)) else {
        return Rel { op, inputs, columns, origins };
    };
    let first = first_of_each(aggregate, exprs);
    let kept: Vec<usize> = (0..first.len()).filter(|i| first[*i] == *i).collect();
    if kept.len() == first.len() {
        return Rel { op, inputs, columns, origins };
    }
    let keys = aggregate.keys.len();
    let place = |i: usize| match i.checked_sub(keys) {
        None => kept.iter().position(|k| *k == first[i]).unwrap_or_default(),
        Some(call) => kept.len() + call,
    };
    let all = |i: usize| Rex::input(place(i), columns[i].ty.clone());
    let exprs: Vec<Rex> = (0..columns.len()).map(all).collect();
    let names: Vec<Arc<str>> = columns.iter().map(|c| c.name.clone()).collect();
    let merged = Aggregate {
        keys: kept.iter().map(|i| aggregate.keys[*i]).collect(),
        key_origins: kept.iter().map(|i| aggregate.key_origins[*i].clone()).collect(),
        ..aggregate.clone()
    };
    let left = kept.iter().copied().chain(keys..columns.len()).map(|i| columns[i].clone()).collect();
    Rel { op: RelOp::Aggregate(merged), inputs, columns: left, origins }.project(exprs, names, Origins::none())
}

/// For each key the first one that is the same.
fn first_of_each(aggregate: &Aggregate, exprs: &[Rex]) -> Vec<usize> {
    let itself = || (0..aggregate.keys.len()).collect();
    // Only a projection of nothing but columns is merged with a GROUP BY.
    let read = aggregate.calls.iter().flat_map(|c| c.args.iter().filter_map(AggArg::column).chain(c.filter));
    let columns_only = || aggregate.keys.iter().copied().chain(read).all(|i| exprs[i].as_input().is_some());
    if aggregate.grouping_sets.is_some() || !aggregate.distinct && !columns_only() {
        return itself();
    }
    let forms: Vec<Rex> = aggregate.keys.iter().map(|i| canonical(&exprs[*i])).collect();
    (0..forms.len())
        .map(|i| forms[..i].iter().position(|f| *f == forms[i] && f.ty == forms[i].ty).unwrap_or(i))
        .collect()
}
