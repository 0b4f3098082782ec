//! What planners ask of conditions and constants.

use crate::catalog::functions::operators as op;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::rex::{Function, Rex, RexKind, Value};

/// The parts of a conjunction, in order; a condition that is none is its only part, TRUE has none.
pub fn conjuncts(rex: Rex) -> Vec<Rex> {
    match rex.kind {
        RexKind::Call(Function::Builtin(def), args) if def.name == "AND" => {
            args.into_iter().flat_map(conjuncts).collect()
        }
        RexKind::Literal(Value::Boolean(true)) => Vec::new(),
        _ => vec![rex],
    }
}

/// The conjunction of some conditions; `None` for none.
pub fn and_all(parts: Vec<Rex>) -> Option<Rex> {
    join(parts, &op::AND)
}

/// The disjunction of some conditions; `None` for none.
pub fn or_all(parts: Vec<Rex>) -> Option<Rex> {
    join(parts, &op::OR)
}

fn join(mut parts: Vec<Rex>, def: &'static crate::catalog::functions::FunctionDef) -> Option<Rex> {
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => {
            let nullable = parts.iter().any(|p| p.ty.nullable);
            let origins = parts[0].origins.clone();
            Some(Rex::call(def, parts, DataType { kind: TypeKind::Boolean, nullable }).or_at(&origins))
        }
    }
}

/// True for the constant TRUE.
pub fn is_always_true(rex: &Rex) -> bool {
    matches!(rex.as_literal(), Some(Value::Boolean(true)))
}

/// True for the constants FALSE and NULL and for a search in no values, which let no row through.
pub fn is_always_false(rex: &Rex) -> bool {
    match &rex.kind {
        RexKind::Literal(Value::Boolean(false) | Value::Null) => true,
        RexKind::Call(_, args) => match args.get(1).and_then(Rex::as_literal) {
            Some(Value::Sarg(set)) => set.ranges.is_empty() && set.null_as != Some(true),
            _ => false,
        },
        _ => false,
    }
}

/// A whole number, if the (simplified) expression is one.
pub fn as_i64_constant(rex: &Rex) -> Option<i64> {
    match &rex.kind {
        RexKind::Literal(Value::Int(n)) => Some(*n),
        RexKind::Literal(Value::Decimal { unscaled, scale }) => {
            let one = 10_i128.checked_pow(u32::from(*scale))?;
            (unscaled % one == 0).then(|| i64::try_from(unscaled / one).ok()).flatten()
        }
        RexKind::Cast { operand, .. } if rex.ty.is_numeric() => as_i64_constant(operand),
        _ => None,
    }
}

/// The milliseconds of a constant interval of days to seconds.
pub fn constant_millis(rex: &Rex) -> Option<i64> {
    match &rex.kind {
        RexKind::Literal(Value::Millis(n)) => Some(*n),
        RexKind::Cast { operand, .. } => constant_millis(operand),
        _ => None,
    }
}
