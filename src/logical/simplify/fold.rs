//! Functions of constants, and arithmetic that changes nothing.

use super::cast;
use super::compare::exact;
use crate::catalog::functions::FunctionDef;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::rex::{Function, Rex, RexKind, Value};
use crate::logical::translate::datetime::{DAY, add_months, parse_date, parse_timestamp};

/// A call of simplified arguments.
pub(super) fn call(def: &'static FunctionDef, args: Vec<Rex>, ty: DataType) -> Rex {
    let arithmetic = matches!(def.name, "+" | "-" | "*" | "/" | "MOD");
    if arithmetic && args.iter().any(Rex::is_null_literal) {
        return Rex::null(ty);
    }
    if let Some(value) = fold(def.name, &args, &ty) {
        let nullable = ty.nullable;
        let literal = Rex::literal(value, ty.clone().with_nullable(false));
        return if nullable { Rex::cast(literal, ty) } else { literal };
    }
    match (def.name, args.len()) {
        ("-", 1) => negation(def, args, ty),
        ("+" | "-" | "*" | "/", 2) => identity(def, args, ty),
        _ => Rex::call(def, args, ty),
    }
}

/// `-(-x)` is `x`.
fn negation(def: &'static FunctionDef, args: Vec<Rex>, ty: DataType) -> Rex {
    if let RexKind::Call(Function::Builtin(inner), operands) = &args[0].kind
        && inner.name == "-"
        && operands.len() == 1
    {
        return operands[0].clone();
    }
    Rex::call(def, args, ty)
}

/// `x + 0`, `0 + x`, `x - 0`, `x * 1`, `1 * x`, `x / 1` are `x`, cast to the type of the call.
fn identity(def: &'static FunctionDef, mut args: Vec<Rex>, ty: DataType) -> Rex {
    let is = |rex: &Rex, n: i128| {
        rex.ty.is_numeric()
            && rex.as_literal().and_then(exact).is_some_and(|(value, scale)| {
                10_i128.checked_pow(u32::from(scale)).and_then(|p| n.checked_mul(p)) == Some(value)
            })
    };
    let kept = match def.name {
        "+" if is(&args[1], 0) => Some(0),
        "+" if is(&args[0], 0) => Some(1),
        "-" if is(&args[1], 0) => Some(0),
        "*" if is(&args[1], 1) => Some(0),
        "*" if is(&args[0], 1) => Some(1),
        "/" if is(&args[1], 1) => Some(0),
        _ => None,
    };
    match kept {
        // Only numbers: `ts - INTERVAL '0' SECOND` stays.
        Some(i) if args[i].ty.is_numeric() => cast::to_kind(args.swap_remove(i), &ty),
        _ => Rex::call(def, args, ty),
    }
}

fn fold(name: &str, args: &[Rex], ty: &DataType) -> Option<Value> {
    // Constants of type FLOAT are kept as they were written, with digits that a FLOAT has not.
    if args.iter().any(|a| a.ty.kind == TypeKind::Float) {
        return None;
    }
    let values: Vec<&Value> = args.iter().map(Rex::as_literal).collect::<Option<_>>()?;
    match (name, values.as_slice()) {
        ("-", [a]) => negate(a, ty),
        ("+", [a, b]) => add(a, b, ty, 1),
        ("-", [a, b]) => add(a, b, ty, -1),
        ("*", [a, b]) => multiply(a, b, ty),
        ("/", [a, b]) => divide(a, b, ty),
        ("MOD", [a, b]) => modulo(a, b, ty),
        ("ABS", [Value::Int(n)]) => Some(Value::Int(cast::wrap(n.wrapping_abs(), &ty.kind))),
        ("ABS", [Value::Decimal { unscaled, scale }]) => {
            Some(Value::Decimal { unscaled: unscaled.checked_abs()?, scale: *scale })
        }
        ("||", [Value::String(a), Value::String(b)]) => Some(Value::String(format!("{a}{b}").into())),
        ("CONCAT", all) => all
            .iter()
            .map(|v| match v {
                Value::String(s) => Some(&**s),
                _ => None,
            })
            .collect::<Option<String>>()
            .map(|s| Value::String(s.into())),
        ("TO_TIMESTAMP_LTZ", [Value::Int(n), Value::Int(unit @ (0 | 3))]) => {
            let millis = if *unit == 0 { n.checked_mul(1_000)? } else { *n };
            Some(Value::Timestamp(millis, 0))
        }
        ("TO_TIMESTAMP", [Value::String(text)]) => parse_timestamp(text).map(|(ms, ..)| Value::Timestamp(ms, 0)),
        ("TO_DATE", [Value::String(text)]) => parse_date(text).and_then(|d| i32::try_from(d).ok()).map(Value::Date),
        ("UPPER", [Value::String(s)]) if s.is_ascii() => Some(Value::String(s.to_ascii_uppercase().into())),
        ("LOWER", [Value::String(s)]) if s.is_ascii() => Some(Value::String(s.to_ascii_lowercase().into())),
        ("CHAR_LENGTH", [Value::String(s)]) => i64::try_from(s.chars().count()).ok().map(Value::Int),
        _ => None,
    }
}

fn negate(a: &Value, ty: &DataType) -> Option<Value> {
    Some(match a {
        Value::Int(n) => Value::Int(cast::wrap(n.wrapping_neg(), &ty.kind)),
        Value::Decimal { unscaled, scale } => Value::Decimal { unscaled: unscaled.checked_neg()?, scale: *scale },
        Value::Double(bits) => double(-f64::from_bits(*bits), ty)?,
        Value::Millis(n) => Value::Millis(n.checked_neg()?),
        Value::Months(n) => Value::Months(n.checked_neg()?),
        _ => return None,
    })
}

