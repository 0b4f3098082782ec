//! Subqueries that refer to the query around them: the conditions that do are taken out, for the join that the subquery becomes
//! (Flink's `SubQueryDecorrelator`; for values Calcite's `RelDecorrelator`).

use std::sync::Arc;

use super::select::distinct_over;
use super::subquery::aggregate_of;
use crate::catalog::functions::operators as op;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::join::{Join, JoinType, unique_names};
use crate::logical::rel::{AggArg, AggCall, Aggregate, Rel, RelColumn, RelOp};
use crate::logical::rewrite::unique_keys::are_unique;
use crate::logical::rex::{Origins, Rex, RexKind, Value};
use crate::logical::simplify;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;

/// A subquery that stands alone.
pub(super) struct Decorrelated {
    /// Its rows: first the columns that it had, then those that the conditions need.
    pub rel: Rel,
    /// Over its columns and those of the query around ([`RexKind::Outer`]).
    pub conditions: Vec<Rex>,
}

/// A subquery with at most one row per row of the query around it.
pub(super) struct Scalar {
    /// Its rows.
    pub right: Rel,
    /// Which of them belongs to which row around, as in [`Decorrelated::conditions`].
    pub conditions: Vec<Rex>,
    /// The value, over its columns. NULL if there is no row.
    pub value: Rex,
}

/// Takes the conditions that refer to the query around out of a subquery.
pub(super) fn decorrelate(rel: Rel) -> PlanResult<Decorrelated> {
    if !is_correlated(&rel) {
        return Ok(Decorrelated { rel, conditions: Vec::new() });
    }
    let Rel { op, mut inputs, columns, origins } = rel;
    match op {
        RelOp::Project(exprs) => {
            if let Some(e) = exprs.iter().find(|e| reads_outer(e) || e.contains_over()) {
                return Err(refused("in its select list", e.origins.first().or(origins.first())));
            }
            let Decorrelated { rel, conditions } = decorrelate(inputs.remove(0))?;
            let (mut exprs, mut names) = (exprs, columns.into_iter().map(|c| c.name).collect::<Vec<Arc<str>>>());
            let conditions = over_places(&conditions, &mut |i| {
                exprs.iter().position(|e| e.as_input() == Some(i)).unwrap_or_else(|| {
                    exprs.push(rel.column(i));
                    names.push(rel.columns[i].name.clone());
                    exprs.len() - 1
                })
            });
            Ok(Decorrelated { rel: rel.project_as(exprs, unique_names(names), origins), conditions })
        }
        RelOp::Filter(all) => {
            let Decorrelated { rel, mut conditions } = decorrelate(inputs.remove(0))?;
            let (taken, kept): (Vec<Rex>, Vec<Rex>) = all.into_iter().partition(reads_outer);
            if !taken.is_empty() && is_values(&rel) {
                return Err(refused("and reads VALUES", origins.first()));
            }
            conditions.extend(taken);
            Ok(Decorrelated { rel: rel.filter(kept, origins), conditions })
        }
        RelOp::Aggregate(aggregate) if aggregate.grouping_sets.is_none() => {
            let Decorrelated { rel, conditions } = decorrelate(inputs.remove(0))?;
            let had = aggregate.keys.len();
            let mut keys = aggregate.keys.clone();
            let conditions = over_places(&conditions, &mut |i| {
                keys.iter().position(|k| *k == i).unwrap_or_else(|| {
                    keys.push(i);
                    keys.len() - 1
                })
            });
            let added = keys.len() - had;
            let width = columns.len();
            let grouped = grouped_by(aggregate, keys, rel, &columns, &origins);
            // What it had stands first.
            let order = (0..had).chain(had + added..width + added).chain(had..had + added);
            let order: Vec<usize> = order.collect();
            let exprs = order.iter().map(|i| grouped.column(*i)).collect();
            let names = order.iter().map(|i| grouped.columns[*i].name.clone()).collect();
            // A new key stands where it has been put: behind what the aggregate had.
            let conditions = over_places(&conditions, &mut |i| if i < had { i } else { i - had + width });
            let rel = if added == 0 { grouped } else { grouped.project_as(exprs, names, Origins::none()) };
            Ok(Decorrelated { rel, conditions })
        }
        RelOp::Join(join) if join.join_type == JoinType::Inner && join.as_of.is_none() => {
            let Ok([left, right]) = <[Rel; 2]>::try_from(inputs) else { unreachable!("a join has two inputs") };
            let widths = [left.columns.len(), right.columns.len()];
            let (left, right) = (decorrelate(left)?, decorrelate(right)?);
            let grown = left.rel.columns.len() - widths[0];
            let all = left.rel.columns.len() + right.rel.columns.len();
            // Where a column of the join stands once both sides have what the conditions need.
            let old = |i: usize| if i < widths[0] { i } else { i + grown };
            let conditions = over_places(&join.conditions, &mut |i| old(i));
            let mut taken = left.conditions;
            taken.extend(over_places(&right.conditions, &mut |i| i + widths[0] + grown));
            let rel = Rel::join(left.rel, right.rel, Join { conditions, ..join }, origins);
            let kept: Vec<usize> = (0..widths[0] + widths[1]).map(old).collect();
            let order: Vec<usize> = kept.iter().copied().chain((0..all).filter(|i| !kept.contains(i))).collect();
            let conditions = over_places(&taken, &mut |i| order.iter().position(|o| *o == i).unwrap_or(i));
            let exprs = order.iter().map(|i| rel.column(*i)).collect();
            let names = order.iter().map(|i| rel.columns[*i].name.clone()).collect();
            Ok(Decorrelated { rel: rel.project_as(exprs, names, Origins::none()), conditions })
        }
        RelOp::Sort(sort) => {
            let Decorrelated { rel, conditions } = decorrelate(inputs.remove(0))?;
            let columns = rel.columns.clone();
            Ok(Decorrelated { rel: Rel { op: RelOp::Sort(sort), inputs: vec![rel], columns, origins }, conditions })
        }
        _ => Err(refused("here", origins.first())),
    }
}

