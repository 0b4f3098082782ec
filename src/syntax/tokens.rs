//! Text to tokens, in one pass. White space and comments leave no token, so layout can never change a tree.
//!
//! A token is a kind and two byte offsets; its text is read from the script when it is needed. Comments, hints and
//! placeholders go to side tables.

use super::ast::{Comment, Placeholder, SyntaxError};
use super::text::Text;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or keyword without quotes, placeholders inside it included (`db_${env}`).
    Word,
    /// A name in backticks.
    Quoted,
    /// `'text'`.
    String,
    /// `U&'text'`.
    UnicodeString,
    /// `X'cafe'`.
    HexString,
    /// `1`, `2.5`, `1e3`.
    Number,
    /// A placeholder that stands alone: `${x}` or `{{ x }}`.
    Placeholder,
    /// `"text"`, which Flink does not have.
    DoubleQuoted,
    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Comma,
    Semicolon,
    Dot,
    Eq,
    NotEq,
    /// `!=`, which Flink does not have.
    BangEq,
    Lt,
    LtEq,
    Gt,
    GtEq,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Concat,
    Arrow,
    Colon,
    Question,
    Pipe,
    /// A character that starts no token.
    Bad,
    /// The end of the text or of the statement.
    End,
}

/// A token and its bytes in the (expanded) text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// `/*+ ... */` before the token with index `at`.
#[derive(Debug, Clone, Copy)]
pub(super) struct HintToken {
    pub(super) at: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// All that the lexer found.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    pub(super) hints: Vec<HintToken>,
    pub(super) comments: Vec<Comment>,
    pub(super) placeholders: Vec<Placeholder>,
    pub(super) errors: Vec<SyntaxError>,
}

/// How the messages about open quotes and comments end: the statement's own error would only repeat them.
pub(super) const NEVER_CLOSED: &str = "is never closed";

/// Tokenizes `text`.
pub(super) fn lex(text: &Text) -> Lexed {
    lex_range(text, 0, text.expanded.len())
}

/// Tokenizes the bytes from `start` to `end`, which must be character boundaries.
pub(super) fn lex_range(text: &Text, start: usize, end: usize) -> Lexed {
    let mut lexer = Lexer { text, src: &text.expanded[..end], pos: start, out: Lexed::default(), prompt: false };
    lexer.out.tokens.reserve((end - start) / 5);
    lexer.run();
    lexer.out
}

struct Lexer<'a> {
    text: &'a Text,
    src: &'a str,
    pos: usize,
    out: Lexed,
    /// True after a prompt `Flink SQL>` until the next semicolon: the prompts `>` of its other lines are skipped too.
    prompt: bool,
}

/// True if an unquoted name may start with `c`.
pub(super) fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$' || (!c.is_ascii() && c.is_alphabetic())
}

