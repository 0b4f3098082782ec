//! SPLIT and SPLIT_INDEX: commons-lang's `splitByWholeSeparatorPreserveAllTokens` and kin.

use std::sync::Arc;

use super::{integer, text};
use crate::eval::Datum;

/// SPLIT: no parts of an empty text, all characters for an empty separator.
pub fn split(s: &str, separator: &str) -> Datum {
    let parts: Vec<Datum> = match (s.is_empty(), separator.is_empty()) {
        (true, _) => Vec::new(),
        (false, true) => s.chars().map(|c| Datum::string(c.to_string())).collect(),
        (false, false) => s.split(separator).map(Datum::string).collect(),
    };
    Datum::Array(Arc::from(parts))
}

/// SPLIT_INDEX: the separator is a text or the code of a character, and an empty text splits at blanks.
pub fn split_index(args: &[Datum]) -> Datum {
    let (s, index) = (text(args, 0), integer(args, 2));
    let Ok(index) = usize::try_from(index) else { return Datum::Null };
    if s.is_empty() {
        return Datum::Null;
    }
    let part = match &args[1] {
        Datum::Int(code) => match u8::try_from(*code) {
            Ok(code @ 1..) => s.split(char::from(code)).nth(index),
            _ => None,
        },
        separator => match separator.as_str().unwrap_or_default() {
            "" => s.split(is_java_whitespace).nth(index),
            separator => s.split(separator).nth(index),
        },
    };
    part.map_or(Datum::Null, Datum::string)
}

/// `Character.isWhitespace`: separators without the non-breaking ones, and the controls that separate.
pub fn is_java_whitespace(c: char) -> bool {
    match c {
        '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{85}' => false,
        '\u{1c}'..='\u{1f}' => true,
        c => c.is_whitespace(),
    }
}
