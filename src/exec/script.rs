//! From scripts to plans: statements in order, each INSERT and bare SELECT under the catalog and options it sees.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lower::{Lowering, SinkRequest, Tree};
use super::planner::assemble;
use super::{Plan, Target};
use crate::catalog::connectors::Connectors;
use crate::catalog::types::TimeAttribute;
use crate::catalog::{Catalog, InferredTable, Note, Table};
use crate::logical::convert::Builder;
use crate::logical::make;
use crate::logical::rel::Rel;
use crate::logical::rewrite::optimize;
use crate::logical::rex::Origins;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{CreateTable, Insert, Query, Script, Statement, StatementKind, TableElement};

/// What the planner says of one script.
#[derive(Debug, Default)]
pub struct PlannedScript {
    /// The jobs, in statement order. For `vvr` a script is one job; for the Flink targets a statement set is one and an
    /// INSERT outside of one is a job of its own.
    pub plans: Vec<Plan>,
    /// What could not be planned. The other statements are planned all the same.
    pub errors: Vec<PlanError>,
    /// What should be known about the plans.
    pub notes: Vec<Note>,
    /// The value of `pipeline.name`.
    pub name: Option<String>,
    /// The script has an INSERT or a query, planned or not.
    pub has_job: bool,
}

/// Plans the last of `scripts`; those before it only declare.
pub fn plan_script(scripts: &[&Script], target: Target) -> PlannedScript {
    plan_script_for(scripts, target, Purpose::Explain)
}

/// As [`plan_script`], for a purpose.
pub fn plan_script_for(scripts: &[&Script], target: Target, purpose: Purpose) -> PlannedScript {
    plan_script_with(scripts, target, purpose, &Connectors::default())
}

/// As [`plan_script_for`], with what is known of connectors.
pub fn plan_script_with(
    scripts: &[&Script],
    target: Target,
    purpose: Purpose,
    connectors: &Connectors,
) -> PlannedScript {
    let mut planner = ScriptPlanner {
        target,
        purpose,
        catalog: Catalog::with(connectors.clone()),
        out: PlannedScript::default(),
        groups: Vec::new(),
        having: Vec::new(),
        queries: 0,
        operators: 0,
    };
    let last = scripts.len().saturating_sub(1);
    for (i, script) in scripts.iter().enumerate() {
        for statement in &script.statements {
            planner.statement(statement, i == last);
        }
    }
    planner.finish()
}

/// What becomes of the rows of a bare SELECT, which has no sink to ask for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// Nothing: the plan is what EXPLAIN shows, where no one asks for the row before an update.
    #[default]
    Explain,
    /// They are collected as Flink's client does, every change of them.
    Collect,
}

struct ScriptPlanner {
    target: Target,
    purpose: Purpose,
    catalog: Catalog,
    out: PlannedScript,
    /// The sinks of each job.
    groups: Vec<Vec<Tree>>,
    having: Vec<Span>,
    queries: usize,
    /// How many operators all jobs have.
    operators: usize,
}

/// How many operators the jobs of a script may have.
const MAX_OPERATORS: usize = 150_000;

impl ScriptPlanner {
    fn statement(&mut self, statement: &Statement, runs: bool) {
        if self.operators > MAX_OPERATORS {
            return;
        }
        match &statement.kind {
            StatementKind::Insert(insert) if runs => {
                let tree = self.insert(insert);
                self.add(vec![tree]);
            }
            StatementKind::StatementSet(inserts) if runs => {
                let trees = inserts.iter().map(|(insert, _)| self.insert(insert)).collect();
                self.add(trees);
            }
            StatementKind::Query(query) if runs => {
                let tree = self.bare_query(query, statement.span);
                self.add(vec![tree]);
            }
            StatementKind::CreateTable(create) if create.as_query.is_some() => {
                let result = self.create_as(create, statement.span);
                if runs {
                    self.add(vec![result]);
                } else if let Err(e) = result {
                    self.out.errors.push(*e);
                }
            }
            StatementKind::Wrapped { inner, .. } => self.statement(inner, runs),
            _ => match self.catalog.apply(statement) {
                Ok(notes) => self.out.notes.extend(notes),
                Err(e) => self.out.errors.push(*e),
            },
        }
    }

    /// The sinks of one statement: a job of their own, or part of the only one.
    fn add(&mut self, trees: Vec<PlanResult<Tree>>) {
        self.out.has_job = true;
        let mut good = Vec::new();
        for tree in trees {
            match tree {
                Ok(_) if self.operators > MAX_OPERATORS => {}
                Ok(tree) => {
                    self.operators += tree.size();
                    if self.operators > MAX_OPERATORS {
                        let message = format!("the script's jobs have more than {MAX_OPERATORS} operators");
                        let at = tree.origins.first().unwrap_or_default();
                        let error = PlanError::rejected(at, message).label("too large from here on");
                        self.out.errors.push(error.help("split the script"));
                        self.groups.clear();
                    }
                    good.push(tree);
                }
                Err(e) => self.out.errors.push(*e),
            }
        }
        if good.is_empty() {
            return;
        }
        match (self.target, self.groups.first_mut()) {
            (Target::Vvr, Some(job)) => job.extend(good),
            _ => self.groups.push(good),
        }
    }

