//! What column names mean in a query: the tables of FROM with their columns.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::join;
use super::rex::{Rex, RexKind};
use super::translate::Resolver;
use crate::catalog::types::{DataType, TypeKind};
use crate::nearest::nearest;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::Ident;

/// Where a name leads in one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    /// One column, by its index in the whole row.
    One(usize),
    /// Two columns of this name.
    Ambiguous,
    /// A column that USING or NATURAL made of two, by its index in `Scope::merged`.
    Merged(usize),
}

/// A table of FROM: its name and its part of the row.
#[derive(Debug, Clone)]
struct ScopeTable {
    /// Its alias, or all parts of its name: `cat`, `db`, `t`.
    name: Vec<String>,
    /// The columns it brings, by name.
    columns: FxHashMap<String, Slot>,
    /// Its first column in the row.
    start: usize,
    /// The number of its columns.
    len: usize,
}

/// The tables of one FROM, whose columns stand side by side in one row. Names are case-sensitive, as in Flink.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    tables: Vec<ScopeTable>,
    columns: Vec<(String, DataType)>,
    by_name: FxHashMap<String, Slot>,
    /// The columns that USING and NATURAL made of two: name and value. `*` begins with them.
    merged: Vec<(String, Rex)>,
    /// Columns that `*` leaves out because they are part of a merged one.
    hidden: Vec<bool>,
    /// What the query around a subquery sees: names that are not found here.
    outer: Option<Arc<Scope>>,
}

impl Scope {
    /// A scope without tables, as of a SELECT without FROM.
    pub fn new() -> Self {
        Self::default()
    }

    /// A scope of one table.
    pub fn of_table(name: &[&str], columns: impl IntoIterator<Item = (String, DataType)>) -> Self {
        let mut scope = Scope::new();
        scope.add_table(name, columns);
        scope
    }

    /// Names that are not found here mean columns of the query around this one.
    pub fn within(&mut self, outer: Option<Arc<Scope>>) {
        self.outer = outer;
    }

    /// Adds a table to the right. `name` is its alias, or the parts of its full name (`t.a`, `db.t.a` and `cat.db.t.a`
    /// all work); empty for one without a name. Returns the range of its columns.
    pub fn add_table(
        &mut self,
        name: &[&str],
        columns: impl IntoIterator<Item = (String, DataType)>,
    ) -> std::ops::Range<usize> {
        let start = self.columns.len();
        let mut own: FxHashMap<String, Slot> = FxHashMap::default();
        for (column, ty) in columns {
            let index = self.columns.len();
            own.entry(column.clone()).and_modify(|s| *s = Slot::Ambiguous).or_insert(Slot::One(index));
            self.by_name.entry(column.clone()).and_modify(|s| *s = Slot::Ambiguous).or_insert(Slot::One(index));
            self.columns.push((column, ty));
            self.hidden.push(false);
        }
        let len = self.columns.len() - start;
        let name = name.iter().map(|s| (*s).to_owned()).collect();
        self.tables.push(ScopeTable { name, columns: own, start, len });
        start..start + len
    }

    /// The tables of `right` stand to the right of those of this scope, in one row.
    pub fn join(mut self, right: Scope) -> Scope {
        let shift = self.columns.len();
        for table in right.tables {
            let columns = table.columns.into_iter().map(|(name, slot)| (name, shifted(slot, shift, 0))).collect();
            self.tables.push(ScopeTable { columns, start: table.start + shift, ..table });
        }
        let merged = self.merged.len();
        for (name, slot) in right.by_name {
            let slot = shifted(slot, shift, merged);
            self.by_name.entry(name).and_modify(|s| *s = Slot::Ambiguous).or_insert(slot);
        }
        self.columns.extend(right.columns);
        self.hidden.extend(right.hidden);
        let shift = isize::try_from(shift).unwrap_or(isize::MAX);
        self.merged.extend(right.merged.into_iter().map(|(name, rex)| (name, join::shifted(&rex, shift))));
        self
    }

    /// Makes one column of `left` and `right`, which both have this name, by USING or NATURAL: `value` is what the name alone
    /// means, and `*` gives it instead of the two.
    pub fn merge(&mut self, name: &str, left: usize, right: usize, value: Rex) {
        self.by_name.insert(name.to_owned(), Slot::Merged(self.merged.len()));
        self.merged.push((name.to_owned(), value));
        self.hidden[left] = true;
        self.hidden[right] = true;
    }

