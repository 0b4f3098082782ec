//! From relational operators to Flink's exec nodes: exchanges, phases, strategies, and the checks that Flink makes there.

mod aggregate;
mod arguments;
mod as_of;
mod correlate;
mod join;
mod match_recognize;
mod over;
mod phases;
mod rank;
mod signs;
mod sink;
mod sort;
mod source;

use std::sync::Arc;

use super::calc::Calc;
use super::changelog::ChangelogMode;
use super::expand::Expand;
use super::union::Union;
use super::values::Values;
use super::watermark_assigner::WatermarkAssigner;
use super::window_spec::{WindowAttachment, WindowSpec};
use super::window_table_function::WindowTableFunction;
use super::{Column, Operator, Target};
use crate::catalog::SessionOptions;
use crate::catalog::coercion::implicit_cast;
use crate::catalog::types::TimeAttribute;
use crate::logical::rel::{Rel, RelColumn, RelOp, WindowKind, WindowOrigins, WindowTvf};
use crate::logical::rex::{Origins, Rex, RexKind};
use crate::plan_error::{PlanError, PlanResult};

pub use sink::SinkRequest;

/// An operator with its inputs, before sub-plans are shared and numbered.
#[derive(Debug, Clone)]
pub struct Tree {
    /// What it does.
    pub op: Operator,
    /// Its inputs.
    pub inputs: Vec<Tree>,
    /// Its output row.
    pub columns: Vec<Column>,
    /// The kinds of changes it sends; update-before is settled once the consumers are known.
    pub changelog: ChangelogMode,
    /// Upsert keys.
    pub upsert_keys: Vec<Vec<usize>>,
    /// How columns change per upsert key; none: any way.
    pub monotonic: Vec<Option<Trend>>,
    /// The clause it comes from.
    pub origins: Origins,
}

/// How a column changes from update to update of a row (Flink's `RelModifiedMonotonicity`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// It only grows.
    Rises,
    /// It only shrinks.
    Falls,
    /// It stays.
    Constant,
}

impl Tree {
    /// How many operators it has.
    pub fn size(&self) -> usize {
        1 + self.inputs.iter().map(Tree::size).sum::<usize>()
    }
}

/// Lowers queries for one target under one set of options.
pub struct Lowering<'a> {
    /// The engine.
    pub target: Target,
    /// Options that decide plans.
    pub options: &'a SessionOptions,
}

impl Lowering<'_> {
    /// The exec nodes of a query.
    pub fn lower(&self, rel: Rel) -> PlanResult<Tree> {
        let Rel { op, mut inputs, columns, origins } = rel;
        match op {
            RelOp::Project(exprs) => {
                let input = self.lower(inputs.remove(0))?;
                Ok(calc(exprs, Vec::new(), input, exec_columns(columns), origins))
            }
            RelOp::Filter(conditions) => {
                let input = self.lower(inputs.remove(0))?;
                let all = (0..columns.len()).map(|i| Rex::input(i, columns[i].ty.clone())).collect();
                Ok(calc(all, conditions, input, exec_columns(columns), origins))
            }
            RelOp::Scan(scan) => self.scan(scan, columns, origins),
            RelOp::Watermark(watermark) => {
                let input = self.lower(inputs.remove(0))?;
                let op =
                    Operator::WatermarkAssigner(WatermarkAssigner { rowtime: watermark.rowtime, expr: watermark.expr });
                Ok(source::below_normalize(op, input, exec_columns(columns), origins))
            }
            RelOp::Aggregate(aggregate) if join::goes_below_join(&aggregate, &inputs[0]) => {
                let at = origins.first().unwrap_or_default();
                Err(PlanError::unsupported(at, "an aggregate by all columns that a join compares").into())
            }
            RelOp::Aggregate(aggregate) => self.group_aggregate(aggregate, inputs.remove(0), columns, origins),
            RelOp::Expand(expand) => {
                let input = self.lower(inputs.remove(0))?;
                let op = Operator::Expand(Expand { projects: expand.projects });
                let mut tree = pass_through(op, input, exec_columns(columns), origins);
                tree.upsert_keys.clear();
                Ok(tree)
            }
            RelOp::Correlate(correlate) => self.correlate(correlate, inputs.remove(0), columns, origins),
            RelOp::GroupWindow(window) => self.group_window_aggregate(window, inputs.remove(0), columns, origins),
            RelOp::WindowTvf(tvf) => self.window_table_function(tvf, inputs.remove(0), columns, origins),
            RelOp::WindowAggregate(aggregate) => self.window_aggregate(*aggregate, inputs.remove(0), columns, origins),
            RelOp::Over(over) => self.over_aggregate(over, inputs.remove(0), columns, origins),
            RelOp::Sort(sort) => self.sort(sort, inputs.remove(0), columns, origins),
            RelOp::Match(pattern) => self.match_recognize(*pattern, inputs.remove(0), columns, origins),
            RelOp::Rank(rank) => self.rank(rank, inputs.remove(0), columns, origins),
            RelOp::Join(join) => self.join(join, inputs, origins),
            RelOp::Union => {
                let inputs = inputs.into_iter().map(|i| self.lower(i)).collect::<PlanResult<Vec<_>>>()?;
                Ok(union(inputs, exec_columns(columns), origins))
            }
            RelOp::Set(_) => unreachable!("the rewrite has written it out"),
            RelOp::Values(rows) => Ok(leaf(
                Operator::Values(Values { rows }),
                exec_columns(columns),
                ChangelogMode::INSERT,
                Vec::new(),
                origins,
            )),
        }
    }

    fn window_table_function(
        &self,
        tvf: WindowTvf,
        input: Rel,
        columns: Vec<RelColumn>,
        origins: Origins,
    ) -> PlanResult<Tree> {
        require_time(&input.columns[tvf.time], &tvf.written)?;
        let proctime = input.columns[tvf.time].ty.is_proctime();
        let mut input = self.lower(input)?;
        let session = matches!(tvf.kind, WindowKind::Session { .. });
        if session {
            input = exchange(input, tvf.partition.clone());
        }
        let window = WindowSpec {
            kind: tvf.kind,
            offset: tvf.offset,
            partition: tvf.partition,
            attachment: WindowAttachment::TimeColumn(tvf.time),
            proctime,
            origins: tvf.written,
        };
        let op = Operator::WindowTableFunction(WindowTableFunction { window, keyed: session });
        Ok(pass_through(op, input, exec_columns(columns), origins))
    }
}

