//! INTERSECT ALL and EXCEPT ALL count how often each row is on both sides, and send it that often (Flink's `RewriteIntersectAllRule`
//! and `RewriteMinusAllRule`).

use std::sync::Arc;

use super::prune_empty::prune_empty;
use crate::catalog::functions::{self, FunctionDef, operators as op};
use crate::catalog::types::TypeKind;
use crate::logical::correlate::{Correlate, TableFunction};
use crate::logical::join::JoinType;
use crate::logical::rel::{AggArg, AggCall, Aggregate, Rel, RelColumn, RelOp, SetKind, Split, WrittenCall};
use crate::logical::rex::{Origins, Rex, Value};

/// Writes out every one of the tree.
pub fn replicate_rows(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let mut inputs: Vec<Rel> = inputs.into_iter().map(replicate_rows).collect();
    match op {
        RelOp::Set(set) => written_out(set.kind, inputs, columns, origins),
        RelOp::Project(exprs) => {
            inputs.remove(0).project(exprs, columns.into_iter().map(|c| c.name).collect(), origins)
        }
        op => Rel { op, inputs, columns, origins },
    }
}

fn written_out(set: SetKind, inputs: Vec<Rel>, columns: Vec<RelColumn>, origins: Origins) -> Rel {
    let width = columns.len();
    let marked: Vec<Rel> = inputs.into_iter().enumerate().map(|(side, i)| marked(set, side, i)).collect();
    let mut all = columns.clone();
    all.extend(marked[0].columns[width..].iter().cloned());
    let union = Rel { op: RelOp::Union, inputs: marked, columns: all, origins: origins.clone() };
    let counted = counted(set, prune_empty(union), width, &origins);
    let at = |i: usize| counted.column(width + i);
    // How often a row is sent, and which rows are sent at all.
    let (times, name, kept): (Rex, &str, Vec<Rex>) = match set {
        SetKind::Intersect => {
            let (left, right) = (at(0), at(1));
            let more = compare(&op::GREATER, left.clone(), right.clone());
            let least = least(more, right.clone(), left.clone());
            let once = |count| compare(&op::GREATER_OR_EQUAL, count, int(1));
            (least, "$f0", vec![once(left), once(right)])
        }
        SetKind::Except => {
            let more = at(0);
            (more.clone(), "sum_vcol_marker", vec![compare(&op::GREATER, more, int(0))])
        }
    };
    let mut exprs = vec![times];
    exprs.extend((0..width).map(|i| counted.column(i)));
    let mut names: Vec<Arc<str>> = vec![name.into()];
    names.extend(columns.iter().map(|c| c.name.clone()));
    let kept = counted.filter(kept, Origins::none()).project(exprs, names, Origins::none());
    let call = Correlate {
        function: TableFunction::ReplicateRows,
        args: kept.all_columns(),
        columns: columns.clone(),
        join_type: JoinType::Inner,
        conditions: Vec::new(),
        variable: 0,
        input_names: Vec::new(),
        reads_not_null: false,
        call_origins: origins.clone(),
    };
    let rows = Rel::correlate(kept, call, origins);
    let exprs = (0..width).map(|i| rows.column(1 + width + i)).collect();
    rows.project(exprs, columns.into_iter().map(|c| c.name).collect(), Origins::none())
}

/// The rows of one side with what counts them.
fn marked(set: SetKind, side: usize, input: Rel) -> Rel {
    let boolean = TypeKind::Boolean.nullable();
    let here = || Rex { ty: boolean.clone(), ..Rex::boolean(true) };
    let (markers, names): (Vec<Rex>, &[&str]) = match (set, side) {
        (SetKind::Intersect, 0) => {
            (vec![here(), Rex::null(boolean.clone())], &["vcol_left_marker", "vcol_right_marker"])
        }
        (SetKind::Intersect, _) => {
            (vec![Rex::null(boolean.clone()), here()], &["vcol_left_marker", "vcol_right_marker"])
        }
        (SetKind::Except, _) => {
            let one = if side == 0 { 1 } else { -1 };
            (vec![Rex::literal(Value::Int(one), TypeKind::BigInt.not_null())], &["vcol_marker"])
        }
    };
    let mut exprs = input.all_columns();
    exprs.extend(markers);
    let columns = input.columns.iter().map(|c| c.name.clone());
    let names = columns.chain(names.iter().map(|n| Arc::from(*n))).collect();
    input.project(exprs, names, Origins::none())
}

/// How often each row is there.
fn counted(set: SetKind, union: Rel, width: usize, origins: &Origins) -> Rel {
    let calls: &[(&str, &str)] = match set {
        SetKind::Intersect => &[("COUNT", "vcol_left_cnt"), ("COUNT", "vcol_right_cnt")],
        SetKind::Except => &[("SUM", "sum_vcol_marker")],
    };
    let calls: Vec<AggCall> = calls
        .iter()
        .enumerate()
        .map(|(i, (function, name))| AggCall {
            function: (*function).into(),
            args: vec![AggArg::Column(width + i)],
            distinct: false,
            filter: None,
            monotonic: false,
            ty: TypeKind::BigInt.not_null(),
            name: (*name).into(),
            origins: origins.clone(),
        })
        .collect();
    let keys = union.columns[..width].iter();
    let mut columns: Vec<RelColumn> =
        keys.map(|c| RelColumn::new(c.name.clone(), c.ty.clone().materialized())).collect();
    columns.extend(calls.iter().map(|c| RelColumn::new(c.name.clone(), c.ty.clone())));
    let written = calls.iter().enumerate().map(|(i, c)| WrittenCall { call: c.clone(), planned: vec![i] }).collect();
    let aggregate = Aggregate {
        keys: (0..width).collect(),
        key_origins: vec![origins.clone(); width],
        calls,
        written,
        distinct: true,
        grouping_sets: None,
        ttl: None,
        split: Split::None,
    };
    Rel { op: RelOp::Aggregate(aggregate), inputs: vec![union], columns, origins: origins.clone() }
}

/// `IF(more, a, b)`.
fn least(more: Rex, a: Rex, b: Rex) -> Rex {
    let ty = TypeKind::BigInt.not_null();
    match functions::lookup("IF") {
        Some(def) => Rex::call(def, vec![more, a, b], ty),
        None => Rex::call(&op::CASE, vec![more, a, b], ty),
    }
}

fn compare(def: &'static FunctionDef, a: Rex, b: Rex) -> Rex {
    Rex::call(def, vec![a, b], TypeKind::Boolean.not_null())
}

fn int(n: i64) -> Rex {
    Rex::literal(Value::Int(n), TypeKind::Int.not_null())
}
