//! The syntax tree of a Flink SQL script, as written: nothing resolved, nothing folded, every node with its span.
//!
//! These are keepstate's own types. No type of the parsing library leaves `syntax`.

use crate::source::Span;

/// A name as written. `value` has the quotes removed and escapes resolved; letter case is kept, because Flink's
/// identifiers are case-sensitive (function names and keywords are not).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ident {
    /// The name without quotes.
    pub value: String,
    /// True if it was written in backticks.
    pub quoted: bool,
    /// Where it stands, quotes included.
    pub span: Span,
}

/// A possibly qualified name: `t`, `db.t`, `cat.db.t`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectName {
    /// One to three parts (more are kept, and refused later).
    pub parts: Vec<Ident>,
    /// From the first part to the last.
    pub span: Span,
}

impl ObjectName {
    /// The last part's text.
    pub fn last(&self) -> &str {
        self.parts.last().map_or("", |i| i.value.as_str())
    }
}

/// A script: statements in order, and what did not parse. A statement that does not parse never hides the others.
#[derive(Debug, Default)]
pub struct Script {
    /// The statements that parsed, in order. Statements of a statement set are inside its `Vec`.
    pub statements: Vec<Statement>,
    /// The statements that did not.
    pub errors: Vec<SyntaxError>,
    /// All comments in order (suppressions are read from them).
    pub comments: Vec<Comment>,
    /// All `${name}` and `{{ name }}` placeholders that no definition replaced, in order.
    pub placeholders: Vec<Placeholder>,
}

/// A comment, `-- ...` or `/* ... */`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The text between the markers.
    pub text: String,
    /// Where it stands, markers included.
    pub span: Span,
}

/// An undefined `${name}`: an opaque value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    /// The name between the braces, trimmed.
    pub name: String,
    /// Where it stands, braces included.
    pub span: Span,
}

/// Why a statement did not parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// Where the parser stood.
    pub span: Span,
    /// The words at that place.
    pub label: String,
    /// One thing to do next.
    pub help: Option<String>,
}

/// One statement with its extent (without the closing semicolon).
#[derive(Debug, Clone)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// From its first to its last token.
    pub span: Span,
}

/// The statements of Flink SQL. What does not bear on plans is kept as [`StatementKind::Other`] with its name.
#[derive(Debug, Clone)]
pub enum StatementKind {
    /// `SET 'k' = 'v'`; a bare `SET` has no key.
    Set(Option<SetOption>),
    /// `RESET ['k']`.
    Reset(Option<Ident>),
    /// `CREATE [OR REPLACE] [TEMPORARY] TABLE`, CTAS and LIKE included.
    CreateTable(Box<CreateTable>),
    /// `CREATE [OR REPLACE] [TEMPORARY] VIEW`.
    CreateView(CreateView),
    /// `CREATE [TEMPORARY] [SYSTEM] FUNCTION f AS 'class'`.
    CreateFunction(CreateFunction),
    /// `CREATE CATALOG c WITH (...)`.
    CreateCatalog {
        /// The catalog.
        name: Ident,
        /// Its options.
        options: Vec<TableOption>,
    },
    /// `CREATE DATABASE [c.]d`.
    CreateDatabase(ObjectName),
    /// `USE CATALOG c`.
    UseCatalog(Ident),
    /// `USE [c.]d`.
    UseDatabase(ObjectName),
    /// `DROP [TEMPORARY] TABLE|VIEW|FUNCTION ... [IF EXISTS] name`.
    Drop(Drop),
    /// `ALTER TABLE|VIEW ...`.
    Alter(Alter),
    /// `INSERT INTO|OVERWRITE t ... query`.
    Insert(Box<Insert>),
    /// A statement set: `EXECUTE STATEMENT SET BEGIN ... END` or `BEGIN STATEMENT SET; ... END`. The inserts, each with its span.
    StatementSet(Vec<(Insert, Span)>),
    /// A bare query.
    Query(Box<Query>),
    /// `EXPLAIN ... statement`, `COMPILE PLAN ... FOR statement`, `EXECUTE INSERT ...`: judged like the statement inside.
    Wrapped {
        /// The leading words, such as `EXPLAIN`.
        verb: String,
        /// The statement inside.
        inner: Box<Statement>,
    },
    /// Anything else that Flink knows: `ADD JAR`, `SHOW ...`, `DESCRIBE ...`, `LOAD MODULE` ...
    Other(String),
}

