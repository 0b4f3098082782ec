//! INTERSECT and EXCEPT become the distinct rows of a semi or anti join (Calcite's `IntersectToSemiJoinRule` and
//! `MinusToAntiJoinRule` in Flink's form).

use crate::catalog::functions::operators as op;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::join::{Join, JoinType};
use crate::logical::rel::{Aggregate, Rel, RelOp, SetKind, SetOperation, Split, Times};
use crate::logical::rex::{Origins, Rex};

/// Writes out every one of the tree.
pub fn join_sets(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let inputs: Vec<Rel> = inputs.into_iter().map(join_sets).collect();
    match op {
        RelOp::Set(SetOperation { kind, times: Times::Once }) => {
            let Ok([left, right]) = <[Rel; 2]>::try_from(inputs) else { unreachable!("it has two inputs") };
            let width = left.columns.len();
            let conditions = (0..width).map(|i| {
                let b = Rex::input(width + i, right.columns[i].ty.clone());
                equal_or_both_null(left.column(i), b, &origins)
            });
            let join_type = match kind {
                SetKind::Intersect => JoinType::Semi,
                SetKind::Except => JoinType::Anti,
            };
            let join = Join::new(join_type, conditions.collect(), origins.clone());
            let joined = Rel::join(left, right, join, origins.clone());
            let distinct = RelOp::Aggregate(Aggregate {
                keys: (0..width).collect(),
                key_origins: vec![origins.clone(); width],
                calls: Vec::new(),
                written: Vec::new(),
                distinct: true,
                grouping_sets: None,
                ttl: None,
                split: Split::None,
            });
            Rel { op: distinct, columns: joined.columns.clone(), inputs: vec![joined], origins }
        }
        op => Rel { op, inputs, columns, origins },
    }
}

fn equal_or_both_null(a: Rex, b: Rex, at: &Origins) -> Rex {
    let (not_null, nullable) = (!a.ty.nullable && !b.ty.nullable, a.ty.nullable || b.ty.nullable);
    let boolean = |nullable| DataType { kind: TypeKind::Boolean, nullable };
    let is_null = |e: &Rex| Rex::call(&op::IS_NULL, vec![e.clone()], boolean(false)).or_at(at);
    let nulls = vec![is_null(&a), is_null(&b)];
    let equal = Rex::call(&op::EQUALS, vec![a, b], boolean(nullable)).or_at(at);
    if not_null {
        return equal;
    }
    let both = Rex::call(&op::AND, nulls, boolean(false)).or_at(at);
    Rex::call(&op::OR, vec![equal, both], boolean(nullable)).or_at(at)
}
