//! What names mean: tables, views, functions, options and types.
//!
//! A [`Catalog`] is what a session knows after the statements so far. Statements are applied in order; what a later
//! statement changes does not touch what an earlier one saw.

pub mod aggregates;
mod alter;
pub mod coercion;
pub mod connector_operators;
pub mod connectors;
mod create;
pub mod functions;
mod like;
pub mod options;
mod table;
mod time_zone;
mod type_names;
pub mod types;
pub mod value;

use std::sync::Arc;

use connectors::Connectors;
use rustc_hash::{FxHashMap, FxHashSet};

pub use self::create::{check_rowtime_type, check_watermark_type};
pub use self::options::SessionOptions;
pub use self::table::{
    DEFAULT_CATALOG, DEFAULT_DATABASE, InferredTable, PrimaryKey, Table, TableColumn, TableColumnKind, TableOptions,
    TablePath, View, Watermark,
};
pub use self::time_zone::session_zone;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Drop, ObjectName, Statement, StatementKind};

/// Something worth saying that is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// One sentence without a full stop.
    pub message: String,
    /// The place.
    pub span: Span,
}

/// What a name stands for.
#[derive(Debug, Clone)]
pub enum Resolved {
    /// A table.
    Table(Arc<Table>),
    /// A view.
    View(Arc<View>),
    /// Nothing known. `path` is the full name it would have.
    Unknown {
        /// The full name.
        path: TablePath,
        /// It is written with its catalog, so it may be used without DDL.
        qualified: bool,
        /// The nearest known name.
        suggestion: Option<String>,
    },
}

/// A table or a view.
#[derive(Debug, Clone)]
enum Entry {
    Table(Arc<Table>),
    View(Arc<View>),
}

impl Entry {
    fn temporary(&self) -> bool {
        match self {
            Entry::Table(t) => t.temporary,
            Entry::View(v) => v.temporary,
        }
    }
}

/// What a session knows.
#[derive(Debug, Clone)]
pub struct Catalog {
    current: (Arc<str>, Arc<str>),
    /// Permanent and temporary objects live side by side; a temporary one hides the permanent one of its name.
    /// Behind `Arc`s, so that a copy of the session costs nothing.
    permanent: Arc<FxHashMap<TablePath, Entry>>,
    temporary: Arc<FxHashMap<TablePath, Entry>>,
    functions: Arc<FxHashMap<String, Arc<str>>>,
    catalogs: FxHashSet<Arc<str>>,
    databases: FxHashSet<(Arc<str>, Arc<str>)>,
    options: SessionOptions,
    declares_tables: bool,
    connectors: Connectors,
}

impl Default for Catalog {
    fn default() -> Self {
        Self::new()
    }
}

impl Catalog {
    /// A session at its start: Flink's default catalog and database, nothing in them.
    pub fn new() -> Self {
        let (catalog, database): (Arc<str>, Arc<str>) = (DEFAULT_CATALOG.into(), DEFAULT_DATABASE.into());
        Catalog {
            current: (catalog.clone(), database.clone()),
            permanent: Arc::default(),
            temporary: Arc::default(),
            functions: Arc::default(),
            catalogs: FxHashSet::from_iter([catalog.clone()]),
            databases: FxHashSet::from_iter([(catalog, database)]),
            options: SessionOptions::default(),
            declares_tables: false,
            connectors: Connectors::default(),
        }
    }

    /// What is known of connectors.
    pub fn connectors(&self) -> &Connectors {
        &self.connectors
    }

    /// A session in which more is known of connectors.
    pub fn with(connectors: Connectors) -> Self {
        Catalog { connectors, ..Catalog::new() }
    }

