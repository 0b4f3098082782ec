//! Equalities of computed values become equalities of columns: what they compute is computed below the join.
//!
//! Calcite's `RelOptUtil.pushDownJoinConditions` and Flink's `JoinConditionTypeCoerceRule`, which brings both sides to one type
//! first. Only such equalities are keys that rows are exchanged and kept by.

use std::sync::Arc;

use crate::catalog::coercion::least_restrictive;
use crate::catalog::functions::operators as op;
use crate::catalog::types::TypeKind;
use crate::logical::join::{Join, Side, null_safe_operands, shifted, side, unique_names};
use crate::logical::make;
use crate::logical::rel::{Rel, RelOp};
use crate::logical::rex::{Origins, Rex, RexKind};

/// Does so for every join of the tree.
pub fn compute_join_keys(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let inputs: Vec<Rel> = inputs.into_iter().map(compute_join_keys).collect();
    match op {
        RelOp::Join(join) => {
            let Ok([left, right]) = <[Rel; 2]>::try_from(inputs) else { unreachable!("a join has two inputs") };
            with_keys(join, left, right, origins)
        }
        RelOp::Project(exprs) => {
            let Some(input) = inputs.into_iter().next() else { unreachable!("a projection has an input") };
            input.project(exprs, columns.into_iter().map(|c| c.name).collect(), origins)
        }
        op => Rel { op, inputs, columns, origins },
    }
}

fn with_keys(join: Join, left: Rel, right: Rel, origins: Origins) -> Rel {
    let width = left.columns.len();
    let back = -isize::try_from(width).unwrap_or(isize::MAX);
    let mut left_extra: Vec<Rex> = Vec::new();
    let mut right_extra: Vec<Rex> = Vec::new();
    // Columns of the right side stand behind what is computed on the left: they are renumbered once that is known.
    let mut pairs: Vec<(Rex, Option<(Operand, Operand)>)> = Vec::new();
    for condition in join.conditions {
        // INTERSECT and EXCEPT keep what they ask for in full.
        let condition = if join.join_type.keeps_right() { null_safe_equality(condition) } else { condition };
        let operands = equality(&condition, width).map(|(a, b)| {
            let (a, b) = one_type(a, b);
            (operand(a, width, &mut left_extra), operand(shifted(&b, back), right.columns.len(), &mut right_extra))
        });
        pairs.push((condition, operands));
    }
    let added = left_extra.len();
    let (wide, narrow) = (width + added, right.columns.len());
    let left = extended(left, left_extra);
    let right = extended(right, right_extra);
    let conditions = pairs
        .into_iter()
        .map(|(condition, operands)| {
            let Some((a, b)) = operands else { return moved(&condition, width, added) };
            let flipped = first_side(&condition, width) == Side::Right;
            let a = Rex::input(a.column, left.columns[a.column].ty.clone()).with_origins(&a.at);
            let b = Rex::input(wide + b.column, right.columns[b.column].ty.clone()).with_origins(&b.at);
            let args = if flipped { vec![b, a] } else { vec![a, b] };
            let RexKind::Call(function, _) = condition.kind else { unreachable!("an equality is a call") };
            Rex { kind: RexKind::Call(function, args), ty: condition.ty, origins: condition.origins }
        })
        .collect();
    let grown = added > 0 || right.columns.len() > narrow;
    let join_type = join.join_type;
    let rel = Rel::join(left, right, Join { conditions, ..join }, origins);
    if !grown {
        return rel;
    }
    let kept: Vec<usize> = match join_type.keeps_right() {
        true => (0..width).chain(wide..wide + narrow).collect(),
        false => (0..width).collect(),
    };
    let exprs = kept.iter().map(|i| rel.column(*i)).collect();
    let names = kept.iter().map(|i| rel.columns[*i].name.clone()).collect();
    rel.project(exprs, names, Origins::none())
}

/// A column of one side that an equality compares.
struct Operand {
    column: usize,
    at: Origins,
}

fn operand(e: Rex, width: usize, extra: &mut Vec<Rex>) -> Operand {
    let at = e.origins.clone();
    let column = e.as_input().unwrap_or_else(|| {
        let place = extra.iter().position(|x| *x == e).unwrap_or_else(|| {
            extra.push(e);
            extra.len() - 1
        });
        width + place
    });
    Operand { column, at }
}

/// The operands of an equality of both sides, that of the left one first.
fn equality(condition: &Rex, width: usize) -> Option<(Rex, Rex)> {
    let args = condition.as_call(op::EQUALS.name).or_else(|| condition.as_call(op::IS_NOT_DISTINCT.name))?;
    let [a, b] = args else { return None };
    // Times are compared as they are: that is what tells an interval join.
    let time = |e: &Rex| e.ty.time_attribute() != crate::catalog::types::TimeAttribute::None;
    if time(a) && time(b) {
        return None;
    }
    match (side(a, width), side(b, width)) {
        (Side::Left, Side::Right) => Some((a.clone(), b.clone())),
        (Side::Right, Side::Left) => Some((b.clone(), a.clone())),
        _ => None,
    }
}

fn first_side(condition: &Rex, width: usize) -> Side {
    match &condition.kind {
        RexKind::Call(_, args) => args.first().map_or(Side::None, |a| side(a, width)),
        _ => Side::None,
    }
}

fn one_type(a: Rex, b: Rex) -> (Rex, Rex) {
    if a.ty.clone().materialized().same_kind(&b.ty.clone().materialized()) {
        return (a, b);
    }
    match least_restrictive(&a.ty, &b.ty) {
        Some(common) => {
            let cast = |e: Rex| {
                let ty = common.clone().with_nullable(e.ty.nullable);
                make::cast_kind(e, &ty)
            };
            (cast(a), cast(b))
        }
        None => (a, b),
    }
}

/// `a = b OR a IS NULL AND b IS NULL` is one comparison in which NULL equals NULL.
fn null_safe_equality(condition: Rex) -> Rex {
    let collapsed = null_safe_operands(&condition).map(<[Rex]>::to_vec);
    match collapsed {
        Some(args) => {
            Rex::call(&op::IS_NOT_DISTINCT, args, TypeKind::Boolean.not_null()).with_origins(&condition.origins)
        }
        None => condition,
    }
}

/// `condition` with the right side's columns behind `added` more ones.
fn moved(condition: &Rex, width: usize, added: usize) -> Rex {
    condition.map_inputs(&mut |i, used| {
        let i = if i < width { i } else { i + added };
        Rex::input(i, used.ty.clone()).with_origins(&used.origins)
    })
}

/// `rel` with more columns, named as Calcite's `RelBuilder` names them: a cast keeps the name of its column.
fn extended(rel: Rel, extra: Vec<Rex>) -> Rel {
    if extra.is_empty() {
        return rel;
    }
    let mut names: Vec<Arc<str>> = rel.columns.iter().map(|c| c.name.clone()).collect();
    for e in &extra {
        let name = cast_column(e).map_or_else(|| format!("$f{}", names.len()).into(), |i| rel.columns[i].name.clone());
        names.push(name);
    }
    let mut exprs = rel.all_columns();
    exprs.extend(extra);
    rel.project(exprs, unique_names(names), Origins::none())
}

fn cast_column(e: &Rex) -> Option<usize> {
    match &e.kind {
        RexKind::Cast { operand, .. } => operand.as_input().or_else(|| cast_column(operand)),
        _ => None,
    }
}
