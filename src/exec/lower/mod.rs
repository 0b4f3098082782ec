//! From relational operators to Flink's exec nodes: exchanges, phases, strategies, and the checks that Flink makes there.

mod aggregate;
mod over;
mod rank;
mod sink;
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
use crate::logical::error::PlanResult;
use crate::logical::rel::{Rel, RelColumn, RelOp, WindowKind, WindowTvf};
use crate::logical::rex::{Origins, Rex};

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
    /// Columns that only grow (true) or only shrink (false) per upsert key; none: neither.
    pub monotonic: Vec<Option<bool>>,
    /// The clause it comes from.
    pub origins: Origins,
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
            op @ (RelOp::Project(_) | RelOp::Filter(_)) => self.calc(Rel { op, inputs, columns, origins }),
            RelOp::Scan(scan) => self.scan(scan, columns, origins),
            RelOp::Watermark(watermark) => {
                let input = self.lower(inputs.remove(0))?;
                let op =
                    Operator::WatermarkAssigner(WatermarkAssigner { rowtime: watermark.rowtime, expr: watermark.expr });
                Ok(source::below_normalize(op, input, exec_columns(columns), origins))
            }
            RelOp::Aggregate(aggregate) => self.group_aggregate(aggregate, inputs.remove(0), columns, origins),
            RelOp::Expand(expand) => {
                let input = self.lower(inputs.remove(0))?;
                let op = Operator::Expand(Expand { projects: expand.projects });
                let mut tree = pass_through(op, input, exec_columns(columns), origins);
                tree.upsert_keys.clear();
                Ok(tree)
            }
            RelOp::GroupWindow(window) => self.group_window_aggregate(window, inputs.remove(0), columns, origins),
            RelOp::WindowTvf(tvf) => self.window_table_function(tvf, inputs.remove(0), columns, origins),
            RelOp::WindowAggregate(aggregate) => self.window_aggregate(*aggregate, inputs.remove(0), columns, origins),
            RelOp::Over(over) => self.over_aggregate(over, inputs.remove(0), columns, origins),
            RelOp::Rank(rank) => self.rank(rank, inputs.remove(0), columns, origins),
            RelOp::Union => {
                let inputs = inputs.into_iter().map(|i| self.lower(i)).collect::<PlanResult<Vec<_>>>()?;
                Ok(union(inputs, exec_columns(columns), origins))
            }
            RelOp::Values(rows) => Ok(leaf(
                Operator::Values(Values { rows }),
                exec_columns(columns),
                ChangelogMode::INSERT,
                Vec::new(),
                origins,
            )),
        }
    }

    /// Adjacent projections and filters are one Calc (Flink's `FlinkCalcMergeRule`).
    fn calc(&self, rel: Rel) -> PlanResult<Tree> {
        let columns = exec_columns(rel.columns.clone());
        let origins = rel.origins.clone();
        let (exprs, conditions, base) = compose(rel);
        let mut read: Vec<usize> = Vec::new();
        for e in exprs.iter().chain(&conditions) {
            e.visit(&mut |r| read.extend(r.as_input()));
        }
        let input = self.lower_for(base, &read)?;
        Ok(calc(exprs, conditions, input, columns, origins))
    }

    /// Lowers what a Calc reads; a normalized source can drop what the Calc does not read.
    fn lower_for(&self, base: Rel, read: &[usize]) -> PlanResult<Tree> {
        if let RelOp::Scan(_) = base.op {
            let Rel { op: RelOp::Scan(scan), columns, origins, .. } = base else { unreachable!("matched above") };
            return self.scan_for(scan, columns, origins, read);
        }
        self.lower(base)
    }

    fn window_table_function(
        &self,
        tvf: WindowTvf,
        input: Rel,
        columns: Vec<RelColumn>,
        origins: Origins,
    ) -> PlanResult<Tree> {
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

/// The expressions and conditions of a chain of projections and filters, over the operator below it.
fn compose(rel: Rel) -> (Vec<Rex>, Vec<Rex>, Rel) {
    let Rel { op, mut inputs, columns, origins } = rel;
    match op {
        RelOp::Project(exprs) => {
            let (below, conditions, base) = compose(inputs.remove(0));
            (exprs.iter().map(|e| e.substitute(&below)).collect(), conditions, base)
        }
        RelOp::Filter(own) => {
            let (below, mut conditions, base) = compose(inputs.remove(0));
            for c in own {
                let c = c.substitute(&below);
                if !conditions.contains(&c) {
                    conditions.push(c);
                }
            }
            (below, conditions, base)
        }
        op => {
            let rel = Rel { op, inputs, columns, origins };
            (rel.all_columns(), Vec::new(), rel)
        }
    }
}

/// A Calc over `input`, left out if it does nothing but rename.
fn calc(exprs: Vec<Rex>, conditions: Vec<Rex>, input: Tree, columns: Vec<Column>, origins: Origins) -> Tree {
    let identity = exprs.len() == input.columns.len() && exprs.iter().enumerate().all(|(i, e)| e.as_input() == Some(i));
    if identity && conditions.is_empty() {
        return input;
    }
    if let Operator::Calc(below) = &input.op {
        let merged: Vec<Rex> = exprs.iter().map(|e| e.substitute(&below.exprs)).collect();
        let mut all = below.conditions.clone();
        all.extend(conditions.iter().map(|c| c.substitute(&below.exprs)));
        let mut inputs = input.inputs;
        return calc(merged, all, inputs.remove(0), columns, origins.or(&input.origins));
    }
    let place = |column: usize| exprs.iter().position(|e| e.as_input() == Some(column));
    let upsert_keys =
        input.upsert_keys.iter().filter_map(|key| key.iter().map(|c| place(*c)).collect::<Option<Vec<_>>>()).collect();
    let monotonic = exprs.iter().map(|e| e.as_input().and_then(|i| input.monotonic[i])).collect();
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
        let changelog = ChangelogMode {
            insert: true,
            update_before: a.update_before || b.update_before,
            update_after: a.update_after || b.update_after,
            delete: a.delete || b.delete,
        };
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