/// A subquery as a value.
pub(super) fn scalar(rel: Rel, at: Span) -> PlanResult<Scalar> {
    let ty = rel.columns[0].ty.clone().with_nullable(true);
    let value = Rex::input(0, ty.clone()).at(at);
    if !is_correlated(&rel) {
        let right = if has_one_row(&rel) { rel } else { single_value(rel, at) };
        return Ok(Scalar { right, conditions: Vec::new(), value });
    }
    if has_limit(&rel) {
        return Err(refused("below a LIMIT", Some(at)));
    }
    if let Some(found) = by_unique_key(&rel) {
        return Ok(found);
    }
    let rel = if has_one_row(&rel) { rel } else { single_value(rel, at) };
    let (expr, rel) = match rel.op {
        RelOp::Project(mut exprs) => (exprs.swap_remove(0), rel.inputs.into_iter().next().expect("it has an input")),
        _ => (rel.column(0), rel),
    };
    let Rel { op: RelOp::Aggregate(aggregate), mut inputs, columns, origins } = rel else {
        return Err(refused("below a condition on its result", Some(at)));
    };
    if reads_outer(&expr) {
        return Err(refused("in its select list", expr.origins.first()));
    }
    let Keyed { rel: input, keys, outer } = keyed(inputs.remove(0), at)?;
    let added = keys.len();
    let counts: Vec<bool> = aggregate.calls.iter().map(|c| &*c.function == "COUNT").collect();
    let right = grouped_by(aggregate, keys, input, &columns, &origins);
    let conditions = outer.into_iter().enumerate().map(|(i, around)| {
        let own = right.column(i);
        let nullable = around.ty.nullable || own.ty.nullable;
        Rex::call(&op::EQUALS, vec![around, own], DataType { kind: TypeKind::Boolean, nullable }).at(at)
    });
    let value = expr.map_inputs(&mut |i, used| {
        let column = Rex::input(added + i, used.ty.clone().with_nullable(true)).with_origins(&used.origins);
        if counts[i] { zero_without_rows(column) } else { column }
    });
    let value = Rex { ty: if value.as_input().is_some() { ty } else { value.ty.clone() }, ..value };
    Ok(Scalar { conditions: conditions.collect(), right, value })
}

/// The rows of a subquery with what the query around finds them by.
struct Keyed {
    rel: Rel,
    /// The columns that they are found by, none of which is NULL.
    keys: Vec<usize>,
    /// What each of them equals, over the query around.
    outer: Vec<Rex>,
}

