//! Aggregates in phases: local and global ones, and the two halves of a split one that become one incremental aggregate.

use super::{Tree, exchange, named, pass_through};
use crate::catalog::types::TypeKind;
use crate::exec::aggregate_text::Accumulators;
use crate::exec::changelog::ChangelogMode;
use crate::exec::global_group_aggregate::GlobalGroupAggregate;
use crate::exec::group_aggregate::GroupAggregate;
use crate::exec::incremental_group_aggregate::{IncrementalGroupAggregate, undistinct};
use crate::exec::local_group_aggregate::LocalGroupAggregate;
use crate::exec::local_window_aggregate::LocalWindowAggregate;
use crate::exec::window_aggregate::{GlobalWindowAggregate, WindowAggregate, hidden_count};
use crate::exec::window_spec::WindowAttachment;
use crate::exec::{Column, Operator};
use crate::logical::rel::{self, Split};
use crate::logical::rex::Origins;

/// The partial half below `node`, if both can be one incremental aggregate (Flink's `StreamPhysicalIncrementalGroupAggregateRule`);
/// else the input as it was.
pub(super) fn incremental_input(node: &GroupAggregate, input: Tree, wanted: bool) -> Result<Tree, Box<Tree>> {
    let partial = match &input.op {
        Operator::GlobalGroupAggregate(g) if matches!(g.aggregate.split, Split::Partial(_)) => g.clone(),
        _ => return Err(Box::new(input)),
    };
    if !wanted || node.split != Split::Final {
        return Err(Box::new(input));
    }
    let keys = node.keys.len();
    let calls = undistinct(&partial.local_calls);
    let mut columns: Vec<Column> = input.columns[..keys].to_vec();
    columns.extend(accumulator_columns(&calls, partial.aggregate.retracts));
    let op = Operator::IncrementalGroupAggregate(IncrementalGroupAggregate { partial, keys, results: input.columns });
    let below = input.inputs.into_iter().next().expect("a global aggregate has an input");
    let mut tree = pass_through(op, below, columns, Origins::none());
    tree.monotonic.fill(None);
    tree.upsert_keys.clear();
    Ok(tree)
}

/// The final half over an incremental aggregate: it takes rows back only if rows are taken back below.
pub(super) fn over_incremental(mut node: GroupAggregate, incremental: Tree) -> (Operator, Tree) {
    for call in &mut node.calls {
        call.monotonic = false;
    }
    let mut local_calls = node.calls.clone();
    let mut row_count = None;
    if let Operator::IncrementalGroupAggregate(halves) = &incremental.op {
        node.retracts = halves.partial.aggregate.retracts;
        // A COUNT(*) of the query tells when a key has no rows left; else one was added below.
        match halves.partial.local_calls.get(node.calls.len()) {
            Some(added) => local_calls.push(added.clone()),
            None => row_count = halves.partial.local_calls.iter().position(counts_rows).filter(|_| node.retracts),
        }
    }
    let keys: Vec<usize> = (0..node.keys.len()).collect();
    node.keys = keys.clone();
    let global = GlobalGroupAggregate { aggregate: node, local_calls, row_count };
    (Operator::GlobalGroupAggregate(global), exchange(incremental, keys))
}

/// `COUNT(*)`
pub(super) fn counts_rows(call: &rel::AggCall) -> bool {
    &*call.function == "COUNT" && call.args.is_empty() && call.filter.is_none()
}

/// Local aggregate and exchange below a global one, for bundles (Flink's `TwoStageOptimizedAggregateRule`).
pub(super) fn bundle_phases(mut node: GroupAggregate, input: Tree) -> (Operator, Tree) {
    let mut calls = node.calls.clone();
    let counts = calls.iter().any(counts_rows);
    if node.retracts && !counts {
        calls.push(hidden_count());
    }
    let mut columns: Vec<Column> = node.keys.iter().map(|k| input.columns[*k].clone()).collect();
    columns.extend(accumulator_columns(&calls, node.retracts));
    let keys: Vec<usize> = (0..node.keys.len()).collect();
    let (split, retracts) = (node.split.clone(), node.retracts);
    let local = LocalGroupAggregate { keys: node.keys.clone(), calls: calls.clone(), retracts, split };
    let mut local = pass_through(Operator::LocalGroupAggregate(local), input, columns, Origins::none());
    local.changelog = ChangelogMode::INSERT;
    local.upsert_keys.clear();
    local.monotonic.fill(None);
    node.keys = keys.clone();
    let global = GlobalGroupAggregate { aggregate: node, local_calls: calls, row_count: None };
    (Operator::GlobalGroupAggregate(global), exchange(local, keys))
}

/// The columns that a local aggregate sends: accumulators, then distinct views.
fn accumulator_columns(calls: &[rel::AggCall], retracts: bool) -> Vec<Column> {
    let accumulators = Accumulators::of(calls, retracts);
    let mut out: Vec<Column> =
        calls.iter().zip(&accumulators.names).map(|(c, name)| named(name.as_str(), c.ty.clone())).collect();
    for view in 0..accumulators.views.len() {
        out.push(named(format!("distinct${view}"), TypeKind::Other("DISTINCT VIEW".into()).nullable()));
    }
    out
}

/// Local aggregate, exchange, global aggregate.
pub(super) fn phases(mut node: WindowAggregate, input: Tree, columns: Vec<Column>, origins: Origins) -> Tree {
    let local_calls = node.all_calls();
    let mut local_columns: Vec<Column> = node.keys.iter().map(|k| input.columns[*k].clone()).collect();
    local_columns.extend(accumulator_columns(&local_calls, node.retracts));
    let (end, attachment) = match node.window.attachment {
        WindowAttachment::TimeColumn(_) => ("$slice_end", WindowAttachment::SliceEnd),
        _ => ("$window_end", WindowAttachment::WindowEnd),
    };
    local_columns.push(named(end, TypeKind::BigInt.nullable()));
    let local = Operator::LocalWindowAggregate(LocalWindowAggregate {
        keys: node.keys.clone(),
        window: node.window.clone(),
        calls: local_calls.clone(),
        retracts: node.retracts,
    });
    let mut local = pass_through(local, input, local_columns, Origins::none());
    local.changelog = ChangelogMode::INSERT;
    local.upsert_keys.clear();
    local.monotonic.fill(None);
    let keys: Vec<usize> = (0..node.keys.len()).collect();
    let exchanged = exchange(local, keys.clone());
    node.keys = keys;
    node.window.attachment = attachment;
    let global = Operator::GlobalWindowAggregate(GlobalWindowAggregate { aggregate: node, local_calls });
    pass_through(global, exchanged, columns, origins)
}