fn continues_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || (!c.is_ascii() && c.is_alphanumeric())
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.src.as_bytes().get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn char(&self) -> Option<char> {
        self.src[self.pos..].chars().next()
    }

    fn run(&mut self) {
        while self.pos < self.src.len() {
            let start = self.pos;
            match self.byte(0) {
                b' ' | b'\t' | b'\r' | 0x0c => self.pos += 1,
                b'\n' => {
                    self.pos += 1;
                    self.skip_prompt();
                }
                b'-' if self.byte(1) == b'-' => {
                    self.pos = self.end_of_line();
                    self.comment(start, start + 2, self.pos);
                }
                b'/' if self.byte(1) == b'*' => self.block_comment(),
                // Flink 1.20's parser takes `//` as well as `--`.
                b'/' if self.byte(1) == b'/' && self.at_blank_or_start() => {
                    self.pos = self.end_of_line();
                    self.comment(start, start + 2, self.pos);
                }
                b'#' if self.at_blank_or_start() => self.foreign_comment("#"),
                b'\'' => self.string(Kind::String, 0),
                b'`' => self.backticks(),
                b'"' => self.double_quotes(),
                b'0'..=b'9' => self.number(),
                b'.' if self.byte(1).is_ascii_digit() && !self.after_operand() => self.number(),
                b'U' | b'u' if self.byte(1) == b'&' && self.byte(2) == b'\'' => self.string(Kind::UnicodeString, 2),
                b'X' | b'x' if self.byte(1) == b'\'' => self.string(Kind::HexString, 1),
                b'N' | b'n' if self.byte(1) == b'\'' => self.string(Kind::String, 1),
                b'$' if self.byte(1) == b'{' => self.word(),
                b'{' if self.byte(1) == b'{' => self.word(),
                _ => self.other(start),
            }
        }
    }

    fn other(&mut self, start: usize) {
        if start == 0 {
            self.skip_prompt();
            if self.pos > 0 {
                return;
            }
        }
        let Some(c) = self.char() else { return };
        if starts_name(c) {
            return self.word();
        }
        if c.is_whitespace() && c != '\u{a0}' && c != '\u{3000}' || start == 0 && c == '\u{feff}' {
            self.pos += c.len_utf8();
            return;
        }
        let (kind, len) = match (c, self.byte(1)) {
            ('(', _) => (Kind::LParen, 1),
            (')', _) => (Kind::RParen, 1),
            ('[', _) => (Kind::LBracket, 1),
            (']', _) => (Kind::RBracket, 1),
            ('{', _) => (Kind::LBrace, 1),
            ('}', _) => (Kind::RBrace, 1),
            (',', _) => (Kind::Comma, 1),
            (';', _) => (Kind::Semicolon, 1),
            ('.', _) => (Kind::Dot, 1),
            ('=', b'>') => (Kind::Arrow, 2),
            ('=', _) => (Kind::Eq, 1),
            ('<', b'>') => (Kind::NotEq, 2),
            ('!', b'=') => (Kind::BangEq, 2),
            ('<', b'=') => (Kind::LtEq, 2),
            ('<', _) => (Kind::Lt, 1),
            ('>', b'=') => (Kind::GtEq, 2),
            // Never `>>`: the lists of `ARRAY<ROW<a INT>>` close one by one.
            ('>', _) => (Kind::Gt, 1),
            ('+', _) => (Kind::Plus, 1),
            ('-', _) => (Kind::Minus, 1),
            ('*', _) => (Kind::Star, 1),
            ('/', _) => (Kind::Slash, 1),
            ('%', _) => (Kind::Percent, 1),
            ('|', b'|') => (Kind::Concat, 2),
            ('|', _) => (Kind::Pipe, 1),
            (':', _) => (Kind::Colon, 1),
            ('?', _) => (Kind::Question, 1),
            (c, _) => (Kind::Bad, c.len_utf8()),
        };
        if kind == Kind::Semicolon {
            self.prompt = false;
        }
        self.pos += len;
        self.push(kind, start);
    }

    fn push(&mut self, kind: Kind, start: usize) {
        self.out.tokens.push(Token { kind, start: start as u32, end: self.pos as u32 });
    }

    fn end_of_line(&self) -> usize {
        self.src.as_bytes()[self.pos..].iter().position(|b| *b == b'\n').map_or(self.src.len(), |i| self.pos + i)
    }

    fn at_blank_or_start(&self) -> bool {
        self.pos == 0 || self.src.as_bytes()[self.pos - 1].is_ascii_whitespace()
    }

    /// True if the last token is an operand glued to this place, so that `.5` after it is a field.
    fn after_operand(&self) -> bool {
        self.out.tokens.last().is_some_and(|t| {
            t.end as usize == self.pos
                && matches!(t.kind, Kind::Word | Kind::Quoted | Kind::RParen | Kind::RBracket | Kind::Placeholder)
        })
    }

    /// At the start of a line: skips `Flink SQL>` as copied from a terminal.
    fn skip_prompt(&mut self) {
        let rest = &self.src[self.pos..];
        let trimmed = rest.trim_start_matches([' ', '\t']);
        let indent = rest.len() - trimmed.len();
        if trimmed.get(..10).is_some_and(|p| p.eq_ignore_ascii_case("flink sql>")) {
            self.pos += indent + 10;
            self.prompt = true;
        } else if self.prompt && trimmed.starts_with('>') {
            self.pos += indent + 1;
        }
    }

    fn comment(&mut self, start: usize, inner_start: usize, inner_end: usize) {
        let text = self.src.get(inner_start..inner_end).unwrap_or("").to_owned();
        self.out.comments.push(Comment { text, span: self.text.span(start, self.pos) });
    }

    fn block_comment(&mut self) {
        let start = self.pos;
        match self.src[start + 2..].find("*/") {
            Some(len) => {
                self.pos = start + 2 + len + 2;
                if self.src.as_bytes().get(start + 2) == Some(&b'+') {
                    let at = self.out.tokens.len() as u32;
                    self.out.hints.push(HintToken { at, start: start as u32, end: self.pos as u32 });
                } else {
                    self.comment(start, start + 2, self.pos - 2);
                }
            }
            None => {
                self.error(
                    start,
                    start + 2,
                    &format!("this comment {NEVER_CLOSED}"),
                    "no `*/` follows",
                    "close it with `*/`",
                );
                self.pos = self.src.len();
            }
        }
    }

    /// `#` comments, which users write and Flink refuses. The line is skipped, so that one slip costs one error.
    fn foreign_comment(&mut self, mark: &str) {
        let start = self.pos;
        self.pos = self.end_of_line();
        self.error(
            start,
            start + mark.len(),
            &format!("`{mark}` does not start a comment in Flink SQL"),
            "Flink refuses this line",
            "start the comment with `--`",
        );
    }

    /// Finds the end of a token closed by `quote`, doubled inside; `None` if it is not closed.
    fn find_close(&self, from: usize, quote: u8) -> Option<usize> {
        let bytes = self.src.as_bytes();
        let mut i = from;
        loop {
            i += bytes.get(i..)?.iter().position(|b| *b == quote)?;
            if bytes.get(i + 1) != Some(&quote) {
                return Some(i + 1);
            }
            i += 2;
        }
    }

    /// A string whose quote stands `prefix` bytes further.
    fn string(&mut self, kind: Kind, prefix: usize) {
        let start = self.pos;
        match self.find_close(start + prefix + 1, b'\'') {
            Some(end) => {
                self.pos = end;
                self.note_placeholders(start, end);
                self.push(kind, start);
            }
            None => self.unclosed(start, start + prefix + 1, kind, "string", '\''),
        }
    }

    fn backticks(&mut self) {
        let start = self.pos;
        match self.find_close(start + 1, b'`') {
            Some(end) => {
                self.pos = end;
                self.note_placeholders(start, end);
                self.push(Kind::Quoted, start);
            }
            None => self.unclosed(start, start + 1, Kind::Quoted, "quoted name", '`'),
        }
    }

    /// A quote without its partner: an error, and the token ends with the line, so that what follows is still read.
    fn unclosed(&mut self, start: usize, quote_end: usize, kind: Kind, what: &str, quote: char) {
        self.pos = self.end_of_line();
        let help = format!("add the missing `{quote}`; inside the {what} write it twice");
        self.error(start, quote_end, &format!("this {what} {NEVER_CLOSED}"), "it starts here", &help);
        self.push(kind, start);
        if self.pos < self.src.len() {
            // What the open quote swallowed is unknown: the statement ends here.
            self.out.tokens.push(Token { kind: Kind::Semicolon, start: self.pos as u32, end: self.pos as u32 });
        }
    }

    fn double_quotes(&mut self) {
        let start = self.pos;
        let line_end = self.end_of_line();
        self.pos = match self.find_close(start + 1, b'"') {
            Some(end) if end <= line_end => end,
            _ => start + 1,
        };
        self.push(Kind::DoubleQuoted, start);
    }

    fn digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.pos += 1;
        }
    }

    fn number(&mut self) {
        let start = self.pos;
        self.digits();
        if self.byte(0) == b'.' && !starts_name(self.src[self.pos + 1..].chars().next().unwrap_or(' ')) {
            self.pos += 1;
            self.digits();
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() {
                self.pos += 1 + sign;
                self.digits();
            }
        }
        self.push(Kind::Number, start);
    }

    /// The length of a placeholder at `at`.
    fn placeholder_len(&self, at: usize) -> Option<usize> {
        super::text::placeholder_at(self.src, at).map(|(end, _)| end - at)
    }

    fn word(&mut self) {
        let start = self.pos;
        let mut placeholders = 0;
        while let Some(c) = self.char() {
            if let ('$' | '{', Some(len)) = (c, self.placeholder_len(self.pos)) {
                placeholders += 1;
                self.pos += len;
            } else if continues_name(c) {
                self.pos += c.len_utf8();
            } else {
                break;
            }
        }
        if self.pos == start {
            self.pos += 1;
            return self.push(if self.src.as_bytes()[start] == b'{' { Kind::LBrace } else { Kind::Bad }, start);
        }
        if placeholders > 0 {
            self.note_placeholders(start, self.pos);
        }
        let alone = placeholders == 1 && self.placeholder_len(start) == Some(self.pos - start);
        self.push(if alone { Kind::Placeholder } else { Kind::Word }, start);
    }

    fn note_placeholders(&mut self, start: usize, end: usize) {
        let mut from = start;
        while let Some(i) = self.src[from..end].find(['$', '{']) {
            let at = from + i;
            match super::text::placeholder_at(&self.src[..end], at) {
                Some((close, name)) => {
                    let name = name.to_owned();
                    self.out.placeholders.push(Placeholder { name, span: self.text.span(at, close) });
                    from = close;
                }
                None => from = at + 1,
            }
        }
    }

    fn error(&mut self, start: usize, end: usize, message: &str, label: &str, help: &str) {
        self.out.errors.push(SyntaxError {
            message: message.to_owned(),
            span: self.text.span(start, end),
            label: label.to_owned(),
            help: Some(help.to_owned()),
        });
    }
}