/// A DOUBLE result; FLOAT is left to the runtime, whose rounding it shows.
fn double(value: f64, ty: &DataType) -> Option<Value> {
    (ty.kind == TypeKind::Double && value.is_finite()).then(|| Value::Double(value.to_bits()))
}

fn add(a: &Value, b: &Value, ty: &DataType, sign: i64) -> Option<Value> {
    match (a, b) {
        (Value::Millis(x), Value::Millis(y)) => Some(Value::Millis(x.checked_add(sign.checked_mul(*y)?)?)),
        (Value::Months(x), Value::Months(y)) => Some(Value::Months(x.checked_add(sign.checked_mul(*y)?)?)),
        // A DATE counts whole days: hours leave it unchanged.
        (Value::Date(d), Value::Millis(n)) => {
            i32::try_from(i64::from(*d) + sign.checked_mul(*n)? / DAY).ok().map(Value::Date)
        }
        (Value::Date(d), Value::Months(n)) => {
            small(*n).and_then(|n| i32::try_from(add_months(i64::from(*d), sign * n)).ok()).map(Value::Date)
        }
        (Value::Timestamp(ms, ns), Value::Millis(n)) => {
            Some(Value::Timestamp(ms.checked_add(sign.checked_mul(*n)?)?, *ns))
        }
        (Value::Timestamp(ms, ns), Value::Months(n)) => {
            let days = add_months(ms.div_euclid(DAY), sign * small(*n)?);
            Some(Value::Timestamp(days * DAY + ms.rem_euclid(DAY), *ns))
        }
        _ => numbers(
            a,
            b,
            ty,
            |x, y| x.wrapping_add(sign.wrapping_mul(y)),
            |x, y| x + sign as f64 * y,
            |x, y| {
                let scale = x.1.max(y.1);
                let x = raise(x, scale)?;
                let y = raise(y, scale)?;
                Some((x.checked_add(i128::from(sign).checked_mul(y)?)?, scale))
            },
        ),
    }
}

/// Months that a calendar can add.
fn small(months: i64) -> Option<i64> {
    (months.abs() < 1_000_000).then_some(months)
}

fn raise((value, scale): (i128, u8), to: u8) -> Option<i128> {
    value.checked_mul(10_i128.checked_pow(u32::from(to - scale))?)
}

fn multiply(a: &Value, b: &Value, ty: &DataType) -> Option<Value> {
    match (a, b) {
        (Value::Millis(x), Value::Int(n)) | (Value::Int(n), Value::Millis(x)) => x.checked_mul(*n).map(Value::Millis),
        (Value::Months(x), Value::Int(n)) | (Value::Int(n), Value::Months(x)) => x.checked_mul(*n).map(Value::Months),
        _ => numbers(a, b, ty, i64::wrapping_mul, |x, y| x * y, |x, y| Some((x.0.checked_mul(y.0)?, x.1 + y.1))),
    }
}

fn divide(a: &Value, b: &Value, ty: &DataType) -> Option<Value> {
    let zero = exact(b).is_some_and(|(n, _)| n == 0);
    if zero {
        return None;
    }
    let to = match ty.kind {
        TypeKind::Decimal(_, s) => s,
        _ => 0,
    };
    numbers(
        a,
        b,
        ty,
        i64::wrapping_div,
        |x, y| x / y,
        |x, y| {
            // x / y with `to` digits, half up.
            let shift = i32::from(to) + i32::from(y.1) - i32::from(x.1);
            let numerator = x.0.checked_mul(10_i128.checked_pow(u32::try_from(shift.max(0)).ok()?)?)?;
            let divisor = y.0.checked_mul(10_i128.checked_pow(u32::try_from((-shift).max(0)).ok()?)?)?;
            let quotient = numerator / divisor;
            let rest = numerator % divisor;
            let up = rest.unsigned_abs() * 2 >= divisor.unsigned_abs();
            let sign = if (numerator < 0) == (divisor < 0) { 1 } else { -1 };
            Some((quotient + if up { sign } else { 0 }, to))
        },
    )
}

fn modulo(a: &Value, b: &Value, ty: &DataType) -> Option<Value> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) => None,
        (Value::Int(x), Value::Int(y)) if ty.is_integer() => Some(Value::Int(cast::wrap(x.wrapping_rem(*y), &ty.kind))),
        _ => None,
    }
}

/// Number arithmetic in the type of the result. DECIMALs that do not fit are left alone.
fn numbers(
    a: &Value,
    b: &Value,
    ty: &DataType,
    integer: impl Fn(i64, i64) -> i64,
    floating: impl Fn(f64, f64) -> f64,
    decimal: impl Fn((i128, u8), (i128, u8)) -> Option<(i128, u8)>,
) -> Option<Value> {
    match &ty.kind {
        kind @ (TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Int | TypeKind::BigInt) => match (a, b) {
            (Value::Int(x), Value::Int(y)) => Some(Value::Int(cast::wrap(integer(*x, *y), kind))),
            _ => None,
        },
        TypeKind::Double => double(floating(cast::number(a)?, cast::number(b)?), ty),
        TypeKind::Decimal(precision, scale) => {
            let (unscaled, own) = decimal(exact(a)?, exact(b)?)?;
            let fits = unscaled.unsigned_abs().checked_ilog10().is_none_or(|d| d < u32::from(*precision));
            (own <= *scale && fits).then_some(Value::Decimal { unscaled, scale: own })
        }
        _ => None,
    }
}