fn keyed(rel: Rel, at: Span) -> PlanResult<Keyed> {
    let Decorrelated { rel: mut input, conditions } = decorrelate(rel)?;
    let mut keys = Vec::new();
    let mut outer = Vec::new();
    let mut exprs = input.all_columns();
    let mut names: Vec<Arc<str>> = input.columns.iter().map(|c| c.name.clone()).collect();
    let mut not_null = Vec::new();
    for c in &conditions {
        let Some((around, own)) = equality(c) else {
            return Err(refused("by a condition that is no equality of columns", c.origins.first().or(Some(at))));
        };
        if own.ty.nullable {
            not_null.push(Rex::call(&op::IS_NOT_NULL, vec![own.clone()], TypeKind::Boolean.not_null()).at(at));
        }
        keys.push(own.as_input().unwrap_or_else(|| {
            names.push(format!("$f{}", names.len()).into());
            exprs.push(own.clone());
            exprs.len() - 1
        }));
        outer.push(around.clone());
    }
    if let Some(all) = simplify::and_all(not_null) {
        input = input.filter(simplify::conjuncts(simplify::simplify_filter(all)), Origins::at(at));
    }
    if exprs.len() > input.columns.len() {
        input = input.project_as(exprs, names, Origins::none());
    }
    Ok(Keyed { rel: input, keys, outer })
}

/// The rows that `EXISTS` asks for, each once and marked, and which of them belongs to which row around; the value is the mark.
pub(super) fn marked(rel: Rel, at: Span) -> PlanResult<Scalar> {
    let Keyed { rel, keys, outer } = keyed(rel, at)?;
    let mut exprs: Vec<Rex> = keys.iter().map(|k| rel.column(*k)).collect();
    let mut names: Vec<Arc<str>> = keys.iter().map(|k| rel.columns[*k].name.clone()).collect();
    let places: Vec<usize> = if keys.is_empty() {
        // Without a key the mark itself is what is made distinct.
        exprs.push(Rex::boolean(true));
        names.push("i".into());
        Vec::new()
    } else {
        (0..keys.len()).collect()
    };
    let found = distinct_over(rel.project_as(exprs, names, Origins::at(at)), at);
    let right = if places.is_empty() { found } else { with_mark(found, &format!("$f{}", places.len()), at) };
    let conditions = outer.into_iter().zip(&places).map(|(around, i)| {
        let own = right.column(*i);
        let nullable = around.ty.nullable || own.ty.nullable;
        Rex::call(&op::EQUALS, vec![around, own], DataType { kind: TypeKind::Boolean, nullable }).at(at)
    });
    let value = Rex::input(right.columns.len() - 1, TypeKind::Boolean.nullable()).at(at);
    Ok(Scalar { conditions: conditions.collect(), value, right })
}

/// Distinct rows with a TRUE behind each.
pub(super) fn with_mark(rel: Rel, name: &str, at: Span) -> Rel {
    let mut exprs = rel.all_columns();
    exprs.push(Rex::boolean(true));
    let mut names: Vec<Arc<str>> = rel.columns.iter().map(|c| c.name.clone()).collect();
    names.push(name.into());
    rel.project_as(exprs, names, Origins::at(at))
}

/// Rows that are found by a key of theirs are at most one (Flink's `RemoveCorrelationForScalarProject`).
fn by_unique_key(rel: &Rel) -> Option<Scalar> {
    let RelOp::Project(exprs) = &rel.op else { return None };
    let RelOp::Filter(conditions) = &rel.input().op else { return None };
    let rows = rel.input().input();
    if is_correlated(rows) || reads_outer(&exprs[0]) {
        return None;
    }
    let (taken, kept): (Vec<Rex>, Vec<Rex>) = conditions.iter().cloned().partition(reads_outer);
    let keys: Vec<usize> = taken.iter().map(|c| equality(c)?.1.as_input()).collect::<Option<_>>()?;
    let value = exprs[0].clone();
    let value = Rex { ty: value.ty.clone().with_nullable(true), ..value };
    are_unique(rows, &keys).then(|| Scalar {
        right: rows.clone().filter(kept, rel.input().origins.clone()),
        conditions: taken,
        value,
    })
}

/// A group without rows has no result here, where COUNT has 0.
fn zero_without_rows(count: Rex) -> Rex {
    let ty = TypeKind::BigInt.not_null();
    let is_null = Rex::call(&op::IS_NULL, vec![count.clone()], TypeKind::Boolean.not_null());
    let zero = Rex::literal(Value::Int(0), ty.clone());
    let origins = count.origins.clone();
    Rex::call(&op::CASE, vec![is_null, zero, count], ty).with_origins(&origins)
}

