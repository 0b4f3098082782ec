//! Places of reports as places in an editor: in the document, in another file, or on the old side.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::protocol::{Client, Location};
use super::text::{Lines, Range};
use super::uri;
use crate::project::sides::Sides;
use crate::report::markdown_text::clipped;
use crate::report::model::Place;
use crate::report::secrets;
use crate::source::{FileId, SourceMap};

/// An open document.
#[derive(Debug, Clone)]
pub struct Open {
    /// Its address.
    pub uri: String,
    /// Its file.
    pub path: PathBuf,
    /// Its text.
    pub text: Arc<str>,
}

/// What stood somewhere before.
#[derive(Debug, Clone)]
pub struct Before {
    /// Where it can be shown, if it can.
    pub location: Option<Location>,
    /// Where it is, for people: `HEAD:jobs/orders.sql:12`.
    pub name: String,
    /// The clause.
    pub excerpt: String,
}

/// The longest clause that is quoted.
const LONG: usize = 400;

/// A document and the texts of a report about it.
pub struct View<'a> {
    /// The document's address.
    pub uri: &'a str,
    /// The name that the report gives it.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Its lines.
    pub lines: &'a Lines<'a>,
    /// Where the report's texts come from.
    pub sides: &'a Sides,
    /// The report's texts.
    pub sources: &'a SourceMap,
    /// The open documents.
    pub open: &'a [Open],
    /// The client.
    pub client: Client,
    /// Texts of the old side that something points into, by their addresses.
    pub old_texts: &'a RefCell<Vec<(String, Arc<str>)>>,
    /// The report's texts without their secrets, as far as they were needed.
    pub masked: RefCell<BTreeMap<FileId, Arc<str>>>,
}

impl View<'_> {
    /// The bytes of a place in the document; none if it is elsewhere.
    pub fn own(&self, place: &Place) -> Option<std::ops::Range<usize>> {
        let file = self.sources.files().get(place.span.file.0 as usize)?;
        let here = file.name == self.name && *file.text == *self.text;
        here.then_some(place.span.start as usize..place.span.end as usize)
    }

    /// Bytes of the document in the client's units.
    pub fn range(&self, bytes: std::ops::Range<usize>) -> Range {
        self.lines.range(bytes, self.client.encoding)
    }

    /// Where a place can be looked at; none if it is on an old side that cannot be shown.
    pub fn location(&self, place: &Place) -> Option<Location> {
        if let Some(bytes) = self.own(place) {
            return Some(Location { uri: self.uri.to_owned(), range: self.range(bytes) });
        }
        let file = self.sources.files().get(place.span.file.0 as usize)?;
        let bytes = place.span.start as usize..place.span.end as usize;
        let range = |text: &str| Lines::new(text).range(bytes.clone(), self.client.encoding);
        if let Some(path) = self.sides.old_file_of(&file.name) {
            if !self.client.virtual_texts {
                return None;
            }
            let address = uri::address(&path.to_string_lossy(), cfg!(windows));
            let side = self.sides.old_name();
            let side = side.rsplit(['/', '\\']).next().filter(|_| side.ends_with(".lock")).unwrap_or(side);
            let uri = format!("{}://old/{}{address}", uri::SCHEME, uri::encoded(side));
            let text = self.masked(place.span.file);
            let location = Location { uri: uri.clone(), range: range(&text) };
            let mut texts = self.old_texts.borrow_mut();
            if !texts.iter().any(|(known, _)| *known == uri) {
                texts.push((uri, text));
            }
            return Some(location);
        }
        let path = self.sides.file_of(&file.name);
        let open = self.open.iter().find(|open| open.path == path);
        let uri = open.map_or_else(|| uri::of_path(&path), |open| open.uri.clone());
        Some(Location { uri, range: range(&file.text) })
    }

    /// A text without its secrets: as many bytes in as many lines.
    fn masked(&self, file: FileId) -> Arc<str> {
        let mut masked = self.masked.borrow_mut();
        Arc::clone(masked.entry(file).or_insert_with(|| secrets::mask(&self.sources.file(file).text).into()))
    }

    /// What stood at a place of the old side.
    pub fn before(&self, place: &Place) -> Before {
        let text = self.masked(place.span.file);
        let excerpt = text.get(place.span.start as usize..place.span.end as usize).unwrap_or_default();
        let excerpt = clipped(excerpt, LONG);
        let root = format!("{}/", self.sides.root().to_string_lossy());
        let file = place.file.strip_prefix(root.as_str()).unwrap_or(&place.file);
        Before { location: self.location(place), name: format!("{file}:{}", place.start.line), excerpt }
    }
}
