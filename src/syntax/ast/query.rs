//! Queries: SELECT with its clauses, FROM, set operations, INSERT.

use rustc_hash::FxHashSet;

use super::ddl::TableOption;
use super::expr::{Expr, ExprKind, FunctionCall};
use super::pattern::MatchRecognize;
use super::script::{Ident, ObjectName};
use crate::source::Span;

/// `INSERT`.
#[derive(Debug, Clone)]
pub struct Insert {
    /// The sink.
    pub table: ObjectName,
    /// OPTIONS hints at the sink.
    pub hints: Vec<Hint>,
    /// `OVERWRITE` instead of `INTO`.
    pub overwrite: bool,
    /// `PARTITION (k = v, ...)`.
    pub partition: Vec<(Ident, Option<Expr>)>,
    /// `(a, b)` after the table.
    pub columns: Vec<Ident>,
    /// The query (VALUES included).
    pub query: Box<Query>,
    /// `ON CONFLICT DO ...`.
    pub on_conflict: Option<Span>,
    /// From INSERT to the end of the sink's column list.
    pub head_span: Span,
}

/// A hint, `/*+ NAME(...) */`.
#[derive(Debug, Clone)]
pub struct Hint {
    /// Its name, upper case.
    pub name: String,
    /// Key-value arguments.
    pub options: Vec<TableOption>,
    /// Plain arguments (`BROADCAST(t1, t2)`).
    pub arguments: Vec<String>,
    /// The hint's extent.
    pub span: Span,
}

/// A query: WITH, body, ORDER BY, LIMIT.
#[derive(Debug, Clone)]
pub struct Query {
    /// `WITH a AS (...), ...`.
    pub with: Vec<Cte>,
    /// SELECT, VALUES or a set operation.
    pub body: SetExpr,
    /// `ORDER BY`.
    pub order_by: Vec<OrderItem>,
    /// `LIMIT n` or `FETCH FIRST n ROWS`.
    pub limit: Option<Expr>,
    /// `OFFSET n`.
    pub offset: Option<Expr>,
    /// The whole query.
    pub span: Span,
}

/// A common table expression.
#[derive(Debug, Clone)]
pub struct Cte {
    /// Its name.
    pub name: Ident,
    /// Column names after it.
    pub columns: Vec<Ident>,
    /// Its query.
    pub query: Box<Query>,
}

/// The body of a query.
#[derive(Debug, Clone)]
pub enum SetExpr {
    /// `SELECT ...`.
    Select(Box<Select>),
    /// `VALUES (..), (..)`.
    Values(Vec<Vec<Expr>>, Span),
    /// `UNION`, `INTERSECT`, `EXCEPT`.
    SetOperation {
        /// Which.
        op: SetOperator,
        /// `ALL` was written.
        all: bool,
        /// Left side.
        left: Box<SetExpr>,
        /// Right side.
        right: Box<SetExpr>,
        /// The operator's words.
        op_span: Span,
    },
    /// A query in parentheses.
    Query(Box<Query>),
}

/// Set operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOperator {
    /// `UNION`
    Union,
    /// `INTERSECT`
    Intersect,
    /// `EXCEPT`
    Except,
}

/// `SELECT`.
#[derive(Debug, Clone)]
pub struct Select {
    /// `DISTINCT` was written.
    pub distinct: bool,
    /// Hints after SELECT.
    pub hints: Vec<Hint>,
    /// The select list.
    pub items: Vec<SelectItem>,
    /// The comma-separated FROM items; empty without FROM.
    pub from: Vec<TableRef>,
    /// `WHERE`.
    pub selection: Option<Expr>,
    /// `GROUP BY`, absent if not written.
    pub group_by: Option<GroupBy>,
    /// `HAVING`.
    pub having: Option<Expr>,
    /// `QUALIFY` (refused by Flink 1.20; parsed for a good message).
    pub qualify: Option<Expr>,
    /// `WINDOW w AS (...)`.
    pub windows: Vec<NamedWindow>,
    /// From SELECT to the end of the last clause.
    pub span: Span,
}

/// An entry of a select list.
#[derive(Debug, Clone)]
pub enum SelectItem {
    /// `expr [AS alias]`.
    Expr {
        /// The expression.
        expr: Expr,
        /// The alias.
        alias: Option<Ident>,
    },
    /// `*`.
    Star(Span),
    /// `t.*`.
    QualifiedStar(ObjectName),
}

/// `GROUP BY`.
#[derive(Debug, Clone)]
pub struct GroupBy {
    /// The items in order.
    pub items: Vec<GroupItem>,
    /// The whole clause.
    pub span: Span,
}

/// An item of GROUP BY.
#[derive(Debug, Clone)]
pub enum GroupItem {
    /// A plain expression.
    Expr(Expr),
    /// `GROUPING SETS ((a, b), (a), ())`.
    GroupingSets(Vec<Vec<Expr>>, Span),
    /// `CUBE (a, b)`; composite entries are lists.
    Cube(Vec<Vec<Expr>>, Span),
    /// `ROLLUP (a, b)`.
    Rollup(Vec<Vec<Expr>>, Span),
}

/// `w AS (PARTITION BY ...)`.
#[derive(Debug, Clone)]
pub struct NamedWindow {
    /// Its name.
    pub name: Ident,
    /// Its definition.
    pub spec: WindowSpec,
}

