//! Conditions around a join: what looks at one side only goes into that side, what needs both becomes part of the join, and
//! what a side is known to hold is asked of the other one too.
//!
//! Calcite's `FilterJoinRule` with `RelOptUtil.simplifyJoin`, and `JoinPushTransitivePredicatesRule`. A side whose rows are
//! kept without a partner loses none of them by the join's own condition.

use super::push_filters::push_simplified;
use super::strong::rejects_nulls;
use crate::catalog::functions::operators as op;
use crate::logical::join::{Join, JoinType, Side, join_columns, shifted, side};
use crate::logical::make;
use crate::logical::rel::{Rel, RelOp};
use crate::logical::rex::{Origins, Rex};
use crate::logical::simplify;

/// A join under the conditions `above`, which are written at `origins`.
pub(super) fn push_through_join(join: Join, inputs: Vec<Rel>, above: Vec<Rex>, origins: Origins, at: Origins) -> Rel {
    let Ok([left, right]) = <[Rel; 2]>::try_from(inputs) else { unreachable!("a join has two inputs") };
    let width = left.columns.len();
    let promised = join_columns(&left.columns, &right.columns, join.join_type);
    let join_type = match join.join_type {
        semi if !semi.keeps_right() => semi,
        outer => without_useless_padding(outer, &above, width, promised.len()),
    };
    let mut split = Split { width, left: Vec::new(), right: Vec::new(), both: Vec::new() };
    for c in join.conditions {
        // A row that does not fulfil the condition has no partner, and that is what an anti join sends.
        let inward = join_type != JoinType::Anti;
        split.put(c, inward && !join_type.pads_right(), inward && !join_type.pads_left(), true);
    }
    let mut kept = Vec::new();
    for c in above {
        let (into_left, into_right) = (!join_type.pads_left(), !join_type.pads_right());
        kept.extend(split.put(c, into_left, into_right, join_type == JoinType::Inner));
    }
    let equal = equalities(&split.both, width);
    if join_type == JoinType::Inner {
        split.derive();
    }
    let (from_left, from_right) = (split.left.clone(), split.right.clone());
    if !join_type.pads_left() && join_type.keeps_right() {
        let place = |l: usize| equal.iter().find(|(a, _)| *a == l).map(|(_, b)| *b);
        implied(&from_left, &place).into_iter().for_each(|c| push_new(&mut split.right, c));
    }
    if !join_type.pads_right() && join_type.keeps_right() {
        let place = |r: usize| equal.iter().find(|(_, b)| *b == r).map(|(a, _)| *a);
        implied(&from_right, &place).into_iter().for_each(|c| push_new(&mut split.left, c));
    }
    let Split { left: left_conditions, right: right_conditions, both, .. } = split;
    let left = push_simplified(left, left_conditions, origins.clone());
    let right = push_simplified(right, right_conditions, origins.clone());
    let join = Join { join_type, conditions: both, ..join };
    let rel = Rel::join(left, right, join, at);
    // A side that is not padded any more may have columns without NULL; who reads them was told otherwise.
    if rel.columns.iter().zip(&promised).all(|(now, then)| now.ty.nullable == then.ty.nullable) {
        return rel.filter(kept, origins);
    }
    let exprs = promised
        .iter()
        .enumerate()
        .map(|(i, then)| {
            let e = rel.column(i);
            if e.ty.nullable == then.ty.nullable { e } else { make::cast(e, then.ty.clone()) }
        })
        .collect();
    let names = rel.columns.iter().map(|c| c.name.clone()).collect();
    rel.project(exprs, names, Origins::none()).filter(kept, origins)
}

/// The conditions of a join by the side that they belong to; those of a side count that side's columns.
struct Split {
    width: usize,
    left: Vec<Rex>,
    right: Vec<Rex>,
    both: Vec<Rex>,
}

impl Split {
    /// Puts a condition where it may go; gives it back if there is no such place.
    fn put(&mut self, c: Rex, into_left: bool, into_right: bool, into_join: bool) -> Option<Rex> {
        let of = side(&c, self.width);
        let target = match of {
            Side::Left | Side::None if into_left => &mut self.left,
            Side::Right | Side::None if into_right => {
                let c = shifted(&c, -isize::try_from(self.width).unwrap_or(isize::MAX));
                push_new(&mut self.right, c);
                return None;
            }
            _ if into_join => &mut self.both,
            _ => return Some(c),
        };
        push_new(target, c);
        None
    }
}

impl Split {
    /// Alternatives each of which asks something of one side ask one of these of it (Flink's `JoinDependentConditionDerivationRule`).
    fn derive(&mut self) {
        let back = -isize::try_from(self.width).unwrap_or(isize::MAX);
        for c in self.both.clone() {
            let Some(alternatives) = c.as_call(op::OR.name) else { continue };
            for wanted in [Side::Left, Side::Right] {
                let parts: Option<Vec<Rex>> = alternatives
                    .iter()
                    .map(|a| {
                        let own = simplify::conjuncts(a.clone()).into_iter().filter(|c| side(c, self.width) == wanted);
                        simplify::and_all(own.collect())
                    })
                    .collect();
                let Some(any) = parts.and_then(simplify::or_all) else { continue };
                match wanted {
                    Side::Right => push_new(&mut self.right, shifted(&any, back)),
                    _ => push_new(&mut self.left, any),
                }
            }
        }
    }
}

fn push_new(list: &mut Vec<Rex>, c: Rex) {
    if !list.contains(&c) {
        list.push(c);
    }
}

/// A condition that no padded row can fulfil makes the padding useless (Calcite's `RelOptUtil.simplifyJoin`).
fn without_useless_padding(join_type: JoinType, above: &[Rex], width: usize, all: usize) -> JoinType {
    let rejects = |columns: std::ops::Range<usize>| above.iter().any(|c| rejects_nulls(c, &|i| columns.contains(&i)));
    let left = join_type.pads_left() && !rejects(0..width);
    let right = join_type.pads_right() && !rejects(width..all);
    JoinType::padding(left, right)
}

/// The columns that the condition makes equal: left, and right counted in its own row.
fn equalities(conditions: &[Rex], width: usize) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    for c in conditions {
        let Some([a, b]) = c.as_call(op::EQUALS.name) else { continue };
        let (Some(i), Some(k)) = (a.as_input(), b.as_input()) else { continue };
        let same = a.ty.same_kind(&b.ty);
        let (left, right) = (i.min(k), i.max(k));
        if same && left < width && right >= width {
            out.push((left, right - width));
        }
    }
    out
}

/// What `from` says of columns that the other side has too.
fn implied(from: &[Rex], place: &dyn Fn(usize) -> Option<usize>) -> Vec<Rex> {
    let mut out: Vec<Rex> = Vec::new();
    for c in from {
        let mut reads = false;
        let mut all = c.is_deterministic();
        c.visit(&mut |r| {
            if let Some(i) = r.as_input() {
                reads = true;
                all &= place(i).is_some();
            }
        });
        if reads && all {
            out.push(c.map_inputs(&mut |i, used| {
                let ty = used.ty.clone();
                place(i).map_or_else(|| used.clone(), |k| Rex::input(k, ty).with_origins(&used.origins))
            }));
        }
    }
    out
}

/// Whether the tree has a join.
pub(super) fn has_join(rel: &Rel) -> bool {
    matches!(rel.op, RelOp::Join(_)) || rel.inputs.iter().any(has_join)
}
