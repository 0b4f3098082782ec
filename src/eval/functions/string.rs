//! String functions: `StringCallGen`, `BinaryStringDataUtil` and `SqlFunctionUtils`.
//!
//! What works on Flink's `BinaryStringData` counts code points, what works on Java's `String` counts UTF-16 units.

use std::sync::Arc;

use super::{Body, Call, base64, charset, integer, split, strict, text, total, url};
use crate::catalog::value::Value;
use crate::eval::{Datum, EvalError};

/// The function behind a call, if it is one of this family.
pub fn find(call: &Call<'_>) -> Option<Body> {
    match call.name {
        "CHAR_LENGTH" => total(|a| Datum::Int(text(a, 0).chars().count() as i64)),
        "UPPER" => total(|a| Datum::string(text(a, 0).to_uppercase())),
        "LOWER" => total(|a| Datum::string(text(a, 0).to_lowercase())),
        "INITCAP" => total(|a| Datum::string(initcap(text(a, 0)))),
        "POSITION" => total(|a| Datum::Int(position(text(a, 0), text(a, 1), optional(a, 2, 1)))),
        "LOCATE" => total(|a| Datum::Int(position(text(a, 0), text(a, 1), optional(a, 2, 1)))),
        "INSTR" => strict(|a| instr(text(a, 0), text(a, 1), optional(a, 2, 1), optional(a, 3, 1)).map(Datum::Int)),
        "TRIM" => trim(call),
        "LTRIM" => total(|a| Datum::string(trimmed(text(a, 0), trim_set(a), (true, false)))),
        "RTRIM" => total(|a| Datum::string(trimmed(text(a, 0), trim_set(a), (false, true)))),
        "REPEAT" => strict(|a| repeat(text(a, 0), integer(a, 1)).map(Datum::string)),
        "OVERLAY" => total(|a| Datum::string(overlay(a))),
        "SUBSTRING" | "SUBSTR" => total(|a| substring(text(a, 0), integer(a, 1), optional(a, 2, i64::from(i32::MAX)))),
        "LEFT" => total(|a| Datum::string(left(text(a, 0), integer(a, 1)))),
        "RIGHT" => total(|a| Datum::string(right(text(a, 0), integer(a, 1)))),
        "REPLACE" => total(|a| Datum::string(text(a, 0).replace(text(a, 1), text(a, 2)))),
        "CONCAT" | "||" => concat(call),
        "CONCAT_WS" => Some(Arc::new(|a| Ok(concat_ws(a)))),
        "LPAD" => strict(|a| pad(text(a, 0), integer(a, 1), text(a, 2), true)),
        "RPAD" => strict(|a| pad(text(a, 0), integer(a, 1), text(a, 2), false)),
        "FROM_BASE64" => strict(|a| {
            let bytes = base64::decode(text(a, 0).as_bytes()).map_err(EvalError::new)?;
            Ok(Datum::string(String::from_utf8_lossy(&bytes)))
        }),
        "TO_BASE64" => total(|a| Datum::string(base64::encode(bytes_of(&a[0])))),
        "ASCII" => total(|a| Datum::Int(text(a, 0).bytes().next().map_or(0, |b| i64::from(b as i8)))),
        "CHR" => total(|a| Datum::string(chr(integer(a, 0)))),
        "ENCODE" => strict(|a| charset::encode(text(a, 0), text(a, 1))),
        "DECODE" => strict(|a| charset::decode(bytes_of(&a[0]), text(a, 1))),
        "PARSE_URL" => total(|a| url::part_of(text(a, 0), text(a, 1), a.get(2).and_then(Datum::as_str))),
        "REVERSE" => total(|a| Datum::string(text(a, 0).chars().rev().collect::<String>())),
        "SPLIT_INDEX" => total(split::split_index),
        "SPLIT" => total(|a| split::split(text(a, 0), text(a, 1))),
        _ => None,
    }
}

/// Argument `i`, or what stands for it if it is not written.
fn optional(args: &[Datum], i: usize, default: i64) -> i64 {
    args.get(i).and_then(Datum::as_int).unwrap_or(default)
}

/// The bytes of a text (UTF-8) or of a binary value.
fn bytes_of(value: &Datum) -> &[u8] {
    match value {
        Datum::Bytes(bytes) => bytes,
        other => other.as_str().unwrap_or_default().as_bytes(),
    }
}

