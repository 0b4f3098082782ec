//! AND, OR, NOT and IS tests.

use rustc_hash::FxHashSet;

use super::Simplifier;
use super::sarg;
use crate::catalog::functions::{FunctionDef, operators as op};
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::rex::{Function, Rex, RexKind, Value};

fn boolean_type(operands: &[Rex]) -> DataType {
    DataType { kind: TypeKind::Boolean, nullable: operands.iter().any(|o| o.ty.nullable) }
}

/// Operands of nested calls of the same operator, side by side, each once.
fn flatten(name: &str, operands: Vec<Rex>) -> Vec<Rex> {
    let mut seen: FxHashSet<Rex> = FxHashSet::default();
    let mut flat = Vec::with_capacity(operands.len());
    let mut add = |rex: Rex| {
        if seen.insert(rex.clone()) {
            flat.push(rex);
        }
    };
    for operand in operands {
        match operand.kind {
            RexKind::Call(Function::Builtin(def), args) if def.name == name => args.into_iter().for_each(&mut add),
            _ => add(operand),
        }
    }
    flat
}

/// A conjunction of simplified operands.
pub(super) fn and(s: Simplifier, operands: Vec<Rex>, ty: DataType) -> Rex {
    let mut operands = flatten("AND", operands);
    operands.retain(|o| !matches!(o.as_literal(), Some(Value::Boolean(true))));
    if operands.iter().any(|o| matches!(o.as_literal(), Some(Value::Boolean(false)))) {
        return Rex::boolean(false);
    }
    if s.unknown_is_false {
        drop_implied_not_null(&mut operands);
        if contradicts(&operands) {
            return Rex::boolean(false);
        }
    }
    let operands = sarg::merge(s, operands, true);
    match operands.len() {
        0 => Rex::boolean(true),
        1 => operands.into_iter().next().unwrap_or_else(|| Rex::boolean(true)),
        _ if operands.iter().any(|o| matches!(o.as_literal(), Some(Value::Boolean(false)))) => Rex::boolean(false),
        _ => {
            let ty = DataType { nullable: boolean_type(&operands).nullable, ..ty };
            Rex::call(&op::AND, operands, ty)
        }
    }
}

/// A disjunction of simplified operands. Conjuncts that all of them share are pulled out, as `RexUtil.pullFactors` does.
pub(super) fn or(s: Simplifier, operands: Vec<Rex>, ty: DataType) -> Rex {
    let mut operands = flatten("OR", operands);
    operands.retain(|o| !matches!(o.as_literal(), Some(Value::Boolean(false))));
    if operands.iter().any(|o| matches!(o.as_literal(), Some(Value::Boolean(true)))) {
        return Rex::boolean(true);
    }
    if let Some(factored) = pull_factors(s, &operands, &ty) {
        return factored;
    }
    let operands = sarg::merge(s, operands, false);
    match operands.len() {
        0 => Rex::boolean(false),
        1 => operands.into_iter().next().unwrap_or_else(|| Rex::boolean(false)),
        _ if operands.iter().any(|o| matches!(o.as_literal(), Some(Value::Boolean(true)))) => Rex::boolean(true),
        _ => {
            let ty = DataType { nullable: boolean_type(&operands).nullable, ..ty };
            Rex::call(&op::OR, operands, ty)
        }
    }
}

fn pull_factors(s: Simplifier, operands: &[Rex], ty: &DataType) -> Option<Rex> {
    let parts: Vec<&[Rex]> = operands.iter().map(|o| o.as_call("AND").unwrap_or(std::slice::from_ref(o))).collect();
    let (first, rest) = parts.split_first().filter(|(_, rest)| !rest.is_empty())?;
    if parts.iter().all(|p| p.len() == 1) {
        return None;
    }
    let sets: Vec<FxHashSet<&Rex>> = rest.iter().map(|p| p.iter().collect()).collect();
    let common: Vec<&Rex> = first.iter().filter(|c| sets.iter().all(|set| set.contains(c))).collect();
    if common.is_empty() {
        return None;
    }
    let remainders = parts.iter().map(|p| {
        let left: Vec<Rex> = p.iter().filter(|c| !common.contains(c)).cloned().collect();
        and(s, left, ty.clone())
    });
    let remainder = or(s, remainders.collect(), ty.clone());
    let all = common.into_iter().cloned().chain([remainder]).collect();
    Some(and(s, all, ty.clone()))
}

/// `x IS NOT NULL AND x > 3`: the second is never true for NULL.
fn drop_implied_not_null(operands: &mut Vec<Rex>) {
    let strong: FxHashSet<Rex> = operands
        .iter()
        .filter_map(|o| match &o.kind {
            RexKind::Call(Function::Builtin(def), args)
                if matches!(def.name, "=" | "<>" | "<" | "<=" | ">" | ">=" | "SEARCH" | "LIKE") =>
            {
                let null_counts =
                    matches!(args.get(1).and_then(Rex::as_literal), Some(Value::Sarg(s)) if s.null_as.is_some());
                (!null_counts).then(|| args.iter().filter(|a| a.as_literal().is_none()).cloned())
            }
            _ => None,
        })
        .flatten()
        .collect();
    operands.retain(|o| !o.as_call("IS NOT NULL").is_some_and(|args| strong.contains(&args[0])));
}

