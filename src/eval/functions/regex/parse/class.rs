//! Escapes that stand for characters, and classes in brackets.

use super::super::set::Set;
use super::{Parsed, Parser};

impl Parser<'_> {
    /// An escape that stands for characters: `\d`, `\p{L}`, `\x41`, `\.`.
    pub(super) fn escaped_set(&mut self) -> Parsed<Set> {
        self.at += 1;
        let Some(c) = self.peek() else { return Err(self.error("Unexpected internal error", self.at)) };
        self.at += 1;
        if let Some(set) = Set::shorthand(c) {
            return Ok(set);
        }
        let one = |code: u32| char::from_u32(code).map(|c| Set::of(&[(c, c)])).unwrap_or_default();
        Ok(match c {
            'p' | 'P' => {
                let name: String = if self.eat('{') {
                    let start = self.at;
                    while self.peek().is_some_and(|c| c != '}') {
                        self.at += 1;
                    }
                    if self.peek().is_none() {
                        return Err(self.error("Unclosed character family", self.at.saturating_sub(1)));
                    }
                    self.at += 1;
                    self.chars[start..self.at - 1].iter().collect()
                } else {
                    let name = self.peek().map(String::from).unwrap_or_default();
                    self.at += 1;
                    name
                };
                let Some(set) = Set::property(&name) else {
                    let message = format!("Unknown character property name {{{name}}}");
                    return Err(self.error(&message, self.at.saturating_sub(1)));
                };
                if c == 'P' { set.negated() } else { set }
            }
            't' => one(9),
            'n' => one(10),
            'r' => one(13),
            'f' => one(12),
            'a' => one(7),
            'e' => one(27),
            'c' => {
                let Some(control) = self.peek() else {
                    return Err(self.error("Illegal control escape sequence", self.at));
                };
                self.at += 1;
                one(u32::from(control) ^ 64)
            }
            '0' => {
                let start = self.at;
                while self.at < start + 3 && self.peek().is_some_and(|c| matches!(c, '0'..='7')) {
                    self.at += 1;
                    // Three digits only up to 0377.
                    if self.at == start + 2 && self.chars[start] > '3' {
                        break;
                    }
                }
                match self.digits(start, 8) {
                    Some(code) => one(code),
                    None => return Err(self.error("Illegal octal escape sequence", self.at)),
                }
            }
            'x' if self.eat('{') => {
                let start = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_hexdigit()) {
                    self.at += 1;
                }
                match self.digits(start, 16).filter(|_| self.peek() == Some('}')) {
                    Some(code) => {
                        self.at += 1;
                        one(code)
                    }
                    None => return Err(self.error("Unclosed hexadecimal escape sequence", self.at)),
                }
            }
            'x' | 'u' => {
                let count = if c == 'x' { 2 } else { 4 };
                let start = self.at;
                self.at = (start + count).min(self.chars.len());
                let kind = if c == 'x' { "hexadecimal" } else { "Unicode" };
                match self.digits(start, 16).filter(|_| self.at == start + count) {
                    Some(code) => one(code),
                    None => return Err(self.error(&format!("Illegal {kind} escape sequence"), self.at)),
                }
            }
            c if c.is_ascii_alphabetic() => {
                return Err(self.error("Illegal/unsupported escape sequence", self.at - 1));
            }
            c => Set::of(&[(c, c)]),
        })
    }

    fn digits(&self, start: usize, radix: u32) -> Option<u32> {
        let text: String = self.chars[start..self.at].iter().collect();
        u32::from_str_radix(&text, radix).ok()
    }

    /// A class, behind its opening bracket.
    pub(super) fn class(&mut self) -> Parsed<Set> {
        self.deeper(|p| {
            let negated = p.eat('^');
            let mut whole: Option<Set> = None;
            let mut part = Set::default();
            let mut first = true;
            loop {
                let Some(c) = p.peek() else {
                    return Err(p.error("Unclosed character class", p.chars.len().saturating_sub(1)));
                };
                match c {
                    ']' if !first => {
                        p.at += 1;
                        break;
                    }
                    '[' => {
                        p.at += 1;
                        part = part.union(p.class()?);
                    }
                    '&' if p.chars.get(p.at + 1) == Some(&'&') => {
                        p.at += 2;
                        let left = std::mem::take(&mut part);
                        whole = Some(match whole {
                            Some(whole) => whole.intersection(left),
                            None => left,
                        });
                    }
                    _ => part = part.union(p.class_item()?),
                }
                first = false;
            }
            let set = match whole {
                Some(whole) => whole.intersection(part),
                None => part,
            };
            Ok(if negated { set.negated() } else { set })
        })
    }

    /// A character, a range or an escape of a class.
    fn class_item(&mut self) -> Parsed<Set> {
        let (set, low) = self.class_char()?;
        let Some(low) = low else { return Ok(set) };
        let ranged = self.peek() == Some('-') && !matches!(self.chars.get(self.at + 1), None | Some(']' | '['));
        if !ranged {
            return Ok(set);
        }
        self.at += 1;
        match self.class_char()? {
            (_, Some(high)) if high >= low => Ok(Set::of(&[(low, high)])),
            _ => Err(self.error("Illegal character range", self.at.saturating_sub(1))),
        }
    }

    /// A set, and its character if it is one.
    fn class_char(&mut self) -> Parsed<(Set, Option<char>)> {
        let Some(c) = self.peek() else {
            return Err(self.error("Unclosed character class", self.chars.len().saturating_sub(1)));
        };
        if c != '\\' {
            self.at += 1;
            return Ok((Set::of(&[(c, c)]), Some(c)));
        }
        let set = self.escaped_set()?;
        let single = set.single();
        Ok((set, single))
    }
}
