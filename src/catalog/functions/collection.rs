//! Collection functions.

use std::sync::Arc;

use super::results::*;
use super::{
    ArgumentType, FunctionDef, MANY,
    Operand::{Any, Array, ArrayOrMap, Boolean, Character, Collection, Integer, Map},
    function,
};
use crate::catalog::coercion;
use crate::catalog::types::{DataType, Field, TypeKind};

pub(super) static FUNCTIONS: &[FunctionDef] = &[
    function("CARDINALITY", (1, 1), &[ArrayOrMap], int),
    function("ELEMENT", (1, 1), &[Collection], only_element),
    function("ARRAY_APPEND", (2, 2), &[Array, Any], with_element),
    function("ARRAY_PREPEND", (2, 2), &[Array, Any], with_element),
    function("ARRAY_CONTAINS", (2, 2), &[Array, Any], contains),
    function("ARRAY_DISTINCT", (1, 1), &[Array], arg0_as_is),
    function("ARRAY_POSITION", (2, 2), &[Array, Any], position),
    function("ARRAY_REMOVE", (2, 2), &[Array, Any], arg0_as_is),
    function("ARRAY_REVERSE", (1, 1), &[Array], arg0_as_is),
    function("ARRAY_SLICE", (2, 3), &[Array, Integer], arg0),
    function("ARRAY_SORT", (1, 3), &[Array, Boolean], sorted),
    function("ARRAY_UNION", (2, 2), &[Array], common),
    function("ARRAY_CONCAT", (1, MANY), &[Array], common),
    function("ARRAY_EXCEPT", (2, 2), &[Array], common),
    function("ARRAY_INTERSECT", (2, 2), &[Array], common),
    function("ARRAY_MAX", (1, 1), &[Array], extreme),
    function("ARRAY_MIN", (1, 1), &[Array], extreme),
    function("ARRAY_JOIN", (2, 3), &[Array, Character], join),
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

/// ELEMENT: nullable as the element or its collection is.
fn only_element(args: &[ArgumentType<'_>]) -> Typed {
    let of = element(&arg(args, 0));
    propagate(of.kind, args).map(|ty| DataType { nullable: ty.nullable || of.nullable, ..ty })
}

/// The elements have to have an order.
fn ordered(args: &[ArgumentType<'_>]) -> Result<DataType, String> {
    let of = element(&arg(args, 0));
    match of.kind {
        TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Multiset(_) | TypeKind::Row(_) => {
            Err(format!("Type '{of}' should support both 'EQUALS' and 'ORDER' comparison with itself."))
        }
        _ => Ok(of),
    }
}

fn extreme(args: &[ArgumentType<'_>]) -> Typed {
    ordered(args).map(|of| of.with_nullable(true))
}

fn sorted(args: &[ArgumentType<'_>]) -> Typed {
    ordered(args)?;
    arg0(args)
}

/// ARRAY_JOIN takes texts only.
fn join(args: &[ArgumentType<'_>]) -> Typed {
    let of = element(&arg(args, 0));
    if of.is_character() || of.is_unknown() || of.kind == TypeKind::Null {
        string(args)
    } else {
        Err("Invalid input arguments: the elements are no texts".to_owned())
    }
}

fn with_element(args: &[ArgumentType<'_>]) -> Typed {
    let (array, item) = (arg(args, 0), arg(args, 1));
    comparable(args)?;
    // The value takes the type of the elements: a longer text is cut.
    let element = element(&array);
    let nullable = element.nullable || item.nullable;
    propagate(TypeKind::Array(Arc::new(element.with_nullable(nullable))), args)
}

fn no_common() -> String {
    "Invalid input arguments: the value does not have the type of the elements".to_owned()
}

/// The value has to become an element by an implicit cast (`ArrayElementArgumentTypeStrategy`).
fn comparable(args: &[ArgumentType<'_>]) -> Result<(), String> {
    let (item, element) = (arg(args, 1), element(&arg(args, 0)));
    coercion::implicit_cast(&item.kind, &element.kind).then_some(()).ok_or_else(no_common)
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
