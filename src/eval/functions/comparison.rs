//! Comparisons and SEARCH (`ScalarOperatorGens.generateComparison`, `SearchOperatorGen`).

use std::cmp::Ordering;

use super::Call;
use crate::catalog::types::{DataType, TypeKind};
use crate::catalog::value::{SargBound, Value};
use crate::eval::{Datum, Decimal, Evaluator, zone};

/// The order of two values that are not NULL, numbers of any kind among themselves; `None` if one of them is NaN, unless
/// a DECIMAL stands beside it (`DecimalDataUtils.compare` orders as `Double.compare` does).
pub(super) fn compare(a: &Datum, b: &Datum) -> Option<Ordering> {
    match (a, b) {
        (Datum::Float(x), Datum::Float(y)) => x.partial_cmp(y),
        (Datum::Float(_) | Datum::Double(_) | Datum::Int(_), Datum::Float(_) | Datum::Double(_))
        | (Datum::Float(_) | Datum::Double(_), Datum::Int(_)) => as_f64(a)?.partial_cmp(&as_f64(b)?),
        (Datum::Decimal { .. }, Datum::Float(_) | Datum::Double(_))
        | (Datum::Float(_) | Datum::Double(_), Datum::Decimal { .. }) => {
            Some(Datum::Double(as_f64(a)?).cmp(&Datum::Double(as_f64(b)?)))
        }
        (Datum::Decimal { .. }, Datum::Int(i)) => Some(a.as_decimal()?.compare(&whole(*i))),
        (Datum::Int(i), Datum::Decimal { .. }) => Some(whole(*i).compare(&b.as_decimal()?)),
        (Datum::Array(x), Datum::Array(y)) => equality(x.len() == y.len() && x.iter().zip(y.iter()).all(equal)),
        (Datum::Row(x), Datum::Row(y)) => equality(x.len() == y.len() && x.iter().zip(y.iter()).all(equal)),
        (Datum::Map(x), Datum::Map(y)) => {
            let found = |(k, v): &(Datum, Datum)| y.iter().any(|(l, w)| equal((k, l)) && equal((v, w)));
            equality(x.len() == y.len() && x.iter().all(found))
        }
        _ => Some(a.cmp(b)),
    }
}

/// Collections are equal or not; they have no order.
fn equality(equal: bool) -> Option<Ordering> {
    equal.then_some(Ordering::Equal)
}

/// Inside of collections NULL equals NULL.
fn equal((a, b): (&Datum, &Datum)) -> bool {
    match (a.is_null(), b.is_null()) {
        (true, true) => true,
        (false, false) => compare(a, b) == Some(Ordering::Equal),
        _ => false,
    }
}

fn whole(i: i64) -> Decimal {
    Decimal { unscaled: i128::from(i), scale: 0 }
}

fn as_f64(value: &Datum) -> Option<f64> {
    match value {
        Datum::Int(i) => Some(*i as f64),
        Datum::Decimal { .. } => Some(value.as_decimal()?.to_f64()),
        other => other.as_double(),
    }
}

pub(super) fn compile(call: &Call<'_>, args: Vec<Evaluator>) -> Option<Evaluator> {
    let [a, b]: [Evaluator; 2] = args.try_into().ok()?;
    let (left, right) = (&call.args[0].ty, &call.args[1].ty);
    let (a, b) = (beside(a, left, right, call)?, beside(b, right, left, call)?);
    Some(match call.name {
        "=" => build(a, b, |o| o == Some(Ordering::Equal)),
        "<>" => build(a, b, |o| o != Some(Ordering::Equal)),
        "<" => build(a, b, |o| o == Some(Ordering::Less)),
        "<=" => build(a, b, |o| matches!(o, Some(Ordering::Less | Ordering::Equal))),
        ">" => build(a, b, |o| o == Some(Ordering::Greater)),
        ">=" => build(a, b, |o| matches!(o, Some(Ordering::Greater | Ordering::Equal))),
        _ => return None,
    })
}

