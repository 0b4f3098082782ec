//! REGEXP and its family, STR_TO_MAP, LIKE and SIMILAR TO.

use std::sync::Arc;

use super::{Regex, like};
use crate::catalog::value::Value;
use crate::eval::functions::collection::of_entries;
use crate::eval::functions::hash::java_hash;
use crate::eval::functions::{Body, Call, hash_order, strict, text};
use crate::eval::{Datum, EvalError};

/// The function behind a call, if it is one of this family.
pub fn find(call: &Call<'_>) -> Option<Body> {
    let pattern = Pattern::of(call, 1);
    match call.name {
        "REGEXP" => strict(move |a| {
            if text(a, 1).is_empty() {
                return Ok(Datum::Boolean(false));
            }
            let Ok(regex) = pattern.get(text(a, 1)) else { return Ok(Datum::Boolean(false)) };
            Ok(Datum::Boolean(regex.find(&chars(a), 0)?.is_some()))
        }),
        "REGEXP_EXTRACT" => strict(move |a| {
            let group = a.get(2).map_or(Some(0), |g| usize::try_from(g.as_int().unwrap_or_default()).ok());
            let (Ok(regex), Some(group)) = (pattern.get(text(a, 1)), group) else { return Ok(Datum::Null) };
            let chars = chars(a);
            let found = regex.find(&chars, 0)?.and_then(|m| m.group(group));
            Ok(found.map_or(Datum::Null, |(from, to)| Datum::string(chars[from..to].iter().collect::<String>())))
        }),
        // `Matcher.quoteReplacement`: `$1` is no group.
        "REGEXP_REPLACE" => strict(move |a| {
            let Ok(regex) = pattern.get(text(a, 1)) else { return Ok(Datum::Null) };
            let chars = chars(a);
            let mut out = String::new();
            let mut from = 0;
            for (start, end) in regex.find_all(&chars)?.iter().map(super::Match::span) {
                out.extend(&chars[from..start]);
                out.push_str(text(a, 2));
                from = end;
            }
            out.extend(&chars[from..]);
            Ok(Datum::string(out))
        }),
        "STR_TO_MAP" => {
            let values = Pattern::of(call, 2);
            strict(move |a| str_to_map(a, &pattern, &values))
        }
        "LIKE" => like_call(call),
        "SIMILAR TO" => strict(|a| {
            let pattern =
                like::similar_to_java(text(a, 1), a.get(2).and_then(Datum::as_str)).map_err(EvalError::new)?;
            Ok(Datum::Boolean(Regex::new(&pattern).map_err(EvalError::new)?.matches(text(a, 0))?))
        }),
        _ => None,
    }
}

/// The pattern of a call, compiled once if it is a constant.
struct Pattern(Option<(Arc<str>, Result<Regex, String>)>);

impl Pattern {
    fn of(call: &Call<'_>, argument: usize) -> Pattern {
        Pattern(match call.args.get(argument).and_then(|a| a.as_literal()) {
            Some(Value::String(pattern)) if call.name != "LIKE" => Some((pattern.clone(), Regex::new(pattern))),
            _ => None,
        })
    }

    fn get(&self, pattern: &str) -> Result<std::borrow::Cow<'_, Regex>, String> {
        match &self.0 {
            Some((constant, regex)) if **constant == *pattern => {
                regex.as_ref().map(std::borrow::Cow::Borrowed).map_err(Clone::clone)
            }
            _ => Regex::new(pattern).map(std::borrow::Cow::Owned),
        }
    }
}

fn chars(args: &[Datum]) -> Vec<char> {
    text(args, 0).chars().collect()
}

/// LIKE, with a constant pattern taken apart once.
fn like_call(call: &Call<'_>) -> Option<Body> {
    let constant = |i: usize| match call.args.get(i).and_then(|a| a.as_literal()) {
        Some(Value::String(s)) => Some(s.clone()),
        _ => None,
    };
    if let Some(pattern) = constant(1)
        && (call.args.len() == 2 || constant(2).is_some())
    {
        let like = like::Like::new(&pattern, constant(2).as_deref());
        return strict(move |a| match &like {
            Ok(like) => Ok(Datum::Boolean(like.matches(text(a, 0)))),
            Err(message) => Err(EvalError::new(message.clone())),
        });
    }
    strict(|a| {
        let like = like::Like::new(text(a, 1), a.get(2).and_then(Datum::as_str)).map_err(EvalError::new)?;
        Ok(Datum::Boolean(like.matches(text(a, 0))))
    })
}

/// `String.split(regex, limit)`: no part before a match of nothing at the start, and no empty parts at the end unless there
/// is a limit.
fn split(s: &str, regex: &Regex, limit: usize) -> Result<Vec<String>, EvalError> {
    let chars: Vec<char> = s.chars().collect();
    let mut parts: Vec<String> = Vec::new();
    let mut from = 0;
    for (start, end) in regex.find_all(&chars)?.iter().map(super::Match::span) {
        if limit > 0 && parts.len() + 1 == limit {
            break;
        }
        if end == 0 {
            continue;
        }
        parts.push(chars[from..start].iter().collect());
        from = end;
    }
    if from == 0 && parts.is_empty() {
        return Ok(vec![s.to_owned()]);
    }
    parts.push(chars[from..].iter().collect());
    if limit == 0 {
        while parts.last().is_some_and(String::is_empty) {
            parts.pop();
        }
    }
    Ok(parts)
}

/// `SqlFunctionUtils.strToMap`: both separators are regular expressions, and the map is a Java `HashMap` by its keys.
fn str_to_map(args: &[Datum], pairs: &Pattern, values: &Pattern) -> Result<Datum, EvalError> {
    let s = text(args, 0);
    if s.is_empty() {
        return Ok(of_entries([]));
    }
    let separator = |i: usize, default: &'static str| args.get(i).and_then(Datum::as_str).unwrap_or(default).to_owned();
    let pairs = pairs.get(&separator(1, ",")).map_err(EvalError::new)?;
    let values = values.get(&separator(2, "=")).map_err(EvalError::new)?;
    let pairs = split(s, &pairs, 0)?;
    let count = pairs.len();
    let mut entries = Vec::with_capacity(count);
    for pair in pairs {
        let mut parts = split(&pair, &values, 2)?.into_iter();
        entries.push(match (parts.next(), parts.next()) {
            (Some(key), Some(value)) => (Datum::string(key), Datum::string(value)),
            _ => (Datum::string(pair), Datum::Null),
        });
    }
    let hash = |key: &Datum| key.as_str().map_or(0, java_hash);
    Ok(of_entries(hash_order::sorted(of_entries(entries), hash, count)))
}
