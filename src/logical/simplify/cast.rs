//! Casts: those that change nothing go, those of constants are computed.

use super::compare::{as_f64, exact};
use crate::catalog::functions::operators as op;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::print::expression;
use crate::logical::rex::{Origins, Rex, RexKind, Value};
use crate::logical::translate::datetime::{self, DAY};

/// A cast of a simplified operand.
pub(super) fn simplify_cast(operand: Rex, ty: DataType, is_try: bool, origins: Origins) -> Rex {
    if operand.is_null_literal() {
        return Rex { origins, ..Rex::null(ty) };
    }
    if let Some(value) = operand.as_literal() {
        match cast_value(value, &operand.ty.kind, &ty.kind) {
            Cast::Value(Value::Null) => return Rex { origins, ..Rex::null(ty) },
            Cast::Value(value) => {
                let nullable = ty.nullable;
                let literal = Rex { origins: origins.clone(), ..Rex::literal(value, ty.clone().with_nullable(false)) };
                // A constant where NULL is possible keeps its cast, as Flink prints it.
                return if nullable { Rex { origins, ..Rex::cast(literal, ty) } } else { literal };
            }
            Cast::Fails if is_try => return Rex { origins, ..Rex::null(ty) },
            Cast::Fails | Cast::Unknown => {}
        }
    }
    if operand.ty.kind == ty.kind && !(operand.as_literal().is_some() && ty.nullable) {
        return operand;
    }
    if !is_try
        && let RexKind::Cast { operand: inner, is_try: false } = &operand.kind
        && inner.ty.kind == ty.kind
        && is_wider_integer(&operand.ty.kind, &inner.ty.kind)
    {
        return (**inner).clone();
    }
    if !is_try && ty.kind == TypeKind::Boolean && operand.ty.is_numeric() {
        let zero = Rex::literal(Value::Int(0), operand.ty.clone().with_nullable(false));
        return Rex { origins, ..Rex::call(&op::NOT_EQUALS, vec![operand, zero], ty) };
    }
    Rex { kind: RexKind::Cast { operand: Box::new(operand), is_try }, ty, origins }
}

/// `rex` as a value of the kind of `ty`: itself, if it is one.
pub(super) fn to_kind(rex: Rex, ty: &DataType) -> Rex {
    let text = rex.ty.is_character() && ty.is_character();
    if rex.ty.kind == ty.kind || ty.is_unknown() || text {
        return rex;
    }
    let ty = DataType { kind: ty.kind.clone(), nullable: rex.ty.nullable };
    let origins = rex.origins.clone();
    simplify_cast(rex, ty, false, origins)
}

fn integer_width(kind: &TypeKind) -> Option<u32> {
    Some(match kind {
        TypeKind::TinyInt => 8,
        TypeKind::SmallInt => 16,
        TypeKind::Int => 32,
        TypeKind::BigInt => 64,
        _ => return None,
    })
}

fn is_wider_integer(outer: &TypeKind, inner: &TypeKind) -> bool {
    integer_width(outer).zip(integer_width(inner)).is_some_and(|(a, b)| a >= b)
}

/// `value` cut to the width of an integer type, as Java cuts it.
pub(super) fn wrap(value: i64, kind: &TypeKind) -> i64 {
    match kind {
        TypeKind::TinyInt => i64::from(value as i8),
        TypeKind::SmallInt => i64::from(value as i16),
        TypeKind::Int => i64::from(value as i32),
        _ => value,
    }
}

/// What a constant cast gives.
enum Cast {
    Value(Value),
    /// It fails at run time.
    Fails,
    /// It is not computed here.
    Unknown,
}

