//! Where text comes from and where in it something stands.
//!
//! Everything that keepstate says points at a place in a text. A [`Span`] is that place: a file of a
//! [`SourceMap`] and two byte offsets. Lines and columns are computed only when something is printed.

use std::sync::Arc;

/// A file of a [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileId(pub u32);

/// A range of bytes in one file: `start` included, `end` excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The file the offsets count in.
    pub file: FileId,
    /// Byte offset of the first byte.
    pub start: u32,
    /// Byte offset after the last byte.
    pub end: u32,
}

impl Span {
    /// A span of `file` from byte `start` to byte `end`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Span { file, start: start as u32, end: end as u32 }
    }

    /// The smallest span that covers both. Spans of different files cannot be joined: the first one is kept.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// True if `other` lies within this span.
    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// True if the span covers no byte.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// A place for people: 1-based line, 1-based column counted in characters, 0-based byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
pub struct Position {
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in characters (Unicode scalar values).
    pub column: u32,
    /// 0-based byte offset.
    pub offset: u32,
}

/// One text with its name and the start of each line.
#[derive(Debug)]
pub struct SourceFile {
    /// The name shown to people: the path as given, or `<stdin>`.
    pub name: String,
    /// The whole text.
    pub text: Arc<str>,
    line_starts: Vec<u32>,
    /// The bytes that continue a character, so that columns are counted without reading the line.
    continuations: Vec<u32>,
}

impl SourceFile {
    fn new(name: String, text: Arc<str>) -> Self {
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        let continuations = if text.is_ascii() {
            Vec::new()
        } else {
            text.bytes().enumerate().filter(|(_, b)| b & 0xC0 == 0x80).map(|(i, _)| i as u32).collect()
        };
        SourceFile { name, text, line_starts, continuations }
    }

    /// Bytes of the line (counted from 0) that an offset is in, without its line break.
    pub fn line(&self, offset: u32) -> (usize, std::ops::Range<usize>) {
        let line = self.line_starts.partition_point(|s| *s <= offset).saturating_sub(1);
        let start = self.line_starts[line] as usize;
        let end = self.line_starts.get(line + 1).map_or(self.text.len(), |next| *next as usize - 1);
        (line, start..end.max(start))
    }

    /// The place of a byte offset. Offsets past the end are taken as the end.
    pub fn position(&self, offset: u32) -> Position {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_starts.partition_point(|s| *s <= offset) - 1;
        let start = self.line_starts[line];
        let continued = |at: u32| self.continuations.partition_point(|c| *c < at) as u32;
        let column = offset - start - (continued(offset) - continued(start));
        Position { line: line as u32 + 1, column: column + 1, offset }
    }
}

/// All texts of one run. Cheap to look into, append only.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text under a name and returns its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        self.files.push(SourceFile::new(name.into(), text.into()));
        FileId(self.files.len() as u32 - 1)
    }

    /// Takes over the files of another map; their ids grow by the returned number.
    pub fn append(&mut self, other: SourceMap) -> u32 {
        let first = self.files.len() as u32;
        self.files.extend(other.files);
        first
    }

    /// The file of an id. Panics on an id of another map.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, in the order in which they were added.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// First and last place of a span.
    pub fn positions(&self, span: Span) -> (Position, Position) {
        let file = self.file(span.file);
        (file.position(span.start), file.position(span.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let mut map = SourceMap::new();
        let file = map.add("x.sql", "a é b\n  c");
        let pos = |offset| map.file(file).position(offset);
        assert_eq!((pos(0).line, pos(0).column), (1, 1));
        assert_eq!((pos(5).line, pos(5).column), (1, 5));
        assert_eq!((pos(9).line, pos(9).column), (2, 3));
        assert_eq!((pos(99).line, pos(99).column), (2, 4));
    }

    #[test]
    fn spans_join_and_contain() {
        let f = FileId(0);
        let joined = Span::new(f, 3, 5).to(Span::new(f, 8, 9));
        assert_eq!(joined, Span::new(f, 3, 9));
        assert!(joined.contains(Span::new(f, 4, 9)));
        assert!(!joined.contains(Span::new(FileId(1), 4, 9)));
    }
}
