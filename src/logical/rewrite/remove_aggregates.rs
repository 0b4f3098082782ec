//! An aggregate over groups of one row each is a projection (Flink's `FlinkAggregateRemoveRule`).

use super::unique_keys::are_unique;
use crate::logical::make;
use crate::logical::rel::{AggArg, AggCall, Aggregate, Rel, RelOp};
use crate::logical::rex::Rex;

/// Removes what can be removed in the whole tree.
pub fn remove_aggregates(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let mut inputs: Vec<Rel> = inputs.into_iter().map(remove_aggregates).collect();
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

/// Functions that give the only value of their group back.
fn keeps_its_argument(call: &AggCall) -> bool {
    matches!(&*call.function, "SUM" | "MIN" | "MAX")
        && call.filter.is_none()
        && call.args.first().and_then(AggArg::column).is_some()
}
