//! "Did you mean WHERE?": a statement that fails near a word that looks like a keyword is read again with the keyword. The
//! hint is given only if that gets further, so that no name is taken for a slip.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::SyntaxError;
use super::context::Context;
use super::dialect::FlinkDialect;
use super::parser::{NOT_CLOSED, Parser};
use super::reserved::{is_reserved, reserved_words};
use super::text::Text;
use super::tokens::{Kind, lex};
use crate::nearest::near;
use crate::source::FileId;

/// Words of the grammar that may be names, too.
const MORE: &[&str] = &[
    "ASC",
    "CATALOG",
    "DATABASE",
    "DAYS",
    "DESC",
    "DESCRIPTOR",
    "ENFORCED",
    "FIRST",
    "FOLLOWING",
    "HOURS",
    "KEY",
    "LAST",
    "METADATA",
    "MINUTES",
    "NULLS",
    "OVERWRITE",
    "PARTITIONED",
    "PRECEDING",
    "SECONDS",
    "SETS",
    "TEMPORARY",
    "UNBOUNDED",
    "VIEW",
    "VIRTUAL",
];

/// Longer statements are not read again.
const LONG: usize = 20_000;
/// How many keywords are tried for a word.
const TRIED: usize = 3;

/// Adds the keyword that was meant to an error in the statement from token `first` to the token before `last`.
pub(super) fn explain(cx: &Context, first: usize, last: usize, error: &mut SyntaxError) {
    // That a parenthesis is not closed is often the slip's doing.
    let open = error.help.as_ref().is_some_and(|help| help.starts_with(NOT_CLOSED));
    if (error.help.is_some() && !open) || last <= first {
        return;
    }
    let tokens = &cx.tokens[first..last];
    let (start, end) = (tokens[0].start as usize, tokens[tokens.len() - 1].end as usize);
    if end - start > LONG {
        return;
    }
    let Some(failed) = tokens.iter().position(|t| cx.span_of(*t, *t) == error.span) else { return };
    let mut best: Option<(usize, usize, &str)> = None;
    // The word itself, or one before it, which was taken for a name.
    for at in (0..=2).filter_map(|back| failed.checked_sub(back)) {
        let token = tokens[at];
        let word = cx.token_text(token);
        if token.kind != Kind::Word || word.len() < 2 || (at != failed && is_reserved(word)) {
            continue;
        }
        let words = near(word, reserved_words().chain(MORE.iter().copied()));
        for keyword in words.into_iter().filter(|k| !k.eq_ignore_ascii_case(word)).take(TRIED) {
            let before = &cx.text.expanded[start..token.start as usize];
            let after = &cx.text.expanded[token.end as usize..end];
            let was = tokens[failed].start as usize - start + keyword.len() - word.len().min(keyword.len());
            let reached = reads_up_to(format!("{before}{keyword}{after}"));
            if reached > was.max(before.len() + keyword.len()) && best.is_none_or(|(most, ..)| reached > most) {
                best = Some((reached, at, keyword));
            }
        }
    }
    let Some((_, at, keyword)) = best else { return };
    let by = if cx.is_word(first + at + 1, "BY") { " BY" } else { "" };
    error.help = Some(format!("did you mean {keyword}{by}?"));
    if at != failed {
        error.message = format!("unexpected `{}`", cx.token_text(tokens[at]));
        error.label = "not a keyword".to_owned();
        error.span = cx.span_of(tokens[at], tokens[at]);
    }
}

/// Where the first error of a statement is, or a number past its end.
fn reads_up_to(statement: String) -> usize {
    let text = Text::new(FileId::default(), &Arc::from(statement), &BTreeMap::new());
    let lexed = lex(&text);
    if !lexed.errors.is_empty() {
        return 0;
    }
    let cx = Context::new(text, lexed.tokens, lexed.hints);
    let dialect = FlinkDialect { cx };
    let count = dialect.cx.tokens.len();
    let mut sql = dialect.parser(0, count);
    let mut parser = Parser { sql: &mut sql, cx: &dialect.cx };
    match parser.statement().and_then(|_| parser.expect_end()) {
        Ok(()) => usize::MAX,
        Err(error) => error.span.start as usize,
    }
}