fn cast_value(value: &Value, from: &TypeKind, to: &TypeKind) -> Cast {
    use TypeKind::*;
    let found = |v: Option<Value>| v.map_or(Cast::Fails, Cast::Value);
    if from == to {
        return Cast::Value(value.clone());
    }
    // The constant is kept as it was written; what a FLOAT makes of its digits shows at run time.
    if *from == Float {
        return Cast::Unknown;
    }
    match (value, to) {
        (Value::Int(_) | Value::Decimal { .. } | Value::Double(_), TinyInt | SmallInt | Int | BigInt) => {
            found(to_integer(value, to).map(Value::Int))
        }
        (Value::Int(_) | Value::Decimal { .. }, Float | Double) => Cast::Value(value.clone()),
        (Value::Double(_), Double) => Cast::Value(value.clone()),
        (Value::Int(_) | Value::Decimal { .. }, Decimal(p, s)) => Cast::Value(to_decimal(value, *p, *s, false)),
        (Value::Int(n), Boolean) => Cast::Value(Value::Boolean(*n != 0)),
        (Value::Decimal { unscaled, .. }, Boolean) => Cast::Value(Value::Boolean(*unscaled != 0)),
        (Value::Int(_) | Value::Decimal { .. }, Char(_) | VarChar(_)) => {
            let literal = Rex::literal(value.clone(), from.clone().not_null());
            Cast::Value(fit_text(&expression::<&str>(&literal, &[]).to_string(), to))
        }
        (Value::Boolean(b), Char(_) | VarChar(_)) => Cast::Value(fit_text(if *b { "TRUE" } else { "FALSE" }, to)),
        (Value::Boolean(b), TinyInt | SmallInt | Int | BigInt) => Cast::Value(Value::Int(i64::from(*b))),
        (Value::String(text), Char(_) | VarChar(_)) => Cast::Value(fit_text(text, to)),
        (Value::String(text), _) => from_text(text, to),
        (Value::Date(days), Timestamp(..)) => Cast::Value(Value::Timestamp(i64::from(*days) * DAY, 0)),
        (Value::Date(days), Char(_) | VarChar(_)) => {
            Cast::Value(fit_text(&datetime::DateText(i64::from(*days)).to_string(), to))
        }
        (Value::Timestamp(ms, _), Date) if matches!(from, Timestamp(..)) => {
            i32::try_from(ms / DAY).map_or(Cast::Fails, |days| Cast::Value(Value::Date(days)))
        }
        (Value::Timestamp(ms, ns), Timestamp(p, _)) if matches!(from, Timestamp(..)) => {
            let (ms, ns) = cut_fraction(*ms, *ns, *p);
            Cast::Value(Value::Timestamp(ms, ns))
        }
        (Value::Timestamp(ms, ns), TimestampLtz(p, _)) if matches!(from, TimestampLtz(..)) => {
            let (ms, ns) = cut_fraction(*ms, *ns, *p);
            Cast::Value(Value::Timestamp(ms, ns))
        }
        (Value::Bytes(bytes), VarBinary(n)) => Cast::Value(Value::Bytes(bytes[..bytes.len().min(*n as usize)].into())),
        (Value::Time(_), Time(_)) => Cast::Value(value.clone()),
        (Value::Millis(_), IntervalDayTime(_)) | (Value::Months(_), IntervalYearMonth(_)) => Cast::Value(value.clone()),
        _ => Cast::Unknown,
    }
}

/// Milliseconds and nanoseconds cut to `precision` digits.
fn cut_fraction(millis: i64, nanos: u32, precision: u8) -> (i64, u32) {
    if precision >= 3 {
        let unit = 10_u32.pow(u32::from(9 - precision.min(9)));
        (millis, if precision == 3 { 0 } else { nanos - nanos % unit })
    } else {
        let unit = 10_i64.pow(u32::from(3 - precision));
        (millis - millis.rem_euclid(unit), 0)
    }
}

/// Decimals are cut toward zero and wrap; doubles saturate.
fn to_integer(value: &Value, to: &TypeKind) -> Option<i64> {
    if let Value::Double(bits) = value {
        let value = f64::from_bits(*bits);
        return Some(match to {
            TypeKind::BigInt => value as i64,
            _ => wrap(i64::from(value as i32), to),
        });
    }
    let (unscaled, scale) = exact(value)?;
    let whole = unscaled / 10_i128.checked_pow(u32::from(scale))?;
    Some(wrap(whole as i64, to))
}

/// A DECIMAL with at most the digits of its type; NULL if they are too many. Digits of `value` stay as they are written,
/// unless `exact_scale` asks for all of the type's.
fn to_decimal(value: &Value, precision: u8, scale: u8, exact_scale: bool) -> Value {
    let Some((unscaled, own)) = exact(value) else { return Value::Null };
    let power = |n: u8| 10_i128.checked_pow(u32::from(n));
    let (unscaled, own) = if own > scale {
        let Some(unit) = power(own - scale) else { return Value::Null };
        let half = unit / 2;
        ((unscaled + unscaled.signum() * half) / unit, scale)
    } else if exact_scale {
        match power(scale - own).and_then(|p| unscaled.checked_mul(p)) {
            Some(unscaled) => (unscaled, scale),
            None => return Value::Null,
        }
    } else {
        (unscaled, own)
    };
    let digits = unscaled.unsigned_abs().checked_ilog10().map_or(0, |d| d + 1);
    if digits > u32::from(precision - (scale - own.min(scale))) {
        return Value::Null;
    }
    if own == 0 && matches!(value, Value::Int(_)) {
        return i64::try_from(unscaled).map_or(Value::Decimal { unscaled, scale: 0 }, Value::Int);
    }
    Value::Decimal { unscaled, scale: own }
}

