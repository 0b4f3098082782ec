//! What is known of the rows of an operator (Calcite's `RelMdPredicates`), and which conditions no row of NULLs fulfils
//! (Calcite's `Strong`).

use crate::logical::join::shifted;
use crate::logical::rel::{Rel, RelOp};
use crate::logical::rex::{Function, Rex, RexKind, Value};

/// Conditions that hold for every row of `rel`. Nothing is known above a watermark assigner, a window or a rank.
pub fn predicates(rel: &Rel) -> Vec<Rex> {
    match &rel.op {
        RelOp::Filter(conditions) => {
            let mut all: Vec<Rex> = conditions.iter().filter(|c| c.is_deterministic()).cloned().collect();
            for c in predicates(rel.input()) {
                if !all.contains(&c) {
                    all.push(c);
                }
            }
            all
        }
        RelOp::Project(exprs) => {
            let place = |i: usize| exprs.iter().position(|e| e.as_input() == Some(i));
            moved(&predicates(rel.input()), &place)
        }
        RelOp::Aggregate(aggregate) if aggregate.grouping_sets.is_none() => {
            let place = |i: usize| aggregate.keys.iter().position(|k| *k == i);
            moved(&predicates(rel.input()), &place)
        }
        RelOp::Sort(_) => predicates(rel.input()),
        RelOp::Union => {
            let mut inputs = rel.inputs.iter();
            let mut all = inputs.next().map(predicates).unwrap_or_default();
            for input in inputs {
                let other = predicates(input);
                all.retain(|c| other.contains(c));
            }
            all
        }
        RelOp::Join(join) => {
            let width = isize::try_from(rel.inputs[0].columns.len()).unwrap_or(isize::MAX);
            let mut all = Vec::new();
            if !join.join_type.pads_left() {
                all.extend(predicates(&rel.inputs[0]));
            }
            if !join.join_type.pads_right() {
                all.extend(predicates(&rel.inputs[1]).iter().map(|c| shifted(c, width)));
            }
            if !join.join_type.pads_left() && !join.join_type.pads_right() {
                all.extend(join.conditions.iter().filter(|c| c.is_deterministic()).cloned());
            }
            all
        }
        _ => Vec::new(),
    }
}

/// The conditions all of whose columns have a place.
fn moved(conditions: &[Rex], place: &dyn Fn(usize) -> Option<usize>) -> Vec<Rex> {
    let mut out = Vec::new();
    for c in conditions {
        let mut all = true;
        c.visit(&mut |r| all &= r.as_input().is_none_or(|i| place(i).is_some()));
        if all {
            out.push(c.map_inputs(&mut |i, used| {
                let ty = used.ty.clone();
                place(i).map_or_else(|| used.clone(), |k| Rex::input(k, ty).with_origins(&used.origins))
            }));
        }
    }
    out
}

/// True if the condition is certainly not TRUE where all columns of `padded` are NULL.
pub fn rejects_nulls(condition: &Rex, padded: &dyn Fn(usize) -> bool) -> bool {
    match &condition.kind {
        RexKind::Literal(value) => matches!(value, Value::Null | Value::Boolean(false)),
        RexKind::Call(Function::Builtin(def), args) => match def.name {
            "AND" => args.iter().any(|a| rejects_nulls(a, padded)),
            "OR" => args.iter().all(|a| rejects_nulls(a, padded)),
            "IS NOT NULL" => is_null(&args[0], padded),
            "IS TRUE" => rejects_nulls(&args[0], padded),
            _ => is_null(condition, padded),
        },
        _ => is_null(condition, padded),
    }
}

/// True if the value is certainly NULL where all columns of `padded` are.
fn is_null(rex: &Rex, padded: &dyn Fn(usize) -> bool) -> bool {
    match &rex.kind {
        RexKind::Input(i) => padded(*i),
        RexKind::Literal(value) => *value == Value::Null,
        RexKind::Cast { operand, .. } => is_null(operand, padded),
        RexKind::Call(Function::Builtin(def), args) => match def.name {
            "=" | "<>" | "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/" | "LIKE" | "NOT" | "MOD" => {
                args.iter().any(|a| is_null(a, padded))
            }
            "SEARCH" => {
                let decides = matches!(args[1].as_literal(), Some(Value::Sarg(set)) if set.null_as.is_some());
                !decides && is_null(&args[0], padded)
            }
            _ => false,
        },
        _ => false,
    }
}
