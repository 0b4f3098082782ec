//! Joins: the row they put out, their keys, and how a condition that looks at one side only is told from one that needs both.

use std::collections::HashSet;
use std::sync::Arc;

use super::rel::{Rel, RelColumn, RelOp};
use super::rex::{Origins, Rex};
use super::state_ttl::StateTtl;
use crate::catalog::functions::operators as op;

/// What becomes of rows without a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinType {
    /// They are dropped.
    Inner,
    /// Those of the left side are kept.
    Left,
    /// Those of the right side are kept.
    Right,
    /// All are kept.
    Full,
    /// Only rows of the left side are sent: those that have a partner (`IN`, `EXISTS`).
    Semi,
    /// Only rows of the left side are sent: those that have none (`NOT IN`, `NOT EXISTS`).
    Anti,
}

impl JoinType {
    /// Flink's word for it.
    pub fn name(self) -> &'static str {
        match self {
            JoinType::Inner => "InnerJoin",
            JoinType::Left => "LeftOuterJoin",
            JoinType::Right => "RightOuterJoin",
            JoinType::Full => "FullOuterJoin",
            JoinType::Semi => "LeftSemiJoin",
            JoinType::Anti => "LeftAntiJoin",
        }
    }

    /// The columns of the left side may be NULL because a row has no partner.
    pub fn pads_left(self) -> bool {
        matches!(self, JoinType::Right | JoinType::Full)
    }

    /// The columns of the right side may be NULL because a row has no partner.
    pub fn pads_right(self) -> bool {
        matches!(self, JoinType::Left | JoinType::Full)
    }

    /// It depends on the number of partners whether a row of this side is sent: alone, or at all.
    pub fn counts_partners(self, side: usize) -> bool {
        match side {
            0 => self.pads_right() || !self.keeps_right(),
            _ => self.pads_left(),
        }
    }

    /// The rows that it sends have the columns of the right side, too.
    pub fn keeps_right(self) -> bool {
        !matches!(self, JoinType::Semi | JoinType::Anti)
    }

    /// The type for these two answers.
    pub fn padding(left: bool, right: bool) -> JoinType {
        match (left, right) {
            (false, false) => JoinType::Inner,
            (false, true) => JoinType::Left,
            (true, false) => JoinType::Right,
            (true, true) => JoinType::Full,
        }
    }
}

/// A join of two inputs; its columns are those of the left one, then those of the right one if it keeps them.
#[derive(Debug, Clone)]
pub struct Join {
    /// What becomes of rows without a partner.
    pub join_type: JoinType,
    /// The condition, as conjuncts over both rows side by side; none is a cross join.
    pub conditions: Vec<Rex>,
    /// Where the condition is written.
    pub condition_origins: Origins,
    /// `FOR SYSTEM_TIME AS OF` on the right side: one version of its rows, not all of them.
    pub as_of: Option<AsOf>,
    /// How long the rows of either side are kept, by hints.
    pub ttl: [Option<StateTtl>; 2],
}

/// Which version of the right side's rows a row of the left side meets (Flink's `LogicalSnapshot`).
#[derive(Debug, Clone)]
pub enum AsOf {
    /// The one that was valid at an event time.
    Valid {
        /// That time: a column of the left row.
        time: usize,
        /// Since when a version is valid: a column of the right row, counted in that row.
        from: usize,
    },
    /// The one that an external table has when the left row comes: it is looked up.
    LookedUp(LookupOptions),
}

/// What a `LOOKUP` hint asks for (Flink's `LookupJoinHintOptions`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookupOptions {
    /// `async`: wait for answers one by one, or for many at once.
    pub asynchronous: Option<bool>,
    /// `output-mode`: `allow_unordered` where the order of answers does not matter.
    pub allow_unordered: Option<bool>,
    /// `capacity`: how many requests may be under way.
    pub capacity: Option<i64>,
    /// `timeout`, in milliseconds.
    pub timeout: Option<i64>,
    /// Ask again where nothing was found.
    pub retry: Option<Retry>,
}

/// When to ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// How long after the last time, in milliseconds.
    pub delay: i64,
    /// How often.
    pub attempts: i64,
}

/// An equality of a column of the left row with one of the right row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct JoinKey {
    /// The column of the left row.
    pub left: usize,
    /// The column of the right row, counted in that row.
    pub right: usize,
    /// NULL equals NULL (`IS NOT DISTINCT FROM`).
    pub nulls_match: bool,
}

impl Join {
    /// A join of all rows of both sides.
    pub fn new(join_type: JoinType, conditions: Vec<Rex>, condition_origins: Origins) -> Join {
        Join { join_type, conditions, condition_origins, as_of: None, ttl: [None; 2] }
    }

