//! Arithmetic of dates, times and intervals (`ScalarOperatorGens.generateTemporalPlusMinus`).

use super::Call;
use crate::catalog::types::TypeKind;
use crate::eval::calendar::{add_months, add_months_to_millis, months_between, months_between_millis};
use crate::eval::{Datum, EvalError, Evaluator, cast};
use crate::logical::translate::datetime::DAY;

pub(super) fn compile(call: &Call<'_>, args: Vec<Evaluator>) -> Option<Evaluator> {
    let [a, b]: [Evaluator; 2] = args.try_into().ok()?;
    let (left, right) = (&call.args[0].ty, &call.args[1].ty);
    match call.name {
        "*" => Some(a.zip(b, |x, y| Ok(scaled(x, y).or_else(|| scaled(y, x)).unwrap_or_default()))),
        "/INT" | "/" if left.is_interval() => Some(a.zip(b, |x, y| match (x, y) {
            (Datum::Months(_) | Datum::Millis(_), Datum::Int(0)) => Err(EvalError::new("/ by zero")),
            (Datum::Months(n), Datum::Int(m)) => Ok(Datum::Months(n.wrapping_div(*m))),
            (Datum::Millis(n), Datum::Int(m)) => Ok(Datum::Millis(n.wrapping_div(*m))),
            _ => Ok(Datum::Null),
        })),
        "-" if left.is_datetime() && right.is_datetime() => difference(call, a, b),
        "+" | "-" => {
            let sign = if call.name == "+" { 1 } else { -1 };
            // The fraction that the type of the result has no place for is lost.
            let precision = match call.result.kind {
                TypeKind::Timestamp(p, _) | TypeKind::TimestampLtz(p, _) => p,
                _ => 9,
            };
            let (a, b) = if left.is_interval() && right.is_datetime() { (b, a) } else { (a, b) };
            Some(a.zip(b, move |x, y| Ok(moved(x, y, sign, precision))))
        }
        _ => None,
    }
}

/// An interval times a number.
fn scaled(interval: &Datum, factor: &Datum) -> Option<Datum> {
    let times = |n: i64| match factor {
        Datum::Int(m) => Some(n.wrapping_mul(*m)),
        Datum::Null => None,
        other => cast::to_f64(other).map(|f| (n as f64 * f) as i64),
    };
    match interval {
        Datum::Months(n) => times(*n).map(|n| Datum::Months(i64::from(n as i32))),
        Datum::Millis(n) => times(*n).map(Datum::Millis),
        _ => None,
    }
}

/// A point in time, or an interval, and an interval.
fn moved(point: &Datum, by: &Datum, sign: i64, precision: u8) -> Datum {
    match (point, by) {
        // A DATE counts whole days: hours leave it unchanged.
        (Datum::Date(d), Datum::Millis(n)) => Datum::Date(d.wrapping_add((sign * (n / DAY)) as i32)),
        (Datum::Date(d), Datum::Months(n)) => Datum::Date(add_months(i64::from(*d), sign.wrapping_mul(*n)) as i32),
        (Datum::Time(t), Datum::Millis(n)) => Datum::Time(((i64::from(*t) + DAY + sign * (n % DAY)) % DAY) as i32),
        (Datum::Time(t), Datum::Months(_)) => Datum::Time(*t),
        (Datum::Timestamp { millis, nanos }, Datum::Millis(n)) => {
            cast::cut(millis.wrapping_add(sign.wrapping_mul(*n)), *nanos, precision)
        }
        (Datum::Timestamp { millis, nanos }, Datum::Months(n)) => {
            Datum::Timestamp { millis: add_months_to_millis(*millis, sign.wrapping_mul(*n)), nanos: *nanos }
        }
        (Datum::Millis(a), Datum::Millis(b)) => Datum::Millis(a.wrapping_add(sign.wrapping_mul(*b))),
        (Datum::Months(a), Datum::Months(b)) => Datum::Months(a.wrapping_add(sign.wrapping_mul(*b))),
        _ => Datum::Null,
    }
}

/// The interval between two points in time: what TIMESTAMPDIFF counts.
fn difference(call: &Call<'_>, a: Evaluator, b: Evaluator) -> Option<Evaluator> {
    let time = |i: usize| matches!(call.args[i].ty.kind, TypeKind::Time(_));
    let ltz = |i: usize| matches!(call.args[i].ty.kind, TypeKind::TimestampLtz(..));
    if ltz(0) != ltz(1) {
        return Some(Evaluator::failing("TIMESTAMP_LTZ only supports diff between the same type."));
    }
    let millis = |v: &Datum| match v {
        Datum::Date(d) => Some(i64::from(*d) * DAY),
        Datum::Timestamp { millis, .. } => Some(*millis),
        _ => None,
    };
    let days = |v: &Datum| match v {
        // Months between times are counted as if they were days.
        Datum::Date(d) | Datum::Time(d) => Some(i64::from(*d)),
        _ => None,
    };
    Some(match call.result.kind {
        TypeKind::IntervalYearMonth(_) => a.zip(b, move |x, y| {
            Ok(match (x, y) {
                (Datum::Null, _) | (_, Datum::Null) => Datum::Null,
                _ => match (days(x), days(y)) {
                    (Some(x), Some(y)) => Datum::Months(months_between(x, y)),
                    _ => match (millis(x), millis(y)) {
                        (Some(x), Some(y)) => Datum::Months(months_between_millis(x, y)),
                        _ => Datum::Null,
                    },
                },
            })
        }),
        _ if time(0) || time(1) => Evaluator::failing("the difference of two TIME values cannot be computed"),
        _ => a.zip(b, move |x, y| {
            Ok(match (millis(x), millis(y)) {
                (Some(x), Some(y)) => Datum::Millis(x.wrapping_sub(y)),
                _ => Datum::Null,
            })
        }),
    })
}
