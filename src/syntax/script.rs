//! A script to statements: each fails alone, and statement sets are put together.

use super::ast::{Insert, Script, Statement, StatementKind, SyntaxError};
use super::context::Context;
use super::dialect::FlinkDialect;
use super::parser::Parser;
use super::text::Text;
use super::tokens::{Kind, NEVER_CLOSED, lex};
use super::typos;
use crate::source::Span;

/// Of more errors than this, slips in keywords are not looked for: each costs several readings.
const EXPLAINED: usize = 20;

/// Parses all statements of a text.
pub(super) fn parse_script(text: Text) -> Script {
    let lexed = lex(&text);
    let mut script = Script {
        statements: Vec::new(),
        errors: lexed.errors,
        comments: lexed.comments,
        placeholders: lexed.placeholders,
    };
    let cx = Context::new(text, lexed.tokens, lexed.hints);
    let dialect = FlinkDialect { cx };
    let lexical = script.errors.len();
    let mut reader = ScriptReader { dialect: &dialect, script: &mut script, set: None, lexical };
    let mut first = 0;
    while first < dialect.cx.tokens.len() {
        let rest = &dialect.cx.tokens[first..];
        let last = first + rest.iter().position(|t| t.kind == Kind::Semicolon).unwrap_or(rest.len());
        if first < last {
            reader.chunk(first, last);
        }
        first = last + 1;
    }
    reader.finish();
    script.errors.sort_by_key(|e| e.span.start);
    script
}

/// An open statement set.
struct OpenSet {
    /// What wraps it: `EXPLAIN`, `COMPILE PLAN`.
    verb: Option<String>,
    inserts: Vec<(Insert, Span)>,
    /// From the first word to BEGIN.
    head: Span,
    end: Span,
}

struct ScriptReader<'a> {
    dialect: &'a FlinkDialect,
    script: &'a mut Script,
    set: Option<OpenSet>,
    /// How many of the script's errors are the lexer's; they come first, in order.
    lexical: usize,
}

