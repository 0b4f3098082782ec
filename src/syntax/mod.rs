//! From text to statements. The only module that knows the parsing library.
//!
//! The way of a script: [`text`] puts definitions in, [`tokens`] tokenizes once, [`script`] splits at semicolons, and each
//! statement is parsed on its own, so that one that fails hides no other. Statements, queries and operands are recursive
//! descent ([`statements`], [`ddl`], [`query`], [`from`], [`operand`], [`call`], [`types`]); operators are sqlparser's, with
//! [`dialect`] as the bridge and [`convert`] as the way back. Nothing recurses deeper than a fixed limit.

use std::collections::BTreeMap;

use crate::source::{FileId, SourceMap};

pub mod ast;
mod call;
mod context;
mod convert;
mod ddl;
mod dialect;
mod from;
mod hints;
mod operand;
mod parser;
mod pattern;
mod query;
mod reserved;
mod script;
mod statements;
mod text;
mod tokens;
mod types;
mod typos;

pub use pattern::pattern_variables;

/// Parses a script. `defines` are the values of its `${name}` and `{{ name }}` placeholders; what is not defined stays as an
/// opaque value and is listed. All spans are places in the text as it stands in the file.
pub fn parse(sources: &SourceMap, file: FileId, defines: &BTreeMap<String, String>) -> ast::Script {
    script::parse_script(text::Text::new(file, &sources.file(file).text, defines))
}

/// A script with its placeholders replaced by their values, as far as they are defined.
pub fn expand(script: &std::sync::Arc<str>, defines: &BTreeMap<String, String>) -> std::sync::Arc<str> {
    text::Text::new(FileId::default(), script, defines).into_expanded()
}