    /// The columns that an unqualified name can mean, each once, in the order in which `*` gives them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let plain = self.columns.iter().map(|(name, _)| name.as_str());
        let mut seen = rustc_hash::FxHashSet::default();
        plain.filter(move |name| seen.insert(*name))
    }

    /// The only column of this name, for USING and NATURAL.
    pub fn single(&self, name: &Ident) -> PlanResult<usize> {
        match self.by_name.get(&name.value) {
            Some(Slot::One(i)) => Ok(*i),
            Some(Slot::Ambiguous | Slot::Merged(_)) => Err(PlanError::rejected(
                name.span,
                format!(
                    "Column name '{}' in NATURAL join or USING clause is not unique on one side of join",
                    name.value
                ),
            )
            .label("more than one column has this name")
            .help("write the condition with ON")
            .into()),
            None => {
                let all = self.columns.iter().map(|(name, _)| name.as_str());
                Err(unknown_column(name, format!("Column '{}' not found in any table", name.value), all))
            }
        }
    }

    /// The name of a table that both scopes have, whatever its database.
    pub fn shared_table(&self, other: &Scope) -> Option<&str> {
        let mine = self.tables.iter().filter_map(|t| t.name.last());
        mine.map(String::as_str).find(|name| other.tables.iter().any(|o| o.name.last().is_some_and(|n| n == name)))
    }

    /// True if an item of FROM goes by this name.
    pub fn has_table(&self, name: &str) -> bool {
        self.table(&[name]).is_some()
    }

    /// All columns: name and type.
    pub fn columns(&self) -> &[(String, DataType)] {
        &self.columns
    }

    /// Replaces the type of a column, such as when it becomes nullable under an outer join.
    pub fn set_type(&mut self, column: usize, ty: DataType) {
        if let Some(c) = self.columns.get_mut(column) {
            c.1 = ty;
        }
    }

    /// The columns that `*` gives: name and value.
    pub fn star(&self) -> impl Iterator<Item = (&str, Rex)> {
        let merged = self.merged.iter().map(|(name, rex)| (name.as_str(), rex.clone()));
        let plain = (0..self.columns.len()).filter(|i| !self.hidden[*i]);
        merged.chain(plain.map(|i| (self.columns[i].0.as_str(), self.rex(i))))
    }

    /// `*` names every column, so that a table with two of one name has none.
    pub fn check_star(&self, at: Span) -> PlanResult<()> {
        self.tables.iter().try_for_each(|t| self.check_distinct(t, at))
    }

    fn check_distinct(&self, table: &ScopeTable, at: Span) -> PlanResult<()> {
        let twice = table.columns.iter().filter(|(_, slot)| **slot == Slot::Ambiguous).map(|(name, _)| name).min();
        match twice {
            Some(value) => Err(self.ambiguous(&Ident { value: value.clone(), quoted: false, span: at })),
            None => Ok(()),
        }
    }

    /// The columns that `t.*` gives.
    pub fn qualified_star(&self, table: &[Ident]) -> PlanResult<std::ops::Range<usize>> {
        let names: Vec<&str> = table.iter().map(|i| i.value.as_str()).collect();
        let Some(t) = self.table(&names) else { return Err(self.unknown_table(table)) };
        let span = table.iter().skip(1).fold(table[0].span, |s, i| s.to(i.span));
        self.check_distinct(t, span)?;
        Ok(t.start..t.start + t.len)
    }

    /// The column as an expression.
    pub fn rex(&self, index: usize) -> Rex {
        Rex::input(index, self.columns[index].1.clone())
    }

    /// The table that these parts name: all its name, or the last parts of it.
    fn table(&self, parts: &[&str]) -> Option<&ScopeTable> {
        self.tables.iter().find(|t| {
            !parts.is_empty()
                && t.name.len() >= parts.len()
                && t.name[t.name.len() - parts.len()..].iter().zip(parts).all(|(a, b)| a == b)
        })
    }

    /// Resolves `a`, `t.a`, `t.r.f`, `cat.db.t.a`: the longest prefix that names a table wins, the rest are fields. What no table
    /// here has may be a column of the query around ([`RexKind::Outer`]).
    pub fn resolve(&self, path: &[Ident]) -> PlanResult<Rex> {
        match (&self.outer, path.first()) {
            (Some(outer), Some(first)) if !self.knows(path) => {
                let span = path.iter().fold(first.span, |s, i| s.to(i.span));
                if outer.outer.is_some() && !outer.knows(path) {
                    return Err(PlanError::unsupported(span, "a column of a query further out").into());
                }
                let rex = outer.resolve(path)?;
                Ok(rex.map_inputs(&mut |i, used| Rex { kind: RexKind::Outer(i), ..used.clone() }))
            }
            _ => self.resolve_here(path),
        }
    }

    /// True if the first names of a path lead somewhere, be it to an error.
    fn knows(&self, path: &[Ident]) -> bool {
        let names: Vec<&str> = path.iter().map(|i| i.value.as_str()).collect();
        (1..names.len().min(4)).any(|n| self.table(&names[..n]).is_some())
            || names.first().is_some_and(|name| self.by_name.contains_key(*name))
    }

    fn resolve_here(&self, path: &[Ident]) -> PlanResult<Rex> {
        let Some(first) = path.first() else {
            return Err(PlanError::rejected(Span::default(), "an empty name").into());
        };
        let span = path.iter().fold(first.span, |s, i| s.to(i.span));
        let names: Vec<&str> = path.iter().map(|i| i.value.as_str()).collect();
        // A column of this name wins over a table of this name only if no table.column fits.
        for qualifier in (1..names.len().min(4)).rev() {
            if let Some(table) = self.table(&names[..qualifier]) {
                return match table.columns.get(names[qualifier]) {
                    Some(slot) => self.column(*slot, &path[qualifier..], span),
                    None => Err(unknown_column(
                        &path[qualifier],
                        format!("Column '{}' not found in table '{}'", names[qualifier], names[..qualifier].join(".")),
                        table.columns.keys().map(String::as_str),
                    )),
                };
            }
        }
        if let Some(slot) = self.by_name.get(names[0]) {
            return self.column(*slot, path, span);
        }
        if path.len() > 1 {
            return Err(self.unknown_table(&path[..1]));
        }
        let all = self.columns.iter().map(|(name, _)| name.as_str());
        Err(unknown_column(first, format!("Column '{}' not found in any table", names[0]), all))
    }

    fn column(&self, slot: Slot, path: &[Ident], span: Span) -> PlanResult<Rex> {
        match slot {
            Slot::One(index) => path[1..].iter().try_fold(self.rex(index), field).map(|rex| rex.at(span)),
            Slot::Merged(index) => {
                path[1..].iter().try_fold(self.merged[index].1.clone(), field).map(|rex| rex.at(span))
            }
            Slot::Ambiguous => Err(self.ambiguous(&path[0])),
        }
    }

    fn ambiguous(&self, name: &Ident) -> Box<PlanError> {
        let owners: Vec<String> = self
            .tables
            .iter()
            .filter(|t| t.columns.contains_key(&name.value))
            .filter_map(|t| t.name.last().map(|n| format!("`{n}.{}`", name.value)))
            .collect();
        let help = match owners.as_slice() {
            [] | [_] => "give one of the columns another name with AS".to_owned(),
            many => format!("write {}", many.join(" or ")),
        };
        PlanError::rejected(name.span, format!("Column '{}' is ambiguous", name.value))
            .label("more than one column has this name")
            .help(help)
            .into()
    }

    fn unknown_table(&self, parts: &[Ident]) -> Box<PlanError> {
        let name = parts.iter().map(|i| i.value.as_str()).collect::<Vec<_>>().join(".");
        let span = parts.iter().fold(parts[0].span, |s, i| s.to(i.span));
        let last = parts.last().map_or("", |i| i.value.as_str());
        let near = nearest(last, self.tables.iter().filter_map(|t| t.name.last()).map(String::as_str));
        PlanError::rejected(span, format!("Table '{name}' not found"))
            .label("no table of this name in FROM")
            .help(
                near.map_or_else(|| "use the alias of a table in FROM".to_owned(), |n| format!("did you mean `{n}`?")),
            )
            .into()
    }
}

