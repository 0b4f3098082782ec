//! FROM: tables with their computed columns and watermarks, views, CTEs, subqueries, window functions.

use std::sync::Arc;

use super::window_tvf::is_window_function;
use super::{Builder, ast_columns};
use crate::catalog::types::{DataType, TimeAttribute, TypeKind};
use crate::catalog::{InferredTable, Resolved, Table, TableColumnKind, TablePath, View};
use crate::logical::make;
use crate::logical::rel::{Rel, RelColumn, RelOp, Scan, Watermark};
use crate::logical::rex::{Origins, Rex};
use crate::logical::scope::Scope;
use crate::logical::simplify;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Hint, Ident, ObjectName, Select, TableAlias, TableRef, TableRefKind};

/// A FROM item: its rows and the names its columns go by.
pub(super) struct FromItem {
    pub rel: Rel,
    pub scope: Scope,
}

impl FromItem {
    /// An item whose columns go by one name; empty for one without a name.
    pub fn named(rel: Rel, qualifier: &[String]) -> Self {
        Self::written(rel, qualifier, &[])
    }

    /// The same where columns bear the name of another one: their places, and the name that the plan does not give them.
    pub fn written(rel: Rel, qualifier: &[String], repeated: &[(usize, Arc<str>)]) -> Self {
        let qualifier: Vec<&str> = qualifier.iter().map(String::as_str).collect();
        let written = |i: usize| repeated.iter().find(|(at, _)| *at == i).map(|(_, name)| name);
        let columns = rel.columns.iter().enumerate();
        let columns = columns.map(|(i, c)| (written(i).unwrap_or(&c.name).to_string(), c.ty.clone()));
        let scope = Scope::of_table(&qualifier, columns);
        FromItem { rel, scope }
    }

    /// The item by its alias, if it has one. Columns of one name stay so unless the alias names all columns.
    pub(super) fn called(self, alias: Option<&TableAlias>) -> PlanResult<Self> {
        let Some(alias) = alias else { return Ok(self) };
        let FromItem { rel, scope } = self;
        let rel = rename(rel, alias)?;
        let name = [alias.name.value.as_str()];
        let scope = if alias.columns.is_empty() {
            Scope::of_table(&name, scope.columns().iter().cloned())
        } else {
            Scope::of_table(&name, rel.columns.iter().map(|c| (c.name.to_string(), c.ty.clone())))
        };
        Ok(FromItem { rel, scope })
    }
}

impl<'a> Builder<'a> {
    /// The FROM clause of a SELECT.
    pub(super) fn read_from(&mut self, select: &'a Select) -> PlanResult<FromItem> {
        if select.from.len() != 1 {
            self.top = false;
        }
        match select.from.as_slice() {
            [] => Ok(FromItem::named(self.one_row(select.span), &[])),
            [one] => self.table_ref(one, select),
            [first, others @ ..] => self.comma_joins(first, others, select),
        }
    }

    /// One FROM item with its name and its joins.
    pub(super) fn table_ref(&mut self, table: &'a TableRef, select: &'a Select) -> PlanResult<FromItem> {
        self.repeated.clear();
        self.top &= matches!(table.kind, TableRefKind::Table { .. } | TableRefKind::Parenthesized(_));
        let (rel, name) = match &table.kind {
            TableRefKind::Table { system_time: Some(time), .. } => return Err(self.refuse_time_travel(table, time)),
            TableRefKind::Table { name, hints, .. } => {
                self.named_table(name, hints, Some((select, table.alias.as_ref())))?
            }
            TableRefKind::Derived { query, .. } => (self.query(query)?, Vec::new()),
            TableRefKind::Function { call, .. }
                if !is_window_function(call) && self.catalog.declares_function(&call.name) =>
            {
                return self.table_call_alone(call, table.alias.as_ref(), table.span);
            }
            TableRefKind::Function { call, wrapped, lateral } => {
                (self.table_function(call, *wrapped, *lateral, table.span, select)?, Vec::new())
            }
            TableRefKind::Unnest { expr, with_ordinality } => {
                return self.unnest_alone(expr, *with_ordinality, table.alias.as_ref(), table.span);
            }
            TableRefKind::Join(join) => {
                return self.join(join, table.span, select)?.called(table.alias.as_ref());
            }
            TableRefKind::MatchRecognize(m) => {
                if let Some(alias) = table.alias.as_ref().filter(|a| !a.columns.is_empty()) {
                    let message = format!("Duplicate relation name '{}' in FROM clause", alias.name.value);
                    return Err(PlanError::rejected(alias.name.span, message)
                        .label("names for columns are not possible behind MATCH_RECOGNIZE")
                        .help("name the columns in MEASURES")
                        .into());
                }
                (self.match_recognize(m, select)?, Vec::new())
            }
            TableRefKind::Parenthesized(inner) => {
                return self.table_ref(inner, select)?.called(table.alias.as_ref());
            }
        };
        let repeated = std::mem::take(&mut self.repeated);
        FromItem::written(rel, &name, &repeated).called(table.alias.as_ref())
    }