/// A window needs a time attribute, and a regular join below it leaves none.
fn require_time(column: &RelColumn, window: &WindowOrigins) -> PlanResult<()> {
    if column.ty.time_attribute() != TimeAttribute::None || column.ty.is_unknown() {
        return Ok(());
    }
    let at = window.time.first().or(window.call.first()).unwrap_or_default();
    let message = format!("a window needs a time attribute, but `{}` is {}", column.name, column.ty);
    Err(PlanError::rejected(at, message)
        .label("an ordinary timestamp here")
        .help("bound the time between the rows of the join below, or put the window below the join")
        .into())
}

/// A Calc over `input`, left out if it does nothing but rename. Adjacent ones are merged (Flink's `FlinkCalcMergeRule`).
fn calc(exprs: Vec<Rex>, conditions: Vec<Rex>, input: Tree, columns: Vec<Column>, origins: Origins) -> Tree {
    let identity = exprs.len() == input.columns.len() && exprs.iter().enumerate().all(|(i, e)| e.as_input() == Some(i));
    if identity && conditions.is_empty() {
        return input;
    }
    match &input.op {
        Operator::Calc(below) if is_mergeable(&exprs, &conditions, &below.exprs) => {
            let merged: Vec<Rex> = exprs.iter().map(|e| e.substitute(&below.exprs)).collect();
            let mut all = below.conditions.clone();
            for c in conditions {
                let c = c.substitute(&below.exprs);
                if !all.contains(&c) {
                    all.push(c);
                }
            }
            let origins = origins.or(&input.origins);
            let mut inputs = input.inputs;
            return calc(merged, all, inputs.remove(0), columns, origins);
        }
        Operator::ChangelogNormalize(_) => {
            let (exprs, conditions, input) = source::push_past_normalize(exprs, conditions, input);
            return raw_calc(exprs, conditions, input, columns, origins);
        }
        _ => {}
    }
    raw_calc(exprs, conditions, input, columns, origins)
}

/// What gives another value each time it is computed must be computed once (Flink's `FlinkRelUtil.isMergeable`).
fn is_mergeable(exprs: &[Rex], conditions: &[Rex], below: &[Rex]) -> bool {
    if below.iter().all(Rex::is_deterministic) {
        return true;
    }
    let mut uses = vec![0usize; below.len()];
    for e in exprs.iter().chain(conditions) {
        e.visit(&mut |r| {
            if let Some(i) = r.as_input() {
                uses[i] += 1;
            }
        });
    }
    uses.iter().zip(below).all(|(n, e)| *n <= 1 || e.is_deterministic())
}