    fn insert(&mut self, insert: &Insert) -> PlanResult<Tree> {
        let mut builder = Builder::new(&self.catalog, self.target);
        let target = builder.insert(insert);
        self.out.notes.append(&mut builder.notes);
        self.having.append(&mut builder.having);
        let target = target?;
        let request = SinkRequest {
            table: target.table,
            name: target.name,
            target_columns: target.target_columns,
            query_columns: target.query_columns,
            listed: target.listed,
            hints: target.hints,
            span: insert.head_span,
        };
        self.lower(target.rel, request)
    }

    fn bare_query(&mut self, query: &Query, span: Span) -> PlanResult<Tree> {
        self.queries += 1;
        let mut builder = Builder::new(&self.catalog, self.target);
        let rel = builder.build(query);
        self.out.notes.append(&mut builder.notes);
        self.having.append(&mut builder.having);
        let rel = rel?;
        let request = SinkRequest {
            table: None,
            name: format!("query{}", self.queries),
            target_columns: rel.columns.iter().map(|c| c.name.to_string()).collect(),
            query_columns: rel.columns.iter().map(|c| c.name.to_string()).collect(),
            listed: None,
            hints: Vec::new(),
            span,
        };
        self.lower(rel, request)
    }

    /// CREATE TABLE ... AS: the table takes the query's columns beside its own definitions.
    fn create_as(&mut self, create: &CreateTable, span: Span) -> PlanResult<Tree> {
        let query = create.as_query.as_deref().expect("the caller saw AS");
        let mut builder = Builder::new(&self.catalog, self.target);
        let rel = builder.build(query);
        self.out.notes.append(&mut builder.notes);
        self.having.append(&mut builder.having);
        let rel = rel?;
        let table = self.declare(create, &rel, span)?;
        let request = SinkRequest {
            table: Some(table),
            name: create.name.last().to_owned(),
            target_columns: rel.columns.iter().map(|c| c.name.to_string()).collect(),
            query_columns: rel.columns.iter().map(|c| c.name.to_string()).collect(),
            listed: None,
            hints: Vec::new(),
            span: create.name.span,
        };
        self.lower(rel, request)
    }

    fn declare(&mut self, create: &CreateTable, rel: &Rel, span: Span) -> PlanResult<Arc<Table>> {
        let mut own = create.clone();
        own.as_query = None;
        let keys: Vec<TableElement> =
            own.elements.iter().filter(|e| matches!(e, TableElement::PrimaryKey { .. })).cloned().collect();
        own.elements.retain(|e| !matches!(e, TableElement::PrimaryKey { .. }));
        let mut columns = InferredTable::new(self.catalog.path(&create.name)?, span);
        for c in &rel.columns {
            columns.column_of_type(&c.name, c.ty.clone().materialized(), span);
        }
        let mut table = columns.finish();
        table.inferred = false;
        table.connectors = self.catalog.connectors().clone();
        table.temporary = create.temporary;
        table.options = create.options.iter().cloned().collect();
        for key in &keys {
            if let TableElement::PrimaryKey { columns, span } = key {
                let columns = columns.iter().filter_map(|c| table.column_index(&c.value)).collect();
                table.primary_key = Some(crate::catalog::PrimaryKey { columns, span: *span });
            }
        }
        let path = table.path.clone();
        self.catalog.add_table(table)?;
        self.catalog
            .table(&path)
            .cloned()
            .ok_or_else(|| PlanError::rejected(span, "the table could not be declared").into())
    }

    fn lower(&self, rel: Rel, request: SinkRequest) -> PlanResult<Tree> {
        let rel = materialize_proctime(optimize(rel, self.catalog.options())?);
        Lowering { target: self.target, options: self.catalog.options() }.lower_sink(request, rel)
    }

    fn finish(mut self) -> PlannedScript {
        let options = self.catalog.options();
        let name = options.pipeline_name().map(str::to_owned);
        let set: BTreeMap<String, String> = options.iter().map(|(k, o)| (k.to_owned(), o.value.clone())).collect();
        let share = options.reuse_sub_plan();
        let share_sources = options.reuse_source();
        let mini_batch = options.mini_batch_enabled().then(|| options.mini_batch_latency());
        let option_places: BTreeMap<String, Span> = options.iter().map(|(k, o)| (k.to_owned(), o.span)).collect();
        let functions = self.catalog.functions();
        let temporary_tables = self.catalog.temporary_tables();
        let tables: Arc<[Arc<str>]> = self.catalog.table_names().into();
        self.out.name = name.clone();
        self.out.plans = std::mem::take(&mut self.groups)
            .into_iter()
            .map(|trees| Plan {
                option_places: option_places.clone(),
                having: self.having.clone(),
                functions: functions.clone(),
                temporary_tables: temporary_tables.clone(),
                tables: tables.clone(),
                ..assemble(
                    (self.target, self.purpose),
                    trees,
                    share,
                    share_sources,
                    mini_batch,
                    name.clone(),
                    set.clone(),
                )
            })
            .collect();
        self.out
    }
}

/// Processing time leaves the job as an ordinary value.
fn materialize_proctime(rel: Rel) -> Rel {
    let is_proctime = |ty: &crate::catalog::types::DataType| ty.time_attribute() == TimeAttribute::Proctime;
    if !rel.columns.iter().any(|c| is_proctime(&c.ty)) {
        return rel;
    }
    let exprs = (0..rel.columns.len())
        .map(|i| {
            let e = rel.column(i);
            if is_proctime(&e.ty) { make::materialize(e) } else { e }
        })
        .collect();
    let names = rel.columns.iter().map(|c| c.name.clone()).collect();
    rel.project(exprs, names, Origins::none())
}
