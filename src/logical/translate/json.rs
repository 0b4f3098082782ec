//! Calls of JSON functions: their clauses, the type after RETURNING, and what Flink does not plan.

use super::apply;
use super::call::symbol;
use crate::catalog::functions::FunctionDef;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::rex::{Rex, Value};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{TypeName, TypeNameKind};

/// JSON functions: `RETURNING` is the type of the call, and clauses that are not written print with their defaults.
pub(super) fn call(def: &'static FunctionDef, mut args: Vec<Rex>, span: Span) -> PlanResult<Rex> {
    let returning =
        args.iter().position(|a| matches!(a.as_literal(), Some(Value::Symbol(s)) if s.starts_with("RETURNING ")));
    let ty = returning.and_then(|i| match args.remove(i).as_literal() {
        Some(Value::Symbol(words)) => Some(returned_type(words.trim_start_matches("RETURNING ").trim(), span)),
        _ => None,
    });
    if let Some(message) = refused_json(def.name, &args, ty.as_ref()) {
        let error = PlanError::rejected(span, message).label("this call");
        return Err(error
            .help("JSON has text, numbers, truth values, timestamps, bytes, arrays, maps of text and rows")
            .into());
    }
    let plain = !args.iter().any(|a| matches!(a.as_literal(), Some(Value::Symbol(_))));
    match def.name {
        "JSON_OBJECT" if plain => args.insert(0, symbol("NULL_ON_NULL", span)),
        "JSON_ARRAY" if plain => args.insert(0, symbol("ABSENT_ON_NULL", span)),
        "JSON_QUERY" if plain && args.len() == 2 => {
            let null = "SqlJsonQueryEmptyOrErrorBehavior[NULL]";
            args.extend(["WITHOUT_ARRAY", null, null].map(|word| symbol(word, span)));
        }
        _ => {}
    }
    let rex = apply(def, args, span)?;
    Ok(match ty {
        Some(ty) => Rex { ty, ..rex },
        None => rex,
    })
}

/// Why Flink does not plan a JSON function: what cannot be returned, or cannot be written.
fn refused_json(name: &str, args: &[Rex], returning: Option<&DataType>) -> Option<String> {
    use TypeKind::{Array, Boolean, Double, Int, Unknown, VarChar};
    let is_symbol = |a: &Rex| matches!(a.as_literal(), Some(Value::Symbol(_)));
    match (name, returning.map(|t| &t.kind)) {
        ("JSON_VALUE", Some(kind)) if !matches!(kind, Boolean | Int | Double | VarChar(_) | Unknown) => {
            return Some(format!("Unsupported type '{kind}' for RETURNING in JSON_VALUE()."));
        }
        ("JSON_QUERY", Some(Array(_))) => {
            let empty = args.iter().find_map(|a| match a.as_literal() {
                Some(Value::Symbol(words)) => words.strip_prefix("EMPTY OBJECT ON "),
                _ => None,
            })?;
            let on = empty.to_lowercase();
            return Some(format!("Illegal on {on} behavior 'EMPTY OBJECT' for return type: VARCHAR(2147483647) ARRAY"));
        }
        _ => {}
    }
    let values = args.iter().filter(|a| !is_symbol(a));
    match name {
        "JSON_OBJECT" => values.enumerate().find_map(|(i, arg)| match i % 2 {
            0 if arg.ty.nullable && !arg.ty.is_unknown() => {
                Some("Argument to function 'JSON_OBJECT' must not be NULL: the keys".to_owned())
            }
            0 => None,
            _ => not_in_json(&arg.ty),
        }),
        "JSON_ARRAY" => values.into_iter().find_map(|arg| not_in_json(&arg.ty)),
        "JSON_STRING" => args.first().and_then(|arg| not_in_json(&arg.ty)),
        _ => None,
    }
}

/// Why values of a type cannot be written (`JsonGenerateUtils`).
fn not_in_json(ty: &DataType) -> Option<String> {
    match &ty.kind {
        TypeKind::Null => Some("Type is not supported: ANY".to_owned()),
        TypeKind::Array(of) => not_in_json(of),
        TypeKind::Map(key, value) => {
            if key.is_character() || key.is_unknown() {
                not_in_json(value)
            } else {
                Some(format!(
                    "Type '{key}' is not supported for JSON conversion. The key type must be a character string."
                ))
            }
        }
        TypeKind::Row(fields) => fields.iter().find_map(|f| not_in_json(&f.ty)),
        TypeKind::Date | TypeKind::Time(_) | TypeKind::Multiset(_) => {
            Some(format!("Type '{ty}' is not scalar or cannot be converted into JSON."))
        }
        _ if ty.is_interval() => Some(format!("Type '{ty}' is not scalar or cannot be converted into JSON.")),
        _ => None,
    }
}

/// The type after RETURNING, nullable.
fn returned_type(words: &str, span: Span) -> DataType {
    let words = words.to_ascii_uppercase();
    if let Some(element) = words.strip_prefix("ARRAY<").and_then(|rest| rest.strip_suffix('>')) {
        return TypeKind::Array(returned_type(element.trim(), span).into()).nullable();
    }
    // `DECIMAL(5, 2)`: a name with numbers.
    let (name, numbers) = match words.split_once('(') {
        Some((name, rest)) => (name.trim(), rest.trim_end_matches(')')),
        None => (words.as_str(), ""),
    };
    let numbers: Vec<u32> = numbers.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let name = TypeName { kind: TypeNameKind::Simple(name.to_owned(), numbers), not_null: false, span };
    DataType::from_ast(&name).unwrap_or_else(|_| DataType::unknown())
}