impl StatementKind {
    /// The name used in `parse --format json`: lower case, words joined by `-`.
    pub fn name(&self) -> &'static str {
        match self {
            StatementKind::Set(_) => "set",
            StatementKind::Reset(_) => "reset",
            StatementKind::CreateTable(_) => "create-table",
            StatementKind::CreateView(_) => "create-view",
            StatementKind::CreateFunction(_) => "create-function",
            StatementKind::CreateCatalog { .. } => "create-catalog",
            StatementKind::CreateDatabase(_) => "create-database",
            StatementKind::UseCatalog(_) => "use-catalog",
            StatementKind::UseDatabase(_) => "use",
            StatementKind::Drop(_) => "drop",
            StatementKind::Alter(_) => "alter",
            StatementKind::Insert(_) => "insert",
            StatementKind::StatementSet(_) => "statement-set",
            StatementKind::Query(_) => "query",
            StatementKind::Wrapped { .. } => "wrapped",
            StatementKind::Other(_) => "other",
        }
    }
}

/// `SET key = value`.
#[derive(Debug, Clone)]
pub struct SetOption {
    /// The option's name, unquoted.
    pub key: String,
    /// Its value, unquoted.
    pub value: String,
    /// From key to value.
    pub span: Span,
}

/// One `'key' = 'value'` of a WITH clause or an OPTIONS hint.
#[derive(Debug, Clone)]
pub struct TableOption {
    /// The key, unquoted.
    pub key: String,
    /// The value, unquoted.
    pub value: String,
    /// From key to value.
    pub span: Span,
}

/// `CREATE TABLE`.
#[derive(Debug, Clone)]
pub struct CreateTable {
    /// The table.
    pub name: ObjectName,
    /// `TEMPORARY` was written.
    pub temporary: bool,
    /// `OR REPLACE` was written.
    pub or_replace: bool,
    /// `IF NOT EXISTS` was written.
    pub if_not_exists: bool,
    /// `CREATE MATERIALIZED TABLE`.
    pub materialized: bool,
    /// Columns, watermarks and constraints in order.
    pub elements: Vec<TableElement>,
    /// The table comment.
    pub comment: Option<String>,
    /// `PARTITIONED BY (...)`.
    pub partitioned_by: Vec<Ident>,
    /// `WITH (...)`.
    pub options: Vec<TableOption>,
    /// `LIKE t (...)`.
    pub like: Option<LikeClause>,
    /// `AS query`.
    pub as_query: Option<Box<Query>>,
}

/// What stands between the parentheses of a CREATE TABLE, or in ALTER TABLE ADD.
#[derive(Debug, Clone)]
pub enum TableElement {
    /// A column.
    Column(ColumnDef),
    /// `WATERMARK FOR column AS expr`.
    Watermark(WatermarkDef),
    /// `[CONSTRAINT c] PRIMARY KEY (a, b) NOT ENFORCED`.
    PrimaryKey {
        /// The key columns.
        columns: Vec<Ident>,
        /// The whole clause.
        span: Span,
    },
}

/// A column of a CREATE TABLE. A bare name (CTAS with a column list) has kind [`ColumnKind::NameOnly`].
#[derive(Debug, Clone)]
pub struct ColumnDef {
    /// Its name.
    pub name: Ident,
    /// Physical, computed or metadata.
    pub kind: ColumnKind,
    /// `PRIMARY KEY [NOT ENFORCED]` at the column.
    pub primary_key: bool,
    /// `COMMENT '...'`.
    pub comment: Option<String>,
    /// The whole definition.
    pub span: Span,
}

/// The kinds of column that Flink's DDL has.
#[derive(Debug, Clone)]
pub enum ColumnKind {
    /// `name TYPE`.
    Physical(TypeName),
    /// `name AS expr`.
    Computed(Expr),
    /// `name TYPE METADATA [FROM 'key'] [VIRTUAL]`.
    Metadata {
        /// Its declared type.
        ty: TypeName,
        /// The metadata key, if it differs from the name.
        from: Option<String>,
        /// `VIRTUAL` was written.
        is_virtual: bool,
    },
    /// `name` alone.
    NameOnly,
}

/// `WATERMARK FOR a.b AS expr`.
#[derive(Debug, Clone)]
pub struct WatermarkDef {
    /// The rowtime column (a path for nested fields).
    pub column: Vec<Ident>,
    /// The strategy expression.
    pub expr: Expr,
    /// The whole clause.
    pub span: Span,
}

/// `LIKE source (INCLUDING ALL EXCLUDING OPTIONS ...)`.
#[derive(Debug, Clone)]
pub struct LikeClause {
    /// The table that is copied.
    pub source: ObjectName,
    /// The merge options in order: (strategy, feature), upper case, such as (`EXCLUDING`, `OPTIONS`).
    pub options: Vec<(String, String)>,
}