/// Calcite's `initcap`: letters and digits of ASCII make a word, everything else ends it and stays as it is.
fn initcap(s: &str) -> String {
    let mut start = true;
    s.chars()
        .map(|c| {
            let cased = if start { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
            start = !c.is_ascii_alphanumeric();
            cased
        })
        .collect()
}

/// `BinaryStringData.indexOf` from the code point `from` (0 for the first): an empty text is found at once, wherever the
/// search starts.
fn index_of(s: &str, seek: &str, from: i64) -> Option<i64> {
    if seek.is_empty() {
        return Some(0);
    }
    let from = usize::try_from(from).unwrap_or(0);
    let start = s.char_indices().nth(from).map(|(at, _)| at)?;
    let found = start + s[start..].find(seek)?;
    Some(s[..found].chars().count() as i64)
}

/// Position of `seek` in `s`, counted from 1; 0 if it is not there.
fn position(seek: &str, s: &str, from: i64) -> i64 {
    // Of an INT, from which 1 is taken: the least becomes the largest.
    index_of(s, seek, i64::from((from as i32).wrapping_sub(1))).map_or(0, |i| i + 1)
}

/// `SqlFunctionUtils.instr`: the n-th appearance, searched from the end for a negative start.
fn instr(s: &str, seek: &str, start: i64, appearance: i64) -> Result<i64, EvalError> {
    if appearance <= 0 {
        return Err(EvalError::new("nthAppearance must be positive!"));
    }
    if start == 0 {
        return Ok(0);
    }
    if start == i64::from(i32::MIN) {
        // Flink turns the sign, which this number stays the same by, until its stack is full.
        return Err(EvalError::new(format!(
            "the start {start} of INSTR has no opposite (java.lang.StackOverflowError)"
        )));
    }
    if start > 0 {
        let mut index = start - 1;
        for _ in 0..appearance {
            index = index_of(s, seek, index).map_or(0, |i| i + 1);
            if index == 0 || seek.is_empty() {
                break;
            }
        }
        return Ok(index);
    }
    let backwards = |s: &str| s.chars().rev().collect::<String>();
    let found = instr(&backwards(s), &backwards(seek), -start, appearance)?;
    let length = |s: &str| s.chars().count() as i64;
    Ok(if found == 0 { 0 } else { length(s) + 2 - found - length(seek) })
}

/// TRIM: its first argument is the keyword that says which ends.
fn trim(call: &Call<'_>) -> Option<Body> {
    let ends = match call.args.first()?.as_literal()? {
        Value::Symbol(word) => match &**word {
            "LEADING" => (true, false),
            "TRAILING" => (false, true),
            _ => (true, true),
        },
        _ => return None,
    };
    Some(Arc::new(move |a| {
        Ok(match (a[1].as_str(), a[2].as_str()) {
            (Some(set), Some(s)) => Datum::string(trimmed(s, set, ends)),
            _ => Datum::Null,
        })
    }))
}

fn trim_set(args: &[Datum]) -> &str {
    args.get(1).and_then(Datum::as_str).unwrap_or(" ")
}

/// Cuts all characters of a set, whatever their order.
fn trimmed<'a>(s: &'a str, set: &str, (start, end): (bool, bool)) -> &'a str {
    let s = if start { s.trim_start_matches(|c| set.contains(c)) } else { s };
    if end { s.trim_end_matches(|c| set.contains(c)) } else { s }
}

/// The longest text that one call may make: Java's arrays end there, and so does the memory for it.
const LONGEST: usize = 1 << 28;

fn too_long() -> EvalError {
    EvalError::new("Java heap space")
}

fn repeat(s: &str, times: i64) -> Result<String, EvalError> {
    let times = usize::try_from(times).unwrap_or(0);
    match s.len().checked_mul(times) {
        Some(length) if length <= LONGEST => Ok(s.repeat(times)),
        _ => Err(too_long()),
    }
}

/// The UTF-16 units of a text: Java's `char`s.
fn units(s: &str) -> Vec<u16> {
    s.encode_utf16().collect()
}

/// Java chars as text. Half a pair becomes `?`, as in `StringUtf8Utils.encodeUTF8`.
fn from_units(units: &[u16]) -> String {
    char::decode_utf16(units.iter().copied()).map(|c| c.unwrap_or('?')).collect()
}

