//! An aggregate over groups of one row each is a projection (Flink's `FlinkAggregateRemoveRule`), and what is made distinct need not
//! have been so in the branches of a union (Calcite's `AggregateUnionAggregateRule`).

use super::unique_keys::are_unique;
use crate::logical::make;
use crate::logical::rel::{AggArg, AggCall, Aggregate, Rel, RelOp};
use crate::logical::rex::Rex;

/// Removes what can be removed in the whole tree.
pub fn remove_aggregates(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let mut inputs: Vec<Rel> = inputs.into_iter().map(remove_aggregates).collect();
    if let (RelOp::Aggregate(aggregate), RelOp::Union) = (&op, &inputs[..].first().map_or(&RelOp::Union, |i| &i.op))
        && is_distinct(aggregate, inputs[0].columns.len())
        && inputs[0].inputs.len() == 2
    {
        for branch in &mut inputs[0].inputs {
            let of_all = |a: &Aggregate, branch: &Rel| is_distinct(a, branch.input().columns.len());
            if matches!(&branch.op, RelOp::Aggregate(a) if of_all(a, branch)) {
                *branch = branch.inputs.remove(0);
            }
        }
    }
    match op {
        RelOp::Aggregate(aggregate) if is_trivial(&aggregate, &inputs[0]) => {
            let input = inputs.remove(0);
            let mut exprs: Vec<Rex> = aggregate.keys.iter().map(|k| input.column(*k)).collect();
            for (call, column) in aggregate.calls.iter().zip(&columns[aggregate.keys.len()..]) {
                let arg = call.args.first().and_then(AggArg::column).expect("checked by is_trivial");
                exprs.push(make::cast_kind(input.column(arg), &column.ty));
            }
            input.project(exprs, columns.into_iter().map(|c| c.name).collect(), origins)
        }
        RelOp::Project(exprs) => {
            inputs.remove(0).project(exprs, columns.into_iter().map(|c| c.name).collect(), origins)
        }
        op => Rel { op, inputs, columns, origins },
    }
}

fn is_trivial(aggregate: &Aggregate, input: &Rel) -> bool {
    !aggregate.keys.is_empty()
        && aggregate.grouping_sets.is_none()
        && aggregate.calls.iter().all(keeps_its_argument)
        && are_unique(input, &aggregate.keys)
}

/// DISTINCT over all of `width` columns.
fn is_distinct(aggregate: &Aggregate, width: usize) -> bool {
    aggregate.calls.is_empty() && aggregate.grouping_sets.is_none() && aggregate.keys.iter().copied().eq(0..width)
}

/// Functions that give the only value of their group back.
fn keeps_its_argument(call: &AggCall) -> bool {
    matches!(&*call.function, "SUM" | "MIN" | "MAX")
        && call.filter.is_none()
        && call.args.first().and_then(AggArg::column).is_some()
}
