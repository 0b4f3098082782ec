//! JSON functions: `SqlJsonUtils` and the generators of `planner.codegen.calls` for JSON.

mod build;
mod filter;
mod parse;
mod path;
mod value;

use std::sync::Arc;

use super::{Body, Call};
use crate::catalog::types::TypeKind;
use crate::catalog::value::Value;
use crate::eval::{Datum, EvalError};
use parse::parse;
use path::{Lost, Path, PathError, Work};
use value::Json;

/// The function behind a call, if it is one of this family.
pub fn find(call: &Call<'_>) -> Option<Body> {
    match call.name {
        "JSON_VALUE" => json_value(call),
        "JSON_QUERY" => json_query(call),
        "JSON_EXISTS" => json_exists(call),
        "JSON_STRING" | "JSON_OBJECT" | "JSON_ARRAY" => build::find(call),
        _ => is_json(call.name),
    }
}

/// `IS [NOT] JSON ...`, which is never NULL.
fn is_json(name: &str) -> Option<Body> {
    let rest = name.strip_prefix("IS ")?;
    let (negated, rest) = match rest.strip_prefix("NOT ") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let test: fn(&Json) -> bool = match rest {
        "JSON VALUE" => |_| true,
        "JSON OBJECT" => |v| matches!(v, Json::Object(_)),
        "JSON ARRAY" => |v| matches!(v, Json::Array(_)),
        "JSON SCALAR" => Json::is_scalar,
        _ => return None,
    };
    Some(Arc::new(move |a| {
        let found = a[0].as_str().is_some_and(|s| parse(s).is_ok_and(|v| test(&v)));
        Ok(Datum::Boolean(found != negated))
    }))
}

/// What an `ON EMPTY` or `ON ERROR` clause asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    Null,
    Error,
    EmptyArray,
    EmptyObject,
    True,
    False,
    Unknown,
    /// The argument at this place.
    Default(usize),
}

