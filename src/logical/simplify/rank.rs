//! The range of ranks that a filter on ROW_NUMBER lets through (Flink's `RankUtil.extractRankRange`).

use crate::catalog::types::TypeKind;
use crate::logical::rex::{Function, Rex, RexKind, Sarg, Value};

use super::compare::flipped;

/// What conditions say about a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankRange {
    /// The first rank: 1 if nothing says otherwise.
    pub start: i64,
    /// The last rank; `None` if there is none, so that this is no Top-N.
    pub end: Option<i64>,
    /// The conditions that made the range.
    pub bounds: Vec<Rex>,
    /// All other conditions, in order.
    pub rest: Vec<Rex>,
    /// A bound that is no exact number: Flink fails on it.
    pub inexact: Option<Rex>,
}

impl RankRange {
    /// True if a condition on the rank was found.
    pub fn is_bounded(&self) -> bool {
        !self.bounds.is_empty()
    }

    /// True if no rank is in the range.
    pub fn is_empty(&self) -> bool {
        self.end.is_some_and(|end| end < self.start)
    }
}

/// The column that a condition bounds the rank by. Flink takes `rank <= c`, `rank < c` and `rank = c` alike for `rank <= c`
/// (`RankUtil.getInputIndexFromLimitPredicate`).
pub fn rank_end_column(condition: &Rex, rank: usize) -> Option<usize> {
    let RexKind::Call(Function::Builtin(def), args) = &condition.kind else { return None };
    let [a, b] = args.as_slice() else { return None };
    let (name, column) = match (a.as_input()?, b.as_input()?) {
        (number, column) if number == rank => (def.name, column),
        (column, number) if number == rank => (flipped(def.name), column),
        _ => return None,
    };
    (column != rank && matches!(name, "<=" | "<" | "=")).then_some(column)
}

/// Takes plain ranges of column `rank` out of (simplified) conditions and intersects them. `<>`, OR and anything that is not
/// one range of the bare column stays in `rest`.
pub fn rank_range(conjuncts: Vec<Rex>, rank: usize) -> RankRange {
    let mut range = RankRange { start: 1, end: None, bounds: Vec::new(), rest: Vec::new(), inexact: None };
    for condition in conjuncts {
        match bounds(&condition, rank) {
            Some(Bounds::Inexact) => range.inexact = Some(condition),
            Some(Bounds::Range(start, end)) => {
                range.start = range.start.max(start.unwrap_or(1));
                range.end = match (range.end, end) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                range.bounds.push(condition);
            }
            None => range.rest.push(condition),
        }
    }
    range
}

/// What one condition says.
enum Bounds {
    /// The first and the last rank.
    Range(Option<i64>, Option<i64>),
    /// It compares with a DOUBLE.
    Inexact,
}

fn bounds(condition: &Rex, rank: usize) -> Option<Bounds> {
    let RexKind::Call(Function::Builtin(def), args) = &condition.kind else { return None };
    let [a, b] = args.as_slice() else { return None };
    if def.name == "SEARCH" {
        return match b.as_literal() {
            Some(Value::Sarg(sarg)) if is_rank(a, rank) => one_range(sarg),
            _ => None,
        };
    }
    let (name, value) = match (is_rank(a, rank), is_rank(b, rank)) {
        (true, false) => (def.name, b),
        (false, true) => (flipped(def.name), a),
        _ => return None,
    };
    let constant = constant(value)?;
    // A constant that was cast has the digits of its type.
    let scale = match &value.ty.kind {
        TypeKind::Float | TypeKind::Double => return Some(Bounds::Inexact),
        TypeKind::Decimal(_, scale) => *scale,
        _ => scale(constant),
    };
    let Some(n) = number(constant, scale) else { return Some(Bounds::Inexact) };
    Some(match name {
        "=" => Bounds::Range(Some(n), Some(n)),
        "<=" => Bounds::Range(None, Some(n)),
        "<" => Bounds::Range(None, Some(n.checked_sub(1)?)),
        ">" => Bounds::Range(Some(n.checked_add(1)?), None),
        ">=" => Bounds::Range(Some(n), None),
        _ => return None,
    })
}

/// The column itself, also behind a cast to the type that it has; any other cast hides it from Flink.
fn is_rank(rex: &Rex, rank: usize) -> bool {
    match &rex.kind {
        RexKind::Input(i) => *i == rank,
        RexKind::Cast { operand, is_try: false } if rex.ty.kind == TypeKind::BigInt => is_rank(operand, rank),
        _ => false,
    }
}

fn constant(rex: &Rex) -> Option<&Value> {
    match &rex.kind {
        RexKind::Literal(value @ (Value::Int(_) | Value::Decimal { .. } | Value::Double(_))) => Some(value),
        RexKind::Cast { operand, .. } => constant(operand),
        _ => None,
    }
}

/// The number that Flink takes a bound for. It reads the digits of a DECIMAL and forgets its point: `1.5` is 15, `2.0` is 20.
fn number(value: &Value, scale: u8) -> Option<i64> {
    let shifted =
        |unscaled: i128, own: u8| unscaled.checked_mul(10_i128.checked_pow(u32::from(scale.checked_sub(own)?))?);
    match value {
        Value::Int(n) => i64::try_from(shifted(i128::from(*n), 0)?).ok(),
        Value::Decimal { unscaled, scale: own } => i64::try_from(shifted(*unscaled, *own)?).ok(),
        _ => None,
    }
}

fn scale(value: &Value) -> u8 {
    match value {
        Value::Decimal { scale, .. } => *scale,
        _ => 0,
    }
}

fn one_range(sarg: &Sarg) -> Option<Bounds> {
    let [range] = sarg.ranges.as_slice() else { return None };
    // Both bounds of a range are of one type.
    let scale = [&range.lower, &range.upper].into_iter().flatten().map(|b| scale(&b.value)).max().unwrap_or(0);
    let (mut start, mut end) = (None, None);
    if let Some(lower) = &range.lower {
        let Some(n) = number(&lower.value, scale) else { return Some(Bounds::Inexact) };
        start = Some(if lower.inclusive { n } else { n.checked_add(1)? });
    }
    if let Some(upper) = &range.upper {
        let Some(n) = number(&upper.value, scale) else { return Some(Bounds::Inexact) };
        end = Some(if upper.inclusive { n } else { n.checked_sub(1)? });
    }
    Some(Bounds::Range(start, end))
}