/// An operand as it is compared with one of another type: TIMESTAMP becomes TIMESTAMP_LTZ, text becomes what it stands beside.
fn beside(operand: Evaluator, ty: &DataType, other: &DataType, call: &Call<'_>) -> Option<Evaluator> {
    if let (TypeKind::Timestamp(..), TypeKind::TimestampLtz(..)) = (&ty.kind, &other.kind) {
        let zone = call.session.zone.clone();
        return Some(operand.map(move |v| {
            Ok(match v {
                Datum::Timestamp { millis, nanos } => {
                    Datum::Timestamp { millis: zone::to_instant(*millis, &zone), nanos: *nanos }
                }
                _ => Datum::Null,
            })
        }));
    }
    if ty.is_character() && (other.is_datetime() || other.is_numeric() || other.kind == TypeKind::Boolean) {
        return operand.converted(ty, other, call.session);
    }
    Some(operand)
}

fn build(a: Evaluator, b: Evaluator, holds: impl Fn(Option<Ordering>) -> bool + Send + Sync + 'static) -> Evaluator {
    a.zip(b, move |x, y| {
        let order = match (x, y) {
            (Datum::Int(x), Datum::Int(y)) => Some(x.cmp(y)),
            (Datum::String(x), Datum::String(y)) => Some(x.as_bytes().cmp(y.as_bytes())),
            (Datum::Null, _) | (_, Datum::Null) => return Ok(Datum::Null),
            _ => compare(x, y),
        };
        Ok(Datum::Boolean(holds(order)))
    })
}

/// `SEARCH(x, Sarg[...])`: single values are looked up, ranges compared one after the other.
pub(super) fn search(call: &Call<'_>, args: Vec<Evaluator>) -> Option<Evaluator> {
    let operand = args.into_iter().next()?;
    let ty = &call.args[0].ty;
    let Value::Sarg(sarg) = call.args[1].as_literal()? else { return None };
    let mut points = Vec::new();
    let mut ranges = Vec::new();
    let bound = |b: &Option<SargBound>| match b {
        Some(b) => Some(Some((constant(&b.value, ty)?, b.inclusive))),
        None => Some(None),
    };
    for range in &sarg.ranges {
        match (bound(&range.lower)?, bound(&range.upper)?) {
            (Some((lower, true)), Some((upper, true))) if lower == upper => points.push(lower),
            (lower, upper) => ranges.push((lower, upper)),
        }
    }
    let lookup = Lookup::new(points);
    let null: Datum = sarg.null_as.into();
    let within = move |v: &Datum| {
        ranges.iter().any(|(lower, upper)| {
            let above = lower.as_ref().is_none_or(|(l, inclusive)| match compare(v, l) {
                Some(Ordering::Greater) => true,
                Some(Ordering::Equal) => *inclusive,
                _ => false,
            });
            above
                && upper.as_ref().is_none_or(|(u, inclusive)| match compare(v, u) {
                    Some(Ordering::Less) => true,
                    Some(Ordering::Equal) => *inclusive,
                    _ => false,
                })
        })
    };
    Some(
        operand
            .map(move |v| Ok(if v.is_null() { null.clone() } else { Datum::Boolean(lookup.contains(v) || within(v)) })),
    )
}

/// A bound in the type of the operand. A number with more digits than the type has stays itself: nothing equals it.
fn constant(value: &Value, ty: &DataType) -> Option<Datum> {
    match (value, &ty.kind) {
        (Value::Decimal { unscaled, scale }, kind) if !matches!(kind, TypeKind::Float | TypeKind::Double) => {
            Some(Decimal { unscaled: *unscaled, scale: *scale }.into())
        }
        _ => Datum::of_constant(value, ty),
    }
}

/// Single values. Many of one kind that is equal by its bits are hashed.
struct Lookup {
    hashed: rustc_hash::FxHashSet<Datum>,
    listed: Vec<Datum>,
}

impl Lookup {
    fn new(points: Vec<Datum>) -> Lookup {
        let exact =
            |d: &Datum| matches!(d, Datum::Int(_) | Datum::String(_) | Datum::Date(_) | Datum::Timestamp { .. });
        if points.len() > 4 && points.iter().all(exact) {
            Lookup { hashed: points.into_iter().collect(), listed: Vec::new() }
        } else {
            Lookup { hashed: Default::default(), listed: points }
        }
    }

    fn contains(&self, value: &Datum) -> bool {
        if self.hashed.is_empty() {
            self.listed.iter().any(|p| compare(value, p) == Some(Ordering::Equal))
        } else {
            self.hashed.contains(value)
        }
    }
}
