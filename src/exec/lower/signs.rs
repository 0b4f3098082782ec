//! Sums of values that a filter keeps on one side of zero only grow or only shrink (the SUM case of Flink's
//! `FlinkRelMdModifiedMonotonicity`, with the intervals of `FlinkRelMdColumnInterval`).

use super::Trend;
use crate::catalog::functions::operators as op;
use crate::logical::rel::{AggArg, AggCall, Rel, RelOp};
use crate::logical::rex::{Function, Rex, RexKind, Value};
use crate::logical::simplify;

/// The trend of a SUM over `input`.
pub(super) fn sum_trend(input: &Rel, call: &AggCall) -> Option<Trend> {
    let column = call.args.first().and_then(AggArg::column)?;
    trend(input, column, call.filter)
}

fn trend(rel: &Rel, column: usize, filter: Option<usize>) -> Option<Trend> {
    match &rel.op {
        RelOp::Project(exprs) => {
            let below = exprs[column].as_input()?;
            let own = filter.and_then(|f| {
                let condition = match exprs[f].as_call(op::IS_TRUE.name) {
                    Some([inner]) => inner.clone(),
                    _ => exprs[f].clone(),
                };
                simplify::conjuncts(condition).iter().find_map(|c| sign(c, below))
            });
            own.or_else(|| trend(rel.input(), below, filter.and_then(|f| exprs[f].as_input())))
        }
        RelOp::Filter(conditions) => {
            conditions.iter().find_map(|c| sign(c, column)).or_else(|| trend(rel.input(), column, filter))
        }
        // A COUNT is never below zero.
        RelOp::Aggregate(aggregate) => {
            let call = aggregate.calls.get(column.checked_sub(aggregate.keys.len())?)?;
            (&*call.function == "COUNT").then_some(Trend::Rises)
        }
        _ => None,
    }
}

/// What `column > 0` and kin say of its sign.
fn sign(condition: &Rex, column: usize) -> Option<Trend> {
    let RexKind::Call(Function::Builtin(def), args) = &condition.kind else { return None };
    let [left, right] = args.as_slice() else { return None };
    if left.as_input() != Some(column) {
        return None;
    }
    let value = right.as_literal()?;
    match def.name {
        ">" | ">=" if number(value)? >= 0.0 => Some(Trend::Rises),
        "<" | "<=" if number(value)? <= 0.0 => Some(Trend::Falls),
        "=" if number(value)? >= 0.0 => Some(Trend::Rises),
        "SEARCH" => {
            let Value::Sarg(set) = value else { return None };
            let lower = set.ranges.first()?.lower.as_ref().and_then(|b| number(&b.value));
            let upper = set.ranges.last()?.upper.as_ref().and_then(|b| number(&b.value));
            match (lower, upper) {
                (Some(n), _) if n >= 0.0 => Some(Trend::Rises),
                (_, Some(n)) if n <= 0.0 => Some(Trend::Falls),
                _ => None,
            }
        }
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::Decimal { unscaled, .. } => Some(*unscaled as f64),
        _ => None,
    }
}
