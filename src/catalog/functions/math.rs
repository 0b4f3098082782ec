//! Arithmetic functions.

use super::results::*;
use super::{ArgumentType, FunctionDef, Operand::*, function, operators, volatile};
use crate::catalog::types::TypeKind;
use crate::catalog::value::Value;

pub(super) static FUNCTIONS: &[FunctionDef] = &[
    function("ABS", (1, 1), &[NumericOrInterval], arg0),
    function("MOD", (2, 2), &[Numeric], |args| (operators::MOD.result)(args)),
    function("POWER", (2, 2), &[Numeric], double),
    function("SQRT", (1, 1), &[Numeric], double),
    function("LN", (1, 1), &[Numeric], double),
    function("LOG10", (1, 1), &[Numeric], double),
    function("LOG2", (1, 1), &[Numeric], double),
    function("LOG", (1, 2), &[Numeric], double),
    function("EXP", (1, 1), &[Numeric], double),
    function("CEIL", (1, 2), &[NumericOrDatetime, Symbol], floor),
    function("FLOOR", (1, 2), &[NumericOrDatetime, Symbol], floor),
    function("SIN", (1, 1), &[Numeric], double),
    function("SINH", (1, 1), &[Numeric], double),
    function("COS", (1, 1), &[Numeric], double),
    function("COSH", (1, 1), &[Numeric], double),
    function("TAN", (1, 1), &[Numeric], double),
    function("TANH", (1, 1), &[Numeric], double),
    function("COT", (1, 1), &[Numeric], double),
    function("ASIN", (1, 1), &[Numeric], double),
    function("ACOS", (1, 1), &[Numeric], double),
    function("ATAN", (1, 1), &[Numeric], double),
    function("ATAN2", (2, 2), &[Numeric], double),
    function("DEGREES", (1, 1), &[Numeric], double),
    function("RADIANS", (1, 1), &[Numeric], double),
    function("SIGN", (1, 1), &[Numeric], arg0),
    function("ROUND", (1, 2), &[Numeric, Integer], round),
    function("TRUNCATE", (1, 2), &[Numeric, Integer], round),
    function("PI", (0, 0), &[], double_not_null),
    function("E", (0, 0), &[], double_not_null),
    volatile("RAND", (0, 1), &[Integer], double),
    volatile("RAND_INTEGER", (1, 2), &[Integer], int),
    volatile("UUID", (0, 0), &[], |_| Ok(TypeKind::Char(36).not_null())),
    function("BIN", (1, 1), &[Integer], string),
    function("HEX", (1, 1), &[NumericOrCharacter], string),
];

/// FLOOR and CEIL: DECIMAL loses its scale, everything else keeps its type.
fn floor(args: &[ArgumentType<'_>]) -> Typed {
    match arg(args, 0).kind {
        TypeKind::Decimal(p, _) => propagate(TypeKind::Decimal(p, 0), &args[..1]),
        kind => propagate(kind, &args[..1]),
    }
}

/// ROUND and TRUNCATE of a DECIMAL: `FlinkTypeSystem`'s round type, one integer digit more where digits go.
fn round(args: &[ArgumentType<'_>]) -> Typed {
    let ty = arg(args, 0);
    let TypeKind::Decimal(p, s) = ty.kind else { return propagate(ty.kind, args) };
    let (p, s) = (i64::from(p), i64::from(s));
    let to = match args.get(1) {
        None => 0,
        Some(a) => match a.literal {
            Some(Value::Int(n)) => *n,
            _ => return propagate(ty.kind, args),
        },
    };
    let kind = if to >= s {
        ty.kind
    } else if to < 0 {
        TypeKind::Decimal((p - s + 1).min(38) as u8, 0)
    } else {
        TypeKind::Decimal((1 + p - s + to).min(38) as u8, to as u8)
    };
    propagate(kind, args)
}
