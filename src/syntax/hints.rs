//! Hints: `/*+ OPTIONS('k' = 'v'), LOOKUP('table' = 'd') */`.

use super::ast::{Hint, SyntaxError, TableOption};
use super::parser::{Parsed, unquote};
use super::text::Text;
use super::tokens::{HintToken, Kind, Token, lex_range};

/// Parses the text of a hint comment, which may hold several hints, onto `out`.
pub(super) fn parse_hint(text: &Text, hint: HintToken, out: &mut Vec<Hint>) -> Parsed<()> {
    let (start, end) = (hint.start as usize + 3, hint.end as usize - 2);
    let tokens = if start <= end { lex_range(text, start, end).tokens } else { Vec::new() };
    let mut reader = HintReader { text, tokens: &tokens, at: 0, hint };
    if tokens.is_empty() {
        return Err(reader.error("the name of a hint"));
    }
    while reader.at < tokens.len() {
        out.push(reader.hint()?);
        if reader.at < tokens.len() && !reader.eat(Kind::Comma) && reader.kind() != Some(Kind::Word) {
            return Err(reader.error("`,` between hints"));
        }
    }
    Ok(())
}

struct HintReader<'a> {
    text: &'a Text,
    tokens: &'a [Token],
    at: usize,
    hint: HintToken,
}

impl HintReader<'_> {
    fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|t| t.kind)
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.kind() == Some(kind);
        self.at += usize::from(found);
        found
    }

    fn error(&self, what: &str) -> Box<SyntaxError> {
        let (start, end) = self
            .tokens
            .get(self.at)
            .map_or((self.hint.end as usize - 2, self.hint.end as usize), |t| (t.start as usize, t.end as usize));
        Box::new(SyntaxError {
            message: format!("expected {what} in the hint"),
            span: self.text.span(start, end),
            label: format!("expected {what}"),
            help: Some("a hint looks like /*+ OPTIONS('key' = 'value') */".to_owned()),
        })
    }

    fn hint(&mut self) -> Parsed<Hint> {
        let first = self.at;
        let name = match self.kind() {
            Some(Kind::Word) => self.take().to_ascii_uppercase(),
            _ => return Err(self.error("the name of a hint")),
        };
        let mut hint = Hint { name, options: Vec::new(), arguments: Vec::new(), span: self.span(first) };
        if self.eat(Kind::LParen) {
            while !self.eat(Kind::RParen) {
                self.argument(&mut hint)?;
                if !self.eat(Kind::Comma) && self.kind() != Some(Kind::RParen) {
                    return Err(self.error("`,` or `)`"));
                }
            }
        }
        hint.span = self.span(first);
        Ok(hint)
    }

    fn argument(&mut self, hint: &mut Hint) -> Parsed<()> {
        let first = self.at;
        let Some(Kind::Word | Kind::Quoted | Kind::String | Kind::Number | Kind::Placeholder) = self.kind() else {
            return Err(self.error("an argument"));
        };
        let mut key = self.take();
        while self.eat(Kind::Dot) {
            key = format!("{key}.{}", self.take());
        }
        if !self.eat(Kind::Eq) {
            hint.arguments.push(key);
            return Ok(());
        }
        let Some(Kind::String | Kind::Placeholder | Kind::Word | Kind::Number) = self.kind() else {
            return Err(self.error("a value in single quotes"));
        };
        let value = self.take();
        hint.options.push(TableOption { key, value, span: self.span(first) });
        Ok(())
    }

    /// Takes a token and gives its text without quotes.
    fn take(&mut self) -> String {
        let Some(token) = self.tokens.get(self.at) else { return String::new() };
        self.at += 1;
        let text = &self.text.expanded[token.start as usize..token.end as usize];
        match token.kind {
            Kind::String => unquote(text, '\''),
            Kind::Quoted => unquote(text, '`'),
            _ => text.to_owned(),
        }
    }

    /// From token `first` to the last one taken.
    fn span(&self, first: usize) -> crate::source::Span {
        let last = self.at.saturating_sub(1).max(first);
        match (self.tokens.get(first), self.tokens.get(last)) {
            (Some(a), Some(b)) => self.text.span(a.start as usize, b.end as usize),
            _ => self.text.span(self.hint.start as usize, self.hint.end as usize),
        }
    }
}
