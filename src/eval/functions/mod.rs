//! Flink's built-in scalar functions, one file per family, as the families stand in `catalog::functions`.

mod arithmetic;
pub(crate) mod base64;
mod charset;
mod collection;
mod comparison;
mod conditional;
mod convert;
mod hash;
mod hash_order;
mod interval;
mod json;
mod logic;
mod math;
mod other;
mod random;
mod regex;
mod rounding;
mod split;
mod string;
mod temporal;
mod unicode;
mod url;

use std::sync::Arc;

use super::{Datum, EvalError, Evaluator, Session};
use crate::catalog::types::DataType;
use crate::logical::rex::Rex;

/// A call to be compiled.
pub struct Call<'a> {
    /// The function's upper-case name.
    pub name: &'a str,
    /// The arguments: their types, and their constants where they are ones (formats, units, JSON paths).
    pub args: &'a [Rex],
    /// The type of the result.
    pub result: &'a DataType,
    /// Time zone and the like.
    pub session: &'a Session,
}

/// A function of its evaluated arguments. NULL is the function's own affair.
pub type Body = Arc<dyn Fn(&[Datum]) -> Result<Datum, EvalError> + Send + Sync>;

/// The families. A name may be in several (FLOOR of numbers and of times): the first that takes the call has it.
const FAMILIES: &[fn(&Call<'_>) -> Option<Body>] =
    &[temporal::find, string::find, regex::find, json::find, hash::find, math::find, collection::find, other::find];

/// The function behind a call; none if it cannot be run. Keywords among the arguments are NULL: they stand in the call.
pub fn find(call: &Call<'_>) -> Option<Body> {
    FAMILIES.iter().find_map(|family| family(call))
}

/// A function that is NULL as soon as an argument is (Flink's `generateCallIfArgsNotNull`).
fn strict<F>(body: F) -> Option<Body>
where
    F: Fn(&[Datum]) -> Result<Datum, EvalError> + Send + Sync + 'static,
{
    Some(Arc::new(move |args| if args.iter().any(Datum::is_null) { Ok(Datum::Null) } else { body(args) }))
}

/// As [`strict`], for functions that never fail.
fn total<F>(body: F) -> Option<Body>
where
    F: Fn(&[Datum]) -> Datum + Send + Sync + 'static,
{
    strict(move |args| Ok(body(args)))
}

/// Argument `i` as text, which its type says it is.
fn text(args: &[Datum], i: usize) -> &str {
    args.get(i).and_then(Datum::as_str).unwrap_or_default()
}

/// Argument `i` as an integer, which its type says it is.
fn integer(args: &[Datum], i: usize) -> i64 {
    args.get(i).and_then(Datum::as_int).unwrap_or_default()
}

/// Functions and operators that evaluate their arguments themselves: those that leave some out, that read the clock, or that
/// stand in every condition. Gives the arguments back if the call is none of them, and nothing if it cannot be run.
pub(super) fn inline(call: &Call<'_>, args: Vec<Evaluator>) -> Result<Option<Evaluator>, Vec<Evaluator>> {
    match (call.name, args.len()) {
        ("+" | "-" | "*" | "/" | "MOD" | "/INT", 2) | ("-" | "Reinterpret", 1) => Ok(arithmetic::compile(call, args)),
        ("=" | "<>" | "<" | "<=" | ">" | ">=", 2) => Ok(comparison::compile(call, args)),
        ("SEARCH", 2) => Ok(comparison::search(call, args)),
        ("AND" | "OR", _)
        | ("NOT" | "IS NULL" | "IS NOT NULL" | "IS TRUE" | "IS NOT TRUE" | "IS FALSE" | "IS NOT FALSE", 1) => {
            Ok(logic::compile(call, args))
        }
        ("CASE" | "COALESCE" | "IFNULL" | "IF" | "GREATEST" | "LEAST", _) => Ok(conditional::compile(call, args)),
        ("PROCTIME_MATERIALIZE", 1) | (_, 0) if temporal::reads_clock(call.name) => Ok(temporal::clock(call)),
        _ => Err(args),
    }
}
