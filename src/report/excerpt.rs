//! The lines around a place, for people: few lines, no endless ones, no secrets.
//!
//! An excerpt is cut out with the file's line index, so that the cost of a finding does not grow with the file.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::model::Place;
use super::secrets;
use crate::source::{SourceFile, SourceMap};
use crate::terminal::{visible_in_place, visible_line};

/// Longer lines are shown in part.
const LONG: usize = 200;
/// How much of a long line is shown before the place.
const BEFORE: usize = 60;

/// The texts of a run with secrets masked and nothing in them that a terminal acts on, made when first needed. They have the bytes of
/// the files, so places in them are right.
#[derive(Debug)]
pub struct MaskedTexts<'a> {
    sources: &'a SourceMap,
    masked: RefCell<Vec<Option<Arc<str>>>>,
}

impl<'a> MaskedTexts<'a> {
    /// The texts of these files.
    pub fn new(sources: &'a SourceMap) -> Self {
        MaskedTexts { sources, masked: RefCell::default() }
    }

    /// The file of a place.
    pub fn file(&self, place: &Place) -> &'a SourceFile {
        self.sources.file(place.span.file)
    }

    /// The text of a place's file.
    pub fn text(&self, place: &Place) -> Arc<str> {
        let index = place.span.file.0 as usize;
        let mut masked = self.masked.borrow_mut();
        if masked.len() <= index {
            masked.resize(index + 1, None);
        }
        masked[index].get_or_insert_with(|| visible_in_place(&secrets::mask(&self.file(place).text)).into()).clone()
    }

    /// The lines that a place touches, as bytes of the file.
    pub fn lines(&self, place: &Place) -> Range<usize> {
        let file = self.file(place);
        let last = place.span.end.saturating_sub(1).max(place.span.start);
        file.line(place.span.start).1.start..file.line(last).1.end
    }
}

/// A piece of a file, placed in it.
#[derive(Debug)]
pub struct Excerpt {
    name: String,
    text: String,
    /// Where the piece begins in the file.
    offset: usize,
    /// The line, counted from 0, that it begins in.
    line: usize,
    /// What is pointed at, in bytes of the file: the first line of the place.
    pub label: Range<usize>,
    /// The line and column, counted from 0, of the label.
    at: (usize, usize),
}

impl Excerpt {
    /// Cuts the lines around a place out of a text that has the bytes of `file`, secrets masked.
    pub fn new(file: &SourceFile, masked: &str, place: &Place) -> Excerpt {
        let start = floor(masked, place.span.start as usize);
        let (line, bounds) = file.line(start as u32);
        let end = floor(masked, place.span.end as usize).clamp(start, bounds.end.max(start));
        let (mut first, mut window) = (line, bounds.clone());
        if bounds.len() > LONG {
            let from = start.saturating_sub(BEFORE).max(bounds.start);
            window = floor(masked, from)..floor(masked, (from + LONG).min(bounds.end));
        } else {
            let short = |range: &Range<usize>| range.len() <= LONG;
            let before = bounds.start.checked_sub(1).map(|at| file.line(at as u32).1).filter(short);
            if let Some(before) = before {
                first -= 1;
                window.start = before.start;
            }
            if bounds.end < masked.len() {
                let (_, after) = file.line(bounds.end as u32 + 1);
                if short(&after) {
                    window.end = after.end;
                }
            }
        }
        let end = end.min(window.end).max(start);
        Excerpt {
            name: visible_line(&place.file).into_owned(),
            text: masked.get(window.clone()).unwrap_or_default().to_owned(),
            offset: window.start,
            line: first,
            label: start..end,
            at: (line, place.start.column.saturating_sub(1) as usize),
        }
    }
}

/// The nearest character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let whole = (self.offset, self.text.len());
        let (range, (line, column)) =
            if before + after > 0 { (whole, (self.line, 0)) } else { ((span.offset(), span.len()), self.at) };
        let start = range.0.checked_sub(self.offset).ok_or(MietteError::OutOfBounds)?;
        let data = self.text.as_bytes().get(start..start + range.1).ok_or(MietteError::OutOfBounds)?;
        let lines = 1 + data.iter().filter(|b| **b == b'\n').count();
        let contents = MietteSpanContents::new_named(self.name.clone(), data, range.into(), line, column, lines);
        Ok(Box::new(contents))
    }
}
