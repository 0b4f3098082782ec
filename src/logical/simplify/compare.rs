//! Comparisons: of constants, of a value with itself, of conditions with TRUE and FALSE.

use std::cmp::Ordering;

use super::{Simplifier, boolean, canonical, cast};
use crate::catalog::functions::{FunctionDef, operators as op};
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::rex::{Function, Rex, RexKind, Value};

/// The comparison with its sides swapped: `10 < a` is `a > 10`.
pub(super) fn flipped(name: &'static str) -> &'static str {
    match name {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        other => other,
    }
}

/// Orders two constants of comparable kinds. `None` for NULL, NaN, placeholders and kinds that do not compare.
pub(super) fn compare_values(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Boolean(x), Value::Boolean(y)) => Some(x.cmp(y)),
        (Value::String(x), Value::String(y)) => Some(x.cmp(y)),
        (Value::Bytes(x), Value::Bytes(y)) => Some(x.cmp(y)),
        (Value::Date(x), Value::Date(y)) | (Value::Time(x), Value::Time(y)) => Some(x.cmp(y)),
        (Value::Timestamp(x, n), Value::Timestamp(y, m)) => Some((x, n).cmp(&(y, m))),
        (Value::Months(x), Value::Months(y)) | (Value::Millis(x), Value::Millis(y)) => Some(x.cmp(y)),
        _ => compare_numbers(a, b),
    }
}

fn compare_numbers(a: &Value, b: &Value) -> Option<Ordering> {
    if let (Some((x, s)), Some((y, t))) = (exact(a), exact(b)) {
        let scale = |v: i128, by: u8| 10_i128.checked_pow(u32::from(by)).and_then(|p| v.checked_mul(p));
        if let (Some(x), Some(y)) = (scale(x, t.saturating_sub(s)), scale(y, s.saturating_sub(t))) {
            return Some(x.cmp(&y));
        }
    }
    as_f64(a)?.partial_cmp(&as_f64(b)?)
}

/// Unscaled value and scale of an exact number.
pub(super) fn exact(value: &Value) -> Option<(i128, u8)> {
    match value {
        Value::Int(n) => Some((i128::from(*n), 0)),
        Value::Decimal { unscaled, scale } => Some((*unscaled, *scale)),
        _ => None,
    }
}

/// A number as a double.
pub(super) fn as_f64(value: &Value) -> Option<f64> {
    match value {
        Value::Double(bits) => Some(f64::from_bits(*bits)),
        _ => exact(value).map(|(n, s)| n as f64 / 10_f64.powi(i32::from(s))),
    }
}

/// A comparison of simplified operands.
pub(super) fn comparison(s: Simplifier, def: &'static FunctionDef, args: Vec<Rex>, ty: DataType) -> Rex {
    let [a, b] = match <[Rex; 2]>::try_from(args) {
        Ok(pair) => pair,
        Err(args) => return Rex::call(def, args, ty),
    };
    let (a, b) = (cast::bare_constant(a), cast::bare_constant(b));
    if a.is_null_literal() || b.is_null_literal() {
        return if s.unknown_is_false { Rex::boolean(false) } else { Rex::null(ty) };
    }
    // What a FLOAT makes of its digits, and the session's time zone, are not known here.
    let of_run_time = |r: &Rex| matches!(r.ty.kind, TypeKind::Float | TypeKind::TimestampLtz(..));
    if let (Some(x), Some(y)) = (a.as_literal(), b.as_literal())
        && of_run_time(&a) == of_run_time(&b)
        && let Some(order) = compare_values(x, y)
        && !(a.ty.is_character() && b.ty.is_character() && a.ty.kind != b.ty.kind && padded(&a, &b))
    {
        return Rex::boolean(holds(def.name, order));
    }
    if is_deterministic(&a) && canonical(&a) == canonical(&b) && a.as_literal().is_none() {
        return with_itself(s, holds(def.name, Ordering::Equal), a, ty);
    }
    if a.ty.kind == TypeKind::Boolean && b.ty.kind == TypeKind::Boolean && matches!(def.name, "=" | "<>") {
        let (condition, constant) = match (a.as_literal(), b.as_literal()) {
            (Some(Value::Boolean(c)), None) => (&b, Some(*c)),
            (None, Some(Value::Boolean(c))) => (&a, Some(*c)),
            _ => (&a, None),
        };
        if let Some(constant) = constant {
            let plain = constant == (def.name == "=");
            return if plain { s.rex(condition.clone()) } else { boolean::not(s, condition.clone()) };
        }
    }
    Rex::call(def, vec![a, b], ty)
}

/// `x = x` and `x <> x`: known but for NULL.
fn with_itself(s: Simplifier, holds: bool, x: Rex, ty: DataType) -> Rex {
    let column_of_filter = s.filters_rows && x.as_input().is_some();
    if !x.ty.nullable || column_of_filter || (s.unknown_is_false && !holds) {
        return Rex::boolean(holds);
    }
    let not_null = TypeKind::Boolean.not_null();
    if s.unknown_is_false {
        return Rex::call(&op::IS_NOT_NULL, vec![x], not_null);
    }
    let unknown = Rex::null(TypeKind::Boolean.nullable());
    match holds {
        true => Rex::call(&op::OR, vec![unknown, Rex::call(&op::IS_NOT_NULL, vec![x], not_null)], ty),
        false => Rex::call(&op::AND, vec![unknown, Rex::call(&op::IS_NULL, vec![x], not_null)], ty),
    }
}

/// CHAR constants compare with their padding, which a mixed pair has on one side only.
fn padded(a: &Rex, b: &Rex) -> bool {
    let ends_blank = |r: &Rex| matches!(r.as_literal(), Some(Value::String(t)) if t.ends_with(' '));
    ends_blank(a) || ends_blank(b)
}

fn holds(name: &str, order: Ordering) -> bool {
    match name {
        "=" => order.is_eq(),
        "<>" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// True if the expression always gives the same for the same row.
pub(super) fn is_deterministic(rex: &Rex) -> bool {
    let mut deterministic = true;
    rex.visit(&mut |r| {
        if let RexKind::Call(function, _) = &r.kind {
            deterministic &= match function {
                Function::Builtin(def) => def.deterministic,
                Function::User(_) => false,
            };
        }
    });
    deterministic
}
