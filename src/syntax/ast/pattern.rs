//! MATCH_RECOGNIZE as written.

use super::{Expr, Ident, OrderItem, TableRef, TableRefKind};
use crate::source::Span;

/// `t MATCH_RECOGNIZE (...)`.
#[derive(Debug, Clone)]
pub struct MatchRecognize {
    /// The input.
    pub input: TableRef,
    /// `PARTITION BY`.
    pub partition_by: Vec<Expr>,
    /// `ORDER BY`.
    pub order_by: Vec<OrderItem>,
    /// `MEASURES expr AS name`.
    pub measures: Vec<(Expr, Ident)>,
    /// Where `ALL ROWS PER MATCH` is written; ONE ROW is the default.
    pub all_rows: Option<Span>,
    /// `AFTER MATCH SKIP ...`, if written.
    pub after_match: Option<AfterMatch>,
    /// `PATTERN (...)`.
    pub pattern: Pattern,
    /// `WITHIN interval`.
    pub within: Option<Expr>,
    /// `SUBSET s = (a, b)`.
    pub subsets: Vec<(Ident, Vec<Ident>)>,
    /// `DEFINE v AS expr`.
    pub define: Vec<(Ident, Expr)>,
    /// The whole clause.
    pub span: Span,
}

impl MatchRecognize {
    /// The input's own name, if it is a table.
    pub fn table_name(&self) -> Option<&str> {
        match &self.input.kind {
            TableRefKind::Table { name, .. } => Some(name.last()),
            _ => None,
        }
    }
}

/// `AFTER MATCH SKIP ...`.
#[derive(Debug, Clone)]
pub struct AfterMatch {
    /// Where the search goes on.
    pub skip: Skip,
    /// The clause.
    pub span: Span,
}

/// Where the search goes on after a match.
#[derive(Debug, Clone)]
pub enum Skip {
    /// `PAST LAST ROW`
    PastLastRow,
    /// `TO NEXT ROW`
    ToNextRow,
    /// `TO FIRST v`
    ToFirst(Ident),
    /// `TO LAST v`, or `TO v`
    ToLast(Ident),
}

/// A row pattern or a part of one.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where it is written.
    pub span: Span,
}

/// Forms of row patterns.
#[derive(Debug, Clone)]
pub enum PatternKind {
    /// `A`
    Variable(Ident),
    /// `A B C`: one after the other.
    Concat(Vec<Pattern>),
    /// `A | B`
    Alternation(Vec<Pattern>),
    /// `A{2,3}?`
    Quantified {
        /// What is repeated.
        of: Box<Pattern>,
        /// How often.
        quantifier: Quantifier,
    },
    /// `PERMUTE(A, B)`
    Permute(Vec<Pattern>),
    /// `{- A -}`
    Exclude(Box<Pattern>),
}

/// How often something is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantifier {
    /// The least number; none if not written, as in `{,3}`.
    pub from: Option<u32>,
    /// The greatest number; none is without limit.
    pub to: Option<u32>,
    /// `?` behind it: as few as possible.
    pub reluctant: bool,
}
