//! CASE, COALESCE, IF, GREATEST and LEAST: functions that need not evaluate all of their arguments, or compare them.

use super::Call;
use crate::catalog::types::TypeKind;
use crate::eval::{Datum, EvalError, Evaluator};

pub(super) fn compile(call: &Call<'_>, args: Vec<Evaluator>) -> Option<Evaluator> {
    match call.name {
        "CASE" => {
            let is_result = |i: usize| i % 2 == 1 || i + 1 == call.args.len();
            let args: Vec<Evaluator> = convert(call, args, is_result)?;
            Some(branches(args))
        }
        // Anything but TRUE takes the third argument.
        "IF" => Some(branches(convert(call, args, |i| i > 0)?)),
        "COALESCE" | "IFNULL" => {
            let args = convert(call, args, |_| true)?;
            Some(Evaluator::computed(move |row, now| {
                for arg in &args {
                    let value = arg.eval(row, now)?;
                    if !value.is_null() {
                        return Ok(value);
                    }
                }
                Ok(Datum::Null)
            }))
        }
        "GREATEST" | "LEAST" => extreme(call, args),
        _ => None,
    }
}

/// The arguments that `wanted` picks, in the type of the result.
fn convert(call: &Call<'_>, args: Vec<Evaluator>, wanted: impl Fn(usize) -> bool) -> Option<Vec<Evaluator>> {
    let convert = |(i, (evaluator, arg)): (usize, (Evaluator, &crate::logical::rex::Rex))| {
        if wanted(i) && arg.ty.kind != TypeKind::Null {
            evaluator.converted(&arg.ty, call.result, call.session)
        } else {
            Some(evaluator)
        }
    };
    args.into_iter().zip(call.args).enumerate().map(convert).collect()
}

/// `condition, result, ..., otherwise`.
fn branches(mut args: Vec<Evaluator>) -> Evaluator {
    let otherwise = if args.len() % 2 == 1 { args.pop() } else { None };
    let otherwise = otherwise.unwrap_or(Evaluator::Constant(Datum::Null));
    let mut pairs = Vec::with_capacity(args.len() / 2);
    let mut rest = args.into_iter();
    while let (Some(condition), Some(result)) = (rest.next(), rest.next()) {
        pairs.push((condition, result));
    }
    Evaluator::computed(move |row, now| {
        for (condition, result) in &pairs {
            if condition.test(row, now)? == Some(true) {
                return result.eval(row, now);
            }
        }
        otherwise.eval(row, now)
    })
}

/// The largest or smallest argument, NULL if one is NULL. NaN is larger than every number.
fn extreme(call: &Call<'_>, args: Vec<Evaluator>) -> Option<Evaluator> {
    // Flink casts a DECIMAL before it looks whether it is NULL (`ScalarOperatorGens.generateGreatestLeast`).
    let fails = |arg: &crate::logical::rex::Rex| {
        matches!(arg.ty.kind, TypeKind::Decimal(..)) && arg.ty.kind != call.result.kind
    };
    let fails: Vec<bool> = call.args.iter().map(fails).collect();
    if let Some(null) = call.args.iter().find(|a| a.ty.kind == TypeKind::Null) {
        return Some(Evaluator::failing(&format!(
            "Unsupported casting from {} to {}.",
            null.ty.kind, call.result.kind
        )));
    }
    let args = convert(call, args, |_| true)?;
    let greatest = call.name == "GREATEST";
    Some(Evaluator::computed(move |row, now| {
        let mut best: Option<Datum> = None;
        let mut is_null = false;
        for (arg, fails) in args.iter().zip(&fails) {
            let value = arg.eval(row, now)?;
            if value.is_null() {
                if *fails && !is_null {
                    return Err(EvalError::new("Cannot invoke \"DecimalData.toBigDecimal()\" because \"dec\" is null"));
                }
                is_null = true;
            }
            best = Some(match best {
                Some(best) if (value > best) == greatest && value != best => value,
                Some(best) => best,
                None => value,
            });
        }
        Ok(if is_null { Datum::Null } else { best.unwrap_or_default() })
    }))
}
