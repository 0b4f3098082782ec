//! Where a change is written on both sides, and what stands there in the user's words.

use std::borrow::Cow;

use super::matching::Side;
use crate::source::{SourceMap, Span};

/// The clauses of a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Places {
    /// In the old text.
    pub old: Option<Span>,
    /// In the new text.
    pub new: Option<Span>,
    /// The side that does not have the thing: there, the clause around it stands for it.
    pub beside: Option<Side>,
}

impl Places {
    /// Both sides; on `side`, if any, stands only what is around the thing.
    pub fn beside(old: Option<Span>, new: Option<Span>, side: Option<Side>) -> Places {
        Places { old, new, beside: side }
    }
}

impl From<(Option<Span>, Option<Span>)> for Places {
    fn from((old, new): (Option<Span>, Option<Span>)) -> Self {
        Places { old, new, beside: None }
    }
}

/// The side that lacks a thing of which `old` and `new` pieces are on one side only.
pub fn lacking(only_old: usize, only_new: usize) -> Option<Side> {
    match (only_old, only_new) {
        (0, 1..) => Some(Side::Old),
        (1.., 0) => Some(Side::New),
        _ => None,
    }
}

/// The longest expression that is quoted in a message.
const LONG: usize = 60;

/// What people call a column: its name or, where the planner made one up (`EXPR$1`, `$f2`), the expression as written.
pub fn said<'a>(sources: &SourceMap, name: &'a str, origin: Option<Span>) -> Cow<'a, str> {
    if !is_made_up(name) {
        return Cow::Borrowed(name);
    }
    match origin.map(|span| as_written(sources.text(span))) {
        Some(text) if !text.is_empty() => Cow::Owned(text),
        _ => Cow::Borrowed(name),
    }
}

/// Flink's names for what has none: `EXPR$0`, `$f1`, `$2`, `w0$o0`.
pub fn is_made_up(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let over = |text: &str| text.split_once("$o").is_some_and(|(w, o)| number(w) && number(o));
    name.strip_prefix("EXPR$").is_some_and(number)
        || name.strip_prefix('$').is_some_and(|rest| number(rest) || rest.strip_prefix('f').is_some_and(number))
        || name.strip_prefix('w').is_some_and(over)
}

/// An expression on one line, without comments and without the window of an OVER, which is not what it computes.
fn as_written(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    let mut quote = None;
    let mut depth = 0_usize;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), _) => {
                out.push(c);
                quote = (c != q).then_some(q);
            }
            (None, '\'' | '`' | '"') => {
                out.push(c);
                quote = Some(c);
            }
            (None, '-') if chars.peek() == Some(&'-') => while chars.next_if(|c| *c != '\n').is_some() {},
            (None, '/') if chars.peek() == Some(&'*') => {
                let mut last = ' ';
                for next in chars.by_ref() {
                    if (last, next) == ('*', '/') {
                        break;
                    }
                    last = next;
                }
                if !out.is_empty() && !out.ends_with([' ', '(']) {
                    out.push(' ');
                }
            }
            (None, c) if c.is_whitespace() => {
                if !out.is_empty() && !out.ends_with([' ', '(']) {
                    out.push(' ');
                }
            }
            (None, c) => {
                if matches!(c, ')' | ',') && out.ends_with(' ') {
                    out.pop();
                }
                depth = match c {
                    '(' => depth + 1,
                    ')' => depth.saturating_sub(1),
                    _ => depth,
                };
                out.push(c);
            }
        }
        if quote.is_none() && depth == 0 && out.len() > 5 && out.is_char_boundary(out.len() - 5) {
            let end = &out[out.len() - 5..];
            let follows = chars.peek().is_none_or(|c| c.is_whitespace() || *c == '(');
            if end.eq_ignore_ascii_case(" over") && follows {
                out.truncate(out.len() - 5);
                break;
            }
        }
    }
    let text = out.trim();
    if text.chars().count() <= LONG {
        return text.to_owned();
    }
    text.chars().take(LONG - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_said_on_one_line() {
        assert_eq!(as_written("SUM( b )"), "SUM(b)");
        assert_eq!(as_written("SUM(a\n  + b) -- all\n"), "SUM(a + b)");
        assert_eq!(as_written("COUNT(/* each */ DISTINCT 'a  b' , c)"), "COUNT(DISTINCT 'a  b', c)");
        assert_eq!(as_written("MAX(b) OVER (PARTITION BY a)"), "MAX(b)");
        assert_eq!(as_written("MAX(b)\n  over w"), "MAX(b)");
        assert_eq!(as_written(&"é+".repeat(60)).chars().count(), LONG);
    }

    #[test]
    fn only_made_up_names_are_replaced() {
        for name in ["EXPR$0", "$f12", "$3", "w0$o1"] {
            assert!(is_made_up(name), "{name}");
        }
        for name in ["EXPR", "a", "$total", "f1", "w0", "price$o", ""] {
            assert!(!is_made_up(name), "{name}");
        }
    }
}