/// A data type as written.
#[derive(Debug, Clone)]
pub struct TypeName {
    /// What it is.
    pub kind: TypeNameKind,
    /// `NOT NULL` was written.
    pub not_null: bool,
    /// Its extent.
    pub span: Span,
}

/// Shapes of type names.
#[derive(Debug, Clone)]
pub enum TypeNameKind {
    /// A name with optional numbers, upper case, words joined by one space: `DECIMAL` [10, 2], `VARCHAR` [20], `DOUBLE PRECISION`,
    /// `TIMESTAMP` [3], `TIMESTAMP_LTZ`, `TIMESTAMP WITH LOCAL TIME ZONE` [3], `INTERVAL DAY TO SECOND`.
    Simple(String, Vec<u32>),
    /// `ARRAY<T>` or `T ARRAY`.
    Array(Box<TypeName>),
    /// `MULTISET<T>` or `T MULTISET`.
    Multiset(Box<TypeName>),
    /// `MAP<K, V>`.
    Map(Box<TypeName>, Box<TypeName>),
    /// `ROW<a INT, ...>` or `ROW(a INT, ...)`.
    Row(Vec<RowField>),
    /// Anything else, such as `RAW('class', '...')` or the name of a structured type.
    Other(String),
}

/// A field of a ROW type.
#[derive(Debug, Clone)]
pub struct RowField {
    /// Its name; fields of `ROW<INT, STRING>` are named `f0`, `f1`, ...
    pub name: Ident,
    /// Its type.
    pub ty: TypeName,
}

/// `CREATE VIEW`.
#[derive(Debug, Clone)]
pub struct CreateView {
    /// The view.
    pub name: ObjectName,
    /// `TEMPORARY` was written.
    pub temporary: bool,
    /// `OR REPLACE` was written.
    pub or_replace: bool,
    /// `IF NOT EXISTS` was written.
    pub if_not_exists: bool,
    /// Column names after the view name.
    pub columns: Vec<Ident>,
    /// The query.
    pub query: Box<Query>,
}

/// `CREATE FUNCTION`.
#[derive(Debug, Clone)]
pub struct CreateFunction {
    /// The function.
    pub name: ObjectName,
    /// The class or path after `AS`.
    pub class: String,
}

/// `DROP`.
#[derive(Debug, Clone)]
pub struct Drop {
    /// `TABLE`, `VIEW`, `FUNCTION`, `CATALOG`, `DATABASE`, upper case.
    pub what: String,
    /// Its name.
    pub name: ObjectName,
    /// `IF EXISTS` was written.
    pub if_exists: bool,
}

/// `ALTER TABLE` and `ALTER VIEW`.
#[derive(Debug, Clone)]
pub struct Alter {
    /// `TABLE` or `VIEW`.
    pub what: String,
    /// Its name.
    pub name: ObjectName,
    /// What is done to it.
    pub action: AlterAction,
}

/// What an ALTER does. What cannot change a plan, or is not modelled, is `Other` with its words.
#[derive(Debug, Clone)]
pub enum AlterAction {
    /// `SET ('k' = 'v', ...)`.
    SetOptions(Vec<TableOption>),
    /// `RESET ('k', ...)`.
    ResetOptions(Vec<String>),
    /// `RENAME TO name`.
    RenameTo(ObjectName),
    /// `RENAME a TO b`.
    RenameColumn(Ident, Ident),
    /// `ADD (...)` or `ADD COLUMN ...`.
    Add(Vec<TableElement>),
    /// `MODIFY (...)`.
    Modify(Vec<TableElement>),
    /// `DROP (a, b)`.
    DropColumns(Vec<Ident>),
    /// `DROP PRIMARY KEY` / `DROP CONSTRAINT c`.
    DropPrimaryKey,
    /// `DROP WATERMARK`.
    DropWatermark,
    /// `AS query` of ALTER VIEW.
    AsQuery(Box<Query>),
    /// Anything else, in words.
    Other(String),
}

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

/// MATCH_RECOGNIZE as written. Planning is still `unsupported`; the parts are kept for it.
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
    /// `ONE ROW PER MATCH` / `ALL ROWS PER MATCH`, upper case, if written.
    pub rows_per_match: Option<String>,
    /// `AFTER MATCH SKIP ...`, upper case, if written.
    pub after_match: Option<String>,
    /// The text between `PATTERN (` and `)`, blanks normalized.
    pub pattern: String,
    /// `WITHIN interval`.
    pub within: Option<Expr>,
    /// `DEFINE v AS expr`.
    pub define: Vec<(Ident, Expr)>,
    /// The whole clause.
    pub span: Span,
}

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
    /// `OVERLAY(..)`, `TIMESTAMPDIFF(SECOND, a, b)` (symbol first); names of `CURRENT_TIMESTAMP` and kin have no arguments.
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
