//! The cursor that all grammar files share: tokens, words, names, lists, errors.
//!
//! The position is that of sqlparser's own cursor, so that our grammar and its expression grammar take turns on the
//! same tokens without copying or searching.

use sqlparser::parser::{Parser as SqlParser, ParserError};

use super::ast::{Expr, Hint, Ident, ObjectName, SyntaxError};
use super::context::Context;
use super::reserved::{is_reserved, is_structural};
use super::tokens::{Kind, Token};
use crate::source::Span;

/// How the help begins that points at an open parenthesis.
pub(super) const NOT_CLOSED: &str = "the parenthesis opened";

/// The result of a grammar function. Errors are boxed: they are rare, and results are everywhere.
pub(super) type Parsed<T> = Result<T, Box<SyntaxError>>;

/// A parser of one statement.
pub(super) struct Parser<'a, 'd> {
    pub(super) sql: &'a mut SqlParser<'d>,
    pub(super) cx: &'a Context,
}

impl Parser<'_, '_> {
    /// The index of the current token in the script.
    pub(super) fn index(&self) -> usize {
        (self.cx.first.get() + self.sql.index()).min(self.cx.last.get())
    }

    /// The token `ahead` of the current one.
    pub(super) fn token(&self, ahead: usize) -> Token {
        self.cx.token(self.index() + ahead)
    }

    /// The kind of the current token.
    pub(super) fn kind(&self) -> Kind {
        self.token(0).kind
    }

    /// Goes to the next token.
    pub(super) fn advance(&mut self) {
        self.sql.advance_token();
    }

    /// True at the end of the statement.
    pub(super) fn at_end(&self) -> bool {
        self.kind() == Kind::End
    }

    pub(super) fn at(&self, kind: Kind) -> bool {
        self.kind() == kind
    }