/// The clauses of a call.
struct Clauses {
    empty: On,
    error: On,
    wrapper: Wrapper,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrapper {
    Without,
    Conditional,
    Unconditional,
}

impl Clauses {
    fn of(call: &Call<'_>) -> Clauses {
        let mut clauses = Clauses { empty: On::Null, error: On::Null, wrapper: Wrapper::Without };
        for (i, arg) in call.args.iter().enumerate() {
            let Some(Value::Symbol(words)) = arg.as_literal() else { continue };
            let on = match words.split(" ON ").next().unwrap_or_default() {
                "NULL" => On::Null,
                "ERROR" => On::Error,
                "EMPTY" | "EMPTY ARRAY" => On::EmptyArray,
                "EMPTY OBJECT" => On::EmptyObject,
                "TRUE" => On::True,
                "FALSE" => On::False,
                "UNKNOWN" => On::Unknown,
                // `ON EMPTY` alone ends a `DEFAULT value`.
                _ if words.starts_with("ON ") => On::Default(i - 1),
                words if words.starts_with("WITH") => {
                    clauses.wrapper = match words {
                        _ if words.starts_with("WITHOUT") => Wrapper::Without,
                        _ if words.contains(" CONDITIONAL") => Wrapper::Conditional,
                        _ => Wrapper::Unconditional,
                    };
                    continue;
                }
                _ => continue,
            };
            if words.ends_with("ON EMPTY") {
                clauses.empty = on;
            } else if words.ends_with("ON ERROR") {
                clauses.error = on;
            }
        }
        clauses
    }
}

/// What a path leads to (`JsonPathContext`): in lax mode nothing is an error but the path itself.
struct Found {
    lax: bool,
    value: Result<Option<Json>, String>,
}

/// `lax $.a`, `strict $.a`, `$.a`: a path without a mode is strict.
fn mode(path: &str) -> (bool, &str) {
    let trimmed = path.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    for (word, lax) in [("strict", false), ("lax", true)] {
        let Some(start) = trimmed.get(..word.len()) else { continue };
        let rest = &trimmed[word.len()..];
        if start.eq_ignore_ascii_case(word)
            && rest.starts_with(|c: char| c.is_ascii_whitespace())
            && !rest.trim().is_empty()
        {
            return (lax, rest.trim_start());
        }
    }
    (false, path)
}

/// `SqlJsonUtils.jsonApiCommonSyntax`.
fn look_up(input: &str, path: &str) -> Result<Found, EvalError> {
    let (lax, spec) = mode(path);
    let document = match parse(input) {
        Ok(document) => document,
        Err(_) if lax => return Ok(Found { lax, value: Ok(None) }),
        Err(message) => return Ok(Found { lax, value: Err(message) }),
    };
    let value = if document == Json::Null {
        Err("json object can not be null".to_owned())
    } else {
        match Path::compile(spec) {
            Ok(path) => match path.read(&document, lax, &Work::new()) {
                Ok(value) => Ok(value),
                Err(Lost::NotFound(message)) => Err(message),
                Err(Lost::TooLong) => return Err(EvalError::new("the JSON path takes too long")),
            },
            Err(PathError::Filter) => return Err(EvalError::new("net/minidev/json/writer/JsonReaderI")),
            Err(PathError::Invalid(message)) if spec.trim().is_empty() => Err(message),
            Err(PathError::Invalid(_)) => Err(format!(
                "Illegal jsonpath spec ''{path}'', format of the spec should be: ''<lax|strict> $'{{'expr'}}'''"
            )),
        }
    };
    Ok(Found { lax, value })
}

/// Input and path, unless one is NULL.
fn operands(args: &[Datum]) -> Option<(&str, &str)> {
    args.first().and_then(Datum::as_str).zip(args.get(1).and_then(Datum::as_str))
}

fn json_exists(call: &Call<'_>) -> Option<Body> {
    let has_clause = call.args.len() > 2;
    let error = if has_clause { Clauses::of(call).error } else { On::False };
    Some(Arc::new(move |a| {
        let Some((input, path)) = operands(a) else { return Ok(Datum::Null) };
        Ok(match look_up(input, path)?.value {
            // A JSON null does not exist.
            Ok(value) => Datum::Boolean(value.is_some()),
            Err(message) => match error {
                On::True => Datum::Boolean(true),
                On::Unknown => Datum::Null,
                On::Error => return Err(EvalError::new(message)),
                _ => Datum::Boolean(false),
            },
        })
    }))
}

fn json_value(call: &Call<'_>) -> Option<Body> {
    let clauses = Clauses::of(call);
    let kind = call.result.kind.clone();
    Some(Arc::new(move |a| {
        let Some((input, path)) = operands(a) else { return Ok(Datum::Null) };
        let found = look_up(input, path)?;
        let message = match found.value {
            Err(message) => message,
            Ok(Some(value)) if value.is_scalar() => return returned(&value, &kind),
            Ok(Some(value)) if !found.lax => {
                format!("Strict jsonpath mode requires scalar value, and the actual value is: ''{value}''")
            }
            Ok(_) => {
                return match clauses.empty {
                    On::Error => Err(EvalError::new("Empty result of JSON_VALUE function is not allowed")),
                    On::Default(at) => default(&a[at], &kind),
                    _ => Ok(Datum::Null),
                };
            }
        };
        match clauses.error {
            On::Error => Err(EvalError::new(message)),
            On::Default(at) => default(&a[at], &kind),
            _ => Ok(Datum::Null),
        }
    }))
}

/// A scalar as the type after RETURNING: a Java cast and no conversion, but for STRING, which is `toString`.
fn returned(value: &Json, kind: &TypeKind) -> Result<Datum, EvalError> {
    let wanted = match (kind, value) {
        (TypeKind::Boolean, Json::Boolean(b)) => return Ok(Datum::Boolean(*b)),
        (TypeKind::Int, Json::Int(i)) if i32::try_from(*i).is_ok() => return Ok(Datum::Int(*i)),
        (TypeKind::Double, Json::Double(d)) => return Ok(Datum::Double(*d)),
        (TypeKind::Boolean, _) => "java.lang.Boolean",
        (TypeKind::Int, _) => "java.lang.Integer",
        (TypeKind::Double, _) => "java.lang.Double",
        _ => return Ok(Datum::string(value.to_string())),
    };
    let class = value.class();
    Err(EvalError::new(format!(
        "class {class} cannot be cast to class {wanted} ({class} and {wanted} are in module java.base of loader 'bootstrap')"
    )))
}

/// A default as the type after RETURNING.
fn default(value: &Datum, kind: &TypeKind) -> Result<Datum, EvalError> {
    let json = match value {
        Datum::Null => return Ok(Datum::Null),
        Datum::Boolean(b) => Json::Boolean(*b),
        Datum::Int(i) => Json::Int(*i),
        Datum::Double(d) => Json::Double(*d),
        Datum::Float(f) => Json::Double(f64::from(*f)),
        other => match (other.as_str(), other.as_decimal()) {
            (Some(s), _) => Json::String(s.to_owned()),
            (_, Some(d)) if *kind == TypeKind::Double => Json::Double(d.to_f64()),
            (_, Some(d)) => Json::Big(d.to_string()),
            _ => return Ok(Datum::Null),
        },
    };
    match (kind, &json) {
        (TypeKind::Double, Json::Int(i)) => Ok(Datum::Double(*i as f64)),
        _ => returned(&json, kind),
    }
}

fn json_query(call: &Call<'_>) -> Option<Body> {
    let clauses = Clauses::of(call);
    let to_array = matches!(call.result.kind, TypeKind::Array(_));
    Some(Arc::new(move |a| {
        let Some((input, path)) = operands(a) else { return Ok(Datum::Null) };
        let found = look_up(input, path)?;
        let instead = |on: On, message: String| match on {
            On::Error => Err(EvalError::new(message)),
            On::EmptyArray if to_array => Ok(Datum::Array(Arc::from([]))),
            On::EmptyArray => Ok(Datum::string("[]")),
            On::EmptyObject if to_array => Err(EvalError::new("Illegal empty object for an array")),
            On::EmptyObject => Ok(Datum::string("{}")),
            _ => Ok(Datum::Null),
        };
        let value = match found.value {
            Err(message) => return instead(clauses.error, message),
            Ok(value) => value.map(|value| match (clauses.wrapper, value) {
                (Wrapper::Without, value) | (Wrapper::Conditional, value @ Json::Array(_)) => value,
                (_, value) => Json::Array(vec![value]),
            }),
        };
        let nothing = "Empty result of JSON_QUERY function is not allowed".to_owned();
        match value {
            None => instead(clauses.empty, nothing),
            Some(value) if value.is_scalar() && found.lax => instead(clauses.empty, nothing),
            Some(value) if value.is_scalar() => {
                let message = format!(
                    "Strict jsonpath mode requires array or object value, and the actual value is: ''{value}''"
                );
                instead(clauses.error, message)
            }
            Some(value) if !to_array => Ok(Datum::string(value.text())),
            Some(Json::Array(items)) => Ok(Datum::Array(items.iter().map(element).collect())),
            Some(_) => {
                let message = "class java.util.LinkedHashMap cannot be cast to class java.util.List \
                               (java.util.LinkedHashMap and java.util.List are in module java.base of loader 'bootstrap')";
                instead(clauses.error, message.to_owned())
            }
        }
    }))
}

/// An element of `RETURNING ARRAY<STRING>`.
fn element(value: &Json) -> Datum {
    match value {
        Json::Null => Datum::Null,
        scalar if scalar.is_scalar() => Datum::string(scalar.to_string()),
        other => Datum::string(other.text()),
    }
}
