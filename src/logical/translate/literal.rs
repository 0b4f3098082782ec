//! Literals: their values and their types.

use super::datetime;
use super::interval;
use crate::catalog::types::{TimeAttribute, TypeKind};
use crate::logical::rex::{Rex, Value};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::Literal;

pub(super) fn literal(literal: &Literal, span: Span) -> PlanResult<Rex> {
    let (value, kind) = match literal {
        Literal::Null => return Ok(Rex::literal(Value::Null, TypeKind::Null.nullable())),
        Literal::Boolean(b) => (Value::Boolean(*b), TypeKind::Boolean),
        Literal::Number(text) => number(text).ok_or_else(|| {
            PlanError::rejected(span, format!("Numeric literal '{text}' out of range"))
                .label(if text.contains(['e', 'E']) { "larger than any DOUBLE" } else { "more digits than fit" })
                .help(if text.contains(['e', 'E']) {
                    "a DOUBLE goes up to about 1.8E308"
                } else {
                    "write it as text and cast it: CAST('...' AS DECIMAL(38, 0))"
                })
        })?,
        Literal::String(text) => (Value::String(text.as_str().into()), TypeKind::Char(length(text))),
        Literal::Binary(hex) => binary(hex, span)?,
        Literal::Date(text) => match datetime::parse_date(text) {
            Some(days) => (Value::Date(days as i32), TypeKind::Date),
            None => return Err(illegal("DATE", text, "yyyy-MM-dd", span)),
        },
        Literal::Time(text) => match datetime::parse_time(text) {
            Some((millis, _, digits)) => (Value::Time(millis as i32), TypeKind::Time(digits)),
            None => return Err(illegal("TIME", text, "HH:mm:ss", span)),
        },
        Literal::Timestamp(text) => match datetime::parse_timestamp(text) {
            Some((millis, nanos, digits)) => {
                (Value::Timestamp(millis, nanos), TypeKind::Timestamp(digits, TimeAttribute::None))
            }
            None => return Err(illegal("TIMESTAMP", text, "yyyy-MM-dd HH:mm:ss", span)),
        },
        Literal::Interval(literal) => {
            let (value, units) = interval::parse_interval(literal, span)?;
            (value, units.interval())
        }
        Literal::Symbol(word) => (Value::Symbol(word.as_str().into()), TypeKind::Other("SYMBOL".into())),
    };
    Ok(Rex::literal(value, kind.not_null()))
}

/// The most digits of the first field of a day-time interval in an expression (Flink's `FlinkTypeFactory`).
const MAX_DAY_TIME_PRECISION: u32 = 3;

/// Refuses the intervals that Flink has no type for.
pub(super) fn check_precision(literal: &Literal, span: Span) -> PlanResult<()> {
    let Literal::Interval(interval) = literal else { return Ok(()) };
    let units = interval.to.as_deref().unwrap_or(&interval.unit).trim_end_matches('S');
    let digits = interval.precision.unwrap_or(0);
    if matches!(units, "YEAR" | "MONTH") || !(MAX_DAY_TIME_PRECISION + 1..=interval::MAX_PRECISION).contains(&digits) {
        return Ok(());
    }
    let message = format!("DAY_INTERVAL_TYPES precision is not supported: {digits}");
    Err(PlanError::rejected(span, message)
        .label(format!("{digits} digits, of at most {MAX_DAY_TIME_PRECISION}"))
        .help("write the interval in a larger unit")
        .into())
}

/// Characters as Java counts them; an empty text still has a type of length 0.
fn length(text: &str) -> u32 {
    text.encode_utf16().count() as u32
}

fn illegal(what: &str, text: &str, format: &str, span: Span) -> Box<PlanError> {
    PlanError::rejected(span, format!("Illegal {what} literal '{text}': not in format '{format}'"))
        .label(format!("not a {what}"))
        .help(format!("write it as {format}"))
        .into()
}

/// INT, or BIGINT if it does not fit; DECIMAL with a point; DOUBLE with an exponent. A DECIMAL whose digits exceed a BIGINT
/// is refused, as Flink refuses it.
fn number(text: &str) -> Option<(Value, TypeKind)> {
    if text.contains(['e', 'E']) {
        let value: f64 = text.parse().ok().filter(|v: &f64| v.is_finite())?;
        return Some((Value::Double(value.to_bits()), TypeKind::Double));
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let unscaled: i64 = format!("{whole}{fraction}").parse().ok()?;
    if !text.contains('.') {
        let kind = if i32::try_from(unscaled).is_ok() { TypeKind::Int } else { TypeKind::BigInt };
        return Some((Value::Int(unscaled), kind));
    }
    let scale = u8::try_from(fraction.len()).ok().filter(|s| *s <= 38)?;
    // `0.5` has two digits and `.5` one: the leading zero counts as written.
    let precision =
        (unscaled.unsigned_abs().checked_ilog10().map_or(1, |d| d + 1) as u8).max(scale + u8::from(!whole.is_empty()));
    Some((Value::Decimal { unscaled: i128::from(unscaled), scale }, TypeKind::Decimal(precision, scale)))
}

fn binary(hex: &str, span: Span) -> PlanResult<(Value, TypeKind)> {
    let refuse = |message: &str| -> Box<PlanError> {
        PlanError::rejected(span, message).label("not bytes").help("write two hex digits for each byte").into()
    };
    if !hex.len().is_multiple_of(2) {
        return Err(refuse("Binary literal string must contain an even number of hexits"));
    }
    let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    let bytes: Option<Vec<u8>> =
        hex.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect();
    let bytes =
        bytes.ok_or_else(|| refuse("Binary literal string must contain only characters '0' - '9', 'A' - 'F'"))?;
    let kind = TypeKind::Binary(bytes.len() as u32);
    Ok((Value::Bytes(bytes.into()), kind))
}