    /// Takes the current token if it is of this kind.
    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let found = self.at(kind);
        if found {
            self.advance();
        }
        found
    }

    /// The text of a token, as written.
    pub(super) fn text(&self, token: Token) -> &str {
        self.cx.token_text(token)
    }

    /// True if the token `ahead` is this keyword (given in upper case).
    pub(super) fn word_at(&self, ahead: usize, word: &str) -> bool {
        self.cx.is_word(self.index() + ahead, word)
    }

    /// True at this keyword.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.word_at(0, word)
    }

    /// True at one of these keywords.
    pub(super) fn at_any(&self, words: &[&str]) -> bool {
        words.iter().any(|w| self.at_word(w))
    }

    /// True if these keywords stand here in a row.
    pub(super) fn at_words(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(i, w)| self.word_at(i, w))
    }

    /// Takes this keyword if it is here.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// Takes these keywords if all stand here in a row.
    pub(super) fn eat_words(&mut self, words: &[&str]) -> bool {
        let found = self.at_words(words);
        if found {
            words.iter().for_each(|_| self.advance());
        }
        found
    }

    /// Takes this keyword or fails; `context` completes the message: "after GROUP".
    pub(super) fn expect_word(&mut self, word: &str, context: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&join_context(word, context))) }
    }

    /// Takes a token of this kind or fails.
    pub(super) fn expect(&mut self, kind: Kind, what: &str, context: &str) -> Parsed<()> {
        if self.eat(kind) { Ok(()) } else { Err(self.expected(&join_context(what, context))) }
    }

    /// Takes `(` and returns its index, for [`Parser::close`].
    pub(super) fn open(&mut self, context: &str) -> Parsed<usize> {
        let index = self.index();
        self.expect(Kind::LParen, "`(`", context)?;
        Ok(index)
    }

    /// Takes the `)` that closes the parenthesis at token `open`.
    pub(super) fn close(&mut self, open: usize) -> Parsed<()> {
        if self.eat(Kind::RParen) {
            return Ok(());
        }
        let mut error = self.expected("`)`");
        if error.help.is_none() {
            error.help = Some(format!("{NOT_CLOSED} at {} is not closed here", self.cx.place(open)));
        }
        Err(error)
    }

    /// Items of a list, separated by commas, at least one.
    pub(super) fn comma_separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(Kind::Comma) {
            self.refuse_trailing_comma()?;
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `( item, item )`.
    pub(super) fn parenthesized<T>(
        &mut self,
        context: &str,
        item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let open = self.open(context)?;
        let items = self.comma_separated(item)?;
        self.close(open)?;
        Ok(items)
    }

    /// After a comma: what follows must be an item, not the end of the list.
    fn refuse_trailing_comma(&self) -> Parsed<()> {
        let list_ends = match self.kind() {
            Kind::RParen | Kind::End => true,
            Kind::Word => self.at_any(&["FROM", "WHERE", "GROUP", "HAVING", "ORDER", "WITH"]) && self.index() > 0,
            _ => false,
        };
        if !list_ends {
            return Ok(());
        }
        let comma = self.cx.token(self.index() - 1);
        Err(self.error_at(
            self.cx.span_of(comma, comma),
            "this comma is followed by nothing",
            "trailing comma",
            Some("remove the comma, or add what is missing after it"),
        ))
    }

    // Spans.

    /// From token `start` to the last token taken.
    pub(super) fn span_from(&self, start: usize) -> Span {
        let last = self.index().saturating_sub(1).max(start);
        self.cx.span_of(self.cx.token(start), self.cx.token(last))
    }

    /// The span of the current token.
    pub(super) fn span(&self) -> Span {
        self.cx.span_here(self.index())
    }

    // Names.

    /// True if a name can start here.
    pub(super) fn at_name(&self) -> bool {
        self.name_at(0)
    }

    /// True if the token `ahead` can be a name.
    pub(super) fn name_at(&self, ahead: usize) -> bool {
        let token = self.token(ahead);
        match token.kind {
            Kind::Quoted | Kind::Placeholder => true,
            Kind::Word => !is_reserved(self.text(token)),
            _ => false,
        }
    }

    /// A name; `what` says of what: "a column name".
    pub(super) fn ident(&mut self, what: &str) -> Parsed<Ident> {
        if !self.at_name() {
            return Err(self.expected(what));
        }
        Ok(self.take_ident())
    }

    /// A name where Flink also takes reserved words: after a dot, or as the name of an argument.
    pub(super) fn loose_ident(&mut self, what: &str) -> Parsed<Ident> {
        match self.kind() {
            Kind::Word | Kind::Quoted | Kind::Placeholder => Ok(self.take_ident()),
            _ => Err(self.expected(what)),
        }
    }

    fn take_ident(&mut self) -> Ident {
        let token = self.token(0);
        let quoted = token.kind == Kind::Quoted;
        let text = self.text(token);
        let value = if quoted { unquote(text, '`') } else { text.to_owned() };
        let span = self.span();
        self.advance();
        Ident { value, quoted, span }
    }

    /// `a`, `a.b`, `a.b.c`.
    pub(super) fn object_name(&mut self, what: &str) -> Parsed<ObjectName> {
        let start = self.index();
        let mut parts = vec![self.ident(what)?];
        while self.eat(Kind::Dot) {
            parts.push(self.ident("a name after `.`")?);
        }
        Ok(ObjectName { parts, span: self.span_from(start) })
    }

    /// `(a, b)` if a parenthesis is here, else nothing.
    pub(super) fn optional_names(&mut self) -> Parsed<Vec<Ident>> {
        if !self.at(Kind::LParen) {
            return Ok(Vec::new());
        }
        self.parenthesized("", |p| p.ident("a column name"))
    }

    /// The content of a string literal.
    pub(super) fn string(&mut self, what: &str) -> Parsed<String> {
        match self.kind() {
            Kind::String | Kind::UnicodeString | Kind::Placeholder => {
                let value = self.cx.string_value(self.token(0));
                self.advance();
                Ok(value)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// An unsigned whole number.
    pub(super) fn unsigned(&mut self, what: &str) -> Parsed<u32> {
        let token = self.token(0);
        match (token.kind, self.text(token).parse()) {
            (Kind::Number, Ok(n)) => {
                self.advance();
                Ok(n)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// `IF NOT EXISTS`.
    pub(super) fn if_not_exists(&mut self) -> bool {
        self.eat_words(&["IF", "NOT", "EXISTS"])
    }

    /// `IF EXISTS`.
    pub(super) fn if_exists(&mut self) -> bool {
        self.eat_words(&["IF", "EXISTS"])
    }

    /// The hints that stand before the current token.
    pub(super) fn hints(&mut self) -> Parsed<Vec<Hint>> {
        self.cx.take_hints(self.index())
    }

    // Expressions: sqlparser's grammar of operators, over our operands.

    /// An expression.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.expr_above(0)
    }

    /// An expression that ends before AND, IN, LIKE and comparisons.
    pub(super) fn tight_expr(&mut self) -> Parsed<Expr> {
        self.expr_above(super::dialect::TIGHT)
    }

    /// An expression of operators that bind closer than `precedence`.
    pub(super) fn expr_above(&mut self, precedence: u8) -> Parsed<Expr> {
        let operand = self.subexpr(precedence)?;
        self.cx.height.set(self.cx.height.get().max(operand.height));
        Ok(operand.expr)
    }

    // Errors.

    /// An error at a place.
    pub(super) fn error_at(&self, span: Span, message: &str, label: &str, help: Option<&str>) -> Box<SyntaxError> {
        Box::new(SyntaxError {
            message: message.to_owned(),
            span,
            label: label.to_owned(),
            help: help.map(str::to_owned),
        })
    }

    /// An error at the current token.
    pub(super) fn error(&self, message: &str, label: &str, help: Option<&str>) -> Box<SyntaxError> {
        self.error_at(self.span(), message, label, help)
    }

    /// "expected X, found Y", or a better message if what stands here is a known slip.
    pub(super) fn expected(&self, what: &str) -> Box<SyntaxError> {
        let token = self.token(0);
        let text = self.text(token);
        match token.kind {
            Kind::DoubleQuoted => self.error(
                "Flink SQL has no double-quoted strings or names",
                "double quotes",
                Some("write strings in single quotes ('text') and names in backticks (`name`)"),
            ),
            Kind::Bad => self.bad_character(text, what),
            Kind::End => {
                self.error(&format!("the statement ends where {what} is expected"), &format!("expected {what}"), None)
            }
            Kind::Word if is_reserved(text) && !is_structural(text) && wants_name(what) => self.error(
                &format!("expected {what}, found the reserved word `{text}`"),
                "reserved word",
                Some(&format!("to use it as a name, put it in backticks: `{text}`")),
            ),
            Kind::BangEq => self.error("Flink SQL has no `!=`", "not an operator", Some("write `<>`")),
            Kind::Eq if self.index() > 0 && self.cx.token(self.index() - 1).kind == Kind::Eq => {
                self.error("Flink SQL compares with `=`, not `==`", "one `=` too many", Some("remove it"))
            }
            _ => self.error(&format!("expected {what}, found `{}`", shorten(text)), &format!("expected {what}"), None),
        }
    }

    fn bad_character(&self, text: &str, what: &str) -> Box<SyntaxError> {
        let c = text.chars().next().unwrap_or('\u{fffd}');
        let meant = match c {
            '，' | '、' => Some("`,`"),
            '；' => Some("`;`"),
            '（' => Some("`(`"),
            '）' => Some("`)`"),
            '．' | '。' => Some("`.`"),
            '＝' => Some("`=`"),
            '‘' | '’' | '“' | '”' | '＇' | '´' => Some("a single quote `'`"),
            '\u{a0}' | '\u{3000}' | '\u{feff}' => Some("an ordinary blank"),
            '–' | '—' | '－' => Some("`-`"),
            _ => None,
        };
        let message = match c {
            c if c.is_control() || c.is_whitespace() || meant.is_some() => {
                format!("the character U+{:04X} does not belong to Flink SQL", c as u32)
            }
            c => format!("expected {what}, found the character `{c}`"),
        };
        let help = meant.map(|m| format!("{m} is probably meant"));
        self.error(&message, "unexpected character", help.as_deref())
    }

    /// What sqlparser says, in our words and at our place.
    pub(super) fn translate(&self, error: ParserError) -> Box<SyntaxError> {
        if let Some(error) = self.cx.pending_error.take() {
            return error;
        }
        match error {
            ParserError::RecursionLimitExceeded => self.too_deep(),
            ParserError::TokenizerError(_) => self.expected("an expression"),
            // "Expected: AND, found: x at Line: 7, Column: 1", where the line is the index of the token.
            ParserError::ParserError(message) => {
                let wanted = message.strip_prefix("Expected: ").and_then(|m| m.split(", found:").next());
                match wanted {
                    Some(wanted) if wanted.contains("after IS") => {
                        self.expected("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM after IS")
                    }
                    Some(wanted) if wanted.starts_with("IN or BETWEEN") => {
                        self.expected("IN, BETWEEN, LIKE or SIMILAR TO after NOT")
                    }
                    Some(wanted) if wanted.chars().all(|c| c.is_ascii_uppercase() || c == ' ') => self.expected(wanted),
                    _ => self.expected("an expression"),
                }
            }
        }
    }

    /// The error for nesting beyond the limit.
    pub(super) fn too_deep(&self) -> Box<SyntaxError> {
        self.error(
            "this is nested too deeply",
            "beyond the limit of nesting",
            Some("move inner parts into views or subqueries"),
        )
    }
}

/// True if what is expected could be a name, so that a reserved word there was probably meant as one.
fn wants_name(what: &str) -> bool {
    ["name", "alias", "expression", "column", "variable"].iter().any(|w| what.contains(w))
}

fn join_context(what: &str, context: &str) -> String {
    if context.is_empty() { what.to_owned() } else { format!("{what} {context}") }
}

/// The text between quotes, doubled quotes made single.
pub(super) fn unquote(text: &str, quote: char) -> String {
    let inner = text.strip_prefix(quote).unwrap_or(text);
    let inner = inner.strip_suffix(quote).unwrap_or(inner);
    if inner.contains(quote) {
        let twice: String = [quote, quote].iter().collect();
        inner.replace(&twice, quote.encode_utf8(&mut [0; 4]))
    } else {
        inner.to_owned()
    }
}

/// A token's text for a message: one line, not too long.
fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or("");
    match line.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line.to_owned(),
    }
}
