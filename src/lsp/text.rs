//! Texts as editors count in them: lines end in `\n`, `\r\n` or `\r`, and characters are units of UTF-16 or of UTF-8.

use serde::{Deserialize, Serialize};

/// What a position counts within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Units of UTF-16: what holds if nothing else was agreed upon.
    #[default]
    Utf16,
    /// Bytes.
    Utf8,
}

impl Encoding {
    /// The name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf16 => "utf-16",
            Encoding::Utf8 => "utf-8",
        }
    }

    fn length(self, c: char) -> u32 {
        match self {
            Encoding::Utf16 => c.len_utf16() as u32,
            Encoding::Utf8 => c.len_utf8() as u32,
        }
    }
}

/// A place in a text, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The units before it in the line.
    pub character: u32,
}

/// A piece of a text: `end` is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Range {
    /// Its first place.
    pub start: Position,
    /// The place after it.
    pub end: Position,
}

impl Range {
    /// True if the two have a place in common; they may touch.
    pub fn meets(self, other: Range) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

/// Where the lines of a text begin.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Finds them.
    pub fn new(text: &'t str) -> Lines<'t> {
        let bytes = text.as_bytes();
        let ends = |(i, b): (usize, &u8)| match b {
            b'\n' => Some(i + 1),
            b'\r' if bytes.get(i + 1) != Some(&b'\n') => Some(i + 1),
            _ => None,
        };
        let starts = std::iter::once(0).chain(bytes.iter().enumerate().filter_map(ends)).collect();
        Lines { text, starts }
    }

    /// The bytes of a line without what ends it.
    fn line(&self, line: usize) -> std::ops::Range<usize> {
        let start = self.starts[line];
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let ended = self.text[start..end].trim_end_matches(['\n', '\r']);
        start..start + ended.len()
    }

    /// The place of a byte. What lies in what ends a line is at the end of the line.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let offset = floor(self.text, offset);
        let line = self.starts.partition_point(|s| *s <= offset) - 1;
        let within = self.line(line);
        let before = &self.text[within.start..offset.min(within.end)];
        let character = before.chars().map(|c| encoding.length(c)).sum();
        Position { line: line as u32, character }
    }

    /// The places of a piece.
    pub fn range(&self, bytes: std::ops::Range<usize>, encoding: Encoding) -> Range {
        Range { start: self.position(bytes.start, encoding), end: self.position(bytes.end, encoding) }
    }

    /// The byte of a place. A line or character that is not there is the end of what is; the middle of a character is its beginning.
    pub fn offset(&self, position: Position, encoding: Encoding) -> usize {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return self.text.len();
        }
        let within = self.line(line);
        let mut left = position.character;
        for (at, c) in self.text[within.clone()].char_indices() {
            let length = encoding.length(c);
            if left < length {
                return within.start + at;
            }
            left -= length;
        }
        within.end
    }

    /// From the first character of the line that a byte is in to the end of that line.
    pub fn rest_of_line(&self, offset: usize) -> std::ops::Range<usize> {
        let offset = floor(self.text, offset);
        let line = self.starts.partition_point(|s| *s <= offset) - 1;
        offset..self.line(line).end.max(offset)
    }
}

/// The character boundary at or before a byte.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Puts a text in the place of a piece of another one.
pub fn replace(text: &mut String, range: Range, with: &str, encoding: Encoding) {
    let lines = Lines::new(text);
    let (start, end) = (lines.offset(range.start, encoding), lines.offset(range.end, encoding));
    text.replace_range(start.min(end)..end.max(start), with);
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a😀b\r\ne\u{301}\tx\rlast\n";

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn places_are_counted_in_units_of_the_encoding() {
        let lines = Lines::new(TEXT);
        let b = TEXT.find('b').unwrap();
        assert_eq!(lines.position(b, Encoding::Utf16), at(0, 3));
        assert_eq!(lines.position(b, Encoding::Utf8), at(0, 5));
        let x = TEXT.find('x').unwrap();
        assert_eq!(lines.position(x, Encoding::Utf16), at(1, 3));
        assert_eq!(lines.position(TEXT.find("last").unwrap(), Encoding::Utf16), at(2, 0));
        assert_eq!(lines.position(TEXT.len(), Encoding::Utf16), at(3, 0));
        assert_eq!(lines.position(9999, Encoding::Utf16), at(3, 0));
        // Between `\r` and `\n` is the end of the line; in the middle of a character is its beginning.
        assert_eq!(lines.position(b + 2, Encoding::Utf16), at(0, 4));
        assert_eq!(lines.position(2, Encoding::Utf16), at(0, 1));
    }

    #[test]
    fn bytes_are_found_again() {
        for encoding in [Encoding::Utf16, Encoding::Utf8] {
            let lines = Lines::new(TEXT);
            for (offset, c) in TEXT.char_indices().filter(|(_, c)| !matches!(c, '\n' | '\r')) {
                assert_eq!(lines.offset(lines.position(offset, encoding), encoding), offset, "{c:?}");
            }
            assert_eq!(lines.offset(at(0, 99), encoding), "a😀b".len());
            assert_eq!(lines.offset(at(99, 0), encoding), TEXT.len());
        }
        let lines = Lines::new(TEXT);
        assert_eq!(lines.offset(at(0, 2), Encoding::Utf16), 1, "the middle of a pair");
    }

    #[test]
    fn pieces_are_replaced() {
        let replaced = |start, end, with| {
            let mut text = TEXT.to_owned();
            replace(&mut text, Range { start, end }, with, Encoding::Utf16);
            text
        };
        assert_eq!(replaced(at(0, 1), at(0, 3), ""), TEXT.replace('😀', ""));
        assert_eq!(replaced(at(0, 4), at(1, 0), " "), TEXT.replace("\r\n", " "));
        assert_eq!(replaced(at(3, 0), at(9, 9), "end"), format!("{TEXT}end"));
        assert_eq!(replaced(at(0, 3), at(0, 1), ""), TEXT.replace('😀', ""), "turned round");
    }
}
