//! What all parsers of one script share: its text, its tokens, its hints, the operands given to sqlparser.

use std::cell::{Cell, RefCell};

use super::ast::{Expr, Hint, SyntaxError};
use super::hints::parse_hint;
use super::parser::{Parsed, unquote};
use super::text::Text;
use super::tokens::{HintToken, Kind, Token};
use crate::source::Span;

/// An operand that our grammar parsed and that stands as a stub in sqlparser's tree.
#[derive(Debug)]
pub(super) struct Operand {
    pub(super) expr: Expr,
    /// The index of the token after it.
    pub(super) end: usize,
    /// The height of its tree.
    pub(super) height: u32,
    /// `SYMMETRIC` stood before it.
    pub(super) symmetric: bool,
}

/// Shared state of the parsers of a script. Cells, because sqlparser calls its dialect through a shared reference.
pub(super) struct Context {
    pub(super) text: Text,
    pub(super) tokens: Vec<Token>,
    hints: Vec<HintToken>,
    hints_used: RefCell<Vec<bool>>,
    /// The first token of the current statement.
    pub(super) first: Cell<usize>,
    /// The token after the last one of the current statement.
    pub(super) last: Cell<usize>,
    /// Operands by the number in their stub; taken out when the tree is converted.
    pub(super) operands: RefCell<Vec<Option<Operand>>>,
    /// An error of our grammar on its way through sqlparser.
    pub(super) pending_error: Cell<Option<Box<SyntaxError>>>,
    /// How many queries we are inside of.
    pub(super) query_depth: Cell<u32>,
    /// The greatest height among the expressions parsed inside the current operand.
    pub(super) height: Cell<u32>,
    /// How many operators the current expression has.
    pub(super) operators: Cell<u32>,
}

impl Context {
    pub(super) fn new(text: Text, tokens: Vec<Token>, hints: Vec<HintToken>) -> Context {
        let count = hints.len();
        Context {
            text,
            tokens,
            hints,
            hints_used: RefCell::new(vec![false; count]),
            first: Cell::new(0),
            last: Cell::new(0),
            operands: RefCell::default(),
            pending_error: Cell::default(),
            query_depth: Cell::new(0),
            height: Cell::new(0),
            operators: Cell::new(0),
        }
    }

    /// The token with this index; past the statement's last one it is [`Kind::End`].
    pub(super) fn token(&self, index: usize) -> Token {
        if index < self.last.get() {
            return self.tokens[index];
        }
        // An error at the end points at the statement's last token's end.
        let at = self.last.get().checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(0, |t| t.end);
        Token { kind: Kind::End, start: at, end: at }
    }

    pub(super) fn token_text(&self, token: Token) -> &str {
        &self.text.expanded[token.start as usize..token.end as usize]
    }

    /// True if the token with this index is this unquoted word (given in upper case).
    pub(super) fn is_word(&self, index: usize, word: &str) -> bool {
        index < self.last.get() && {
            let token = self.tokens[index];
            token.kind == Kind::Word
                && (token.end - token.start) as usize == word.len()
                && self.token_text(token).eq_ignore_ascii_case(word)
        }
    }

    pub(super) fn span_of(&self, first: Token, last: Token) -> Span {
        self.text.span(first.start as usize, last.end.max(first.start) as usize)
    }

    /// The span of a token; at the end of a statement, of the semicolon there if there is one.
    pub(super) fn span_here(&self, index: usize) -> Span {
        let token = match self.tokens.get(index) {
            Some(token) if index <= self.last.get() => *token,
            _ => self.token(index),
        };
        let token = if token.kind == Kind::Semicolon || index < self.last.get() { token } else { self.token(index) };
        self.span_of(token, token)
    }

    /// The text from token `start` to the token before `end`, as written.
    pub(super) fn text_of(&self, start: usize, end: usize) -> &str {
        match end.checked_sub(1) {
            Some(last) if last >= start => {
                &self.text.expanded[self.tokens[start].start as usize..self.tokens[last].end as usize]
            }
            _ => "",
        }
    }