/// An OVER window as written.
#[derive(Debug, Clone)]
pub struct WindowSpec {
    /// A base window it refers to (`OVER w` has only this).
    pub base: Option<Ident>,
    /// `PARTITION BY`.
    pub partition_by: Vec<Expr>,
    /// `ORDER BY`.
    pub order_by: Vec<OrderItem>,
    /// `ROWS|RANGE ...`.
    pub frame: Option<Frame>,
    /// The whole specification with its parentheses, or the name.
    pub span: Span,
}

/// A window frame.
#[derive(Debug, Clone)]
pub struct Frame {
    /// `ROWS` or `RANGE`.
    pub units: FrameUnits,
    /// The lower bound.
    pub start: FrameBound,
    /// The upper bound, if `BETWEEN ... AND` was written.
    pub end: Option<FrameBound>,
    /// The whole frame.
    pub span: Span,
}

/// Frame units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameUnits {
    /// Row counts.
    Rows,
    /// Distance in time.
    Range,
}

/// A frame bound.
#[derive(Debug, Clone)]
pub enum FrameBound {
    /// `CURRENT ROW`.
    CurrentRow,
    /// `UNBOUNDED PRECEDING`, or `x PRECEDING`.
    Preceding(Option<Box<Expr>>),
    /// `UNBOUNDED FOLLOWING`, or `x FOLLOWING`.
    Following(Option<Box<Expr>>),
}

/// An entry of ORDER BY.
#[derive(Debug, Clone)]
pub struct OrderItem {
    /// What is ordered by.
    pub expr: Expr,
    /// `DESC` was written.
    pub descending: bool,
    /// `NULLS FIRST` (true) or `NULLS LAST` (false), if written.
    pub nulls_first: Option<bool>,
    /// The whole entry.
    pub span: Span,
}

/// Something in FROM.
#[derive(Debug, Clone)]
pub struct TableRef {
    /// What it is.
    pub kind: TableRefKind,
    /// `AS t (a, b)`.
    pub alias: Option<TableAlias>,
    /// Its whole extent.
    pub span: Span,
}

/// `AS t (a, b)`.
#[derive(Debug, Clone)]
pub struct TableAlias {
    /// The name.
    pub name: Ident,
    /// The column names.
    pub columns: Vec<Ident>,
}

/// Kinds of FROM items.
#[derive(Debug, Clone)]
pub enum TableRefKind {
    /// A table or view.
    Table {
        /// Its name.
        name: ObjectName,
        /// OPTIONS hints glued to it.
        hints: Vec<Hint>,
        /// `FOR SYSTEM_TIME AS OF expr`.
        system_time: Option<Box<Expr>>,
    },
    /// `(query)`.
    Derived {
        /// `LATERAL` was written.
        lateral: bool,
        /// The query.
        query: Box<Query>,
    },
    /// `TABLE(f(...))`, `f(...)`, `LATERAL TABLE(f(...))`.
    Function {
        /// `LATERAL` was written.
        lateral: bool,
        /// False for the newer form without `TABLE( )`.
        wrapped: bool,
        /// The call.
        call: FunctionCall,
    },
    /// `UNNEST(expr) [WITH ORDINALITY]`.
    Unnest {
        /// What is unnested.
        expr: Box<Expr>,
        /// `WITH ORDINALITY`.
        with_ordinality: bool,
    },
    /// A join.
    Join(Box<Join>),
    /// `t MATCH_RECOGNIZE (...)`.
    MatchRecognize(Box<MatchRecognize>),
    /// `(a JOIN b ON ...)`.
    Parenthesized(Box<TableRef>),
}

/// A join of two FROM items.
#[derive(Debug, Clone)]
pub struct Join {
    /// Left side.
    pub left: TableRef,
    /// Right side.
    pub right: TableRef,
    /// Its kind.
    pub kind: JoinKind,
    /// `NATURAL` was written.
    pub natural: bool,
    /// `ON` condition.
    pub on: Option<Expr>,
    /// `USING (a, b)`.
    pub using: Vec<Ident>,
}

/// Join kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// `[INNER] JOIN`
    Inner,
    /// `LEFT [OUTER] JOIN`
    Left,
    /// `RIGHT [OUTER] JOIN`
    Right,
    /// `FULL [OUTER] JOIN`
    Full,
    /// `CROSS JOIN`
    Cross,
}

impl Select {
    /// From SELECT to the end of the select list.
    pub fn list_span(&self) -> Span {
        let end = self.items.last().map_or(self.span, |item| match item {
            SelectItem::Expr { alias: Some(alias), .. } => alias.span,
            SelectItem::Expr { expr, .. } => expr.span,
            SelectItem::Star(span) => *span,
            SelectItem::QualifiedStar(table) => table.span,
        });
        Span { end: end.end, ..self.span }
    }
}

impl Query {
    /// A name that two columns of the result have, as far as the text tells: `*` brings names that it does not say.
    pub fn repeated_name(&self) -> Option<&Ident> {
        let mut body = &self.body;
        let select = loop {
            match body {
                SetExpr::Select(select) => break select,
                SetExpr::Query(query) => body = &query.body,
                SetExpr::SetOperation { left, .. } => body = left,
                SetExpr::Values(..) => return None,
            }
        };
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        for item in &select.items {
            let SelectItem::Expr { expr, alias } = item else { continue };
            let name = match (alias, &expr.kind) {
                (Some(alias), _) => alias,
                (None, ExprKind::Column(path)) => match path.last() {
                    Some(name) => name,
                    None => continue,
                },
                _ => continue,
            };
            if !seen.insert(&name.value) {
                return Some(name);
            }
        }
        None
    }
}
