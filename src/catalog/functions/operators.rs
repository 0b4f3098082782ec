//! Operators, and the functions that Flink's planner puts into plans by itself.

use super::results::*;
use super::{ArgumentType, CallSyntax, FunctionDef, MANY, Operand, function};
use crate::catalog::coercion::{self, Arithmetic};
use crate::catalog::types::{DataType, TypeKind};

macro_rules! operator {
    ($name:ident, $sign:literal, $syntax:ident, $arity:expr, $operands:expr, $result:expr) => {
        #[doc = concat!("`", $sign, "`")]
        pub static $name: FunctionDef = FunctionDef {
            name: $sign,
            syntax: CallSyntax::$syntax,
            deterministic: true,
            arity: $arity,
            operands: $operands,
            result: $result,
        };
    };
}

operator!(AND, "AND", Infix, (0, MANY), &[Operand::Boolean], boolean);
operator!(OR, "OR", Infix, (0, MANY), &[Operand::Boolean], boolean);
operator!(NOT, "NOT", Prefix, (1, 1), &[Operand::Boolean], boolean);
operator!(EQUALS, "=", Infix, (2, 2), &[Operand::Any], boolean);
operator!(IS_NOT_DISTINCT, "IS NOT DISTINCT FROM", Function, (2, 2), &[Operand::Any], boolean_not_null);
operator!(NOT_EQUALS, "<>", Infix, (2, 2), &[Operand::Any], boolean);
operator!(LESS, "<", Infix, (2, 2), &[Operand::Any], boolean);
operator!(LESS_OR_EQUAL, "<=", Infix, (2, 2), &[Operand::Any], boolean);
operator!(GREATER, ">", Infix, (2, 2), &[Operand::Any], boolean);
operator!(GREATER_OR_EQUAL, ">=", Infix, (2, 2), &[Operand::Any], boolean);
operator!(PLUS, "+", Infix, (2, 2), &[Operand::Any], plus);
operator!(MINUS, "-", Infix, (2, 2), &[Operand::Any], minus);
operator!(TIMES, "*", Infix, (2, 2), &[Operand::NumericOrInterval], times);
operator!(DIVIDE, "/", Infix, (2, 2), &[Operand::NumericOrInterval, Operand::Numeric], divide);
operator!(NEGATE, "-", Prefix, (1, 1), &[Operand::NumericOrInterval], arg0);
operator!(CONCAT, "||", Function, (2, 2), &[Operand::String], concat_operator);
operator!(IS_NULL, "IS NULL", Postfix, (1, 1), &[Operand::Any], boolean_not_null);
operator!(IS_NOT_NULL, "IS NOT NULL", Postfix, (1, 1), &[Operand::Any], boolean_not_null);
operator!(IS_TRUE, "IS TRUE", Postfix, (1, 1), &[Operand::Boolean], boolean_not_null);
operator!(IS_NOT_TRUE, "IS NOT TRUE", Postfix, (1, 1), &[Operand::Boolean], boolean_not_null);
operator!(IS_FALSE, "IS FALSE", Postfix, (1, 1), &[Operand::Boolean], boolean_not_null);
operator!(IS_NOT_FALSE, "IS NOT FALSE", Postfix, (1, 1), &[Operand::Boolean], boolean_not_null);
operator!(LIKE, "LIKE", Function, (2, 3), &[Operand::Character], boolean);
operator!(SIMILAR_TO, "SIMILAR TO", Function, (2, 3), &[Operand::Character], boolean);
operator!(SEARCH, "SEARCH", Function, (2, 2), &[Operand::Any], boolean);
operator!(CASE, "CASE", Function, (3, MANY), &[Operand::Any], unknown);
operator!(ROW, "ROW", Function, (0, MANY), &[Operand::Any], unknown);
operator!(ARRAY, "ARRAY", Function, (1, MANY), &[Operand::Any], unknown);
operator!(MAP, "MAP", Function, (0, MANY), &[Operand::Any], unknown);
operator!(ITEM, "ITEM", Function, (2, 2), &[Operand::Any], item);
operator!(DIVIDE_INTEGER, "/INT", Infix, (2, 2), &[Operand::Any], arg0);
operator!(REINTERPRET, "Reinterpret", Function, (1, 1), &[Operand::Any], arg0);
operator!(PROCTIME_MATERIALIZE, "PROCTIME_MATERIALIZE", Function, (1, 1), &[Operand::Any], arg0);
operator!(HASH_CODE, "HASH_CODE", Function, (1, 1), &[Operand::Any], int);
operator!(EXISTS, "EXISTS", Function, (0, MANY), &[Operand::Any], boolean_not_null);