    /// A CTE, table or view by its name. `select` is where an inferred table finds its columns.
    pub(super) fn named_table(
        &mut self,
        name: &'a ObjectName,
        hints: &[Hint],
        select: Option<(&'a Select, Option<&'a TableAlias>)>,
    ) -> PlanResult<(Rel, Vec<String>)> {
        let top = std::mem::take(&mut self.top);
        let qualifier: Vec<String> = name.parts.iter().map(|p| p.value.clone()).collect();
        if let [single] = name.parts.as_slice()
            && let Some(at) = self.ctes.iter().rposition(|c| c.name == single.value)
        {
            return Ok((self.expand_cte(at, name.span)?, qualifier));
        }
        match self.catalog.resolve(name)? {
            Resolved::Table(table) => {
                let full =
                    vec![table.path.catalog.to_string(), table.path.database.to_string(), table.path.name.to_string()];
                let (table, hints) = with_hints(table, hints);
                self.charge(table.columns.len(), name.span)?;
                Ok((self.scan(table, hints, name.span)?, full))
            }
            Resolved::View(view) if self.open_views.contains(&view.path) => Err(reads_itself(&view, name)),
            Resolved::View(view) => Ok((self.view(&view, top, name.span)?, qualifier)),
            Resolved::Unknown { path, qualified, .. } => {
                if self.catalog.declares_tables() && !qualified {
                    return Err(self.catalog.unknown_table(name, self.ctes.iter().map(|c| c.name)));
                }
                let Some((select, alias)) = select else { return Err(self.catalog.unknown_table(name, [])) };
                // Which of the tables a column belongs to, and whether it is a time attribute, only their DDL tells.
                if self.joins > 0 {
                    return Err(PlanError::unsupported(name.span, "a join of a table without DDL").into());
                }
                let table = self.infer(path, name, select, alias);
                self.charge(table.columns.len(), name.span)?;
                Ok((self.scan(table, Vec::new(), name.span)?, qualifier))
            }
        }
    }

    fn expand_cte(&mut self, at: usize, used: Span) -> PlanResult<Rel> {
        let cte = self.ctes[at].clone();
        // A CTE sees only those before it.
        let hidden = self.ctes.split_off(cte.visible);
        // Nor does it see the query that uses it.
        let outer = self.outer.take();
        let result = self.query(cte.query);
        self.outer = outer;
        let repeated = std::mem::take(&mut self.repeated);
        self.ctes.truncate(cte.visible);
        self.ctes.extend(hidden);
        let rel = result?;
        if let (true, Some((_, name))) = (cte.columns.is_empty(), repeated.first()) {
            return Err(duplicate_in_cte(name, cte.query.span));
        }
        rename_columns(rel, cte.columns, used)
    }

    /// A view's query is planned where the view was created, and its CTEs are its own. Its order counts if the view stands
    /// for the statement's own query.
    fn view(&mut self, view: &Arc<View>, top: bool, used: Span) -> PlanResult<Rel> {
        let (catalog, database) = self.catalog.current();
        let here = &*view.context.0 == catalog && &*view.context.1 == database;
        let other;
        let context = if here {
            self.catalog
        } else {
            other = self.catalog.with_current(&view.context);
            &other
        };
        self.enter(used)?;
        let mut inner = Builder::new(context, self.target);
        inner.nesting = self.nesting;
        inner.top = top;
        inner.open_views = std::mem::take(&mut self.open_views);
        inner.open_views.push(view.path.clone());
        inner.budget = self.budget;
        let result = inner.query(&view.query);
        self.budget = inner.budget;
        inner.open_views.pop();
        self.open_views = std::mem::take(&mut inner.open_views);
        self.notes.append(&mut inner.notes);
        self.having.append(&mut inner.having);
        self.leave();
        let rel = result?;
        if let (true, Some((_, name))) = (view.columns.is_empty(), inner.repeated.first()) {
            return Err(PlanError::rejected(
                view.query.span,
                format!("A column with the same name `{name}` has been defined"),
            )
            .label(format!("two columns are called `{name}`"))
            .help("give one of them another name with AS")
            .into());
        }
        rename_columns(rel, &view.columns, used)
    }