/// `SqlFunctionUtils.overlay`: a start outside of the text leaves it alone, and a length below 1 drops the rest of it.
fn overlay(args: &[Datum]) -> String {
    let (s, placed) = (units(text(args, 0)), units(text(args, 1)));
    let start = integer(args, 2);
    let length = optional(args, 3, placed.len() as i64) as i32;
    let Some(before) = usize::try_from(start - 1).ok().filter(|b| *b < s.len()) else { return from_units(&s) };
    let mut result = s[..before].to_vec();
    result.extend(placed);
    let after = before as i64 + i64::from(length);
    if length > 0 && after < s.len() as i64 {
        result.extend(&s[after as usize..]);
    }
    from_units(&result)
}

/// `BinaryStringDataUtil.substringSQL`: position 0 counts as 1, a negative one from the end.
fn substring(s: &str, start: i64, length: i64) -> Datum {
    if length < 0 {
        return Datum::Null;
    }
    let count = s.chars().count() as i64;
    let from = match start {
        1.. => start - 1,
        0 => 0,
        _ => count + start,
    };
    if from < 0 || from >= count {
        return Datum::string("");
    }
    Datum::string(s.chars().skip(from as usize).take(length as usize).collect::<String>())
}

fn left(s: &str, count: i64) -> &str {
    let count = usize::try_from(count).unwrap_or(0);
    s.char_indices().nth(count).map_or(s, |(at, _)| &s[..at])
}

fn right(s: &str, count: i64) -> &str {
    let skipped = (s.chars().count() as i64 - count.max(0)).max(0) as usize;
    s.char_indices().nth(skipped).map_or("", |(at, _)| &s[at..])
}

/// Texts behind each other, or bytes (`||` takes both).
fn concat(call: &Call<'_>) -> Option<Body> {
    if call.result.is_binary() {
        return total(|a| Datum::Bytes(a.iter().flat_map(|d| bytes_of(d).to_vec()).collect()));
    }
    total(|a| Datum::string(a.iter().filter_map(Datum::as_str).collect::<String>()))
}

/// Skips NULL, but is NULL without a separator.
fn concat_ws(args: &[Datum]) -> Datum {
    let Some((Some(separator), parts)) = args.split_first().map(|(s, parts)| (s.as_str(), parts)) else {
        return Datum::Null;
    };
    Datum::string(parts.iter().filter_map(Datum::as_str).collect::<Vec<_>>().join(separator))
}

/// `SqlFunctionUtils.lpad` and `rpad`: `length` Java chars.
fn pad(s: &str, length: i64, filler: &str, at_start: bool) -> Result<Datum, EvalError> {
    let (s, filler) = (units(s), units(filler));
    let Some(length) = usize::try_from(length).ok().filter(|_| !filler.is_empty()) else { return Ok(Datum::Null) };
    if length > LONGEST {
        return Err(too_long());
    }
    let kept = &s[..s.len().min(length)];
    let padding: Vec<u16> = filler.into_iter().cycle().take(length - kept.len()).collect();
    let (first, second) = if at_start { (padding.as_slice(), kept) } else { (kept, padding.as_slice()) };
    Ok(Datum::string(from_units(&[first, second].concat())))
}

/// The lowest eight bits as a character; none for a negative number.
fn chr(code: i64) -> String {
    if code < 0 { String::new() } else { char::from((code & 0xff) as u8).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_code_points() {
        assert_eq!(position("l", "hello", 4), 4);
        assert_eq!(position("l", "hello", -2), 3);
        assert_eq!(position("z", "hello", 1), 0);
        assert_eq!(position("b", "a😀b", 1), 3);
    }

    #[test]
    fn instr_counts_appearances_from_either_end() {
        let s = "corporate floor";
        assert_eq!(instr(s, "or", 3, 2), Ok(14));
        assert_eq!(instr(s, "or", -3, 2), Ok(2));
        assert_eq!(instr(s, "or", 0, 1), Ok(0));
    }

    #[test]
    fn substring_takes_odd_positions() {
        assert_eq!(substring("hello", 0, 3), Datum::string("hel"));
        assert_eq!(substring("hello", -3, 2), Datum::string("ll"));
        assert_eq!(substring("hello", -9, 2), Datum::string(""));
        assert_eq!(substring("hello", 2, -1), Datum::Null);
    }

    #[test]
    fn initcap_knows_ascii_only() {
        assert_eq!(initcap("hello wORLD foo-bar"), "Hello World Foo-Bar");
        assert_eq!(initcap("HéLlo WöRld"), "HéLlo WöRld");
    }
}
