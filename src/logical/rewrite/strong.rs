//! Which conditions no row of NULLs fulfils (Calcite's `Strong`).

use crate::logical::rex::{Function, Rex, RexKind, Value};

/// True if the condition is certainly not TRUE where all columns of `padded` are NULL.
pub fn rejects_nulls(condition: &Rex, padded: &dyn Fn(usize) -> bool) -> bool {
    match &condition.kind {
        RexKind::Literal(value) => matches!(value, Value::Null | Value::Boolean(false)),
        RexKind::Call(Function::Builtin(def), args) => match def.name {
            "AND" => args.iter().any(|a| rejects_nulls(a, padded)),
            "OR" => args.iter().all(|a| rejects_nulls(a, padded)),
            "IS NOT NULL" => is_null(&args[0], padded),
            "IS TRUE" => rejects_nulls(&args[0], padded),
            _ => is_null(condition, padded),
        },
        _ => is_null(condition, padded),
    }
}

/// True if the value is certainly NULL where all columns of `padded` are.
fn is_null(rex: &Rex, padded: &dyn Fn(usize) -> bool) -> bool {
    match &rex.kind {
        RexKind::Input(i) => padded(*i),
        RexKind::Literal(value) => *value == Value::Null,
        RexKind::Cast { operand, .. } => is_null(operand, padded),
        RexKind::Call(Function::Builtin(def), args) => match def.name {
            "=" | "<>" | "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/" | "LIKE" | "NOT" | "MOD" => {
                args.iter().any(|a| is_null(a, padded))
            }
            _ => false,
        },
        _ => false,
    }
}
