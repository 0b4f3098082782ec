//! Tables and views as the catalog knows them.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::connectors::Connectors;
use super::types::DataType;
use crate::source::Span;
use crate::syntax::ast;

/// The catalog a session starts in.
pub const DEFAULT_CATALOG: &str = "default_catalog";
/// The database a session starts in.
pub const DEFAULT_DATABASE: &str = "default_database";

/// The full name of a table or view.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TablePath {
    /// The catalog.
    pub catalog: Arc<str>,
    /// The database.
    pub database: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

/// Prints `default_catalog.default_database.t`.
impl fmt::Display for TablePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.catalog, self.database, self.name)
    }
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its full name.
    pub path: TablePath,
    /// Its columns in order.
    pub columns: Vec<TableColumn>,
    /// Its primary key.
    pub primary_key: Option<PrimaryKey>,
    /// Its watermark.
    pub watermark: Option<Watermark>,
    /// Its WITH options.
    pub options: TableOptions,
    /// What is known of connectors.
    pub connectors: Connectors,
    /// `PARTITIONED BY` columns.
    pub partition_keys: Vec<String>,
    /// `TEMPORARY`.
    pub temporary: bool,
    /// No DDL exists: columns come into being on first use.
    pub inferred: bool,
    /// Its CREATE statement, or the first use of an inferred table.
    pub span: Span,
    /// Its name there.
    pub name_span: Span,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// Physical, computed or metadata.
    pub kind: TableColumnKind,
    /// Its declared type. Computed columns are [`DataType::unknown`] until the planner types their expression.
    pub ty: DataType,
    /// Its comment.
    pub comment: Option<String>,
    /// Its definition.
    pub span: Span,
}

/// What a column is.
#[derive(Debug, Clone)]
pub enum TableColumnKind {
    /// Stored.
    Physical,
    /// `AS expr`.
    Computed(Arc<ast::Expr>),
    /// `METADATA [FROM 'key'] [VIRTUAL]`.
    Metadata {
        /// The metadata key: the name, if no other is given.
        key: String,
        /// Not written to.
        is_virtual: bool,
    },
}

/// A primary key.
#[derive(Debug, Clone)]
pub struct PrimaryKey {
    /// Column indices, in the order of the constraint.
    pub columns: Vec<usize>,
    /// The constraint.
    pub span: Span,
}

/// A watermark declaration.
#[derive(Debug, Clone)]
pub struct Watermark {
    /// The column.
    pub column: usize,
    /// Names from the column down to the field: one for a plain column.
    pub path: Vec<String>,
    /// The strategy.
    pub expr: Arc<ast::Expr>,
    /// The declaration.
    pub span: Span,
}

/// WITH options: in the order written, each with its place.
#[derive(Debug, Clone, Default)]
pub struct TableOptions(Vec<ast::TableOption>);

impl TableOptions {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|o| o.key == key).map(|o| o.value.as_str())
    }

    /// Where `key` is set.
    pub fn span(&self, key: &str) -> Option<Span> {
        self.0.iter().find(|o| o.key == key).map(|o| o.span)
    }

    /// Sets an option, in place if it exists.
    pub fn set(&mut self, option: ast::TableOption) {
        match self.0.iter_mut().find(|o| o.key == option.key) {
            Some(old) => *old = option,
            None => self.0.push(option),
        }
    }

    /// Removes an option.
    pub fn remove(&mut self, key: &str) {
        self.0.retain(|o| o.key != key);
    }

    /// All options in order.
    pub fn iter(&self) -> impl Iterator<Item = &ast::TableOption> {
        self.0.iter()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<ast::TableOption> for TableOptions {
    fn from_iter<I: IntoIterator<Item = ast::TableOption>>(options: I) -> Self {
        let mut all = TableOptions::default();
        options.into_iter().for_each(|o| all.set(o));
        all
    }
}

impl Table {
    /// The index of a column. Column names are case-sensitive.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// Column names to indices, for many lookups.
    pub fn column_map(&self) -> FxHashMap<&str, usize> {
        self.columns.iter().enumerate().map(|(i, c)| (c.name.as_str(), i)).collect()
    }

    /// True if the column is read or written by the connector (physical or metadata).
    pub fn is_stored(&self, column: usize) -> bool {
        !matches!(self.columns[column].kind, TableColumnKind::Computed(_))
    }

    /// Columns that an INSERT writes: physical ones and metadata that is not virtual.
    pub fn sink_columns(&self) -> impl Iterator<Item = (usize, &TableColumn)> {
        self.columns.iter().enumerate().filter(|(_, c)| match &c.kind {
            TableColumnKind::Physical => true,
            TableColumnKind::Computed(_) => false,
            TableColumnKind::Metadata { is_virtual, .. } => !is_virtual,
        })
    }
}

/// A view.
#[derive(Debug, Clone)]
pub struct View {
    /// Its full name.
    pub path: TablePath,
    /// Column names after the view's name; empty if none are written.
    pub columns: Vec<ast::Ident>,
    /// Its query.
    pub query: Arc<ast::Query>,
    /// The catalog and the database that were current when it was created: its query's names resolve in them.
    pub context: (Arc<str>, Arc<str>),
    /// `TEMPORARY`.
    pub temporary: bool,
    /// Its CREATE statement.
    pub span: Span,
}

/// A table without DDL whose columns come into being on first use, with unknown type.
#[derive(Debug, Clone)]
pub struct InferredTable {
    path: TablePath,
    columns: Vec<TableColumn>,
    index: FxHashMap<String, usize>,
    span: Span,
}

impl InferredTable {
    /// A table without columns, first used at `span`.
    pub fn new(path: TablePath, span: Span) -> Self {
        InferredTable { path, columns: Vec::new(), index: FxHashMap::default(), span }
    }

    /// Its full name.
    pub fn path(&self) -> &TablePath {
        &self.path
    }

    /// The index of a column, which comes into being if it is not there.
    pub fn column(&mut self, name: &str, span: Span) -> usize {
        if let Some(i) = self.index.get(name) {
            return *i;
        }
        self.declare(name, DataType::unknown(), span)
    }

    /// As [`InferredTable::column`], and narrows an unknown type to `ty`.
    pub fn column_of_type(&mut self, name: &str, ty: DataType, span: Span) -> usize {
        let i = self.column(name, span);
        if self.columns[i].ty.is_unknown() {
            self.columns[i].ty = ty;
        }
        i
    }

    fn declare(&mut self, name: &str, ty: DataType, span: Span) -> usize {
        let column = TableColumn { name: name.to_owned(), kind: TableColumnKind::Physical, ty, comment: None, span };
        self.columns.push(column);
        self.index.insert(name.to_owned(), self.columns.len() - 1);
        self.columns.len() - 1
    }

    /// The columns so far.
    pub fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// The table with the columns found so far.
    pub fn finish(self) -> Table {
        Table {
            path: self.path,
            columns: self.columns,
            primary_key: None,
            watermark: None,
            options: TableOptions::default(),
            connectors: Connectors::default(),
            partition_keys: Vec::new(),
            temporary: false,
            inferred: true,
            span: self.span,
            name_span: self.span,
        }
    }
}
