//! Casts to BOOLEAN and to numbers.

use std::sync::Arc;

use super::{Caster, parse};
use crate::catalog::types::{DataType, IntervalUnits, TypeKind};
use crate::eval::{Datum, Decimal, EvalError};

/// `value` cut to the width of an integer type, as Java cuts it.
pub(in crate::eval) fn wrap(value: i64, kind: &TypeKind) -> i64 {
    match kind {
        TypeKind::TinyInt => i64::from(value as i8),
        TypeKind::SmallInt => i64::from(value as i16),
        TypeKind::Int => i64::from(value as i32),
        _ => value,
    }
}

/// A number as a DOUBLE.
pub(in crate::eval) fn to_f64(value: &Datum) -> Option<f64> {
    match value {
        Datum::Int(n) => Some(*n as f64),
        Datum::Decimal { .. } => value.as_decimal().map(Decimal::to_f64),
        other => other.as_double(),
    }
}

/// A number as a FLOAT.
pub(in crate::eval) fn to_f32(value: &Datum) -> Option<f32> {
    match value {
        Datum::Int(n) => Some(*n as f32),
        Datum::Float(f) => Some(*f),
        other => to_f64(other).map(|d| d as f32),
    }
}

/// Milliseconds or months of one, for intervals of a single unit.
pub(super) fn unit_size(units: IntervalUnits) -> Option<i64> {
    Some(match units {
        IntervalUnits::Year => 12,
        IntervalUnits::Month => 1,
        IntervalUnits::Day => 86_400_000,
        IntervalUnits::Hour => 3_600_000,
        IntervalUnits::Minute => 60_000,
        IntervalUnits::Second => 1_000,
        _ => return None,
    })
}

/// An interval of a single unit as a number of these, cut toward zero.
fn units_of(from: &TypeKind) -> Option<i64> {
    match from {
        TypeKind::IntervalYearMonth(units) | TypeKind::IntervalDayTime(units) => unit_size(*units),
        _ => None,
    }
}

pub(super) fn to_boolean(from: &DataType) -> Option<Caster> {
    if from.is_character() {
        return Some(Arc::new(|v| match v {
            Datum::String(s) => parse::boolean(s).map(Datum::Boolean),
            _ => Ok(Datum::Null),
        }));
    }
    from.is_numeric().then(|| -> Caster {
        Arc::new(|v| {
            Ok(match v {
                Datum::Int(n) => Datum::Boolean(*n != 0),
                Datum::Float(f) => Datum::Boolean(*f != 0.0),
                Datum::Double(d) => Datum::Boolean(*d != 0.0),
                Datum::Decimal { high, low, .. } => Datum::Boolean(*high != 0 || *low != 0),
                _ => Datum::Null,
            })
        })
    })
}

pub(super) fn to_integer(from: &DataType, to: &TypeKind) -> Option<Caster> {
    let kind = to.clone();
    if from.is_character() {
        return Some(Arc::new(move |v| match v {
            Datum::String(s) => parse::integer(s, &kind).map(Datum::Int),
            _ => Ok(Datum::Null),
        }));
    }
    if from.is_interval() {
        let size = units_of(&from.kind)?;
        return Some(Arc::new(move |v| {
            Ok(match v {
                Datum::Months(n) | Datum::Millis(n) => Datum::Int(wrap(n / size, &kind)),
                _ => Datum::Null,
            })
        }));
    }
    (from.is_numeric() || from.kind == TypeKind::Boolean).then(|| -> Caster {
        Arc::new(move |v| {
            Ok(match v {
                Datum::Int(n) => Datum::Int(wrap(*n, &kind)),
                Datum::Boolean(b) => Datum::Int(i64::from(*b)),
                Datum::Float(f) => Datum::Int(narrow(f64::from(*f), &kind)),
                Datum::Double(d) => Datum::Int(narrow(*d, &kind)),
                Datum::Decimal { .. } => {
                    v.as_decimal().map_or(Datum::Null, |d| Datum::Int(wrap(d.to_integer() as i64, &kind)))
                }
                _ => Datum::Null,
            })
        })
    })
}

/// Java's narrowing: to INT and BIGINT it saturates and NaN is 0; the smaller types are cut from an INT.
fn narrow(value: f64, kind: &TypeKind) -> i64 {
    match kind {
        TypeKind::BigInt => value as i64,
        _ => wrap(i64::from(value as i32), kind),
    }
}

pub(super) fn to_float(from: &DataType, double: bool) -> Option<Caster> {
    if from.is_character() {
        return Some(Arc::new(move |v| match v {
            Datum::String(s) if double => parse::floating(s).map(Datum::Double),
            Datum::String(s) => parse::floating_f32(s).map(Datum::Float),
            _ => Ok(Datum::Null),
        }));
    }
    (from.is_numeric() || from.kind == TypeKind::Boolean).then(|| -> Caster {
        Arc::new(move |v| {
            let one = |b: bool| if b { 1.0 } else { 0.0 };
            Ok(match v {
                Datum::Null => Datum::Null,
                Datum::Boolean(b) if double => Datum::Double(one(*b)),
                Datum::Boolean(b) => Datum::Float(one(*b) as f32),
                other if double => to_f64(other).map_or(Datum::Null, Datum::Double),
                other => to_f32(other).map_or(Datum::Null, Datum::Float),
            })
        })
    })
}

pub(super) fn to_decimal(from: &DataType, precision: u8, scale: u8) -> Option<Caster> {
    let fit = move |d: Decimal| d.fit(precision, scale).map_or(Datum::Null, Datum::from);
    if from.is_character() {
        return Some(Arc::new(move |v| match v {
            Datum::String(s) => parse::decimal(s, precision, scale).map(Datum::from),
            _ => Ok(Datum::Null),
        }));
    }
    let size = units_of(&from.kind).unwrap_or(1);
    if !from.is_numeric() && !from.is_interval() && from.kind != TypeKind::Boolean {
        return None;
    }
    let whole = move |n: i64| fit(Decimal { unscaled: i128::from(n), scale: 0 });
    Some(Arc::new(move |v| {
        Ok(match v {
            Datum::Int(n) => whole(*n),
            Datum::Boolean(b) => whole(i64::from(*b)),
            Datum::Months(n) | Datum::Millis(n) => whole(n / size),
            Datum::Decimal { .. } => v.as_decimal().map_or(Datum::Null, fit),
            Datum::Float(_) | Datum::Double(_) => {
                let value = v.as_double().unwrap_or(f64::NAN);
                if !value.is_finite() {
                    let text = crate::eval::java_number::double_text(value);
                    let first = text.trim_start_matches('-').chars().next().unwrap_or('N');
                    return Err(EvalError::new(format!(
                        "Character {first} is neither a decimal digit number, decimal point, nor \"e\" notation exponential \
                         mark."
                    )));
                }
                Decimal::of_f64(value).map_or(Datum::Null, fit)
            }
            _ => Datum::Null,
        })
    }))
}
