//! A join's condition at run time (Flink's `JoinConditionWithNullFilters`).

use crate::eval::{Datum, Evaluator, Row};
use crate::logical::join::JoinKey;
use crate::logical::rex::Rex;
use crate::run::build::Build;
use crate::run::error::RunResult;

/// What two rows of one key have to fulfil beside that.
pub struct Condition {
    /// The places in the key at which NULL equals nothing.
    strict: Vec<usize>,
    /// Conjuncts over both rows side by side.
    rest: Vec<Evaluator>,
}

impl Condition {
    /// The condition without the equalities that are keys.
    pub fn build<'a>(
        conditions: impl IntoIterator<Item = &'a Rex>,
        keys: &[JoinKey],
        left_width: usize,
        build: &Build<'_>,
    ) -> RunResult<Condition> {
        let is_key = |c: &Rex| JoinKey::of(c, left_width).is_some_and(|key| keys.contains(&key));
        let rest: Vec<Rex> = conditions.into_iter().filter(|c| !is_key(c)).cloned().collect();
        let strict = keys.iter().enumerate().filter(|(_, k)| !k.nulls_match).map(|(i, _)| i).collect();
        Ok(Condition { strict, rest: build.compile(&rest)? })
    }

    /// True if rows of this key have no partners, whatever else they say.
    pub fn refuses(&self, key: &[Datum]) -> bool {
        self.strict.iter().any(|i| key[*i].is_null())
    }

    /// True if two rows of one key, side by side, are partners.
    pub fn holds(&self, both: &[Datum], now: i64) -> RunResult<bool> {
        for conjunct in &self.rest {
            if !matches!(conjunct.eval(both, now)?, Datum::Boolean(true)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Two rows side by side; what a missing one would say is NULL.
#[derive(Debug, Clone, Copy)]
pub struct Pairs {
    left_width: usize,
    right_width: usize,
}

impl Pairs {
    /// Rows of these widths.
    pub fn new(left_width: usize, right_width: usize) -> Pairs {
        Pairs { left_width, right_width }
    }

    /// `row` of side `side` with its partner.
    pub fn pair(&self, side: usize, row: &Row, partner: &Row) -> Row {
        let (left, right) = if side == 0 { (row, partner) } else { (partner, row) };
        left.extended(right.iter().cloned())
    }

    /// `row` of side `side` without a partner.
    pub fn alone(&self, side: usize, row: &Row) -> Row {
        if side == 0 {
            row.extended(std::iter::repeat_n(Datum::Null, self.right_width))
        } else {
            std::iter::repeat_n(Datum::Null, self.left_width).chain(row.iter().cloned()).collect()
        }
    }
}