    /// It picks versions by event time.
    pub fn is_versioned(&self) -> bool {
        matches!(self.as_of, Some(AsOf::Valid { .. }))
    }

    /// The equalities that partners are found by, in the order of the condition (Calcite's `JoinInfo`).
    pub fn keys(&self, left_width: usize) -> Vec<JoinKey> {
        self.conditions.iter().filter_map(|c| JoinKey::of(c, left_width)).collect()
    }
}

impl JoinKey {
    /// The equality that a condition is, if it is one of a column of each side.
    pub fn of(condition: &Rex, left_width: usize) -> Option<JoinKey> {
        let (args, nulls_match) =
            match (condition.as_call(op::EQUALS.name), condition.as_call(op::IS_NOT_DISTINCT.name)) {
                (Some(args), _) => (args, false),
                (None, Some(args)) => (args, true),
                (None, None) => (null_safe_operands(condition)?, true),
            };
        let [a, b] = args else { return None };
        let (a, b) = (a.as_input()?, b.as_input()?);
        let (left, right) = (a.min(b), a.max(b));
        (left < left_width && right >= left_width).then(|| JoinKey { left, right: right - left_width, nulls_match })
    }
}

/// The operands of `a = b OR (a IS NULL AND b IS NULL)`, in which NULL equals NULL.
pub fn null_safe_operands(condition: &Rex) -> Option<&[Rex]> {
    let [x, y] = condition.as_call(op::OR.name)? else { return None };
    let (nulls, equal) = if x.as_call(op::AND.name).is_some() { (x, y) } else { (y, x) };
    let operands = equal.as_call(op::EQUALS.name)?;
    let ([a, b], [p, q]) = (operands, nulls.as_call(op::AND.name)?) else { return None };
    let ([p], [q]) = (p.as_call(op::IS_NULL.name)?, q.as_call(op::IS_NULL.name)?) else { return None };
    ((p, q) == (a, b) || (p, q) == (b, a)).then_some(operands)
}

/// Which rows a condition looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Neither.
    None,
    /// The left one only.
    Left,
    /// The right one only.
    Right,
    /// Both.
    Both,
}

/// The rows that `rex` reads, if the left one has `left_width` columns.
pub fn side(rex: &Rex, left_width: usize) -> Side {
    let (mut left, mut right) = (false, false);
    rex.visit(&mut |r| {
        if let Some(i) = r.as_input() {
            if i < left_width { left = true } else { right = true }
        }
    });
    match (left, right) {
        (false, false) => Side::None,
        (true, false) => Side::Left,
        (false, true) => Side::Right,
        (true, true) => Side::Both,
    }
}

/// `rex` with its columns moved: an expression over the right row as one over both rows, or the other way round.
pub fn shifted(rex: &Rex, by: isize) -> Rex {
    rex.map_inputs(&mut |i, used| Rex::input(i.saturating_add_signed(by), used.ty.clone()).with_origins(&used.origins))
}

impl Rel {
    /// `left` and `right` joined. Names that both have get a number, as in Calcite's `SqlValidatorUtil.deriveJoinRowType`.
    pub fn join(left: Rel, right: Rel, join: Join, origins: Origins) -> Rel {
        let columns = join_columns(&left.columns, &right.columns, join.join_type);
        Rel { op: RelOp::Join(join), inputs: vec![left, right], columns, origins }
    }
}

/// The row of a join.
pub fn join_columns(left: &[RelColumn], right: &[RelColumn], join_type: JoinType) -> Vec<RelColumn> {
    let padded = |c: &RelColumn, pads: bool| {
        let ty = if pads { c.ty.clone().with_nullable(true) } else { c.ty.clone() };
        RelColumn { name: c.name.clone(), ty }
    };
    if !join_type.keeps_right() {
        return left.to_vec();
    }
    let mut columns: Vec<RelColumn> = left
        .iter()
        .map(|c| padded(c, join_type.pads_left()))
        .chain(right.iter().map(|c| padded(c, join_type.pads_right())))
        .collect();
    let names = unique_names(columns.iter().map(|c| c.name.clone()));
    for (column, name) in columns.iter_mut().zip(names) {
        column.name = name;
    }
    columns
}

/// Repeated names get a number (Calcite's `SqlValidatorUtil.uniquify`).
pub fn unique_names(names: impl IntoIterator<Item = Arc<str>>) -> Vec<Arc<str>> {
    let mut seen: HashSet<Arc<str>> = HashSet::new();
    names
        .into_iter()
        .map(|name| {
            if seen.insert(name.clone()) {
                return name;
            }
            let mut i = 0;
            loop {
                let candidate: Arc<str> = format!("{name}{i}").into();
                if seen.insert(candidate.clone()) {
                    return candidate;
                }
                i += 1;
            }
        })
        .collect()
}