fn unknown_column<'a>(name: &Ident, message: String, names: impl Iterator<Item = &'a str>) -> Box<PlanError> {
    let near = nearest(&name.value, names);
    PlanError::rejected(name.span, message)
        .label("no such column")
        .help(near.map_or_else(
            || "check the columns of the tables in FROM; names are case-sensitive".to_owned(),
            |n| format!("did you mean `{n}`?"),
        ))
        .into()
}

/// `row.field`: nullable if the row or the field is.
pub fn field(row: Rex, name: &Ident) -> PlanResult<Rex> {
    let nullable = row.ty.nullable;
    let (index, ty) = match &row.ty.kind {
        TypeKind::Row(fields) => match fields.iter().position(|f| f.name == name.value) {
            Some(i) => (i, fields[i].ty.clone()),
            None => {
                let message = format!("Field '{}' not found in `{}`", name.value, row.ty.kind);
                return Err(unknown_column(name, message, fields.iter().map(|f| f.name.as_str())));
            }
        },
        // Fields of an unknown type are told apart by name: their position is not known.
        TypeKind::Unknown | TypeKind::Other(_) => return Ok(unknown_field(row, name)),
        kind => {
            return Err(PlanError::rejected(
                name.span,
                format!("'{}' is no field: the value before it is {kind}", name.value),
            )
            .label("not a field")
            .help("only ROW values have fields")
            .into());
        }
    };
    let span = row.origins.first().map_or(name.span, |s| s.to(name.span));
    let ty = if nullable { ty.with_nullable(true) } else { ty };
    Ok(Rex { kind: RexKind::Field(Box::new(row), index), ty, origins: super::rex::Origins::at(span) })
}

fn unknown_field(row: Rex, name: &Ident) -> Rex {
    use crate::catalog::functions::operators;
    let key = super::rex::Value::String(name.value.as_str().into());
    let key = Rex::literal(key, TypeKind::Char(name.value.chars().count() as u32).not_null()).at(name.span);
    Rex::call(&operators::ITEM, vec![row, key], DataType::unknown()).at(name.span)
}

fn shifted(slot: Slot, columns: usize, merged: usize) -> Slot {
    match slot {
        Slot::One(i) => Slot::One(i + columns),
        Slot::Merged(i) => Slot::Merged(i + merged),
        Slot::Ambiguous => Slot::Ambiguous,
    }
}

impl Resolver for Scope {
    fn column(&mut self, path: &[Ident]) -> PlanResult<Rex> {
        self.resolve(path)
    }
}
