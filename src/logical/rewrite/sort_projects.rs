//! A sort goes below the projection it stands on, if it orders by bare columns (Calcite's `SortProjectTransposeRule`).

use crate::logical::rel::{Rel, RelOp, SortKey};
use crate::logical::rex::Rex;

/// Moves every sort of the tree.
pub fn sort_below_projects(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let mut inputs: Vec<Rel> = inputs.into_iter().map(sort_below_projects).collect();
    match op {
        RelOp::Sort(mut sort) => {
            let places: Option<Vec<usize>> = match &inputs[0].op {
                RelOp::Project(exprs) if exprs.iter().all(|e| !e.contains_over()) => {
                    sort.keys.iter().map(|k| exprs[k.column].as_input()).collect()
                }
                _ => None,
            };
            let Some(places) = places else { return Rel { op: RelOp::Sort(sort), inputs, columns, origins } };
            let Rel { op: RelOp::Project(exprs), inputs: mut below, origins: at, .. } = inputs.remove(0) else {
                unreachable!("matched above")
            };
            sort.keys = sort.keys.into_iter().zip(places).map(|(k, column)| SortKey { column, ..k }).collect();
            let input = below.remove(0);
            let sorted = Rel { columns: input.columns.clone(), op: RelOp::Sort(sort), inputs: vec![input], origins };
            sorted.project(exprs, columns.into_iter().map(|c| c.name).collect(), at)
        }
        RelOp::Project(exprs) => {
            let exprs: Vec<Rex> = exprs;
            inputs.remove(0).project(exprs, columns.into_iter().map(|c| c.name).collect(), origins)
        }
        op => Rel { op, inputs, columns, origins },
    }
}
