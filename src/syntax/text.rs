//! The text that is parsed, definitions put in, and the way back to where it stood in the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::source::{FileId, Span};

/// A script after its `${name}` and `{{ name }}` were replaced. Spans always count in the original.
#[derive(Debug)]
pub(super) struct Text {
    /// What is tokenized.
    pub(super) expanded: Arc<str>,
    file: FileId,
    /// The replaced pieces in order.
    pieces: Vec<Piece>,
}

/// A replaced placeholder.
#[derive(Debug)]
struct Piece {
    /// Its bytes in the expanded text.
    expanded: (usize, usize),
    /// Its bytes in the original.
    original: (usize, usize),
}

/// Longer names are no placeholders.
const MAX_PLACEHOLDER: usize = 200;

/// The end and the trimmed name of the placeholder that starts at byte `at` of `text`, if one does.
pub(super) fn placeholder_at(text: &str, at: usize) -> Option<(usize, &str)> {
    let rest = text.get(at..)?;
    let (open, close) = if rest.starts_with("${") {
        (2, "}")
    } else if rest.starts_with("{{") {
        (2, "}}")
    } else {
        return None;
    };
    // A placeholder is short and stays on its line: an open brace must not swallow the script, nor be searched for again
    // and again.
    let limit = rest.len().min(open + MAX_PLACEHOLDER);
    let window = &rest.as_bytes()[open..limit];
    let len = window.windows(close.len()).position(|w| w == close.as_bytes() || w[0] == b'\n')?;
    let name = rest[open..].get(..len).filter(|_| rest[open + len..].starts_with(close))?;
    Some((at + open + len + close.len(), name.trim()))
}

impl Text {
    /// Replaces what `defines` defines. Without a match this copies nothing.
    pub(super) fn new(file: FileId, original: &Arc<str>, defines: &BTreeMap<String, String>) -> Text {
        let mut text = Text { expanded: Arc::clone(original), file, pieces: Vec::new() };
        if defines.is_empty() {
            return text;
        }
        let mut out = String::new();
        let mut copied = 0;
        let mut from = 0;
        while let Some(i) = original[from..].find(['$', '{']) {
            let at = from + i;
            let Some((end, name)) = placeholder_at(original, at) else {
                from = at + 1;
                continue;
            };
            from = end;
            if let Some(value) = defines.get(name) {
                out.push_str(&original[copied..at]);
                let start = out.len();
                out.push_str(value);
                text.pieces.push(Piece { expanded: (start, out.len()), original: (at, end) });
                copied = end;
            }
        }
        if !text.pieces.is_empty() {
            out.push_str(&original[copied..]);
            text.expanded = out.into();
        }
        text
    }

    /// The text with its definitions put in.
    pub(super) fn into_expanded(self) -> Arc<str> {
        self.expanded
    }

    /// The original place of bytes of the expanded text. What touches a replaced piece covers the whole placeholder.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, self.original(start, true), self.original(end, false))
    }

    fn original(&self, offset: usize, is_start: bool) -> usize {
        if self.pieces.is_empty() {
            return offset;
        }
        // An end offset at the first byte of a piece belongs to what stands before it.
        let before =
            self.pieces.partition_point(|p| if is_start { p.expanded.0 <= offset } else { p.expanded.0 < offset });
        match before.checked_sub(1).and_then(|i| self.pieces.get(i)) {
            None => offset,
            Some(p) if is_start && offset < p.expanded.1 => p.original.0,
            Some(p) if !is_start && offset <= p.expanded.1 => p.original.1,
            Some(p) => p.original.1 + (offset - p.expanded.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_count_in_the_original() {
        let defines = BTreeMap::from([("x".to_owned(), "longer".to_owned())]);
        let text = Text::new(FileId(0), &Arc::from("a ${x} b ${y} {{ x }}c"), &defines);
        assert_eq!(&*text.expanded, "a longer b ${y} longerc");
        let span = |from: usize, to: usize| (text.span(from, to).start, text.span(from, to).end);
        assert_eq!(span(0, 1), (0, 1));
        assert_eq!(span(2, 8), (2, 6));
        assert_eq!(span(9, 10), (7, 8));
        assert_eq!(span(4, 10), (2, 8));
        assert_eq!(span(16, 23), (14, 22));
    }
}
