//! The range of ranks that a filter on ROW_NUMBER lets through (Flink's `RankUtil.extractRankRange`).

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

/// Takes plain ranges of column `rank` out of (simplified) conditions and intersects them. `<>`, OR and anything that is not
/// one range of the bare column stays in `rest`.
pub fn rank_range(conjuncts: Vec<Rex>, rank: usize) -> RankRange {
    let mut range = RankRange { start: 1, end: None, bounds: Vec::new(), rest: Vec::new() };
    for condition in conjuncts {
        match bounds(&condition, rank) {
            Some((start, end)) => {
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

/// First and last rank of one condition.
fn bounds(condition: &Rex, rank: usize) -> Option<(Option<i64>, Option<i64>)> {
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
    let (floor, exact) = floor(value)?;
    Some(match name {
        "=" if exact => (Some(floor), Some(floor)),
        "<=" => (None, Some(floor)),
        "<" => (None, Some(if exact { floor.checked_sub(1)? } else { floor })),
        ">" => (Some(floor.checked_add(1)?), None),
        ">=" => (Some(if exact { floor } else { floor.checked_add(1)? }), None),
        _ => return None,
    })
}

/// The column itself, also behind a cast that changes no number.
fn is_rank(rex: &Rex, rank: usize) -> bool {
    match &rex.kind {
        RexKind::Input(i) => *i == rank,
        RexKind::Cast { operand, is_try: false } if rex.ty.is_numeric() => is_rank(operand, rank),
        _ => false,
    }
}

/// The whole number at or below a constant, and whether it is the constant.
fn floor(rex: &Rex) -> Option<(i64, bool)> {
    match &rex.kind {
        RexKind::Literal(value) => floor_value(value),
        RexKind::Cast { operand, .. } => floor(operand),
        _ => None,
    }
}

fn floor_value(value: &Value) -> Option<(i64, bool)> {
    match value {
        Value::Int(n) => Some((*n, true)),
        Value::Decimal { unscaled, scale } => {
            let one = 10_i128.checked_pow(u32::from(*scale))?;
            i64::try_from(unscaled.div_euclid(one)).ok().map(|n| (n, unscaled.rem_euclid(one) == 0))
        }
        Value::Double(bits) => {
            let value = f64::from_bits(*bits);
            (value.abs() < 9e15).then(|| (value.floor() as i64, value.fract() == 0.0))
        }
        _ => None,
    }
}

fn one_range(sarg: &Sarg) -> Option<(Option<i64>, Option<i64>)> {
    let [range] = sarg.ranges.as_slice() else { return None };
    let start = match &range.lower {
        None => None,
        Some(b) => {
            let (floor, exact) = floor_value(&b.value)?;
            Some(if b.inclusive && exact { floor } else { floor.checked_add(1)? })
        }
    };
    let end = match &range.upper {
        None => None,
        Some(b) => {
            let (floor, exact) = floor_value(&b.value)?;
            Some(if !b.inclusive && exact { floor.checked_sub(1)? } else { floor })
        }
    };
    Some((start, end))
}