/// The aggregate by `keys`, which begin with the keys that it had.
fn grouped_by(aggregate: Aggregate, keys: Vec<usize>, input: Rel, columns: &[RelColumn], origins: &Origins) -> Rel {
    let had = aggregate.keys.len();
    let added = keys.len() - had;
    let mut key_origins = aggregate.key_origins;
    key_origins.resize(keys.len(), origins.clone());
    // What has no name of its own is called by its place.
    let call_name = |i: usize| -> Arc<str> {
        let name = &columns[had + i].name;
        if **name == format!("$f{}", had + i) { format!("$f{}", had + added + i).into() } else { name.clone() }
    };
    let mut out: Vec<RelColumn> = columns[..had].to_vec();
    out.extend(keys[had..].iter().map(|k| input.columns[*k].clone()));
    let mut calls = aggregate.calls;
    for (i, call) in calls.iter_mut().enumerate() {
        call.name = call_name(i);
        // A group has rows, so that only what is NULL anyway is NULL.
        out.push(RelColumn { name: call.name.clone(), ty: columns[had + i].ty.clone() });
    }
    let names = unique_names(out.iter().map(|c| c.name.clone()));
    out.iter_mut().zip(names).for_each(|(c, name)| c.name = name);
    let op = RelOp::Aggregate(Aggregate { keys, key_origins, calls, ..aggregate });
    Rel { op, inputs: vec![input], columns: out, origins: origins.clone() }
}

/// The one value of a query that may have more rows; with more than one the job fails.
fn single_value(rel: Rel, at: Span) -> Rel {
    let call = AggCall {
        function: "SINGLE_VALUE".into(),
        args: vec![AggArg::Column(0)],
        distinct: false,
        filter: None,
        ty: rel.columns[0].ty.clone().with_nullable(true).materialized(),
        name: "$f0".into(),
        monotonic: false,
        origins: Origins::at(at),
    };
    aggregate_of(rel, vec![call], at)
}

/// `outer = expression over the subquery's columns`, whichever stands first.
fn equality(condition: &Rex) -> Option<(&Rex, &Rex)> {
    let [a, b] = condition.as_call(op::EQUALS.name)? else { return None };
    let is_outer = |e: &Rex| matches!(e.kind, RexKind::Outer(_));
    match (is_outer(a), is_outer(b)) {
        (true, false) if !reads_outer(b) => Some((a, b)),
        (false, true) if !reads_outer(a) => Some((b, a)),
        _ => None,
    }
}

/// True if a query has at most one row.
pub(super) fn has_one_row(rel: &Rel) -> bool {
    match &rel.op {
        RelOp::Aggregate(aggregate) => aggregate.keys.is_empty() && aggregate.grouping_sets.is_none(),
        RelOp::Project(_) | RelOp::Filter(_) => has_one_row(rel.input()),
        _ => false,
    }
}

fn is_values(rel: &Rel) -> bool {
    match &rel.op {
        RelOp::Values(_) => true,
        RelOp::Project(_) | RelOp::Filter(_) => is_values(rel.input()),
        _ => false,
    }
}

fn has_limit(rel: &Rel) -> bool {
    matches!(&rel.op, RelOp::Sort(sort) if sort.fetch.is_some() || sort.offset > 0) || rel.inputs.iter().any(has_limit)
}

/// True if a query refers to the one around it.
pub(super) fn is_correlated(rel: &Rel) -> bool {
    let own = match &rel.op {
        RelOp::Project(exprs) | RelOp::Filter(exprs) => exprs.iter().any(reads_outer),
        RelOp::Join(join) => join.conditions.iter().any(reads_outer),
        RelOp::Correlate(call) => call.args.iter().chain(&call.conditions).any(reads_outer),
        _ => false,
    };
    own || rel.inputs.iter().any(is_correlated)
}

fn reads_outer(e: &Rex) -> bool {
    let mut found = false;
    e.visit(&mut |r| found |= matches!(r.kind, RexKind::Outer(_)));
    found
}

/// Conditions over columns that have moved.
fn over_places(conditions: &[Rex], place: &mut dyn FnMut(usize) -> usize) -> Vec<Rex> {
    let moved = |c: &Rex| c.map_inputs(&mut |i, used| Rex { kind: RexKind::Input(place(i)), ..used.clone() });
    { conditions }.iter().map(moved).collect()
}

fn refused(what: &str, at: Option<Span>) -> Box<PlanError> {
    let message = format!("a subquery that refers to the query around it {what}");
    PlanError::unsupported(at.unwrap_or_default(), message).into()
}
