//! Arithmetic of numbers (`ScalarOperatorGens.generateBinaryArithmeticOperator`). Integers wrap, DECIMALs that do not fit are
//! NULL.

use super::{Call, interval};
use crate::catalog::types::TypeKind;
use crate::eval::{Datum, Decimal, EvalError, Evaluator, cast};

pub(super) fn compile(call: &Call<'_>, mut args: Vec<Evaluator>) -> Option<Evaluator> {
    if call.name == "Reinterpret" {
        // An interval as its number of months or milliseconds.
        return Some(args.pop()?.map(|v| {
            Ok(match v {
                Datum::Months(n) | Datum::Millis(n) => Datum::Int(*n),
                other => other.clone(),
            })
        }));
    }
    if args.len() == 1 {
        return negate(call, args.pop()?);
    }
    if call.args.iter().any(|a| a.ty.is_datetime() || a.ty.is_interval()) {
        return interval::compile(call, args);
    }
    let [a, b]: [Evaluator; 2] = args.try_into().ok()?;
    match &call.result.kind {
        TypeKind::Decimal(precision, scale) => decimals(call, a, b, *precision, *scale),
        TypeKind::Float => {
            let operand = cast::to_f32;
            floating(call.name, a, b, operand, Datum::Float, (|x, y| x + y, |x, y| x - y, |x, y| x * y, |x, y| x / y))
        }
        TypeKind::Double => {
            let operand = cast::to_f64;
            floating(call.name, a, b, operand, Datum::Double, (|x, y| x + y, |x, y| x - y, |x, y| x * y, |x, y| x / y))
        }
        TypeKind::BigInt => integers(call.name, a, b, |n| n),
        TypeKind::Int => integers(call.name, a, b, |n| i64::from(n as i32)),
        TypeKind::SmallInt => integers(call.name, a, b, |n| i64::from(n as i16)),
        TypeKind::TinyInt => integers(call.name, a, b, |n| i64::from(n as i8)),
        _ => None,
    }
}

fn negate(call: &Call<'_>, a: Evaluator) -> Option<Evaluator> {
    let kind = call.result.kind.clone();
    Some(a.map(move |v| {
        Ok(match v {
            Datum::Int(n) => Datum::Int(cast::wrap(n.wrapping_neg(), &kind)),
            Datum::Float(f) => Datum::Float(-f),
            Datum::Double(d) => Datum::Double(-d),
            Datum::Decimal { .. } => v.as_decimal().map_or(Datum::Null, |d| d.negated().into()),
            Datum::Months(n) => Datum::Months(n.wrapping_neg()),
            Datum::Millis(n) => Datum::Millis(n.wrapping_neg()),
            _ => Datum::Null,
        })
    }))
}

fn by_zero() -> EvalError {
    EvalError::new("/ by zero")
}

/// Arithmetic of integers; `wrap` cuts to the width of the result.
fn integers(
    name: &str,
    a: Evaluator,
    b: Evaluator,
    wrap: impl Fn(i64) -> i64 + Copy + Send + Sync + 'static,
) -> Option<Evaluator> {
    // Scale-0 DECIMALs come here by way of MOD: they count as BIGINT.
    fn whole(value: &Datum) -> Option<i64> {
        match value {
            Datum::Int(n) => Some(*n),
            _ => value.as_decimal().map(|d| d.to_integer() as i64),
        }
    }
    fn build(
        a: Evaluator,
        b: Evaluator,
        op: impl Fn(i64, i64) -> Result<i64, EvalError> + Send + Sync + 'static,
    ) -> Evaluator {
        a.zip(b, move |x, y| match (x, y) {
            (Datum::Int(x), Datum::Int(y)) => op(*x, *y).map(Datum::Int),
            _ => match (whole(x), whole(y)) {
                (Some(x), Some(y)) => op(x, y).map(Datum::Int),
                _ => Ok(Datum::Null),
            },
        })
    }
    Some(match name {
        "+" => build(a, b, move |x, y| Ok(wrap(x.wrapping_add(y)))),
        "-" => build(a, b, move |x, y| Ok(wrap(x.wrapping_sub(y)))),
        "*" => build(a, b, move |x, y| Ok(wrap(x.wrapping_mul(y)))),
        "/" | "/INT" => build(a, b, move |x, y| if y == 0 { Err(by_zero()) } else { Ok(wrap(x.wrapping_div(y))) }),
        "MOD" => build(a, b, move |x, y| if y == 0 { Err(by_zero()) } else { Ok(wrap(x.wrapping_rem(y))) }),
        _ => return None,
    })
}

/// `+`, `-`, `*` and `/` of floating point numbers of one width.
type Operators<T> = (fn(T, T) -> T, fn(T, T) -> T, fn(T, T) -> T, fn(T, T) -> T);

fn floating<T: Copy + PartialEq + Default + 'static>(
    name: &str,
    a: Evaluator,
    b: Evaluator,
    operand: fn(&Datum) -> Option<T>,
    result: fn(T) -> Datum,
    (plus, minus, times, divide): Operators<T>,
) -> Option<Evaluator> {
    let op = match name {
        "+" => plus,
        "-" => minus,
        "*" => times,
        "/" => {
            // Two constants are divided while Flink plans, as exact numbers.
            if let (Evaluator::Constant(_), Evaluator::Constant(y)) = (&a, &b)
                && operand(y) == Some(T::default())
            {
                return Some(Evaluator::failing("Division by zero"));
            }
            divide
        }
        _ => return None,
    };
    Some(a.zip(b, move |x, y| {
        Ok(match (operand(x), operand(y)) {
            (Some(x), Some(y)) => result(op(x, y)),
            _ => Datum::Null,
        })
    }))
}

fn decimals(call: &Call<'_>, a: Evaluator, b: Evaluator, precision: u8, scale: u8) -> Option<Evaluator> {
    // Integers become DECIMALs of the result's type before they are used. One that has too many digits for it is not looked
    // at again: Flink's code fails.
    let operand = move |v: &Datum| match v {
        Datum::Null => Ok(None),
        Datum::Int(n) => match (Decimal { unscaled: i128::from(*n), scale: 0 }).fit(precision, scale) {
            Some(d) => Ok(Some(d)),
            None => Err(EvalError::new("Cannot invoke \"DecimalData.toBigDecimal()\" because the operand is null")),
        },
        _ => Ok(v.as_decimal()),
    };
    type Op = fn(Decimal, Decimal, u8, u8) -> Option<Decimal>;
    let (op, divides): (Op, bool) = match call.name {
        "+" => (Decimal::plus, false),
        "-" => (Decimal::minus, false),
        "*" => (Decimal::times, false),
        "/" => (Decimal::divided, true),
        "MOD" => (Decimal::modulo, true),
        _ => return None,
    };
    Some(a.zip(b, move |x, y| {
        if x.is_null() || y.is_null() {
            return Ok(Datum::Null);
        }
        let (Some(x), Some(y)) = (operand(x)?, operand(y)?) else { return Ok(Datum::Null) };
        if divides && y.unscaled == 0 {
            return Err(EvalError::new("Division by zero"));
        }
        Ok(op(x, y, precision, scale).map_or(Datum::Null, Datum::from))
    }))
}
