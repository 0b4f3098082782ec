//! Collection functions.

use std::sync::Arc;

use super::results::*;
use super::{
    ArgumentType, FunctionDef, MANY,
    Operand::{Any, Array, Boolean, Character, Collection, Integer, Map},
    function,
};
use crate::catalog::coercion;
use crate::catalog::types::{DataType, Field, TypeKind};

pub(super) static FUNCTIONS: &[FunctionDef] = &[
    function("CARDINALITY", (1, 1), &[Collection], int),
    function("ELEMENT", (1, 1), &[Collection], element_nullable),
    function("ARRAY_APPEND", (2, 2), &[Array, Any], with_element),
    function("ARRAY_PREPEND", (2, 2), &[Array, Any], with_element),
    function("ARRAY_CONTAINS", (2, 2), &[Array, Any], contains),
    function("ARRAY_DISTINCT", (1, 1), &[Array], arg0_as_is),
    function("ARRAY_POSITION", (2, 2), &[Array, Any], position),
    function("ARRAY_REMOVE", (2, 2), &[Array, Any], arg0_as_is),
    function("ARRAY_REVERSE", (1, 1), &[Array], arg0_as_is),
    function("ARRAY_SLICE", (2, 3), &[Array, Integer], arg0),
    function("ARRAY_SORT", (1, 3), &[Array, Boolean], arg0),
    function("ARRAY_UNION", (2, 2), &[Array], common),
    function("ARRAY_CONCAT", (1, MANY), &[Array], common),
    function("ARRAY_EXCEPT", (2, 2), &[Array], common),
    function("ARRAY_INTERSECT", (2, 2), &[Array], common),
    function("ARRAY_MAX", (1, 1), &[Array], element_nullable),
    function("ARRAY_MIN", (1, 1), &[Array], element_nullable),
    function("ARRAY_JOIN", (2, 3), &[Array, Character], string),
    function("MAP_KEYS", (1, 1), &[Map], |args| map_part(args, true)),
    function("MAP_VALUES", (1, 1), &[Map], |args| map_part(args, false)),
    function("MAP_ENTRIES", (1, 1), &[Map], map_entries),
    function("MAP_FROM_ARRAYS", (2, 2), &[Array], map_from_arrays),
    function("MAP_UNION", (1, MANY), &[Map], common),
];

/// The element type of an array or multiset.
fn element(ty: &DataType) -> DataType {
    match &ty.kind {
        TypeKind::Array(t) | TypeKind::Multiset(t) => t.as_ref().clone(),
        _ => DataType::unknown(),
    }
}

fn element_nullable(args: &[ArgumentType<'_>]) -> Typed {
    Ok(element(&arg(args, 0)).with_nullable(true))
}

fn with_element(args: &[ArgumentType<'_>]) -> Typed {
    let (array, item) = (arg(args, 0), arg(args, 1));
    let element = coercion::least_restrictive(&element(&array), &item).ok_or_else(no_common)?;
    Ok(DataType { kind: TypeKind::Array(Arc::new(element)), nullable: array.nullable })
}

fn no_common() -> String {
    "Invalid input arguments: the value does not have the type of the elements".to_owned()
}

fn comparable(args: &[ArgumentType<'_>]) -> Result<(), String> {
    coercion::least_restrictive(&element(&arg(args, 0)), &arg(args, 1)).map(drop).ok_or_else(no_common)
}

fn contains(args: &[ArgumentType<'_>]) -> Typed {
    comparable(args)?;
    propagate(TypeKind::Boolean, &args[..1])
}

fn position(args: &[ArgumentType<'_>]) -> Typed {
    comparable(args)?;
    propagate(TypeKind::Int, args)
}

fn map_part(args: &[ArgumentType<'_>], keys: bool) -> Typed {
    match arg(args, 0).kind {
        TypeKind::Map(k, v) => propagate(TypeKind::Array(if keys { k } else { v }), args),
        _ => Ok(DataType::unknown()),
    }
}

fn map_entries(args: &[ArgumentType<'_>]) -> Typed {
    let TypeKind::Map(k, v) = arg(args, 0).kind else { return Ok(DataType::unknown()) };
    let fields = [("key", k), ("value", v)].map(|(name, ty)| Field { name: name.to_owned(), ty: ty.as_ref().clone() });
    let row = TypeKind::Row(Arc::from(fields)).nullable();
    propagate(TypeKind::Array(Arc::new(row)), args)
}

fn map_from_arrays(args: &[ArgumentType<'_>]) -> Typed {
    let part = |i: usize| match arg(args, i).kind {
        TypeKind::Array(t) => t,
        _ => Arc::new(DataType::unknown()),
    };
    propagate(TypeKind::Map(part(0), part(1)), args)
}
