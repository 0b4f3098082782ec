//! Time attributes end at a join that does not bound the time between its rows: there they become ordinary timestamps
//! (the join case of Flink's `RelTimeIndicatorConverter`).

use super::window_columns::joined_windows;
use crate::catalog::types::TimeAttribute;
use crate::logical::make;
use crate::logical::rel::{Rel, RelColumn, RelOp};
use crate::logical::rex::Origins;
use crate::logical::time_bounds::{TimeBounds, time_bounds};

/// Does so for every join of the tree, and tells everything above.
pub fn materialize_join_times(rel: Rel) -> Rel {
    if super::join_filters::has_join(&rel) { convert(rel) } else { rel }
}

fn convert(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let mut inputs: Vec<Rel> = inputs.into_iter().map(convert).collect();
    match op {
        RelOp::Join(join) if join.as_of.is_some() => {
            let Ok([left, right]) = <[Rel; 2]>::try_from(inputs) else { unreachable!("a join has two inputs") };
            let width = left.columns.len();
            // The times of the left side go on; those of versions are values.
            ordinary_times_after(Rel::join(left, right, join, origins), width)
        }
        RelOp::Join(join) => {
            let bounds = time_bounds(&join.conditions, &inputs[0].columns, &inputs[1].columns);
            let by_windows = joined_windows(&join, &inputs[0], &inputs[1]).is_some();
            if !by_windows && (matches!(bounds, TimeBounds::None) || !join.join_type.keeps_right()) {
                inputs = inputs.into_iter().map(ordinary_times).collect();
            }
            let Ok([left, right]) = <[Rel; 2]>::try_from(inputs) else { unreachable!("a join has two inputs") };
            Rel::join(left, right, join, origins)
        }
        RelOp::Project(exprs) => {
            let exprs = exprs
                .into_iter()
                .map(|e| match e.as_input() {
                    Some(i) => crate::logical::rex::Rex { ty: inputs[0].columns[i].ty.clone(), ..e },
                    None => e,
                })
                .collect();
            inputs.remove(0).project(exprs, columns.into_iter().map(|c| c.name).collect(), origins)
        }
        RelOp::Correlate(correlate) => Rel::correlate(inputs.remove(0), correlate, origins),
        op => {
            let columns = retyped(&op, &inputs, columns);
            Rel { op, inputs, columns, origins }
        }
    }
}

/// The columns that an operator passes on have the types of its input.
fn retyped(op: &RelOp, inputs: &[Rel], mut columns: Vec<RelColumn>) -> Vec<RelColumn> {
    let Some(input) = inputs.first() else { return columns };
    let keys: Vec<usize> = match op {
        RelOp::Filter(_) | RelOp::WindowTvf(_) | RelOp::Over(_) | RelOp::Rank(_) | RelOp::Sort(_) => {
            (0..input.columns.len()).collect()
        }
        RelOp::Aggregate(a) => a.keys.clone(),
        RelOp::GroupWindow(w) => w.keys.clone(),
        RelOp::WindowAggregate(w) => w.keys.clone(),
        _ => Vec::new(),
    };
    for (column, key) in columns.iter_mut().zip(keys) {
        if input.columns[key].ty.time_attribute() == TimeAttribute::None {
            column.ty = column.ty.clone().materialized();
        }
    }
    columns
}

fn ordinary_times(rel: Rel) -> Rel {
    ordinary_times_after(rel, 0)
}

/// `rel` with ordinary values for the time attributes from column `first` on.
fn ordinary_times_after(rel: Rel, first: usize) -> Rel {
    if rel.columns[first..].iter().all(|c| c.ty.time_attribute() == TimeAttribute::None) {
        return rel;
    }
    let columns = rel.all_columns().into_iter().enumerate();
    let exprs = columns.map(|(i, c)| if i < first { c } else { make::materialize(c) }).collect();
    let names = rel.columns.iter().map(|c| c.name.clone()).collect();
    rel.project(exprs, names, Origins::none())
}
