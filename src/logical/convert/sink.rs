//! INSERT: the query's columns are brought to the sink's.

use std::sync::Arc;

use super::Builder;
use crate::catalog::types::{DataType, TypeKind};
use crate::catalog::{Resolved, Table};
use crate::logical::make;
use crate::logical::rel::Rel;
use crate::logical::rex::{Origins, Rex, Value};
use crate::logical::simplify;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Ident, Insert};

/// A sink and the query in its shape.
pub struct InsertTarget {
    /// The query, cast to the sink's columns.
    pub rel: Rel,
    /// The sink; none if it has no DDL.
    pub table: Option<Arc<Table>>,
    /// Its name as written.
    pub name: String,
    /// The sink's column for each column of the query.
    pub target_columns: Vec<String>,
    /// The names that the query gives its columns, by place in `target_columns`; empty where the INSERT fills one.
    pub query_columns: Vec<String>,
    /// The columns that the INSERT names, as indices of the sink's.
    pub listed: Option<Vec<usize>>,
    /// OPTIONS hints.
    pub hints: Vec<(String, String)>,
}

impl<'a> Builder<'a> {
    /// `INSERT INTO t [(a, b)] query`.
    pub fn insert(&mut self, insert: &'a Insert) -> PlanResult<InsertTarget> {
        if let Some(span) = insert.on_conflict {
            return Err(PlanError::rejected(span, "ON CONFLICT is not known to the engine")
                .label("Flink takes it from 2.3 on")
                .help("leave it out: an upsert sink keeps the last row of a key")
                .into());
        }
        let name = insert.table.last().to_owned();
        let hints = insert
            .hints
            .iter()
            .filter(|h| h.name == "OPTIONS")
            .flat_map(|h| h.options.iter().map(|o| (o.key.clone(), o.value.clone())))
            .collect();
        let table = match self.catalog.resolve(&insert.table)? {
            Resolved::Table(table) => table,
            Resolved::View(_) => {
                return Err(PlanError::rejected(
                    insert.table.span,
                    format!("`{name}` is a view, it cannot be written to"),
                )
                .label("a view")
                .into());
            }
            Resolved::Unknown { qualified, .. } => {
                if self.catalog.declares_tables() && !qualified {
                    return Err(self.catalog.unknown_table(&insert.table, []));
                }
                let rel = self.query(&insert.query)?;
                self.note(format!("sink `{name}` has no DDL; it takes the query's columns"), insert.table.span);
                let target_columns = if insert.columns.len() == rel.columns.len() {
                    insert.columns.iter().map(|c| c.value.clone()).collect()
                } else {
                    rel.columns.iter().map(|c| c.name.to_string()).collect()
                };
                let query_columns = rel.columns.iter().map(|c| c.name.to_string()).collect();
                return Ok(InsertTarget { rel, table: None, name, target_columns, query_columns, listed: None, hints });
            }
        };
        let rel = self.query(&insert.query)?;
        check_rowtimes(&rel, &name, insert.head_span)?;
        self.fit(insert, rel, table, name, hints)
    }

    fn fit(
        &mut self,
        insert: &'a Insert,
        rel: Rel,
        table: Arc<Table>,
        name: String,
        hints: Vec<(String, String)>,
    ) -> PlanResult<InsertTarget> {
        let sink: Vec<(usize, String, DataType)> =
            table.sink_columns().map(|(i, c)| (i, c.name.clone(), c.ty.clone())).collect();
        let position = |column: &str| sink.iter().position(|(_, n, _)| n == column);
        // Static partition columns are constants of the statement.
        let mut fixed: Vec<Option<Rex>> = vec![None; sink.len()];
        for (column, value) in &insert.partition {
            let Some(at) = position(&column.value) else {
                return Err(unknown_column(&table, column));
            };
            if fixed[at].is_some() {
                return Err(assigned_again(column));
            }
            if let Some(value) = value {
                let mut scope = crate::logical::scope::Scope::new();
                fixed[at] = Some(simplify::simplify(Translator::new(self.catalog).expr(value, &mut scope)?));
            }
        }
        let mut listed = None;
        let targets: Vec<usize> = if insert.columns.is_empty() {
            (0..sink.len()).filter(|i| fixed[*i].is_none()).collect()
        } else {
            let mut places = Vec::with_capacity(insert.columns.len());
            for column in &insert.columns {
                let at = position(&column.value).ok_or_else(|| unknown_column(&table, column))?;
                if places.contains(&at) {
                    return Err(assigned_again(column));
                }
                places.push(at);
            }
            listed = Some(places.clone());
            places
        };
        if targets.len() != rel.columns.len() {
            let query: Vec<String> = rel.columns.iter().map(|c| c.name.to_string()).collect();
            let wanted: Vec<&str> = targets.iter().map(|t| sink[*t].1.as_str()).collect();
            return Err(PlanError::rejected(
                insert.head_span,
                format!("column types of query result and sink for `{name}` do not match: different number of columns"),
            )
            .label(format!("{} columns are expected, the query has {}", targets.len(), rel.columns.len()))
            .help(format!("sink: {}; query: {}", wanted.join(", "), query.join(", ")))
            .into());
        }
        let mut exprs = Vec::with_capacity(sink.len());
        let mut casts = false;
        for (at, (_, column, ty)) in sink.iter().enumerate() {
            let value = match (targets.iter().position(|t| *t == at), &fixed[at]) {
                (Some(from), _) => rel.column(from),
                (None, Some(constant)) => constant.clone(),
                (None, None) if !ty.nullable => {
                    return Err(PlanError::rejected(
                        insert.head_span,
                        format!("column '{column}' has no default value and does not allow NULLs"),
                    )
                    .label(format!("`{column}` is not written"))
                    .help("write it, or declare the column without NOT NULL")
                    .into());
                }
                (None, None) => Rex::literal(Value::Null, ty.clone().with_nullable(true)),
            };
            check_assignable(&value, ty, column, &name, insert.head_span)?;
            let fitted = make::cast_for_sink(value, ty);
            casts |= matches!(fitted.kind, crate::logical::rex::RexKind::Cast { .. });
            exprs.push(fitted);
        }
        let names = sink
            .iter()
            .enumerate()
            .map(|(at, (_, column, _))| match targets.iter().position(|t| *t == at) {
                Some(from) if !casts => rel.columns[from].name.clone(),
                Some(_) => column.as_str().into(),
                None => format!("EXPR${at}").into(),
            })
            .collect();
        let target_columns = sink.iter().map(|(_, n, _)| n.clone()).collect();
        let query_columns = (0..sink.len())
            .map(|at| {
                targets.iter().position(|t| *t == at).map_or_else(String::new, |f| rel.columns[f].name.to_string())
            })
            .collect();
        let rel = rel.project_as(exprs, names, Origins::at(insert.head_span));
        Ok(InsertTarget { rel, table: Some(table), name, target_columns, query_columns, listed, hints })
    }
}

