//! Casts: which ones Flink allows, and those it writes by itself.

use crate::catalog::functions::sql_name;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::rex::{Origins, Rex, RexKind, Value};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;

/// `CAST(operand AS target)` as written. A cast is nullable if its operand is; TRY_CAST always.
pub(super) fn explicit(operand: Rex, target: DataType, is_try: bool, span: Span) -> PlanResult<Rex> {
    check_cast(&operand.ty, &target, span)?;
    let nullable = operand.ty.nullable || is_try;
    let target = target.with_nullable(nullable);
    if operand.is_null_literal() {
        return Ok(Rex::null(target).at(span));
    }
    let kind = RexKind::Cast { operand: Box::new(operand), is_try };
    Ok(Rex { kind, ty: target, origins: Origins::at(span) })
}

/// Refuses casts that Flink refuses (`LogicalTypeCasts` and the messages of `SqlCastFunction`).
pub fn check_cast(from: &DataType, to: &DataType, span: Span) -> PlanResult<()> {
    let numeric = |t: &DataType| t.is_numeric();
    let name = |t: &DataType| if matches!(t.kind, TypeKind::TimestampLtz(..)) { "TIMESTAMP_LTZ" } else { "TIMESTAMP" };
    let (message, help) = if from.is_timestamp() && numeric(to) {
        (
            format!("The cast from {} type to NUMERIC type is not allowed", name(from)),
            "use UNIX_TIMESTAMP(CAST(ts AS STRING))".to_owned(),
        )
    } else if numeric(from) && to.is_timestamp() {
        let help = if matches!(to.kind, TypeKind::TimestampLtz(..)) {
            "use TO_TIMESTAMP_LTZ(number, 3), or 0 for seconds"
        } else {
            "use TO_TIMESTAMP(FROM_UNIXTIME(seconds))"
        };
        (format!("The cast from NUMERIC type to {} type is not allowed", name(to)), help.to_owned())
    } else if allowed(&from.kind, &to.kind) {
        return Ok(());
    } else {
        (
            format!("Cast function cannot convert value of type {} to type {}", sql_name(from), sql_name(to)),
            "cast by way of STRING, if that is what you mean".to_owned(),
        )
    };
    Err(PlanError::rejected(span, message).label(format!("{} to {}", from.kind, to.kind)).help(help).into())
}

fn allowed(from: &TypeKind, to: &TypeKind) -> bool {
    use TypeKind::*;
    let integer = |k: &TypeKind| matches!(k, TinyInt | SmallInt | Int | BigInt);
    let number = |k: &TypeKind| integer(k) || matches!(k, Float | Double | Decimal(..));
    let text = |k: &TypeKind| matches!(k, Char(_) | VarChar(_));
    let bytes = |k: &TypeKind| matches!(k, Binary(_) | VarBinary(_));
    let interval = |k: &TypeKind| matches!(k, IntervalDayTime(_) | IntervalYearMonth(_));
    match (from, to) {
        (a, b) if a == b => true,
        (Null | Unknown | Other(_), _) | (_, Unknown | Other(_)) => true,
        (_, b) if text(b) => true,
        (a, b) if text(a) => !matches!(b, Array(_) | Map(..) | Row(_) | Multiset(_)) && !interval(b),
        (a, b) if bytes(a) => bytes(b),
        (Boolean, b) => number(b),
        (a, Boolean) => number(a),
        (a, b) if number(a) => number(b) || (integer(a) && interval(b)),
        (Date, b) => matches!(b, Date | Timestamp(..) | TimestampLtz(..)),
        (Time(_), b) => matches!(b, Time(_) | Timestamp(..) | TimestampLtz(..)),
        (Timestamp(..) | TimestampLtz(..), b) => matches!(b, Date | Time(_) | Timestamp(..) | TimestampLtz(..)),
        (IntervalYearMonth(_), b) => integer(b) || matches!(b, IntervalYearMonth(_)),
        (IntervalDayTime(_), b) => integer(b) || matches!(b, IntervalDayTime(_)),
        (Array(x), Array(y)) | (Multiset(x), Multiset(y)) => allowed(&x.kind, &y.kind),
        (Map(k1, v1), Map(k2, v2)) => allowed(&k1.kind, &k2.kind) && allowed(&v1.kind, &v2.kind),
        (Row(x), Row(y)) => x.len() == y.len() && x.iter().zip(y.iter()).all(|(a, b)| allowed(&a.ty.kind, &b.ty.kind)),
        _ => false,
    }
}

/// `rex` as a value of `kind`, its nullability kept: the cast that Flink adds where operands must agree. A NULL just takes
/// the type; the same kind needs no cast.
pub(super) fn implicit(rex: Rex, kind: &TypeKind) -> Rex {
    if rex.ty.kind == *kind || *kind == TypeKind::Unknown || rex.ty.is_unknown() {
        return rex;
    }
    let ty = DataType { kind: kind.clone(), nullable: rex.ty.nullable };
    if matches!(rex.kind, RexKind::Literal(Value::Null)) {
        return Rex { ty, ..rex };
    }
    Rex::cast(rex, ty)
}
