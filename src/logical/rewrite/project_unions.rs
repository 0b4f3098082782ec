//! A projection over a union is computed in its branches (Calcite's `ProjectSetOpTransposeRule`). So is one over INTERSECT ALL or
//! EXCEPT ALL, though that changes which rows are counted as equal.

use crate::logical::rel::{Rel, RelOp};
use crate::logical::rex::Rex;

/// Pushes projections into every union of the tree.
pub fn project_unions(rel: Rel) -> Rel {
    let Rel { op, mut inputs, columns, origins } = rel;
    match op {
        RelOp::Project(exprs) if goes_below(&exprs, &inputs[0].op) => {
            let set = inputs.remove(0);
            let names: Vec<_> = columns.iter().map(|c| c.name.clone()).collect();
            let branches = set
                .inputs
                .into_iter()
                .map(|branch| project_unions(branch.project(exprs.clone(), names.clone(), origins.clone())));
            Rel { op: set.op, inputs: branches.collect(), columns, origins: set.origins }
        }
        op => Rel { op, inputs: inputs.into_iter().map(project_unions).collect(), columns, origins },
    }
}

fn goes_below(exprs: &[Rex], op: &RelOp) -> bool {
    match op {
        RelOp::Union => exprs.iter().all(Rex::is_deterministic),
        RelOp::Set(_) => !exprs.is_empty() && !exprs.iter().any(Rex::contains_over),
        _ => false,
    }
}