    /// A table without DDL: its columns are those that the SELECT around it uses.
    fn infer(
        &mut self,
        path: TablePath,
        name: &ObjectName,
        select: &'a Select,
        alias: Option<&'a TableAlias>,
    ) -> Arc<Table> {
        let mut table = InferredTable::new(path.clone(), name.span);
        let qualifier = alias.map_or(name.last(), |a| a.name.value.as_str());
        ast_columns::of_select(select, &mut |column: &[Ident]| {
            let own = match column {
                [only] => Some(only),
                [first, second, ..] if first.value == qualifier => Some(second),
                [first, ..] => Some(first),
                [] => None,
            };
            if let Some(own) = own.filter(|c| !is_window_column(&c.value)) {
                table.column(&own.value, own.span);
            }
        });
        let message = format!("table `{}` has no DDL; its columns are inferred from use", name.last());
        self.note(message, name.span);
        let table = Arc::new(table.finish());
        self.inferred.insert(path, table.clone());
        table
    }

    /// A scan with computed columns, metadata and watermark (Flink's `DynamicSourceUtils`, `CatalogSourceTable`).
    pub(super) fn scan(&mut self, table: Arc<Table>, hints: Vec<(String, String)>, used: Span) -> PlanResult<Rel> {
        let is_metadata = |i: &usize| matches!(table.columns[*i].kind, TableColumnKind::Metadata { .. });
        let stored: Vec<usize> = (0..table.columns.len()).filter(|i| table.is_stored(*i)).collect();
        let (metadata, physical): (Vec<usize>, Vec<usize>) = stored.into_iter().partition(is_metadata);
        let fields: Vec<usize> = physical.into_iter().chain(metadata).collect();
        let origins = Origins::at(used);
        let columns: Vec<RelColumn> = fields
            .iter()
            .map(|f| {
                let c = &table.columns[*f];
                RelColumn::new(c.name.as_str(), c.ty.clone())
            })
            .collect();
        let mut rel = Rel {
            op: RelOp::Scan(Scan {
                table: table.clone(),
                fields: fields.clone(),
                projected: false,
                watermark: None,
                filters: Vec::new(),
                hints,
            }),
            inputs: Vec::new(),
            columns,
            origins: origins.clone(),
        };
        if fields.len() < table.columns.len() || table.columns.iter().enumerate().any(|(i, _)| is_metadata(&i)) {
            rel = self.add_computed_columns(rel, &table, &fields, &origins)?;
        }
        match &table.watermark {
            Some(watermark) => self.add_watermark(rel, watermark, &origins),
            None => Ok(rel),
        }
    }

    fn add_computed_columns(
        &mut self,
        rel: Rel,
        table: &Table,
        fields: &[usize],
        origins: &Origins,
    ) -> PlanResult<Rel> {
        let stored = fields.iter().map(|f| (table.columns[*f].name.clone(), table.columns[*f].ty.clone()));
        let mut scope = Scope::of_table(&[&table.path.name], stored);
        let mut place = vec![None; table.columns.len()];
        for (i, f) in fields.iter().enumerate() {
            place[*f] = Some(i);
        }
        let mut translator = Translator::new(self.catalog);
        let mut exprs = Vec::with_capacity(table.columns.len());
        for (i, column) in table.columns.iter().enumerate() {
            exprs.push(match (&column.kind, place[i]) {
                (TableColumnKind::Computed(e), _) => simplify::simplify(translator.expr(e, &mut scope)?),
                // Metadata comes NOT NULL from the source and is cast to the declared type.
                (TableColumnKind::Metadata { .. }, Some(at)) => make::cast(rel.column(at), column.ty.clone()),
                (_, Some(at)) => rel.column(at),
                (_, None) => return Err(PlanError::rejected(column.span, "a column that is not stored").into()),
            });
        }
        let names = table.columns.iter().map(|c| Arc::from(c.name.as_str())).collect();
        Ok(rel.project_as(exprs, names, origins.clone()))
    }