/// `p AND NOT p`.
fn contradicts(operands: &[Rex]) -> bool {
    let all: FxHashSet<&Rex> = operands.iter().collect();
    operands.iter().any(|o| o.as_call("NOT").is_some_and(|args| all.contains(&args[0])))
}

/// NOT of a simplified operand: pushed into comparisons, AND, OR and IS tests.
pub(super) fn not(s: Simplifier, operand: Rex) -> Rex {
    let nullable = operand.ty.nullable;
    let ty = DataType { kind: TypeKind::Boolean, nullable };
    let origins = operand.origins.clone();
    let rex = match operand.kind {
        RexKind::Literal(Value::Boolean(b)) => Rex::boolean(!b),
        RexKind::Literal(Value::Null) => {
            s.rex(Rex { kind: RexKind::Literal(Value::Null), ty, origins: origins.clone() })
        }
        RexKind::Call(Function::Builtin(def), args) => match (negated(def.name), def.name) {
            (Some(opposite), _) => Rex::call(opposite, args, ty),
            (None, "NOT") => s.rex(args.into_iter().next().unwrap_or_else(|| Rex::boolean(true))),
            (None, "AND") => or(s, args.into_iter().map(|a| not(s, a)).collect(), ty),
            (None, "OR") => and(s, args.into_iter().map(|a| not(s, a)).collect(), ty),
            (None, "SEARCH") => sarg::negate(s, args, ty),
            _ => Rex::call(
                &op::NOT,
                vec![Rex {
                    kind: RexKind::Call(Function::Builtin(def), args),
                    ty: ty.clone(),
                    origins: origins.clone(),
                }],
                ty,
            ),
        },
        kind => Rex::call(&op::NOT, vec![Rex { kind, ty: ty.clone(), origins: origins.clone() }], ty),
    };
    rex.or_at(&origins)
}

/// The operator that is true where `name` is false and the other way round, unknown where it is unknown.
pub(super) fn negated(name: &str) -> Option<&'static FunctionDef> {
    Some(match name {
        "=" => &op::NOT_EQUALS,
        "<>" => &op::EQUALS,
        "<" => &op::GREATER_OR_EQUAL,
        "<=" => &op::GREATER,
        ">" => &op::LESS_OR_EQUAL,
        ">=" => &op::LESS,
        "IS NULL" => &op::IS_NOT_NULL,
        "IS NOT NULL" => &op::IS_NULL,
        "IS TRUE" => &op::IS_NOT_TRUE,
        "IS NOT TRUE" => &op::IS_TRUE,
        "IS FALSE" => &op::IS_NOT_FALSE,
        "IS NOT FALSE" => &op::IS_FALSE,
        _ => return None,
    })
}

/// `x IS NULL`, `x IS TRUE` and kin of a simplified operand.
pub(super) fn test(s: Simplifier, def: &'static FunctionDef, args: Vec<Rex>, ty: DataType) -> Rex {
    let Some(operand) = args.first() else { return Rex::call(def, args, ty) };
    if let Some(value) = operand.as_literal().filter(|v| !matches!(v, Value::Placeholder(_))) {
        let is_null = *value == Value::Null;
        let truth = match def.name {
            "IS NULL" => is_null,
            "IS NOT NULL" => !is_null,
            "IS TRUE" => *value == Value::Boolean(true),
            "IS NOT TRUE" => *value != Value::Boolean(true),
            "IS FALSE" => *value == Value::Boolean(false),
            _ => *value != Value::Boolean(false),
        };
        return Rex::boolean(truth);
    }
    let known = !operand.ty.nullable && !operand.ty.is_unknown();
    match def.name {
        "IS NULL" if known => Rex::boolean(false),
        "IS NOT NULL" if known => Rex::boolean(true),
        "IS NULL" | "IS NOT NULL" => null_test(def, args, ty),
        "IS TRUE" if known || s.unknown_is_false => operand.clone(),
        "IS NOT FALSE" if known => operand.clone(),
        "IS FALSE" if known || s.unknown_is_false => not(s, operand.clone()),
        "IS NOT TRUE" if known => not(s, operand.clone()),
        _ => Rex::call(def, args, ty),
    }
}

/// A comparison is NULL exactly if its one nullable side is.
fn null_test(def: &'static FunctionDef, args: Vec<Rex>, ty: DataType) -> Rex {
    if let RexKind::Call(Function::Builtin(inner), operands) = &args[0].kind
        && matches!(inner.name, "=" | "<>" | "<" | "<=" | ">" | ">=")
    {
        let mut nullable = operands.iter().filter(|o| o.ty.nullable);
        if let (Some(one), None) = (nullable.next(), nullable.next()) {
            return Rex::call(def, vec![one.clone()], ty);
        }
    }
    Rex::call(def, args, ty)
}
