//! Expressions, calls and literals.

use super::ddl::TypeName;
use super::query::{OrderItem, Query, WindowSpec};
use super::script::{Ident, ObjectName};
use crate::source::Span;

/// An expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its whole extent, from its first to its last token (parentheses around it included).
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// `a`, `t.a`, `t.r.f`: resolution decides what is table, column and field.
    Column(Vec<Ident>),
    /// A literal.
    Literal(Literal),
    /// `-a`, `+a`, `NOT a`.
    Unary(UnaryOp, Box<Expr>),
    /// `a op b`.
    Binary(Box<Expr>, BinaryOp, Box<Expr>),
    /// `a IS [NOT] NULL | TRUE | FALSE | UNKNOWN`.
    Is {
        /// The operand.
        expr: Box<Expr>,
        /// What it is tested for.
        test: IsTest,
        /// `NOT` was written.
        negated: bool,
    },
    /// `a IS [NOT] DISTINCT FROM b`.
    IsDistinctFrom {
        /// Left side.
        left: Box<Expr>,
        /// Right side.
        right: Box<Expr>,
        /// `NOT` was written.
        negated: bool,
    },
    /// `a [NOT] BETWEEN [SYMMETRIC] b AND c`.
    Between {
        /// The operand.
        expr: Box<Expr>,
        /// `NOT` was written.
        negated: bool,
        /// `SYMMETRIC` was written.
        symmetric: bool,
        /// Lower bound.
        low: Box<Expr>,
        /// Upper bound.
        high: Box<Expr>,
    },
    /// `a [NOT] IN (b, c)`.
    InList {
        /// The operand.
        expr: Box<Expr>,
        /// The list.
        list: Vec<Expr>,
        /// `NOT` was written.
        negated: bool,
    },
    /// `a [NOT] IN (query)`.
    InSubquery {
        /// The operand.
        expr: Box<Expr>,
        /// The query.
        query: Box<Query>,
        /// `NOT` was written.
        negated: bool,
    },
    /// `[NOT] EXISTS (query)`.
    Exists {
        /// The query.
        query: Box<Query>,
        /// `NOT` was written.
        negated: bool,
    },
    /// `(query)` as a value.
    Subquery(Box<Query>),
    /// `a [NOT] LIKE b [ESCAPE c]`, `SIMILAR TO`.
    Like {
        /// The operand.
        expr: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The escape character.
        escape: Option<String>,
        /// `NOT` was written.
        negated: bool,
        /// `SIMILAR TO` instead of `LIKE`.
        similar: bool,
    },
    /// `CASE [a] WHEN b THEN c ... [ELSE d] END`.
    Case {
        /// The operand of a simple CASE.
        operand: Option<Box<Expr>>,
        /// The branches: condition, result.
        branches: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// `CAST(a AS t)` and `TRY_CAST(a AS t)`.
    Cast {
        /// The operand.
        expr: Box<Expr>,
        /// The type.
        ty: TypeName,
        /// `TRY_CAST` was written.
        is_try: bool,
    },
    /// A call. Special forms are calls of their usual name: `EXTRACT(HOUR FROM ts)` is `EXTRACT('HOUR', ts)` with a
    /// [`Literal::Symbol`] first, `SUBSTRING(a FROM b FOR c)`, `TRIM(BOTH a FROM b)` (symbol, what, from), `POSITION(a IN b)`, `CEIL(ts TO DAY)`,
    /// `OVERLAY(..)`, `TIMESTAMPDIFF(SECOND, a, b)` (symbol first), `(a - b) DAY` as `MINUS_DATE` (symbol first), `(a, b) OVERLAPS
    /// (c, d)`; names of `CURRENT_TIMESTAMP` and kin have no arguments.
    Function(FunctionCall),
    /// `ROW(a, b)` or `(a, b)`.
    Row(Vec<Expr>),
    /// `ARRAY[a, b]`.
    Array(Vec<Expr>),
    /// `MAP[k, v, k, v]`.
    Map(Vec<Expr>),
    /// `a[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `(expr).field`, `arr[1].field`.
    Field(Box<Expr>, Ident),
    /// `TABLE t [PARTITION BY a, b] [ORDER BY c]` or `TABLE (query)`, `(query)` as an argument of a table function.
    TableArgument(Box<TableArgument>),
    /// `DESCRIPTOR(a, b)`.
    Descriptor(Vec<Ident>),
    /// `ts AT TIME ZONE z` (Flink refuses it; parsed for a good message).
    AtTimeZone(Box<Expr>, Box<Expr>),
    /// `DEFAULT` in VALUES.
    Default,
    /// `${name}` standing as a value: opaque, equal only to the same name.
    Placeholder(String),
}

