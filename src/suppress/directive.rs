//! `-- keepstate: allow RULE reason="..." [until=YYYY-MM-DD]`: a comment at a clause.

use jiff::civil::Date;

use super::unknown_rule;
use crate::rules::RuleBook;
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::ast::Comment;

/// The word that makes a comment an instruction.
const MARK: &str = "keepstate:";

/// How it is written, for messages.
const FORM: &str = "write it as `-- keepstate: allow RULE reason=\"...\"`, with `until=YYYY-MM-DD` if it is to end";

/// A comment that accepts the findings of a rule at the clause on its line, or on the next line with SQL if it has its line to itself.
#[derive(Debug)]
pub(super) struct Directive {
    /// The rule.
    pub rule: String,
    /// Why its finding is accepted.
    pub reason: String,
    /// The last day on which it is.
    pub until: Option<Date>,
    /// The comment.
    pub span: Span,
    file: FileId,
    /// The 1-based line that it is about.
    line: u32,
    /// The byte at which that line's text begins.
    line_start: u32,
}

/// Why a comment cannot be read.
#[derive(Debug)]
pub(super) struct DirectiveError {
    pub message: String,
    pub help: String,
    pub label: &'static str,
    pub span: Span,
}

impl Directive {
    /// Reads a comment; `None` if it does not speak to keepstate.
    pub fn parse(
        sources: &SourceMap,
        comment: &Comment,
        rules: &RuleBook,
    ) -> Result<Option<Directive>, DirectiveError> {
        let Some(words) = comment.text.trim().strip_prefix(MARK) else { return Ok(None) };
        let error = |message: String, help: String| DirectiveError { message, help, label: "here", span: comment.span };
        let Some(rest) =
            words.trim().strip_prefix("allow").filter(|r| r.is_empty() || r.starts_with(char::is_whitespace))
        else {
            let word = words.split_whitespace().next().unwrap_or_default();
            return Err(error(format!("keepstate does not know the instruction `{word}`"), FORM.to_owned()));
        };
        let rest = rest.trim();
        let (rule, mut rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if rule.is_empty() || rule.contains('=') {
            return Err(error("the comment does not say which rule it allows".to_owned(), FORM.to_owned()));
        }
        if !super::rule_names(rules).contains(&rule) {
            let (message, help) = unknown_rule(rule, rules);
            return Err(error(message, help));
        }
        let (mut reason, mut until) = (None, None);
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                break;
            }
            let Some((name, value, after)) = argument(rest) else {
                return Err(error(format!("`{rest}` is no part of an allowance"), FORM.to_owned()));
            };
            rest = after;
            match name {
                "reason" => reason = Some(value.trim().to_owned()),
                "until" => {
                    let date = value.parse::<Date>().map_err(|_| {
                        error(format!("`{value}` is no date"), "write it as `until=YYYY-MM-DD`".to_owned())
                    })?;
                    until = Some(date);
                }
                other => {
                    let help = match crate::nearest::nearest(other, ["reason", "until"]) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => FORM.to_owned(),
                    };
                    return Err(error(format!("an allowance has no `{other}`"), help));
                }
            }
        }
        let Some(reason) = reason.filter(|r| !r.is_empty()) else {
            let message = format!("the allowance of `{rule}` gives no reason");
            return Err(error(message, "say why it is safe here: `reason=\"...\"`".to_owned()));
        };
        let (line, line_start) = line_meant(sources, comment.span);
        let (rule, span, file) = (rule.to_owned(), comment.span, comment.span.file);
        Ok(Some(Directive { rule, reason, until, span, file, line, line_start }))
    }

    /// True if a clause is on the line that the comment is about, or goes over it, or begins after nothing but keywords on it.
    pub fn reaches(&self, sources: &SourceMap, clause: Span) -> bool {
        if clause.file != self.file {
            return false;
        }
        let (start, end) = sources.positions(clause);
        if (start.line..=end.line).contains(&self.line) {
            return true;
        }
        let between = || {
            let text = &sources.file(self.file).text;
            text.get(self.line_start as usize..clause.start as usize).unwrap_or("-")
        };
        start.line > self.line && between().chars().all(|c| c.is_ascii_alphabetic() || c.is_whitespace() || c == '(')
    }
}

/// `name="value"` or `name=value` at the start of a text, and what follows.
fn argument(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.split_once('=')?;
    let (name, rest) = (name.trim(), rest.trim_start());
    if name.is_empty() || name.contains(char::is_whitespace) {
        return None;
    }
    if let Some(quote @ ('"' | '\'')) = rest.chars().next() {
        let (value, after) = rest[1..].split_once(quote)?;
        return Some((name, value, after));
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    Some((name, &rest[..end], &rest[end..]))
}

/// The line that a comment is about, and where its text begins.
fn line_meant(sources: &SourceMap, comment: Span) -> (u32, u32) {
    let file = sources.file(comment.file);
    let (_, own) = file.line(comment.start);
    let before = &file.text[own.start..comment.start as usize];
    let after = &file.text[comment.end as usize..file.line(comment.end).1.end];
    if !before.trim().is_empty() || !(after.trim().is_empty() || is_comment(after)) {
        return (file.position(comment.start).line, own.start as u32);
    }
    // The next line that is more than a comment.
    let mut at = file.line(comment.end).1.end;
    while at < file.text.len() {
        let (_, line) = file.line(at as u32 + 1);
        if !is_comment(&file.text[line.clone()]) {
            return (file.position(line.start as u32).line, line.start as u32);
        }
        if line.end <= at {
            break;
        }
        at = line.end;
    }
    (file.position(comment.start).line, own.start as u32)
}

/// True if a line is blank or begins as a comment.
fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || ["--", "//", "/*"].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;

    fn directives(text: &str) -> Vec<Result<(String, u32), String>> {
        let mut sources = SourceMap::new();
        let file = sources.add("a.sql", text);
        let script = parse(&sources, file, &Default::default());
        let rules = RuleBook::embedded();
        let read = script.comments.iter().filter_map(|c| Directive::parse(&sources, c, rules).transpose());
        read.map(|d| d.map(|d| (d.reason.clone(), d.line)).map_err(|e| format!("{}; {}", e.message, e.help))).collect()
    }

    #[test]
    fn a_comment_is_about_its_line_or_the_next_one() {
        let rule = "window-top-n-n-changed";
        let text = format!(
            "SELECT 1 -- keepstate: allow {rule} reason=\"a b\"\n;\n/* keepstate: allow {rule} reason='c' until=2030-01-31 */\n\n-- x\nSELECT 2;"
        );
        assert_eq!(directives(&text), [Ok(("a b".to_owned(), 1)), Ok(("c".to_owned(), 6))]);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let said = |text: &str| directives(&format!("-- keepstate: {text}\nSELECT 1;")).remove(0).unwrap_err();
        assert!(said("allow window-top-n-n-changed").contains("gives no reason"));
        assert!(said("allow window-top-n-n-changd reason=\"x\"").contains("did you mean `window-top-n-n-changed`?"));
        assert!(said("ignore window-top-n-n-changed").contains("instruction `ignore`"));
        assert!(said("allow reason=\"x\"").contains("which rule"));
        assert!(said("allow window-top-n-n-changed reason=\"x\" until=tomorrow").contains("no date"));
        assert!(said("allow window-top-n-n-changed reson=\"x\"").contains("did you mean `reason`?"));
        assert!(said("allow window-top-n-n-changed because").contains("no part"));
    }
}