/// `MOD`, which `%` is as well.
pub static MOD: FunctionDef = function("MOD", (2, 2), &[Operand::Numeric], modulo);

fn unknown(_: &[ArgumentType<'_>]) -> Typed {
    Ok(DataType::unknown())
}

fn two(args: &[ArgumentType<'_>]) -> (DataType, DataType, bool) {
    (arg(args, 0), arg(args, 1), any_nullable(args))
}

fn either_unknown(a: &DataType, b: &DataType) -> bool {
    matches!(a.kind, TypeKind::Unknown | TypeKind::Null) || matches!(b.kind, TypeKind::Unknown | TypeKind::Null)
}

fn unsupported(op: &str, args: &[ArgumentType<'_>]) -> String {
    let given: Vec<String> = args.iter().map(|a| format!("<{}>", super::sql_name(a.ty))).collect();
    format!(
        "Cannot apply '{op}' to arguments of type '{}'. Supported form(s): '<NUMERIC> {op} <NUMERIC>', \
         '<DATETIME_INTERVAL> {op} <DATETIME_INTERVAL>', '<DATETIME> {op} <DATETIME_INTERVAL>'",
        given.join(&format!(" {op} "))
    )
}

fn sum(op: &str, args: &[ArgumentType<'_>]) -> Typed {
    let (a, b, nullable) = two(args);
    if either_unknown(&a, &b) {
        let known = if a.is_unknown() || a.kind == TypeKind::Null { b } else { a };
        let kind = if known.is_interval() { TypeKind::Unknown } else { known.kind };
        return Ok(DataType { kind, nullable: true });
    }
    let kind = if a.is_numeric() && b.is_numeric() {
        coercion::arithmetic(Arithmetic::Add, &a.kind, &b.kind)
    } else if a.is_datetime() && b.is_interval() {
        Some(a.kind.clone())
    } else if op == "+" && a.is_interval() && b.is_datetime() {
        Some(b.kind.clone())
    } else if a.is_interval() && b.is_interval() {
        coercion::least_restrictive(&a, &b).map(|t| t.kind)
    } else {
        None
    };
    kind.map(|kind| DataType { kind, nullable }).ok_or_else(|| unsupported(op, args))
}

fn plus(args: &[ArgumentType<'_>]) -> Typed {
    sum("+", args)
}

fn minus(args: &[ArgumentType<'_>]) -> Typed {
    sum("-", args)
}

fn times(args: &[ArgumentType<'_>]) -> Typed {
    let (a, b, nullable) = two(args);
    let kind = match (a.is_interval(), b.is_interval()) {
        _ if either_unknown(&a, &b) => Some(if a.is_unknown() { b.kind.clone() } else { a.kind.clone() }),
        (true, false) => Some(a.kind.clone()),
        (false, true) => Some(b.kind.clone()),
        _ => coercion::arithmetic(Arithmetic::Multiply, &a.kind, &b.kind),
    };
    kind.map(|kind| DataType { kind, nullable }).ok_or_else(|| unsupported("*", args))
}

fn divide(args: &[ArgumentType<'_>]) -> Typed {
    let (a, b, nullable) = two(args);
    let kind = match a.is_interval() {
        _ if either_unknown(&a, &b) => Some(if a.is_unknown() { b.kind.clone() } else { a.kind.clone() }),
        true => None,
        false => coercion::arithmetic(Arithmetic::Divide, &a.kind, &b.kind),
    };
    kind.map(|kind| DataType { kind, nullable }).ok_or_else(|| unsupported("/", args))
}

fn modulo(args: &[ArgumentType<'_>]) -> Typed {
    let (a, b, nullable) = two(args);
    if matches!(a.kind, TypeKind::Float | TypeKind::Double) || matches!(b.kind, TypeKind::Float | TypeKind::Double) {
        return Err(format!(
            "Cannot apply '%' to arguments of type '<{}> % <{}>'. Supported form(s): '<EXACT_NUMERIC> % <EXACT_NUMERIC>'",
            super::sql_name(&a),
            super::sql_name(&b)
        ));
    }
    if either_unknown(&a, &b) {
        return Ok(DataType { kind: if b.is_unknown() { a.kind } else { b.kind }, nullable: true });
    }
    coercion::arithmetic(Arithmetic::Modulo, &a.kind, &b.kind)
        .map(|kind| DataType { kind, nullable })
        .ok_or_else(|| unsupported("%", args))
}

/// `||`: two CHARs give a CHAR of both lengths, anything varying gives a VARCHAR (Calcite's dyadic string sum).
fn concat_operator(args: &[ArgumentType<'_>]) -> Typed {
    use TypeKind::{Binary, Char, VarBinary, VarChar};
    let (a, b, nullable) = two(args);
    let total = |m: u32, n: u32| m.saturating_add(n).min(crate::catalog::types::MAX_LENGTH);
    let kind = match (&a.kind, &b.kind) {
        (Char(m), Char(n)) => Char(total(*m, *n)),
        (Char(m) | VarChar(m), Char(n) | VarChar(n)) => VarChar(total(*m, *n)),
        (Binary(m), Binary(n)) => Binary(total(*m, *n)),
        (Binary(m) | VarBinary(m), Binary(n) | VarBinary(n)) => VarBinary(total(*m, *n)),
        _ if either_unknown(&a, &b) => TypeKind::string(),
        _ => {
            return Err(format!(
                "Cannot apply '||' to arguments of type '<{}> || <{}>'. Supported form(s): '<STRING> || <STRING>'",
                super::sql_name(&a),
                super::sql_name(&b)
            ));
        }
    };
    Ok(DataType { kind, nullable })
}

/// `a[i]`, `m[k]`: nullable, whatever the element is.
fn item(args: &[ArgumentType<'_>]) -> Typed {
    let (a, b, _) = two(args);
    match &a.kind {
        TypeKind::Array(t) if b.is_integer() || b.is_unknown() => Ok(t.as_ref().clone().with_nullable(true)),
        TypeKind::Map(_, v) => Ok(v.as_ref().clone().with_nullable(true)),
        TypeKind::Row(fields) => match args.get(1).and_then(|a| a.literal) {
            Some(crate::catalog::value::Value::Int(i)) => usize::try_from(*i - 1)
                .ok()
                .and_then(|i| fields.get(i))
                .map(|f| f.ty.clone().with_nullable(true))
                .ok_or_else(|| format!("Cannot infer type of field at position {i} within ROW type: {a}")),
            Some(crate::catalog::value::Value::String(name)) => fields
                .iter()
                .find(|f| f.name == **name)
                .map(|f| f.ty.clone().with_nullable(true))
                .ok_or_else(|| format!("Cannot infer type of field '{name}' within ROW type: {a}")),
            _ => Err(format!("Cannot infer type of field at position null within ROW type: {a}")),
        },
        TypeKind::Unknown | TypeKind::Other(_) => Ok(DataType::unknown()),
        _ => Err(format!(
            "Cannot apply 'ITEM' to arguments of type 'ITEM(<{}>, <{}>)'. Supported form(s): <ARRAY>[<INTEGER>], \
             <MAP>[<ANY>], <ROW>[<CHARACTER>|<INTEGER>]",
            super::sql_name(&a),
            super::sql_name(&b)
        )),
    }
}