    fn add_watermark(&mut self, rel: Rel, watermark: &crate::catalog::Watermark, origins: &Origins) -> PlanResult<Rel> {
        if watermark.path.len() > 1 {
            return Err(PlanError::unsupported(watermark.span, "a watermark on a nested field").into());
        }
        // The order of columns is the table's once computed columns are in; before that it is the scan's.
        let name = &watermark.path[0];
        let rowtime = rel.columns.iter().position(|c| *c.name == **name).unwrap_or(watermark.column);
        crate::catalog::check_rowtime_type(&rel.columns[rowtime].ty, watermark.span)?;
        let mut scope = Scope::of_table(&[], rel.columns.iter().map(|c| (c.name.to_string(), c.ty.clone())));
        let expr = simplify::simplify(Translator::new(self.catalog).expr(&watermark.expr, &mut scope)?);
        crate::catalog::check_watermark_type(&expr.ty, &rel.columns[rowtime].ty, watermark.span)?;
        let mut columns = rel.columns.clone();
        let ty = &mut columns[rowtime].ty;
        *ty = ty.clone().with_time_attribute(TimeAttribute::Rowtime);
        let op = RelOp::Watermark(Watermark { rowtime, expr });
        Ok(Rel { op, inputs: vec![rel], columns, origins: origins.clone() })
    }
}

fn is_window_column(name: &str) -> bool {
    matches!(name, "window_start" | "window_end" | "window_time")
}

/// OPTIONS hints override the table's options.
fn with_hints(table: Arc<Table>, hints: &[Hint]) -> (Arc<Table>, Vec<(String, String)>) {
    let options: Vec<_> = hints.iter().filter(|h| h.name == "OPTIONS").flat_map(|h| h.options.iter()).collect();
    if options.is_empty() {
        return (table, Vec::new());
    }
    let mut own = (*table).clone();
    for option in &options {
        own.options.set((*option).clone());
    }
    (Arc::new(own), options.into_iter().map(|o| (o.key.clone(), o.value.clone())).collect())
}

fn rename(rel: Rel, alias: &TableAlias) -> PlanResult<Rel> {
    rename_columns(rel, &alias.columns, alias.name.span)
}

/// `AS t (a, b)`: other names for the columns.
fn rename_columns(rel: Rel, names: &[Ident], at: Span) -> PlanResult<Rel> {
    if names.is_empty() {
        return Ok(rel);
    }
    check_alias_list(names, rel.columns.len(), at)?;
    let exprs = rel.all_columns();
    let names = names.iter().map(|n| n.value.as_str().into()).collect();
    Ok(rel.project_as(exprs, names, Origins::none()))
}

/// A name for each of `width` columns, and none twice.
pub(super) fn check_alias_list(names: &[Ident], width: usize, at: Span) -> PlanResult<()> {
    if let Some((_, again)) = names.iter().enumerate().find(|(i, n)| names[..*i].iter().any(|o| o.value == n.value)) {
        return Err(PlanError::rejected(again.span, format!("Duplicate name '{}' in column alias list", again.value))
            .label("this name is taken")
            .help("give each column a name of its own")
            .into());
    }
    if names.len() != width {
        return Err(PlanError::rejected(
            names.first().map_or(at, |n| names.iter().fold(n.span, |s, n| s.to(n.span))),
            format!("the query has {width} columns, but {} names are given", names.len()),
        )
        .label("a name for every column, or none")
        .into());
    }
    Ok(())
}

/// A CTE whose columns cannot be told apart.
pub(super) fn duplicate_in_cte(name: &str, at: Span) -> Box<PlanError> {
    let message = format!("Column has duplicate column name '{name}' and no column list specified");
    PlanError::rejected(at, message)
        .label(format!("two columns are called `{name}`"))
        .help("give one of them another name with AS")
        .into()
}

/// Flink looks for a view's tables before there is the view.
fn reads_itself(view: &View, name: &ObjectName) -> Box<PlanError> {
    let written: Vec<&str> = name.parts.iter().map(|p| p.value.as_str()).collect();
    PlanError::rejected(name.span, format!("Object '{}' not found", written.join(".")))
        .label(format!("the view `{}` is not there while it is defined", view.path.name))
        .help("read the table that the view is made of")
        .into()
}

/// The type a time column of an inferred table is taken to have.
pub(super) fn inferred_rowtime() -> DataType {
    TypeKind::Timestamp(3, TimeAttribute::Rowtime).nullable()
}

/// True if `e` is a bare column of unknown type.
pub(super) fn is_unknown_column(e: &Rex) -> bool {
    e.as_input().is_some() && e.ty.is_unknown()
}
