//! The form in which expressions that mean the same are equal.

use super::boolean::negated;
use super::compare::{exact, flipped};
use crate::catalog::functions::FunctionDef;
use crate::catalog::types::{DataType, IntervalUnits, TypeKind};
use crate::logical::print::digest;
use crate::logical::rex::{Function, OverCall, Rex, RexKind, SortExpr, Value};

/// The lineage form of a (simplified) expression, for comparing: constants on the right, operands of commutative operators
/// in one order, numbers and intervals without the spelling they were written in. Origins are kept.
pub fn canonical(rex: &Rex) -> Rex {
    let ty = plain_type(&rex.ty);
    // A cast that only lets NULL in.
    if let RexKind::Cast { operand, .. } = &rex.kind
        && operand.ty.kind == rex.ty.kind
        && operand.as_literal().is_none()
    {
        return Rex { ty, ..canonical(operand) };
    }
    let kind = match &rex.kind {
        RexKind::Input(_) | RexKind::Outer(_) => rex.kind.clone(),
        RexKind::Literal(value) => RexKind::Literal(plain_double(value, &ty)),
        RexKind::Cast { operand, is_try } => RexKind::Cast { operand: Box::new(canonical(operand)), is_try: *is_try },
        RexKind::Field(operand, i) => RexKind::Field(Box::new(canonical(operand)), *i),
        RexKind::Over(over) => RexKind::Over(Box::new(over_call(over))),
        RexKind::Call(Function::Builtin(def), args) => call(def, args.iter().map(canonical).collect()),
        RexKind::Call(function, args) => RexKind::Call(function.clone(), args.iter().map(canonical).collect()),
    };
    Rex { kind, ty, origins: rex.origins.clone() }
}

fn over_call(over: &OverCall) -> OverCall {
    OverCall {
        function: over.function.clone(),
        args: over.args.iter().map(canonical).collect(),
        distinct: over.distinct,
        filter: over.filter.as_ref().map(canonical),
        partition_by: over.partition_by.iter().map(canonical).collect(),
        partition_origins: over.partition_origins.clone(),
        order_by: over.order_by.iter().map(|s| SortExpr { expr: canonical(&s.expr), ..s.clone() }).collect(),
        frame: over.frame.clone(),
    }
}

fn call(def: &'static FunctionDef, mut args: Vec<Rex>) -> RexKind {
    // A comparison sees how much a number is; anything else also sees its type: `a + 1.0` is a DECIMAL.
    if matches!(def.name, "=" | "<>" | "<" | "<=" | ">" | ">=") {
        for arg in &mut args {
            if let RexKind::Literal(value) = &arg.kind {
                arg.kind = RexKind::Literal(plain_value(value, &arg.ty));
            }
        }
    }
    let builtin = |def: &'static FunctionDef, args| RexKind::Call(Function::Builtin(def), args);
    match def.name {
        "AND" | "OR" => {
            args.sort_by_cached_key(digest);
            args.dedup();
            builtin(def, args)
        }
        "=" | "<>" if args.len() == 2 => {
            args.sort_by_cached_key(operand_key);
            builtin(def, args)
        }
        "+" | "*" if args.len() == 2 && args.iter().all(|a| a.ty.is_numeric()) => {
            args.sort_by_cached_key(operand_key);
            builtin(def, args)
        }
        "<" | "<=" | ">" | ">=" if args.len() == 2 && operand_key(&args[1]) < operand_key(&args[0]) => {
            args.swap(0, 1);
            builtin(by_name(flipped(def.name)).unwrap_or(def), args)
        }
        _ => builtin(def, args),
    }
}

/// Constants last, everything else by its text.
fn operand_key(rex: &Rex) -> (bool, String) {
    (rex.as_literal().is_some(), digest(rex))
}

fn by_name(name: &str) -> Option<&'static FunctionDef> {
    // The comparison operators are each other's negations.
    negated(match name {
        "<" => ">=",
        "<=" => ">",
        ">" => "<=",
        _ => "<",
    })
}

/// Intervals differ by their value, not by the unit they are written in.
fn plain_type(ty: &DataType) -> DataType {
    let kind = match &ty.kind {
        TypeKind::IntervalDayTime(_) => TypeKind::IntervalDayTime(IntervalUnits::Second),
        TypeKind::IntervalYearMonth(_) => TypeKind::IntervalYearMonth(IntervalUnits::Month),
        kind => kind.clone(),
    };
    DataType { kind, nullable: ty.nullable }
}

fn plain_double(value: &Value, ty: &DataType) -> Value {
    match (&ty.kind, value) {
        (TypeKind::Double | TypeKind::Float, Value::Int(_) | Value::Decimal { .. }) => {
            super::compare::as_f64(value).map_or_else(|| value.clone(), |v| Value::Double(v.to_bits()))
        }
        _ => value.clone(),
    }
}

fn plain_value(value: &Value, ty: &DataType) -> Value {
    match (&ty.kind, value) {
        (TypeKind::Double | TypeKind::Float, _) => value.clone(),
        (_, Value::Decimal { .. }) => match exact(value) {
            Some((mut unscaled, mut scale)) => {
                while scale > 0 && unscaled % 10 == 0 {
                    unscaled /= 10;
                    scale -= 1;
                }
                match i64::try_from(unscaled) {
                    Ok(n) if scale == 0 => Value::Int(n),
                    _ => Value::Decimal { unscaled, scale },
                }
            }
            None => value.clone(),
        },
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::functions::operators as op;

    #[test]
    fn comparisons_are_found_by_name() {
        for def in [&op::LESS, &op::LESS_OR_EQUAL, &op::GREATER, &op::GREATER_OR_EQUAL] {
            assert_eq!(by_name(def.name).map(|d| d.name), Some(def.name));
        }
    }
}
