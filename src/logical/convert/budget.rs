//! Limits on what a query becomes once its views and CTEs are written out, where a small text can stand for a huge plan:
//! forty views that read the one before twice are 2^40 scans.

use super::Builder;
use crate::logical::rel::{Rel, RelOp};
use crate::logical::rex::Rex;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;

/// How many columns the tables of a query may have, each table counted where it is read.
const MAX_COLUMNS_READ: usize = 500_000;
/// How many tables a query may read.
const MAX_TABLES_READ: usize = 5_000;
/// How many joins a query may have: they stand one below the other, and each is printed further to the right.
const MAX_JOINS: usize = 1_000;
/// How many columns a SELECT may compute.
const MAX_ITEMS: usize = 100_000;
/// How many terms the columns of a SELECT may have more than are written in it.
const MAX_ADDED_TERMS: usize = 500_000;

/// What a query has used up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Budget {
    tables: usize,
    columns: usize,
    joins: usize,
    /// How many table functions refer to a row on their left: each has a variable of its own for it.
    pub(super) correlations: usize,
}

impl Builder<'_> {
    /// Counts a join.
    pub(super) fn charge_join(&mut self, at: Span) -> PlanResult<()> {
        self.budget.joins += 1;
        if self.budget.joins <= MAX_JOINS {
            return Ok(());
        }
        let message = format!("the query has more than {MAX_JOINS} joins once its views are written out");
        Err(PlanError::rejected(at, message)
            .label("too large from here on")
            .help("write a part of the query to a table")
            .into())
    }

    /// Counts a table that is read.
    pub(super) fn charge(&mut self, columns: usize, at: Span) -> PlanResult<()> {
        self.budget.tables += 1;
        self.budget.columns += columns;
        if self.budget.tables <= MAX_TABLES_READ && self.budget.columns <= MAX_COLUMNS_READ {
            return Ok(());
        }
        let message = if self.budget.tables > MAX_TABLES_READ {
            format!("the query reads more than {MAX_TABLES_READ} tables once its views are written out")
        } else {
            format!("the query reads more than {MAX_COLUMNS_READ} columns once its views are written out")
        };
        Err(PlanError::rejected(at, message)
            .label("too large from here on")
            .help("views that read others several times grow with every level; write a part of them to a table")
            .into())
    }
}

/// Refuses a SELECT over `rel` that is too large to be planned.
pub(super) fn check_size(exprs: &[Rex], rel: &Rel, at: Span) -> PlanResult<()> {
    if exprs.len() > MAX_ITEMS {
        return Err(PlanError::rejected(at, format!("a SELECT of more than {MAX_ITEMS} columns is too large"))
            .label(format!("{} columns", exprs.len()))
            .into());
    }
    let computes = matches!(rel.op, RelOp::Project(_) | RelOp::Filter(_));
    if !computes {
        return Ok(());
    }
    let below = column_terms(rel);
    let mut added: usize = 0;
    for e in exprs {
        e.visit(&mut |r| {
            if let Some(i) = r.as_input() {
                added = added.saturating_add(below.get(i).map_or(0, |n| n - 1));
            }
        });
    }
    if added <= MAX_ADDED_TERMS {
        return Ok(());
    }
    Err(PlanError::rejected(at, "the expressions are too large once those of views and subqueries are written out")
        .label(format!("more than {MAX_ADDED_TERMS} terms"))
        .help("use each computed column fewer times, or write a part of the query to a table")
        .into())
}

/// The number of terms of each column, through the projections right below.
fn column_terms(rel: &Rel) -> Vec<usize> {
    match &rel.op {
        RelOp::Project(exprs) => {
            let below = column_terms(rel.input());
            exprs
                .iter()
                .map(|e| {
                    let mut terms: usize = 0;
                    e.visit(&mut |r| {
                        let own = r.as_input().and_then(|i| below.get(i)).copied().unwrap_or(1);
                        terms = terms.saturating_add(own);
                    });
                    terms.max(1)
                })
                .collect()
        }
        RelOp::Filter(_) => column_terms(rel.input()),
        _ => vec![1; rel.columns.len()],
    }
}