/// A sink stamps each row with one event time (Flink's `StreamPhysicalSink` translation).
fn check_rowtimes(rel: &Rel, sink: &str, at: Span) -> PlanResult<()> {
    let is_rowtime = |ty: &DataType| ty.time_attribute() == crate::catalog::types::TimeAttribute::Rowtime;
    let names: Vec<&str> = rel.columns.iter().filter(|c| is_rowtime(&c.ty)).map(|c| &*c.name).collect();
    if names.len() < 2 {
        return Ok(());
    }
    Err(PlanError::rejected(
        at,
        format!(
            "the query contains more than one rowtime attribute column [{}] for writing into `{sink}`",
            names.join(", ")
        ),
    )
    .label("which of them is the event time of a row is not known")
    .help("cast all but one: CAST(... AS TIMESTAMP(3))")
    .into())
}

fn unknown_column(table: &Table, column: &crate::syntax::ast::Ident) -> Box<PlanError> {
    let near = crate::nearest::nearest(&column.value, table.columns.iter().map(|c| c.name.as_str()));
    let error = PlanError::rejected(column.span, format!("unknown target column '{}'", column.value))
        .label(format!("`{}` has no such column to write", table.path.name));
    match near {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
    .into()
}

/// Flink's `LogicalTypeCasts.supportsImplicitCast` for sinks, as far as it refuses.
fn check_assignable(value: &Rex, ty: &DataType, column: &str, sink: &str, at: Span) -> PlanResult<()> {
    let family = |k: &TypeKind| match k {
        TypeKind::Char(_) | TypeKind::VarChar(_) => 1,
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Float
        | TypeKind::Double
        | TypeKind::Decimal(..) => 2,
        TypeKind::Boolean => 3,
        TypeKind::Date => 4,
        TypeKind::Timestamp(..) | TypeKind::TimestampLtz(..) => 5,
        TypeKind::Time(_) => 6,
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => 7,
        TypeKind::Array(_) | TypeKind::Multiset(_) => 8,
        TypeKind::Map(..) => 9,
        TypeKind::Row(_) => 10,
        _ => 0,
    };
    let (from, to) = (family(&value.ty.kind), family(&ty.kind));
    let narrows = from == 2 && to == 2 && !widens(&value.ty.kind, &ty.kind);
    // A date may go into a timestamp; everything of one family is cast or checked at run time.
    let fits = !narrows && (from == 0 || to == 0 || from == to || (from == 4 && to == 5));
    if fits {
        return Ok(());
    }
    Err(PlanError::rejected(
        at,
        format!("column types of query result and sink for `{sink}` do not match: incompatible types for sink column '{column}'"),
    )
    .label(format!("`{column}` is {}, the query gives {}", ty.kind, value.ty.kind))
    .help(format!("cast it in the query: CAST(... AS {})", ty.kind))
    .into())
}

/// Numbers go into wider ones by themselves, and any number into a DECIMAL (Flink's `LogicalTypeCasts`).
fn widens(from: &TypeKind, to: &TypeKind) -> bool {
    let width = |k: &TypeKind| match k {
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::Int => 3,
        TypeKind::BigInt => 4,
        TypeKind::Decimal(..) => 5,
        TypeKind::Float => 6,
        _ => 7,
    };
    matches!(to, TypeKind::Decimal(..)) || width(from) <= width(to)
}

fn assigned_again(column: &Ident) -> Box<PlanError> {
    PlanError::rejected(column.span, format!("target column '{}' is assigned more than once", column.value))
        .label("the second time")
        .help("name each column once")
        .into()
}