impl ScriptReader<'_> {
    fn cx(&self) -> &Context {
        &self.dialect.cx
    }

    /// Reads the tokens up to a semicolon, usually one statement.
    fn chunk(&mut self, first: usize, last: usize) {
        let mut first = first;
        self.cx().last.set(last);
        if let Some(after) = self.set_head(first, last) {
            self.close_set_unfinished();
            let cx = self.cx();
            let head = cx.span_of(cx.tokens[first], cx.tokens[after - 1]);
            let words = cx.words(first, after).to_ascii_uppercase();
            let verb = words.split_once("STATEMENT").map_or("", |(verb, _)| verb).trim();
            let verb = match verb {
                "EXECUTE" | "BEGIN" => None,
                verb => Some(verb.split('\'').next().unwrap_or(verb).trim().to_owned()),
            };
            self.set = Some(OpenSet { verb, inserts: Vec::new(), head, end: head });
            first = after;
        }
        if first >= last {
            return;
        }
        if self.set.is_some() && last - first == 1 && self.cx().is_word(first, "END") {
            let cx = self.cx();
            let end = cx.span_of(cx.tokens[first], cx.tokens[first]);
            return self.close_set(end);
        }
        self.statements(first, last);
    }

    /// If a statement set starts here, the index of the token after its head.
    fn set_head(&self, first: usize, last: usize) -> Option<usize> {
        let cx = self.cx();
        if cx.is_word(first, "BEGIN") && cx.is_word(first + 1, "STATEMENT") && cx.is_word(first + 2, "SET") {
            return Some(first + 3);
        }
        if !["EXECUTE", "EXPLAIN", "COMPILE"].iter().any(|w| cx.is_word(first, w)) {
            return None;
        }
        // `EXPLAIN ... STATEMENT SET BEGIN` and `COMPILE PLAN 'p' FOR STATEMENT SET BEGIN` have some words before it.
        (first..last.min(first + 12)).find_map(|i| {
            (cx.is_word(i, "STATEMENT") && cx.is_word(i + 1, "SET") && cx.is_word(i + 2, "BEGIN")).then_some(i + 3)
        })
    }

    /// Parses statements that stand between two semicolons: one, or several if semicolons are missing.
    fn statements(&mut self, first: usize, last: usize) {
        let mut first = first;
        while first < last {
            let mut sql = self.dialect.parser(first, last);
            let mut parser = Parser { sql: &mut sql, cx: self.cx() };
            let parsed = parser.statement();
            let next = parser.index();
            let end = match &parsed {
                Ok(_) => parser.expect_end().and_then(|()| parser.cx.misplaced_hint().map_or(Ok(()), Err)),
                Err(_) => Ok(()),
            };
            let goes_on = parsed.is_ok() && next < last && parser.at_statement_start();
            let span = parser.cx.span_of(parser.cx.tokens[first], parser.cx.tokens[last - 1]);
            match (parsed, end) {
                (Ok(statement), Ok(())) => self.add(statement),
                (Ok(statement), Err(error)) if goes_on => {
                    self.add(statement);
                    self.fail(*error, span);
                }
                (Ok(_), Err(mut error)) | (Err(mut error), _) => {
                    if self.script.errors.len() < EXPLAINED {
                        typos::explain(self.cx(), first, last, &mut error);
                    }
                    self.fail(*error, span);
                    // A statement at the start of a later line was meant to stand alone.
                    match self.restart(first + 1, next, last) {
                        Some(restart) => {
                            first = restart;
                            continue;
                        }
                        None => return,
                    }
                }
            }
            if !goes_on {
                return;
            }
            first = next;
            if self.set.is_some() && last - first == 1 && self.cx().is_word(first, "END") {
                let cx = self.cx();
                let end = cx.span_of(cx.tokens[first], cx.tokens[first]);
                return self.close_set(end);
            }
        }
    }

    /// After an error at token `failed`: the next token that surely starts a statement, at the start of its line and
    /// outside parentheses.
    fn restart(&self, from: usize, failed: usize, last: usize) -> Option<usize> {
        let cx = self.cx();
        (failed.max(from)..last).find(|i| {
            let starts = ["CREATE", "INSERT", "DROP", "ALTER", "EXECUTE"].iter().any(|w| cx.is_word(*i, w));
            let two = starts
                && [
                    "TABLE",
                    "TEMPORARY",
                    "VIEW",
                    "INTO",
                    "OVERWRITE",
                    "STATEMENT",
                    "FUNCTION",
                    "CATALOG",
                    "DATABASE",
                    "OR",
                ]
                .iter()
                .any(|w| cx.is_word(i + 1, w));
            two && *i > from && {
                let between = &cx.text.expanded[cx.tokens[i - 1].end as usize..cx.tokens[*i].start as usize];
                between.contains('\n')
            }
        })
    }

    fn add(&mut self, statement: Statement) {
        let Some(set) = &mut self.set else {
            return self.script.statements.push(statement);
        };
        match statement.kind {
            StatementKind::Insert(insert) => {
                set.end = statement.span;
                set.inserts.push((*insert, statement.span));
            }
            _ => {
                // Something else than INSERT: END was forgotten before it.
                self.close_set_unfinished();
                self.script.statements.push(statement);
            }
        }
    }

    /// Keeps an error, unless the lexer already said what is wrong in this statement.
    fn fail(&mut self, error: SyntaxError, statement: Span) {
        let lexical = &self.script.errors[..self.lexical];
        let from = lexical.partition_point(|e| e.span.start < statement.start);
        let known = lexical[from..]
            .iter()
            .take_while(|e| e.span.start < statement.end)
            .any(|e| e.message.ends_with(NEVER_CLOSED));
        if !known {
            self.script.errors.push(error);
        }
    }

    fn close_set(&mut self, end: Span) {
        let Some(set) = self.set.take() else { return };
        if set.inserts.is_empty() {
            self.script.errors.push(SyntaxError {
                message: "this statement set holds no INSERT".to_owned(),
                span: set.head,
                label: "nothing between BEGIN and END".to_owned(),
                help: None,
            });
            return;
        }
        let span = set.head.to(end);
        let statement = Statement { kind: StatementKind::StatementSet(set.inserts), span };
        self.script.statements.push(match set.verb {
            None => statement,
            Some(verb) => Statement { kind: StatementKind::Wrapped { verb, inner: Box::new(statement) }, span },
        });
    }

    /// The set that is open was never closed: an error, and its inserts are kept.
    fn close_set_unfinished(&mut self) {
        let Some(set) = &self.set else { return };
        let (head, end, empty) = (set.head, set.end, set.inserts.is_empty());
        self.script.errors.push(SyntaxError {
            message: "this statement set is never closed".to_owned(),
            span: head,
            label: "no `END;` follows".to_owned(),
            help: Some("write `END;` after its last INSERT".to_owned()),
        });
        if empty {
            self.set = None;
        }
        self.close_set(end);
    }

    fn finish(&mut self) {
        self.close_set_unfinished();
    }
}
