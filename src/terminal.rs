//! Text from scripts, rows and files on its way to a terminal: nothing in it may move the cursor, change colours or reorder lines.

use std::borrow::Cow;

/// True for characters that a terminal acts on instead of showing them.
pub fn acts(c: char) -> bool {
    let bidi = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || bidi
}

/// The text with such characters written out: `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if acts(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The same on one line: line breaks become spaces.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\t', '\r']) {
        return visible(text);
    }
    let words: Vec<&str> = text.split(['\n', '\t', '\r']).filter(|part| !part.is_empty()).collect();
    Cow::Owned(visible(&words.join(" ")).into_owned())
}

/// The text with a stand-in of as many bytes for each such character, so that places in it stay right. Line ends stay.
pub fn visible_in_place(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let line_end = c == '\r' && rest.peek() == Some(&'\n');
        match c.len_utf8() {
            _ if line_end || !acts(c) => out.push(c),
            1 => out.push('?'),
            2 => out.push('\u{bf}'),
            _ => out.push('\u{fffd}'),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_shown_instead() {
        assert_eq!(visible("a\u{1b}[31mb\rc\u{202e}d\n\te"), "a\\u{1b}[31mb\\u{d}c\\u{202e}d\n\te");
        assert!(matches!(visible("größer, 猫"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_line_stays_a_line() {
        assert_eq!(visible_line("a\r\nb\tc\u{1b}"), "a b c\\u{1b}");
        assert!(matches!(visible_line("a b"), Cow::Borrowed(_)));
    }

    #[test]
    fn places_stay_right() {
        let text = "a\u{1b}b\u{85}c\u{202e}d\r\ne\rf";
        let shown = visible_in_place(text);
        assert_eq!(shown, "a?b\u{bf}c\u{fffd}d\r\ne?f");
        assert_eq!(shown.len(), text.len());
    }
}
