//! What defines things: tables, views, functions, types, options.

use super::expr::Expr;
use super::query::Query;
use super::script::{Ident, ObjectName};
use crate::source::Span;

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
    /// A name with optional numbers, upper case, words joined by one space: `DECIMAL` with 10 and 2, `VARCHAR` with 20, `DOUBLE PRECISION`,
    /// `TIMESTAMP` with 3, `TIMESTAMP_LTZ`, `TIMESTAMP WITH LOCAL TIME ZONE` with 3, `INTERVAL DAY TO SECOND`.
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
