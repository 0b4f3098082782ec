//! From a query's syntax to relational operators: names resolved with Flink's scoping, views, CTEs and subqueries inlined.
//!
//! What Calcite's `SqlToRelConverter` does for Flink, for the part of SQL that is planned. The rest is refused with its place.

mod aggregate;
mod as_of;
mod ast_columns;
mod budget;
mod call_clauses;
mod correlate;
mod decorrelate;
mod from;
mod group_items;
mod join;
mod legacy_window;
mod match_expr;
mod match_recognize;
mod membership;
mod over;
mod query;
mod select;
mod set_operation;
mod sink;
mod sort;
mod state_ttl;
mod subquery;
mod window_tvf;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::rel::Rel;
use super::scope::Scope;
use crate::catalog::{Catalog, Note, Table, TablePath};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Expr, Ident, Query};
use crate::target::Target;

pub use sink::InsertTarget;

/// How deep views, CTEs and subqueries may nest.
const MAX_NESTING: usize = 100;

/// Builds queries under one catalog.
pub struct Builder<'a> {
    catalog: &'a Catalog,
    ctes: Vec<CteBinding<'a>>,
    nesting: usize,
    /// The views that are being expanded, outermost first.
    open_views: Vec<TablePath>,
    /// The query at hand is the statement's own, or one that stands in its place: its order counts.
    top: bool,
    budget: budget::Budget,
    /// The engine, where its version decides what is taken.
    target: Target,
    /// What is worth saying about the query.
    pub notes: Vec<Note>,
    /// Where conditions of HAVING are written: in the plan they are filters like others.
    pub having: Vec<Span>,
    inferred: BTreeMap<TablePath, Arc<Table>>,
    /// ORDER BY items that the next SELECT has to compute beside its own, and where they then are.
    sort_items: Vec<&'a Expr>,
    sort_columns: Vec<usize>,
    /// How many joins are around the FROM item that is read.
    joins: usize,
    /// How many columns that SELECT has of its own.
    sort_own: usize,
    /// The row of the query around the subquery that is read.
    outer: Option<Arc<Scope>>,
    /// Columns of the last query that bear the name of another one: the plan numbers them, but to the text they are one name.
    repeated: Vec<(usize, Arc<str>)>,
}

/// A CTE in sight: its name and query, and how many CTEs its own query sees.
#[derive(Clone)]
struct CteBinding<'a> {
    name: &'a str,
    columns: &'a [Ident],
    query: &'a Query,
    visible: usize,
}

impl<'a> Builder<'a> {
    /// A builder that sees `catalog`.
    pub fn new(catalog: &'a Catalog, target: Target) -> Self {
        Builder {
            catalog,
            ctes: Vec::new(),
            nesting: 0,
            open_views: Vec::new(),
            top: true,
            budget: budget::Budget::default(),
            target,
            notes: Vec::new(),
            having: Vec::new(),
            inferred: BTreeMap::new(),
            joins: 0,
            sort_items: Vec::new(),
            sort_columns: Vec::new(),
            sort_own: 0,
            outer: None,
            repeated: Vec::new(),
        }
    }

    /// The relational form of a query.
    pub fn build(&mut self, query: &'a Query) -> PlanResult<Rel> {
        self.query(query)
    }

    fn enter(&mut self, span: Span) -> PlanResult<()> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(PlanError::rejected(span, format!("queries nest more than {MAX_NESTING} levels deep"))
                .label("too deep from here on")
                .help("name some of the inner queries as views")
                .into());
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.nesting -= 1;
    }

    fn note(&mut self, message: String, span: Span) {
        if !self.notes.iter().any(|n| n.message == message) {
            self.notes.push(Note { message, span });
        }
    }
}
