//! TOML with places: every complaint points at the key or value it is about.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::config_error;
use crate::nearest::nearest;
use crate::report::model::{ErrorItem, Place};
use crate::source::{FileId, SourceMap, Span};

/// A table of the document.
pub(super) type Section<'a> = DeTable<'a>;

/// A key with its value.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    /// The key.
    pub key: String,
    key_at: Range<usize>,
    value: Spanned<DeValue<'a>>,
}

impl<'a> Entry<'a> {
    /// Where the key stands.
    pub fn key_at(&self) -> Range<usize> {
        self.key_at.clone()
    }

    /// Where the value stands.
    pub fn value_at(&self) -> Range<usize> {
        self.value.span()
    }

    /// The value if it is a table.
    pub fn table(&self) -> Option<Section<'a>> {
        self.value.get_ref().as_table().cloned()
    }

    /// The value if it is a text.
    pub fn text(&self) -> Option<&str> {
        self.value.get_ref().as_str()
    }

    /// The value if it is a date, as text.
    pub fn datetime(&self) -> Option<String> {
        self.value.get_ref().as_datetime().map(ToString::to_string)
    }
}

/// Reads a document and gathers what is wrong with it.
pub(super) struct Reader<'s> {
    sources: &'s SourceMap,
    file: FileId,
    /// What is wrong, in the order in which it was found.
    pub errors: Vec<ErrorItem>,
}

impl<'s> Reader<'s> {
    pub fn new(sources: &'s SourceMap, file: FileId) -> Self {
        Reader { sources, file, errors: Vec::new() }
    }

    /// The text.
    pub fn text(&self) -> &'s str {
        let sources = self.sources;
        &sources.file(self.file).text
    }

    /// The document, if it is TOML.
    pub fn document(&mut self) -> Option<Section<'s>> {
        let sources = self.sources;
        match DeTable::parse(&sources.file(self.file).text) {
            Ok(document) => Some(document.into_inner()),
            Err(error) => {
                let at = error.span().unwrap_or(0..0);
                self.error(at, error.message().to_owned(), "texts stand in quotes: `target = \"vvr\"`");
                None
            }
        }
    }

    /// The place of a range of bytes.
    pub fn place(&self, at: Range<usize>) -> Place {
        Place::of(self.sources, Span::new(self.file, at.start, at.end))
    }

    /// Notes that something is wrong.
    pub fn error(&mut self, at: Range<usize>, message: String, help: &str) {
        let at = self.place(at);
        self.errors.push(config_error(message, help, at));
    }

    /// The entries of a table in the order in which they are written; keys that are not known are errors.
    pub fn known<'a>(&mut self, section: Section<'a>, known: &[&str], owner: &str) -> Vec<Entry<'a>> {
        let entries = entries(section);
        for entry in entries.iter().filter(|e| !known.contains(&e.key.as_str())) {
            let help = match nearest(&entry.key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it may have {}", known.join(", ")),
            };
            self.error(entry.key_at(), format!("{owner} has no `{}`", entry.key), &help);
        }
        entries
    }

    /// The entries of a table whose keys are free.
    pub fn table<'a>(&mut self, entry: &Entry<'a>) -> Vec<Entry<'a>> {
        match entry.table() {
            Some(section) => entries(section),
            None => {
                self.wants(
                    entry,
                    "a table",
                    &format!("write `[{}]` on a line of its own, and entries under it", entry.key),
                );
                Vec::new()
            }
        }
    }

    /// The tables of an array of tables, each with its place.
    pub fn tables<'a>(&mut self, entry: &Entry<'a>) -> Vec<(Section<'a>, Range<usize>)> {
        let list = entry.value.get_ref().as_array().map(|items| {
            items.iter().map(|item| Some((item.get_ref().as_table()?.clone(), item.span()))).collect::<Option<Vec<_>>>()
        });
        match list {
            Some(Some(tables)) => tables,
            _ => {
                let help = format!("write `[[{}]]` on a line of its own for each entry", entry.key);
                self.wants(entry, "a list of entries", &help);
                Vec::new()
            }
        }
    }

    /// A text.
    pub fn string(&mut self, entry: &Entry<'_>) -> Option<String> {
        let text = entry.text().map(str::to_owned);
        if text.is_none() {
            self.wants(entry, "a text", "write it in quotes");
        }
        text
    }

    /// A list of texts.
    pub fn strings(&mut self, entry: &Entry<'_>) -> Vec<String> {
        let list = entry.value.get_ref().as_array();
        let texts = list.map(|l| l.iter().map(|v| v.get_ref().as_str().map(str::to_owned)).collect::<Option<Vec<_>>>());
        match texts {
            Some(Some(texts)) => texts,
            _ => {
                self.wants(entry, "a list of texts", &format!("write it as `{} = [\"...\"]`", entry.key));
                Vec::new()
            }
        }
    }

    /// One of some words.
    pub fn word<T>(&mut self, entry: &Entry<'_>, named: impl Fn(&str) -> Option<T>, words: &[&str]) -> Option<T> {
        let text = self.string(entry)?;
        let found = named(&text);
        if found.is_none() {
            let help = match nearest(&text, words.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it is one of {}", words.join(", ")),
            };
            self.error(entry.value_at(), format!("`{}` cannot be `{text}`", entry.key), &help);
        }
        found
    }

    fn wants(&mut self, entry: &Entry<'_>, what: &str, help: &str) {
        self.error(entry.value_at(), format!("`{}` takes {what}", entry.key), help);
    }
}

fn entries(section: Section<'_>) -> Vec<Entry<'_>> {
    let entry = |(key, value): (Spanned<std::borrow::Cow<'_, str>>, _)| {
        let key_at = key.span();
        Entry { key: key.into_inner().into_owned(), key_at, value }
    };
    let mut entries: Vec<Entry<'_>> = section.into_iter().map(entry).collect();
    entries.sort_by_key(|e| e.key_at.start);
    entries
}
