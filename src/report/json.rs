//! JSON: one document, fields in the order of the model, a newline at the end.

use std::fmt::Write as _;

use serde::Serialize;

use crate::terminal::acts;

/// Writes a document. What a terminal would act on is escaped, so that a report can be looked at safely.
pub fn render(document: &impl Serialize) -> String {
    // The model has string keys and no fallible parts, so this cannot fail; should it, the error is the document.
    let mut text = serde_json::to_string_pretty(document)
        .unwrap_or_else(|e| serde_json::json!({ "internal": e.to_string() }).to_string());
    if text.contains(acts) {
        text = escaped(&text);
    }
    text.push('\n');
    text
}

/// Such characters stand in strings only, and all of them have an escape of four digits.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_escaped_and_nothing_is_lost() {
        let name = "a\u{202e}b\u{9b}c\u{1b}d\u{7f}\n猫";
        let text = render(&[name]);
        assert_eq!(text, "[\n  \"a\\u202eb\\u009bc\\u001bd\\u007f\\n猫\"\n]\n");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), [name]);
    }
}