    /// The text from token `start` to the token before `end` without its layout: a blank between words.
    pub(super) fn words(&self, start: usize, end: usize) -> String {
        let mut out = String::new();
        let mut glue = true;
        for token in &self.tokens[start..end.max(start)] {
            let opens = matches!(token.kind, Kind::LParen | Kind::Lt | Kind::Dot);
            let closes = matches!(token.kind, Kind::RParen | Kind::Gt | Kind::Comma);
            if !glue && !closes && !opens {
                out.push(' ');
            }
            out.push_str(self.token_text(*token));
            glue = opens;
        }
        out
    }

    /// True if a line ends between this token and the one before it.
    pub(super) fn on_new_line(&self, index: usize) -> bool {
        let before = index.checked_sub(1).map_or(0, |i| self.tokens[i].end as usize);
        self.text.expanded[before..self.token(index).start as usize].contains('\n')
    }

    /// "line 3, column 9" of a token, for help texts.
    pub(super) fn place(&self, index: usize) -> String {
        let at = self.tokens.get(index).map_or(0, |t| t.start as usize);
        let before = &self.text.expanded[..at];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        format!("line {line}, column {}", before[line_start..].chars().count() + 1)
    }

    /// The value of a string literal, or the text of a placeholder.
    pub(super) fn string_value(&self, token: Token) -> String {
        let text = self.token_text(token);
        match token.kind {
            Kind::String => unquote(text.trim_start_matches(['n', 'N']), '\''),
            Kind::UnicodeString => decode_unicode(&unquote(&text[2..], '\''), '\\'),
            Kind::HexString => unquote(&text[1..], '\''),
            _ => text.to_owned(),
        }
    }

    /// Parses and takes the hints before the token with this index.
    pub(super) fn take_hints(&self, at: usize) -> Parsed<Vec<Hint>> {
        let mut i = self.hints.partition_point(|h| (h.at as usize) < at);
        let mut out = Vec::new();
        while let Some(hint) = self.hints.get(i).filter(|h| h.at as usize == at) {
            self.hints_used.borrow_mut()[i] = true;
            parse_hint(&self.text, *hint, &mut out)?;
            i += 1;
        }
        Ok(out)
    }

    /// A hint of the current statement that stands where Flink takes none.
    pub(super) fn misplaced_hint(&self) -> Option<Box<SyntaxError>> {
        let from = self.hints.partition_point(|h| (h.at as usize) <= self.first.get());
        let hint = self.hints[from..]
            .iter()
            .zip(&self.hints_used.borrow()[from..])
            .take_while(|(h, _)| h.at as usize <= self.last.get())
            .find_map(|(h, used)| (!used).then_some(*h))?;
        Some(Box::new(SyntaxError {
            message: "a hint cannot stand here".to_owned(),
            span: self.text.span(hint.start as usize, hint.end as usize),
            label: "Flink takes hints after SELECT and after table names".to_owned(),
            help: Some("move it, or write a comment as `/* ... */` without the `+`".to_owned()),
        }))
    }
}

/// The escapes of `U&'...'`: `\00e9` and `\+0000e9`, `\\` for the escape itself.
pub(super) fn decode_unicode(text: &str, escape: char) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(escape) {
        out.push_str(&rest[..at]);
        rest = &rest[at + escape.len_utf8()..];
        if let Some(after) = rest.strip_prefix(escape) {
            out.push(escape);
            rest = after;
            continue;
        }
        let (digits, skip) = if rest.starts_with('+') { (6, 1) } else { (4, 0) };
        let decoded =
            rest.get(skip..skip + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
        match decoded {
            Some(c) => {
                out.push(c);
                rest = &rest[skip + digits..];
            }
            None => out.push(escape),
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::decode_unicode;

    #[test]
    fn unicode_escapes() {
        assert_eq!(decode_unicode(r"caf\00e9 \+01F600 \\ \x", '\\'), "café 😀 \\ \\x");
    }
}
