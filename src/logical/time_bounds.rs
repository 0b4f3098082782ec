//! Whether a join's condition bounds the time between its rows (Flink's `IntervalJoinUtil`).

use super::join::side;
use super::rel::RelColumn;
use super::rex::{Function, Rex, RexKind};
use super::translate::datetime::{civil_from_days, days_from_civil};
use crate::catalog::types::{TimeAttribute, TypeKind};
use crate::catalog::value::Value;
use crate::source::Span;

/// What a join's condition says of the times of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeBounds {
    /// Nothing that bounds them on both ends: a regular join.
    None,
    /// The left time is at least `lower` and at most `upper` milliseconds after the right one.
    Interval(Interval),
    /// Bounds by an expression whose value is not known here.
    Unknown(Span),
}

/// The bounds of an interval join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Event time; else processing time.
    pub event_time: bool,
    /// The least difference of the left time to the right one, in milliseconds.
    pub lower: i64,
    /// The greatest one.
    pub upper: i64,
    /// The time column of the left row.
    pub left_time: usize,
    /// That of the right row, counted in that row.
    pub right_time: usize,
}

impl Interval {
    /// True if no two times lie within the bounds.
    pub fn is_empty(&self) -> bool {
        self.lower > self.upper
    }
}

/// A comparison of a time of the left row with one of the right row.
struct TimePredicate<'a> {
    operator: &'static str,
    args: &'a [Rex],
    left_first: bool,
    event_time: bool,
    left_time: usize,
    right_time: usize,
}

/// A column, as far as it tells a time.
pub trait TimeColumn {
    /// Which time it is, if any.
    fn time_attribute(&self) -> TimeAttribute;
}

impl TimeColumn for RelColumn {
    fn time_attribute(&self) -> TimeAttribute {
        self.ty.time_attribute()
    }
}

/// True if a condition compares a time of the left row with one of the right row.
pub fn is_time_predicate<C: TimeColumn>(condition: &Rex, left: &[C], right: &[C]) -> bool {
    time_predicate(condition, left, right).is_some()
}

/// The bounds that `conditions` give, over the columns of both rows side by side: two comparisons, one for each end, or one equality.
pub fn time_bounds(conditions: &[Rex], left: &[RelColumn], right: &[RelColumn]) -> TimeBounds {
    let predicates: Vec<TimePredicate<'_>> = conditions.iter().filter_map(|c| time_predicate(c, left, right)).collect();
    match predicates.as_slice() {
        [one] if one.operator == "=" => match bound(one) {
            Ok(at) => interval(one, at, at),
            Err(span) => TimeBounds::Unknown(span),
        },
        [a, b] if a.operator != "=" && b.operator != "=" => match (bound(a), bound(b)) {
            (Err(span), _) | (_, Err(span)) => TimeBounds::Unknown(span),
            (Ok(x), Ok(y)) => match (is_lower(a), is_lower(b)) {
                (true, false) => interval(a, x, y),
                (false, true) => interval(a, y, x),
                _ => TimeBounds::None,
            },
        },
        _ => TimeBounds::None,
    }
}

fn interval(first: &TimePredicate<'_>, lower: i64, upper: i64) -> TimeBounds {
    TimeBounds::Interval(Interval {
        event_time: first.event_time,
        lower,
        upper,
        left_time: first.left_time,
        right_time: first.right_time,
    })
}

fn time_predicate<'a, C: TimeColumn>(condition: &'a Rex, left: &[C], right: &[C]) -> Option<TimePredicate<'a>> {
    let RexKind::Call(Function::Builtin(def), args) = &condition.kind else { return None };
    let ([a, b], "=" | "<" | "<=" | ">" | ">=") = (args.as_slice(), def.name) else { return None };
    let width = left.len();
    let attribute = |i: usize| {
        let column = if i < width { &left[i] } else { &right[i - width] };
        column.time_attribute()
    };
    let (x, y) = (only_time(a, &attribute)?, only_time(b, &attribute)?);
    if side(a, width) == side(b, width) || attribute(x) != attribute(y) {
        return None;
    }
    let left_first = x < width;
    let (left_time, right_time) = if left_first { (x, y - width) } else { (y, x - width) };
    Some(TimePredicate {
        operator: def.name,
        args,
        left_first,
        event_time: attribute(x) == TimeAttribute::Rowtime,
        left_time,
        right_time,
    })
}

