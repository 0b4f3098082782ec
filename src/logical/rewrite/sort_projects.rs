//! A sort goes below the projection it stands on, if it orders by bare columns (Calcite's `SortProjectTransposeRule`) and that
//! costs less: with LIMIT, because fewer rows are projected, or where the projection melts into the one above the sort.

use crate::logical::rel::{Rel, RelOp, Sort, SortKey};

/// Moves every sort of the tree.
pub fn sort_below_projects(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let mut inputs: Vec<Rel> = inputs.into_iter().map(sort_below_projects).collect();
    match op {
        RelOp::Sort(sort) if sort.fetch.is_some() => {
            transposed(Rel { op: RelOp::Sort(sort), inputs, columns, origins })
        }
        RelOp::Project(exprs) => {
            let input = transposed(inputs.remove(0));
            input.project(exprs, columns.into_iter().map(|c| c.name).collect(), origins)
        }
        op => Rel { op, inputs, columns, origins },
    }
}

/// A sort over a projection with their places exchanged; anything else as it is.
fn transposed(rel: Rel) -> Rel {
    let Some(places) = places(&rel) else { return rel };
    let Rel { op, mut inputs, columns, origins } = rel;
    let below = inputs.remove(0);
    let (RelOp::Sort(sort), RelOp::Project(exprs)) = (op, below.op) else { unreachable!("`places` matched both") };
    let keys = sort.keys.into_iter().zip(places).map(|(k, column)| SortKey { column, ..k }).collect();
    let op = RelOp::Sort(Sort { keys, ..sort });
    let (inputs, at) = (below.inputs, below.origins);
    let sorted = Rel { columns: inputs[0].columns.clone(), op, inputs, origins };
    sorted.project(exprs, columns.into_iter().map(|c| c.name).collect(), at)
}

/// Where the keys of a sort stand below the projection that it reads.
fn places(rel: &Rel) -> Option<Vec<usize>> {
    let RelOp::Sort(sort) = &rel.op else { return None };
    match &rel.inputs[0].op {
        RelOp::Project(exprs) if exprs.iter().all(|e| !e.contains_over()) => {
            sort.keys.iter().map(|k| exprs[k.column].as_input()).collect()
        }
        _ => None,
    }
}
