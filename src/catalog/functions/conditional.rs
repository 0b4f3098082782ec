//! Conditional and type functions, and those about the session.

use super::results::*;
use super::{ArgumentType, FunctionDef, MANY, Operand::*, function, volatile};
use crate::catalog::coercion;
use crate::catalog::types::DataType;

pub(super) static FUNCTIONS: &[FunctionDef] = &[
    function("NULLIF", (2, 2), &[Any], arg0_nullable),
    function("COALESCE", (1, MANY), &[Any], coalesce),
    function("IFNULL", (2, 2), &[Any], coalesce),
    function("IF", (3, 3), &[Boolean, Any], if_),
    function("GREATEST", (1, MANY), &[Any], common),
    function("LEAST", (1, MANY), &[Any], common),
    function("TYPEOF", (1, 2), &[Any, Boolean], string_nullable),
    volatile("CURRENT_DATABASE", (0, 0), &[], string_not_null),
];

/// NOT NULL as soon as one argument is.
fn coalesce(args: &[ArgumentType<'_>]) -> Typed {
    let nullable = args.iter().all(|a| a.ty.nullable);
    common(args).map(|t| t.with_nullable(nullable))
}

/// The common type of both branches.
fn if_(args: &[ArgumentType<'_>]) -> Typed {
    let (a, b) = (arg(args, 1), arg(args, 2));
    let nullable = args.iter().any(|a| a.ty.nullable);
    coercion::least_restrictive(&a, &b).map(|t: DataType| t.with_nullable(nullable)).ok_or_else(|| {
        let name = |i: usize| super::sql_name(&arg(args, i));
        format!(
            "Cannot apply 'IF' to arguments of type 'IF(<{}>, <{}>, <{}>)': the branches have no common type",
            name(0),
            name(1),
            name(2)
        )
    })
}
