//! A projection over a union is computed in its branches (Calcite's `ProjectSetOpTransposeRule`).

use crate::logical::rel::{Rel, RelOp};
use crate::logical::rex::Rex;

/// Pushes projections into every union of the tree.
pub fn project_unions(rel: Rel) -> Rel {
    let Rel { op, mut inputs, columns, origins } = rel;
    match op {
        RelOp::Project(exprs) if matches!(inputs[0].op, RelOp::Union) && exprs.iter().all(Rex::is_deterministic) => {
            let union = inputs.remove(0);
            let names: Vec<_> = columns.iter().map(|c| c.name.clone()).collect();
            let branches = union
                .inputs
                .into_iter()
                .map(|branch| project_unions(branch.project(exprs.clone(), names.clone(), origins.clone())));
            Rel { op: RelOp::Union, inputs: branches.collect(), columns, origins: union.origins }
        }
        op => Rel { op, inputs: inputs.into_iter().map(project_unions).collect(), columns, origins },
    }
}