/// A table as argument of a table function.
#[derive(Debug, Clone)]
pub struct TableArgument {
    /// The table, or query.
    pub source: TableArgumentSource,
    /// `PARTITION BY`.
    pub partition_by: Vec<Expr>,
    /// `ORDER BY`.
    pub order_by: Vec<OrderItem>,
}

/// What a table argument names.
#[derive(Debug, Clone)]
pub enum TableArgumentSource {
    /// `TABLE t`.
    Name(ObjectName),
    /// `TABLE (query)`.
    Query(Box<Query>),
}

/// A call of a function: scalar, aggregate, window or table function.
#[derive(Debug, Clone)]
pub struct FunctionCall {
    /// The name as written (letter case kept; compare without it).
    pub name: ObjectName,
    /// The arguments. `COUNT(*)` has the one argument [`FunctionArg::Star`].
    pub args: Vec<FunctionArg>,
    /// `DISTINCT` was written.
    pub distinct: bool,
    /// `ORDER BY` inside the parentheses.
    pub order_by: Vec<OrderItem>,
    /// `WITHIN GROUP (ORDER BY ...)`.
    pub within_group: Vec<OrderItem>,
    /// `FILTER (WHERE ...)`.
    pub filter: Option<Box<Expr>>,
    /// `OVER (...)` or `OVER w`.
    pub over: Option<Box<WindowSpec>>,
    /// `IGNORE NULLS` (true) / `RESPECT NULLS` (false), if written.
    pub ignore_nulls: Option<bool>,
    /// False for `CURRENT_TIMESTAMP` and kin, written without parentheses.
    pub parenthesized: bool,
    /// The whole call: name, arguments, FILTER, OVER.
    pub span: Span,
}

/// An argument of a call.
#[derive(Debug, Clone)]
pub enum FunctionArg {
    /// A value.
    Expr(Expr),
    /// `name => value`.
    Named(Ident, Expr),
    /// `*`.
    Star(Span),
}

/// A literal as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// `NULL`.
    Null,
    /// `TRUE`, `FALSE`.
    Boolean(bool),
    /// `1`, `2.50`, `1e3`: digits as written.
    Number(String),
    /// `'text'`, escapes resolved.
    String(String),
    /// `X'cafe'`: the hex digits.
    Binary(String),
    /// `DATE '2024-01-01'`: the text.
    Date(String),
    /// `TIME '12:00:00'`: the text.
    Time(String),
    /// `TIMESTAMP '2024-01-01 00:00:00'`: the text.
    Timestamp(String),
    /// `INTERVAL '1' DAY`.
    Interval(IntervalLiteral),
    /// A keyword argument: `HOUR`, `BOTH`, upper case.
    Symbol(String),
}

/// `INTERVAL '1 02:03' DAY(3) TO MINUTE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntervalLiteral {
    /// The text between the quotes.
    pub value: String,
    /// True for `INTERVAL -'1' DAY`.
    pub negative: bool,
    /// The first unit, upper case singular: `DAY`.
    pub unit: String,
    /// The precision in parentheses after it.
    pub precision: Option<u32>,
    /// The unit after TO, upper case singular.
    pub to: Option<String>,
    /// The fractional precision of `SECOND(2, 3)` or `TO SECOND(3)`.
    pub fraction: Option<u32>,
}

/// Unary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `NOT`
    Not,
}

/// Binary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `OR`
    Or,
    /// `AND`
    And,
    /// `=`
    Eq,
    /// `<>`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtEq,
    /// `>`
    Gt,
    /// `>=`
    GtEq,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `||`
    Concat,
}

/// What IS tests for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IsTest {
    /// `IS NULL`
    Null,
    /// `IS TRUE`
    True,
    /// `IS FALSE`
    False,
    /// `IS UNKNOWN`
    Unknown,
}