/// The time attribute that an operand reads, if it reads exactly one and no other column.
fn only_time(rex: &Rex, attribute: &dyn Fn(usize) -> TimeAttribute) -> Option<usize> {
    let mut read = Vec::new();
    rex.visit(&mut |r| read.extend(r.as_input()));
    match read.as_slice() {
        [one] if attribute(*one) != TimeAttribute::None => Some(*one),
        _ => None,
    }
}

fn is_lower(predicate: &TimePredicate<'_>) -> bool {
    matches!(predicate.operator, ">" | ">=") == predicate.left_first
}

/// The bound on the difference of the left time to the right one; one millisecond less if the end itself is excluded.
fn bound(predicate: &TimePredicate<'_>) -> Result<i64, Span> {
    let unknown = || {
        let span = predicate.args.iter().find_map(|a| a.origins.first());
        span.unwrap_or_default()
    };
    let a = at_epoch(&predicate.args[0]).ok_or_else(unknown)?;
    let b = at_epoch(&predicate.args[1]).ok_or_else(unknown)?;
    let difference = if predicate.left_first { b.checked_sub(a) } else { a.checked_sub(b) };
    let difference = difference.ok_or_else(unknown)?;
    Ok(match predicate.operator {
        "<" | ">" if is_lower(predicate) => difference.saturating_add(1),
        "<" | ">" => difference.saturating_sub(1),
        _ => difference,
    })
}

/// The value of an operand in milliseconds if its time attribute is 1970-01-01.
fn at_epoch(rex: &Rex) -> Option<i64> {
    match &rex.kind {
        RexKind::Input(_) => Some(0),
        RexKind::Literal(Value::Millis(n)) => Some(*n),
        RexKind::Cast { operand, .. } if is_time(&rex.ty.kind) => at_epoch(operand),
        RexKind::Call(Function::Builtin(def), args) => {
            let [a, b] = args.as_slice() else { return None };
            let sign = match def.name {
                "+" => 1,
                "-" => -1,
                _ => return None,
            };
            match (a.as_literal(), b.as_literal()) {
                (_, Some(Value::Months(n))) => add_months(at_epoch(a)?, n.checked_mul(sign)?),
                (Some(Value::Months(n)), _) if sign == 1 => add_months(at_epoch(b)?, *n),
                _ => at_epoch(a)?.checked_add(at_epoch(b)?.checked_mul(sign)?),
            }
        }
        _ => None,
    }
}

fn is_time(kind: &TypeKind) -> bool {
    matches!(kind, TypeKind::Timestamp(p, _) | TypeKind::TimestampLtz(p, _) if *p >= 3)
}

const DAY: i64 = 86_400_000;

/// `months` after a point in time; a day that the month does not have is its last one.
fn add_months(millis: i64, months: i64) -> Option<i64> {
    let (days, rest) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    let (year, month, day) = civil_from_days(days);
    let month = year.checked_mul(12)?.checked_add(i64::from(month) - 1)?.checked_add(months)?;
    let (year, month) = (month.div_euclid(12), u32::try_from(month.rem_euclid(12) + 1).ok()?);
    if !(0..10_000).contains(&year) {
        return None;
    }
    let first = days_from_civil(year, month, 1);
    let next = if month == 12 { days_from_civil(year + 1, 1, 1) } else { days_from_civil(year, month + 1, 1) };
    Some((first + i64::from(day - 1).min(next - first - 1)) * DAY + rest)
}
