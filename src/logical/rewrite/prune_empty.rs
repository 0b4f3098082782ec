//! Operators over no rows become no rows themselves (Calcite's `PruneEmptyRules`).
//!
//! Projections, filters, joins that need a row of the empty side and grouped aggregates do, and a union loses its empty branches. An aggregate without keys still has
//! one result row, and OVER, ranks and window functions have no such rule in Flink: they stay.

use crate::logical::join::JoinType;
use crate::logical::make;
use crate::logical::rel::{Rel, RelOp};
use crate::logical::rex::Origins;
use crate::logical::simplify;

/// Prunes the whole tree.
pub fn prune_empty(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let mut inputs: Vec<Rel> = inputs.into_iter().map(prune_empty).collect();
    let pruned = match &op {
        RelOp::Filter(conditions) => conditions.iter().any(simplify::is_always_false) || is_empty(&inputs[0]),
        RelOp::Project(exprs) => is_empty(&inputs[0]) && !exprs.iter().any(crate::logical::rex::Rex::contains_over),
        RelOp::Aggregate(aggregate) => is_empty(&inputs[0]) && !aggregate.keys.is_empty(),
        // The window is a group key as long as the aggregate is a plain one.
        RelOp::GroupWindow(_) => is_empty(&inputs[0]),
        RelOp::Join(join) if join.join_type == JoinType::Anti => {
            if is_empty(&inputs[1]) {
                return inputs.swap_remove(0);
            }
            is_empty(&inputs[0])
        }
        RelOp::Join(join) => {
            is_empty(&inputs[0]) && !join.join_type.pads_left() || is_empty(&inputs[1]) && !join.join_type.pads_right()
        }
        RelOp::Union => {
            inputs.retain(|i| !is_empty(i));
            inputs.is_empty()
        }
        _ => false,
    };
    if pruned {
        return Rel { op: RelOp::Values(Vec::new()), inputs: Vec::new(), columns, origins };
    }
    if matches!(op, RelOp::Union) && inputs.len() == 1 {
        let only = inputs.remove(0);
        let exprs = columns.iter().enumerate().map(|(i, c)| make::cast_kind(only.column(i), &c.ty)).collect();
        return only.project(exprs, columns.into_iter().map(|c| c.name).collect(), Origins::none());
    }
    Rel { op, inputs, columns, origins }
}

fn is_empty(rel: &Rel) -> bool {
    matches!(&rel.op, RelOp::Values(rows) if rows.is_empty())
}
