//! Expressions that the planner itself makes.

use super::rex::{Rex, Value};
use crate::catalog::functions::{self, operators as op};
use crate::catalog::types::{DataType, TimeAttribute, TypeKind};

/// `CAST(e AS ty)`.
pub fn cast(e: Rex, ty: DataType) -> Rex {
    let origins = e.origins.clone();
    Rex::cast(e, ty).or_at(&origins)
}

/// A cast to another kind of type; nullability and time attributes alone need none.
pub fn cast_kind(e: Rex, ty: &DataType) -> Rex {
    let same = e.ty.clone().materialized().kind == ty.clone().materialized().kind;
    if same || e.ty.is_unknown() || ty.is_unknown() { e } else { cast(e, ty.clone()) }
}

/// The cast that a sink's column asks for (Flink's `DynamicSinkUtils.validateSchemaAndApplyImplicitCast`).
pub fn cast_for_sink(e: Rex, ty: &DataType) -> Rex {
    let nullable = e.ty.nullable;
    cast_kind(e, &ty.clone().with_nullable(nullable))
}

/// The same values under another type, as a source's rowtime.
pub fn reinterpret(e: Rex, ty: DataType) -> Rex {
    let origins = e.origins.clone();
    Rex::call(&op::REINTERPRET, vec![e], ty).or_at(&origins)
}

/// A time attribute as an ordinary timestamp.
pub fn materialize(e: Rex) -> Rex {
    let (ty, origins) = (e.ty.clone().materialized(), e.origins.clone());
    match e.ty.time_attribute() {
        TimeAttribute::None => e,
        TimeAttribute::Rowtime => cast(e, ty),
        TimeAttribute::Proctime => Rex::call(&op::PROCTIME_MATERIALIZE, vec![e], ty).or_at(&origins),
    }
}

/// `e IS TRUE`.
pub fn is_true(e: Rex) -> Rex {
    let origins = e.origins.clone();
    Rex::call(&op::IS_TRUE, vec![e], TypeKind::Boolean.not_null()).or_at(&origins)
}

/// `CASE WHEN count > 0 THEN value ELSE NULL END`.
pub fn null_if_no_rows(count: Rex, value: Rex, ty: DataType) -> Rex {
    let ty = ty.with_nullable(true);
    let some = Rex::call(&op::GREATER, vec![count, int(0)], TypeKind::Boolean.not_null());
    Rex::call(&op::CASE, vec![some, value, Rex::null(ty.clone())], ty)
}

/// `sum / count` in the type of AVG.
pub fn average(sum: Rex, count: Rex, ty: &DataType) -> Rex {
    let sum = if matches!(ty.kind, TypeKind::Decimal(..)) { cast_kind(sum, ty) } else { sum };
    Rex::call(&op::DIVIDE, vec![sum, count], ty.clone())
}

/// `x * x`.
pub fn square(x: Rex) -> Rex {
    let ty = match x.ty.kind {
        TypeKind::Decimal(..) => DataType { kind: TypeKind::Decimal(38, 6), nullable: x.ty.nullable },
        _ => x.ty.clone(),
    };
    let (a, origins) = (cast_kind(x.clone(), &ty), x.origins.clone());
    Rex::call(&op::TIMES, vec![a.clone(), a], ty).or_at(&origins)
}

/// STDDEV and VAR from the sums of squares and of values, and their count (Calcite's `AggregateReduceFunctionsRule`).
pub fn variance(function: &str, squares: Rex, sum: Rex, count: Rex, ty: &DataType) -> Rex {
    let wide = squares.ty.clone();
    let sum = cast_kind(sum, &wide);
    let over_count = count.clone();
    from_sums(function, [squares, sum, count, over_count], &wide, ty)
}

/// The same for OVER, where sums come in the type of the result and the count is cast to it
/// (Calcite's `StandardConvertletTable.AvgVarianceConvertlet`).
pub fn variance_over(function: &str, squares: Rex, sum: Rex, count: Rex, ty: &DataType) -> Rex {
    let divisor = cast_kind(count.clone(), &ty.clone().with_nullable(false));
    from_sums(function, [squares, sum, count, divisor], ty, ty)
}

/// `divisor` is the count in the type in which is divided.
fn from_sums(function: &str, [squares, sum, count, divisor]: [Rex; 4], wide: &DataType, ty: &DataType) -> Rex {
    let squared = Rex::call(&op::TIMES, vec![sum.clone(), sum], wide.clone());
    let mean = Rex::call(&op::DIVIDE, vec![squared, divisor.clone()], wide.clone());
    let spread = Rex::call(&op::MINUS, vec![squares, mean], wide.clone());
    let divisor = if matches!(function, "STDDEV_POP" | "VAR_POP") {
        divisor
    } else {
        let one = Rex::call(&op::EQUALS, vec![count.clone(), int(1)], TypeKind::Boolean.not_null());
        let less = Rex::call(&op::MINUS, vec![count, int(1)], TypeKind::BigInt.not_null());
        let ty = TypeKind::BigInt.nullable();
        Rex::call(&op::CASE, vec![one, Rex::null(ty.clone()), less], ty)
    };
    // An integer divided by a count is a BIGINT.
    let quotient = if wide.is_integer() { divisor.ty.clone().with_nullable(wide.nullable) } else { wide.clone() };
    let value = cast_kind(Rex::call(&op::DIVIDE, vec![spread, divisor], quotient), wide);
    let value = match (function.starts_with("STDDEV"), functions::lookup("POWER")) {
        (true, Some(power)) => {
            let half = Rex::literal(Value::Decimal { unscaled: 5, scale: 1 }, TypeKind::Decimal(2, 1).not_null());
            Rex::call(power, vec![value, half], TypeKind::Double.nullable())
        }
        _ => value,
    };
    cast_kind(value, ty)
}

/// The type of SUM over values of `ty`: DECIMAL(38, s) for decimals, else the same (Flink's `FlinkTypeSystem.deriveSumType`).
pub fn sum_type(ty: &DataType) -> DataType {
    match ty.kind {
        TypeKind::Decimal(_, s) => DataType { kind: TypeKind::Decimal(38, s), nullable: ty.nullable },
        _ => ty.clone(),
    }
}

/// `CASE WHEN e = v1 THEN r1 WHEN ... ELSE last END`.
pub fn by_value(e: Rex, mut branches: Vec<(Rex, Rex)>) -> Rex {
    let Some((_, last)) = branches.pop() else { return e };
    if branches.iter().all(|(_, r)| *r == last) {
        return last;
    }
    let ty = last.ty.clone();
    let mut args = Vec::new();
    for (value, result) in branches {
        args.push(Rex::call(&op::EQUALS, vec![e.clone(), value], TypeKind::Boolean.not_null()));
        args.push(result);
    }
    args.push(last);
    Rex::call(&op::CASE, args, ty)
}

fn int(n: i64) -> Rex {
    Rex::literal(Value::Int(n), TypeKind::Int.not_null())
}

/// True for STDDEV and VAR, which are computed from sums and a count.
pub fn is_variance(function: &str) -> bool {
    matches!(function, "STDDEV" | "STDDEV_POP" | "STDDEV_SAMP" | "VAR_POP" | "VAR_SAMP" | "VARIANCE")
}
