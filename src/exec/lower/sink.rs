//! Sinks: what they accept, and when a materializer is needed.

use std::sync::Arc;

use super::over::producer;
use super::{Lowering, Tree};
use crate::catalog::Table;
use crate::catalog::connectors::{Connector, SinkAccepts};
use crate::exec::Operator;
use crate::exec::sink::Sink;
use crate::logical::rel::Rel;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;

/// Where a query goes.
#[derive(Debug, Clone)]
pub struct SinkRequest {
    /// The table; none for a bare SELECT.
    pub table: Option<Arc<Table>>,
    /// The sink's name.
    pub name: String,
    /// The sink's column for each output column.
    pub target_columns: Vec<String>,
    /// The names that the query gives its columns, by place.
    pub query_columns: Vec<String>,
    /// The columns an INSERT names.
    pub listed: Option<Vec<usize>>,
    /// OPTIONS hints.
    pub hints: Vec<(String, String)>,
    /// The statement's head.
    pub span: Span,
}

impl Lowering<'_> {
    /// A query with its sink on top.
    pub fn lower_sink(&self, request: SinkRequest, rel: Rel) -> PlanResult<Tree> {
        let input = self.lower(rel)?;
        let mut upsert_materialize = false;
        if let Some(table) = &request.table {
            let connector = Connector::of(table);
            let updates = !input.changelog.is_insert_only();
            if connector.sink == SinkAccepts::Append && updates {
                return Err(PlanError::rejected(
                    request.span,
                    format!(
                        "table sink `{}` doesn't support consuming update changes which is produced by {}",
                        table.path.name,
                        producer(&input)
                    ),
                )
                .label("this sink only takes inserts")
                .help("write to a sink that takes updates (upsert-kafka, print, jdbc ...), or aggregate over windows")
                .into());
            }
            if let Some(pk) = &table.primary_key {
                let key: Option<Vec<usize>> = pk
                    .columns
                    .iter()
                    .map(|c| request.target_columns.iter().position(|t| **t == *table.columns[*c].name))
                    .collect();
                let matches = key.is_some_and(|key| {
                    input.upsert_keys.iter().any(|u| u.len() == key.len() && u.iter().all(|c| key.contains(c)))
                });
                upsert_materialize = updates
                    && !matches
                    && connector.sink != SinkAccepts::Append
                    && self.options.upsert_materialize() != "NONE";
            }
        }
        let columns = input.columns.clone();
        let op = Operator::Sink(Sink {
            table: request.table,
            name: request.name,
            target_columns: request.target_columns,
            query_columns: request.query_columns,
            listed: request.listed,
            upsert_materialize,
            hints: request.hints,
        });
        Ok(super::pass_through(op, input, columns, crate::logical::rex::Origins::at(request.span)))
    }
}
