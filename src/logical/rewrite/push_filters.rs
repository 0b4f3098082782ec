//! Filters sink through projections, unions, joins and the keys of aggregates. They stop at OVER, ranks, window functions and
//! watermarks, as in Flink (no rule of its streaming program carries them further).

use super::join_filters::push_through_join;
use crate::logical::correlate::Correlate;
use crate::logical::join::{JoinType, Side, shifted, side};
use crate::logical::rel::{Rel, RelOp};
use crate::logical::rex::{Origins, Rex};
use crate::logical::simplify;

/// Moves every filter as far down as it goes.
pub fn push_filters(rel: Rel) -> Rel {
    push(rel, Vec::new(), Origins::none())
}

fn push(rel: Rel, mut conditions: Vec<Rex>, origins: Origins) -> Rel {
    let Rel { op, mut inputs, columns, origins: at } = rel;
    match op {
        RelOp::Filter(own) => {
            let mut all = own;
            for c in conditions {
                if !all.contains(&c) {
                    all.push(c);
                }
            }
            push(inputs.remove(0), all, at.or(&origins))
        }
        RelOp::Project(exprs) => {
            // Nothing passes a projection that computes OVER: its rows are those that the window sees.
            let over = exprs.iter().any(Rex::contains_over);
            let (below, above): (Vec<Rex>, Vec<Rex>) =
                conditions.drain(..).partition(|c| !over && reads_only_deterministic(c, &exprs));
            let below: Vec<Rex> = below.iter().map(|c| c.substitute(&exprs)).collect();
            let names = columns.iter().map(|c| c.name.clone()).collect();
            let input = push_simplified(inputs.remove(0), below, origins.clone());
            input.project(exprs, names, at).filter(above, origins)
        }
        RelOp::Aggregate(aggregate) if aggregate.grouping_sets.is_none() => {
            let keys = aggregate.keys.clone();
            let (below, above): (Vec<Rex>, Vec<Rex>) =
                conditions.drain(..).partition(|c| !keys.is_empty() && c.inputs_below(keys.len()));
            let below = below
                .iter()
                .map(|c| c.map_inputs(&mut |i, used| Rex::input(keys[i], used.ty.clone()).with_origins(&used.origins)))
                .collect();
            let input = push(inputs.remove(0), below, origins.clone());
            Rel { op: RelOp::Aggregate(aggregate), inputs: vec![input], columns, origins: at }.filter(above, origins)
        }
        RelOp::Union | RelOp::Set(_) => {
            let inputs = inputs.into_iter().map(|i| push_simplified(i, conditions.clone(), origins.clone())).collect();
            Rel { op, inputs, columns, origins: at }
        }
        RelOp::Correlate(correlate) => push_through_correlate(correlate, inputs.remove(0), conditions, origins, at),
        // A version is picked before anything is asked of it: conditions stay where they are written.
        RelOp::Join(join) if join.is_versioned() => {
            let Ok([left, right]) = <[Rel; 2]>::try_from(inputs) else { unreachable!("a join has two inputs") };
            Rel::join(push_filters(left), push_filters(right), join, at).filter(conditions, origins)
        }
        RelOp::Join(join) => push_through_join(join, inputs, conditions, origins, at),
        op => {
            let inputs = inputs.into_iter().map(push_filters).collect();
            Rel { op, inputs, columns, origins: at }.filter(conditions, origins)
        }
    }
}

/// Calcite's `FilterCorrelateRule`: what looks at the input goes below, what looks at the function's row into the call. A row that is
/// sent alone is not known before the call has been made.
fn push_through_correlate(
    mut correlate: Correlate,
    input: Rel,
    conditions: Vec<Rex>,
    origins: Origins,
    at: Origins,
) -> Rel {
    let width = input.columns.len();
    let back = -isize::try_from(width).unwrap_or(isize::MAX);
    let (mut below, mut above) = (Vec::new(), Vec::new());
    for c in conditions {
        match side(&c, width) {
            Side::None | Side::Left => below.push(c),
            Side::Right if correlate.join_type == JoinType::Inner => correlate.conditions.push(shifted(&c, back)),
            Side::Right | Side::Both => above.push(c),
        }
    }
    let input = push_simplified(input, below, origins.clone());
    Rel::correlate(input, correlate, at).filter(above, origins)
}

/// Substitution can turn a condition into a constant: `1 > 0` in a branch of a union.
pub(super) fn push_simplified(input: Rel, conditions: Vec<Rex>, origins: Origins) -> Rel {
    let conditions: Vec<Rex> =
        conditions.into_iter().flat_map(|c| simplify::conjuncts(simplify::simplify_filter(c))).collect();
    push(input, conditions, origins)
}

fn reads_only_deterministic(condition: &Rex, exprs: &[Rex]) -> bool {
    let mut ok = true;
    condition.visit(&mut |r| {
        if let Some(i) = r.as_input() {
            ok &= exprs[i].is_deterministic();
        }
    });
    ok
}

impl Rex {
    /// True if only columns below `n` are read.
    pub(super) fn inputs_below(&self, n: usize) -> bool {
        let mut ok = true;
        self.visit(&mut |r| {
            if let Some(i) = r.as_input() {
                ok &= i < n;
            }
        });
        ok
    }

    /// The same expression at other places.
    pub(crate) fn with_origins(mut self, origins: &Origins) -> Rex {
        self.origins = origins.clone();
        self
    }
}