/// Text cut to the length of its type; CHAR is padded.
fn fit_text(text: &str, to: &TypeKind) -> Value {
    let fitted: String = match to {
        TypeKind::Char(n) => {
            let mut cut: String = text.chars().take(*n as usize).collect();
            let missing = (*n as usize).saturating_sub(cut.chars().count());
            // A length that no one means to fill is left alone.
            if missing <= 10_000 {
                cut.extend(std::iter::repeat_n(' ', missing));
            }
            cut
        }
        TypeKind::VarChar(n) => text.chars().take(*n as usize).collect(),
        _ => text.to_owned(),
    };
    Value::String(fitted.into())
}

/// Flink's `BinaryStringDataUtil`: blanks around numbers are cut, a fraction of an integer is dropped.
fn from_text(text: &str, to: &TypeKind) -> Cast {
    use TypeKind::*;
    let trimmed = text.trim();
    let value = match to {
        TinyInt | SmallInt | Int | BigInt => match parse_integer(text.trim_matches(' '), to) {
            Some(n) => Some(Value::Int(n)),
            // `.5` is 0 and not computed here.
            None if text.contains('.') => return Cast::Unknown,
            None => None,
        },
        // Java's numbers have suffixes, and other names for what is no number.
        Double if trimmed.contains(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E')) => return Cast::Unknown,
        Double => match trimmed.parse::<f64>() {
            // What becomes of it is left to the run.
            Ok(v) if !v.is_finite() => return Cast::Unknown,
            v => v.ok().map(|v| Value::Double(v.to_bits())),
        },
        Decimal(p, s) => match parse_decimal(trimmed) {
            Some(value) => match to_decimal(&value, *p, *s, true) {
                Value::Null => None,
                value => Some(value),
            },
            None => return Cast::Unknown,
        },
        Boolean => match text.to_ascii_lowercase().as_str() {
            "t" | "true" | "y" | "yes" | "1" => Some(Value::Boolean(true)),
            "f" | "false" | "n" | "no" | "0" => Some(Value::Boolean(false)),
            _ => None,
        },
        Date => match datetime::parse_date(trimmed) {
            Some(days) => i32::try_from(days).ok().map(Value::Date),
            // Flink reads more forms than are computed here.
            None => return Cast::Unknown,
        },
        Time(_) => match datetime::parse_time(trimmed) {
            Some((millis, ..)) => Some(Value::Time((millis / 1_000 * 1_000) as i32)),
            None => return Cast::Unknown,
        },
        // A time without seconds, or blanks around it, is left to the run time, where it fails.
        Timestamp(..) if text != trimmed || text.matches(':').count() == 1 => return Cast::Unknown,
        Timestamp(p, _) => match datetime::parse_timestamp(trimmed) {
            Some((ms, ns, _)) => {
                let (ms, ns) = cut_fraction(ms, ns, *p);
                Some(Value::Timestamp(ms, ns))
            }
            None => return Cast::Unknown,
        },
        _ => return Cast::Unknown,
    };
    value.map_or(Cast::Fails, Cast::Value)
}

fn parse_integer(text: &str, to: &TypeKind) -> Option<i64> {
    let whole = match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|b| b.is_ascii_digit()) => whole,
        Some(_) => return None,
        None => text,
    };
    let value: i64 = whole.parse().ok()?;
    (wrap(value, to) == value).then_some(value)
}

fn parse_decimal(text: &str) -> Option<Value> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let scale = u8::try_from(fraction.len()).ok()?;
    format!("{whole}{fraction}").parse().ok().map(|unscaled| Value::Decimal { unscaled, scale })
}

/// The constant inside a cast that only makes it nullable, where that does not matter.
pub(super) fn bare_constant(rex: Rex) -> Rex {
    match rex.kind {
        RexKind::Cast { operand, is_try: false }
            if operand.as_literal().is_some() && operand.ty.kind == rex.ty.kind =>
        {
            *operand
        }
        _ => rex,
    }
}

/// A number as a double, for DOUBLE arithmetic.
pub(super) fn number(value: &Value) -> Option<f64> {
    as_f64(value)
}
