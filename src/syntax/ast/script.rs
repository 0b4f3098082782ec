//! Names, scripts and statements.

use super::ddl::{Alter, CreateFunction, CreateTable, CreateView, Drop, SetOption, TableOption};
use super::query::{Insert, Query};
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

impl Script {
    /// True if the script parses and nothing in it would run: no INSERT, no query, no CREATE TABLE AS.
    pub fn only_declares(&self) -> bool {
        self.errors.is_empty() && !self.statements.iter().any(|s| s.kind.runs())
    }
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
    /// True for statements that start a job.
    pub fn runs(&self) -> bool {
        match self {
            StatementKind::Insert(_) | StatementKind::StatementSet(_) | StatementKind::Query(_) => true,
            StatementKind::CreateTable(table) => table.as_query.is_some(),
            StatementKind::Wrapped { inner, .. } => inner.kind.runs(),
            _ => false,
        }
    }

    /// The name that the statement gives to a table, view or function.
    pub fn declares(&self) -> Option<&ObjectName> {
        match self {
            StatementKind::CreateTable(table) => Some(&table.name),
            StatementKind::CreateView(view) => Some(&view.name),
            StatementKind::CreateFunction(function) => Some(&function.name),
            _ => None,
        }
    }

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
