//! Columns that a filter below fixes to a constant become that constant (Calcite's `ReduceExpressionsRule.ProjectReduceExpressionsRule`
//! with the predicates of `RelMdPredicates`).
//!
//! `SELECT item, ... WHERE item = 'x'` projects `CAST('x' AS STRING)`. That matters where a bare column is asked for: a
//! SESSION key, or an OVER that carries its whole input unless something is computed below it.

use crate::catalog::functions::operators as op;
use crate::catalog::types::DataType;
use crate::logical::join::Join;
use crate::logical::rel::{Rel, RelColumn, RelOp};
use crate::logical::rex::{Function, Rex, RexKind, Value};
use crate::logical::simplify;

/// Reduces every projection of the tree.
pub fn reduce_constants(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let mut columns = columns;
    let mut inputs: Vec<Rel> = inputs.into_iter().map(reduce_constants).collect();
    if let RelOp::GroupWindow(window) = &op {
        name_computed_keys(&mut inputs[0], &window.keys, &mut columns);
    }
    let op = match op {
        RelOp::Project(exprs) => {
            let known = constants(&inputs[0]);
            if known.iter().all(Option::is_none) {
                RelOp::Project(exprs)
            } else {
                RelOp::Project(reduce(exprs, &known))
            }
        }
        RelOp::Join(join) if !join.is_versioned() => {
            let mut known: Vec<Option<Rex>> = inputs.iter().flat_map(side_constants).collect();
            if !join.join_type.keeps_right() {
                // Of the right side Flink knows nothing here.
                known[inputs[0].columns.len()..].fill(None);
            }
            let conditions = join.conditions.into_iter().flat_map(|c| reduce_condition(c, &known)).collect();
            RelOp::Join(Join { conditions, ..join })
        }
        op => op,
    };
    Rel { op, inputs, columns, origins }
}

/// Below a legacy window what is computed has no name of its own.
fn name_computed_keys(input: &mut Rel, keys: &[usize], columns: &mut [RelColumn]) {
    let RelOp::Project(exprs) = &input.op else { return };
    for (k, key) in keys.iter().enumerate().filter(|(_, key)| exprs[**key].as_input().is_none()) {
        let name: std::sync::Arc<str> = format!("$f{key}").into();
        input.columns[*key].name = name.clone();
        columns[k].name = name;
    }
}

fn reduce(exprs: Vec<Rex>, known: &[Option<Rex>]) -> Vec<Rex> {
    exprs
        .into_iter()
        .map(|e| {
            let mut reads = false;
            e.visit(&mut |r| reads |= r.as_input().is_some_and(|i| known[i].is_some()));
            if !reads {
                return e;
            }
            let ty = e.ty.clone();
            let origins = e.origins.clone();
            let out = e.map_inputs(&mut |i, used| match &known[i] {
                Some(constant) => constant.clone().with_origins(&used.origins),
                None => used.clone(),
            });
            let out = if out.contains_over() { out } else { simplify::simplify(out) };
            // The type stays what the reader was promised, nullability included.
            let out =
                if out.as_literal().is_some() && out.ty != ty { simplify::simplify(Rex::cast(out, ty)) } else { out };
            out.with_origins(&origins)
        })
        .collect()
}

/// The constants of a side of a join, those that are computed right below it among them.
fn side_constants(rel: &Rel) -> Vec<Option<Rex>> {
    let mut known = constants(rel);
    if let RelOp::Project(exprs) = &rel.op {
        for (known, e) in known.iter_mut().zip(exprs).filter(|(_, e)| is_constant(e)) {
            known.get_or_insert_with(|| e.clone());
        }
    }
    known
}

/// The condition of a join over what its inputs are known to hold; nothing if it always holds.
fn reduce_condition(condition: Rex, known: &[Option<Rex>]) -> Vec<Rex> {
    let mut reads = false;
    condition.visit(&mut |r| reads |= r.as_input().is_some_and(|i| known[i].is_some()));
    if !reads {
        return vec![condition];
    }
    let reduced = condition.map_inputs(&mut |i, used| match &known[i] {
        Some(constant) => constant.clone().with_origins(&used.origins),
        None => used.clone(),
    });
    simplify::conjuncts(simplify::simplify_filter(reduced))
}

/// For each column of `rel` the constant that it always is, if there is one.
fn constants(rel: &Rel) -> Vec<Option<Rex>> {
    match &rel.op {
        RelOp::Filter(conditions) => {
            let mut known = constants(rel.input());
            for c in conditions {
                if let Some((column, value)) = equality(c) {
                    known[column].get_or_insert(make_constant(value, &rel.columns[column].ty));
                }
            }
            known
        }
        RelOp::Project(exprs) => {
            let below = constants(rel.input());
            exprs
                .iter()
                .map(|e| match e.as_input() {
                    Some(i) => below[i].clone(),
                    None => None,
                })
                .collect()
        }
        RelOp::Aggregate(aggregate) if aggregate.grouping_sets.is_none() => {
            let below = constants(rel.input());
            let mut known: Vec<Option<Rex>> = aggregate.keys.iter().map(|k| below[*k].clone()).collect();
            known.resize(rel.columns.len(), None);
            known
        }
        RelOp::Join(join) => {
            let pads = [join.join_type.pads_left(), join.join_type.pads_right()];
            let sides = rel.inputs.iter().zip(pads).take(if join.join_type.keeps_right() { 2 } else { 1 });
            sides.flat_map(|(i, padded)| if padded { vec![None; i.columns.len()] } else { constants(i) }).collect()
        }
        RelOp::Correlate(_) => {
            let mut known = constants(rel.input());
            known.resize(rel.columns.len(), None);
            known
        }
        _ => vec![None; rel.columns.len()],
    }
}

/// `column = literal`.
fn equality(condition: &Rex) -> Option<(usize, &Rex)> {
    let RexKind::Call(Function::Builtin(def), args) = &condition.kind else { return None };
    if def.name != op::EQUALS.name {
        return None;
    }
    match args.as_slice() {
        [a, b] if a.as_input().is_some() && is_constant(b) => Some((a.as_input()?, b)),
        [a, b] if b.as_input().is_some() && is_constant(a) => Some((b.as_input()?, a)),
        _ => None,
    }
}

fn is_constant(e: &Rex) -> bool {
    e.as_literal().is_some_and(|v| *v != Value::Null)
}

/// The literal in the type of the column; a nullable one is written as a cast, as Flink prints it.
fn make_constant(value: &Rex, ty: &DataType) -> Rex {
    simplify::simplify(Rex::cast(value.clone(), ty.clone()))
}