fn raw_calc(exprs: Vec<Rex>, conditions: Vec<Rex>, input: Tree, columns: Vec<Column>, origins: Origins) -> Tree {
    let identity = exprs.len() == input.columns.len() && exprs.iter().enumerate().all(|(i, e)| e.as_input() == Some(i));
    if identity && conditions.is_empty() {
        return input;
    }
    // What is cast as it could be without a word still tells rows apart (Flink's `FlinkRelMdUniqueKeys`), though a cast may cut it.
    let passed = |e: &Rex| match &e.kind {
        RexKind::Cast { operand, is_try: false } if implicit_cast(&operand.ty.kind, &e.ty.kind) => operand.as_input(),
        _ => e.as_input(),
    };
    let mut upsert_keys: Vec<Vec<usize>> = Vec::new();
    for key in &input.upsert_keys {
        let places = |column: usize| (0..exprs.len()).filter(|i| passed(&exprs[*i]) == Some(column)).collect();
        upsert_keys.extend(one_of_each(&key.iter().map(|c| places(*c)).collect::<Vec<_>>()));
    }
    // Where no column is passed on Flink looks no further, though one row at most would still be one (`getProjectUniqueKeys`).
    if !exprs.iter().any(|e| passed(e).is_some()) {
        upsert_keys.clear();
    }
    // A filter turns an update into a delete, and what was the greatest value so far is gone (Flink's `FlinkRelMdModifiedMonotonicity`).
    let keeps = conditions.is_empty() || input.changelog.is_insert_only();
    let monotonic = exprs.iter().map(|e| e.as_input().filter(|_| keeps).and_then(|i| input.monotonic[i])).collect();
    let changelog = input.changelog;
    Tree {
        op: Operator::Calc(Calc { exprs, conditions }),
        inputs: vec![input],
        columns,
        changelog,
        upsert_keys,
        monotonic,
        origins,
    }
}

/// Every way to take one of each list, the first ones first; of many ways only some.
fn one_of_each(lists: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const MOST: usize = 64;
    let mut out: Vec<Vec<usize>> = vec![Vec::new()];
    for list in lists {
        let longer = out.iter().flat_map(|start| list.iter().map(move |next| [start.as_slice(), &[*next]].concat()));
        out = longer.take(MOST).collect();
    }
    out
}

/// An exchange by `keys`; none sends everything to one subtask.
fn exchange(input: Tree, keys: Vec<usize>) -> Tree {
    let columns = input.columns.clone();
    pass_through(Operator::Exchange(super::exchange::Exchange { keys }), input, columns, Origins::none())
}

/// An operator that sends on the changes and keys of its input, whose columns stand first in its own.
fn pass_through(op: Operator, input: Tree, columns: Vec<Column>, origins: Origins) -> Tree {
    let mut monotonic = input.monotonic.clone();
    monotonic.resize(columns.len(), None);
    Tree {
        op,
        changelog: input.changelog,
        upsert_keys: input.upsert_keys.clone(),
        monotonic,
        inputs: vec![input],
        columns,
        origins,
    }
}

fn leaf(
    op: Operator,
    columns: Vec<Column>,
    changelog: ChangelogMode,
    upsert_keys: Vec<Vec<usize>>,
    origins: Origins,
) -> Tree {
    let monotonic = vec![None; columns.len()];
    Tree { op, inputs: Vec::new(), columns, changelog, upsert_keys, monotonic, origins }
}

/// Flink's unions are binary, left-deep.
fn union(inputs: Vec<Tree>, columns: Vec<Column>, origins: Origins) -> Tree {
    let mut inputs = inputs.into_iter();
    let first = inputs.next().expect("a union has inputs");
    inputs.fold(first, |left, right| {
        let (a, b) = (left.changelog, right.changelog);
        let changelog = a.union(b);
        Tree {
            op: Operator::Union(Union),
            monotonic: vec![None; columns.len()],
            inputs: vec![left, right],
            columns: columns.clone(),
            changelog,
            upsert_keys: Vec::new(),
            origins: origins.clone(),
        }
    })
}

fn exec_columns(columns: Vec<RelColumn>) -> Vec<Column> {
    columns.into_iter().map(|c| Column { name: c.name, ty: c.ty, needed: true }).collect()
}

fn named(name: impl Into<Arc<str>>, ty: crate::catalog::types::DataType) -> Column {
    Column { name: name.into(), ty, needed: true }
}