    /// Takes in a statement. Statements that define nothing (INSERT, SELECT ...) change nothing.
    pub fn apply(&mut self, statement: &Statement) -> PlanResult<Vec<Note>> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Set(Some(option)) => self.options.set(&option.key, &option.value, option.span)?,
            StatementKind::Set(None) => {}
            StatementKind::Reset(key) => self.options.reset(key.as_ref().map(|k| k.value.as_str())),
            StatementKind::CreateTable(create) => return self.create_table(create, span),
            StatementKind::CreateView(create) => self.create_view(create, span)?,
            StatementKind::CreateFunction(create) => {
                let name = self.path(&create.name)?;
                let key = if create.name.parts.len() == 1 { name.name.to_lowercase() } else { name.to_string() };
                Arc::make_mut(&mut self.functions).insert(key, create.class.as_str().into());
            }
            StatementKind::CreateCatalog { name, .. } => {
                self.catalogs.insert(name.value.as_str().into());
            }
            StatementKind::CreateDatabase(name) => {
                let database = self.database_path(name)?;
                self.databases.insert(database);
            }
            StatementKind::UseCatalog(name) => {
                let catalog: Arc<str> = name.value.as_str().into();
                // A catalog that the script does not create is one of the cluster's: nothing is known about it.
                let database = if &*catalog == DEFAULT_CATALOG { DEFAULT_DATABASE } else { "default" };
                self.current = (catalog, database.into());
            }
            StatementKind::UseDatabase(name) => self.use_database(name)?,
            StatementKind::Drop(drop) => self.drop_object(drop, span)?,
            StatementKind::Alter(alter) => self.alter(alter, span)?,
            _ => {}
        }
        Ok(Vec::new())
    }

    /// The session's options as set so far.
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// Current catalog and database.
    pub fn current(&self) -> (&str, &str) {
        (&self.current.0, &self.current.1)
    }

    /// The same session with other current names, as a view's query needs it.
    pub fn with_current(&self, context: &(Arc<str>, Arc<str>)) -> Catalog {
        Catalog { current: context.clone(), ..self.clone() }
    }

    /// True if any table was declared: then an unknown unqualified name is an error.
    pub fn declares_tables(&self) -> bool {
        self.declares_tables
    }

    /// The full name of `name`.
    pub fn path(&self, name: &ObjectName) -> PlanResult<TablePath> {
        let part = |i: usize| Arc::<str>::from(name.parts[i].value.as_str());
        let (catalog, database) = self.current.clone();
        Ok(match name.parts.len() {
            1 => TablePath { catalog, database, name: part(0) },
            2 => TablePath { catalog, database: part(0), name: part(1) },
            3 => TablePath { catalog: part(0), database: part(1), name: part(2) },
            n => {
                return Err(PlanError::rejected(
                    name.span,
                    format!("a table name has at most three parts, this one has {n}"),
                )
                .label("too many parts")
                .help("write `catalog`.`database`.`table`; quote a part that holds a dot")
                .into());
            }
        })
    }

    /// What `name` stands for.
    pub fn resolve(&self, name: &ObjectName) -> PlanResult<Resolved> {
        let path = self.path(name)?;
        Ok(match self.get(&path) {
            Some(Entry::Table(t)) => Resolved::Table(t.clone()),
            Some(Entry::View(v)) => Resolved::View(v.clone()),
            None => {
                let suggestion = self.suggest(&path, []);
                Resolved::Unknown { path, qualified: name.parts.len() == 3, suggestion }
            }
        })
    }

    /// The table of this full name.
    pub fn table(&self, path: &TablePath) -> Option<&Arc<Table>> {
        match self.get(path)? {
            Entry::Table(t) => Some(t),
            Entry::View(_) => None,
        }
    }

    /// The functions that the script declares, by name, with what implements them.
    pub fn functions(&self) -> std::collections::BTreeMap<String, String> {
        self.functions.iter().map(|(name, class)| (name.clone(), class.to_string())).collect()
    }

    /// The names of all tables that the script declares.
    pub fn table_names(&self) -> Vec<Arc<str>> {
        let entries = self.permanent.iter().chain(self.temporary.iter());
        let tables = entries.filter(|(_, entry)| matches!(entry, Entry::Table(_)));
        let mut names: Vec<Arc<str>> = tables.map(|(path, _)| path.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// All TEMPORARY TABLEs, in order of their names.
    pub fn temporary_tables(&self) -> Vec<Arc<Table>> {
        let tables = self.temporary.values().filter_map(|entry| match entry {
            Entry::Table(t) => Some(t.clone()),
            Entry::View(_) => None,
        });
        let mut tables: Vec<Arc<Table>> = tables.collect();
        tables.sort_by(|a, b| a.path.cmp(&b.path));
        tables
    }

    /// Declares a table that something else completed, such as CTAS.
    pub fn add_table(&mut self, table: Table) -> PlanResult<()> {
        self.insert(table.path.clone(), Entry::Table(Arc::new(table)), false, None)
    }

    /// The error for a name that nothing stands for. `also` are names that stand for something at this place only.
    pub fn unknown_table<'n>(&'n self, name: &ObjectName, also: impl IntoIterator<Item = &'n str>) -> Box<PlanError> {
        let written: Vec<&str> = name.parts.iter().map(|p| p.value.as_str()).collect();
        let error = PlanError::rejected(name.span, format!("Object '{}' not found", written.join(".")))
            .label("no table or view of this name");
        let suggestion = self.path(name).ok().and_then(|p| self.suggest(&p, also));
        Box::new(match suggestion {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("declare it with CREATE TABLE, or pass its DDL with --schema"),
        })
    }

    /// True if the script declares a function of this name.
    pub fn declares_function(&self, name: &ObjectName) -> bool {
        let Ok(path) = self.path(name) else { return false };
        self.functions.contains_key(&path.name.to_lowercase()) || self.functions.contains_key(&path.to_string())
    }

    /// The names of declared functions.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    fn get(&self, path: &TablePath) -> Option<&Entry> {
        self.temporary.get(path).or_else(|| self.permanent.get(path))
    }

    fn suggest<'n>(&'n self, path: &TablePath, also: impl IntoIterator<Item = &'n str>) -> Option<String> {
        let names = self.permanent.keys().chain(self.temporary.keys());
        let here = names.clone().filter(|p| p.catalog == path.catalog && p.database == path.database);
        crate::nearest::nearest(&path.name, here.map(|p| &*p.name).chain(also))
            .map(str::to_owned)
            .or_else(|| names.filter(|p| p.name == path.name).map(ToString::to_string).min())
    }

    fn insert(&mut self, path: TablePath, entry: Entry, replace: bool, span: Option<Span>) -> PlanResult<()> {
        let temporary = entry.temporary();
        let map = Arc::make_mut(if temporary { &mut self.temporary } else { &mut self.permanent });
        if !replace && map.contains_key(&path) {
            let message = if temporary {
                format!("Temporary table '`{}`.`{}`.`{}`' already exists", path.catalog, path.database, path.name)
            } else {
                format!("Table (or view) {}.{} already exists in Catalog {}", path.database, path.name, path.catalog)
            };
            let mut error = PlanError::rejected(span.unwrap_or_default(), message)
                .label("declared a second time")
                .help("rename one of them, DROP the first, or write IF NOT EXISTS");
            error.span = span;
            return Err(error.into());
        }
        self.declares_tables |= matches!(entry, Entry::Table(_));
        map.insert(path, entry);
        Ok(())
    }

    fn database_path(&self, name: &ObjectName) -> PlanResult<(Arc<str>, Arc<str>)> {
        let part = |i: usize| Arc::<str>::from(name.parts[i].value.as_str());
        match name.parts.len() {
            1 => Ok((self.current.0.clone(), part(0))),
            2 => Ok((part(0), part(1))),
            n => {
                Err(PlanError::rejected(name.span, format!("a database name has at most two parts, this one has {n}"))
                    .label("too many parts")
                    .help("write `catalog`.`database`")
                    .into())
            }
        }
    }

    fn use_database(&mut self, name: &ObjectName) -> PlanResult<()> {
        let (catalog, database) = self.database_path(name)?;
        let known = self.databases.contains(&(catalog.clone(), database.clone()));
        if &*catalog == DEFAULT_CATALOG && !known {
            let message = format!("A database with name [{database}] does not exist in the catalog: [{catalog}]");
            return Err(PlanError::rejected(name.span, message)
                .label("no such database")
                .help("create it first with CREATE DATABASE")
                .into());
        }
        self.current = (catalog, database);
        Ok(())
    }

    fn drop_object(&mut self, drop: &Drop, span: Span) -> PlanResult<()> {
        let is_view = match drop.what.as_str() {
            "TABLE" => false,
            "VIEW" => true,
            "FUNCTION" => {
                let path = self.path(&drop.name)?;
                let functions = Arc::make_mut(&mut self.functions);
                functions.remove(&path.name.to_lowercase());
                functions.remove(&path.to_string());
                return Ok(());
            }
            _ => return Ok(()),
        };
        let path = self.path(&drop.name)?;
        let matches = |e: Option<&Entry>| e.is_some_and(|e| matches!(e, Entry::View(_)) == is_view);
        if matches(self.temporary.get(&path)) {
            Arc::make_mut(&mut self.temporary).remove(&path);
        } else if matches(self.permanent.get(&path)) {
            Arc::make_mut(&mut self.permanent).remove(&path);
        } else if !drop.if_exists && (self.declares_tables || is_view) {
            let what = if is_view { "View" } else { "Table" };
            return Err(PlanError::rejected(span, format!("{what} with identifier '{path}' does not exist"))
                .label(format!("no such {}", what.to_lowercase()))
                .help("write DROP ... IF EXISTS if it may be missing")
                .into());
        }
        Ok(())
    }
}
