//! Filters of JSON paths: `[?(@.price < 10 && @.kind == 'x')]`.

use std::cmp::Ordering;

use super::path::{Path, Work};
use super::value::Json;
use crate::eval::functions::regex::Regex;

/// A condition on an element.
#[derive(Debug, Clone)]
pub enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    Compare(Operand, Comparison, Operand),
    Matches(Operand, Regex),
}

/// A side of a comparison.
#[derive(Debug, Clone)]
pub enum Operand {
    /// `@.a`
    Element(Path),
    /// `$.a`
    Root(Path),
    Constant(Json),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// How deep parentheses may be nested.
const MAX_DEPTH: usize = 64;

/// The filter in parentheses at a place, and the place behind it. Tests for existence and the operators of sets are none:
/// Flink's jar lacks the classes that Jayway needs for them.
pub fn parse(chars: &[char], at: usize) -> Option<(Filter, usize)> {
    if chars.get(at) != Some(&'(') {
        return None;
    }
    let mut parser = Parser { chars, at: at + 1, depth: 0 };
    let filter = parser.or()?;
    parser.eat(")").then_some((filter, parser.at))
}

impl Filter {
    /// True if the condition holds for an element. Nothing can be said if `work` is done afterwards.
    pub fn accepts(&self, element: &Json, root: &Json, work: &Work) -> bool {
        match self {
            Filter::And(all) => all.iter().all(|f| f.accepts(element, root, work)),
            Filter::Or(any) => any.iter().any(|f| f.accepts(element, root, work)),
            Filter::Not(inner) => !inner.accepts(element, root, work),
            Filter::Matches(operand, regex) => {
                matches!(operand.value(element, root, work), Some(Json::String(s)) if regex.matches(&s).unwrap_or(false))
            }
            Filter::Compare(a, comparison, b) => {
                let (a, b) = (a.value(element, root, work), b.value(element, root, work));
                let order = match (&a, &b) {
                    (Some(Json::String(a)), Some(Json::String(b))) => Some(a.encode_utf16().cmp(b.encode_utf16())),
                    (Some(a), Some(b)) => match (a.number(), b.number()) {
                        (Some(a), Some(b)) => a.partial_cmp(&b),
                        _ => (a == b).then_some(Ordering::Equal),
                    },
                    _ => None,
                };
                match comparison {
                    Comparison::Equal => order == Some(Ordering::Equal),
                    Comparison::NotEqual => order != Some(Ordering::Equal),
                    Comparison::Less => order == Some(Ordering::Less),
                    Comparison::Greater => order == Some(Ordering::Greater),
                    Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                    Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                }
            }
        }
    }
}

impl Operand {
    /// The value; none for what is not there.
    fn value(&self, element: &Json, root: &Json, work: &Work) -> Option<Json> {
        let (path, of) = match self {
            Operand::Constant(value) => return Some(value.clone()),
            Operand::Element(path) => (path, element),
            Operand::Root(path) => (path, root),
        };
        path.read(of, false, work).ok().map(|value| value.unwrap_or(Json::Null))
    }
}

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn eat(&mut self, sign: &str) -> bool {
        while self.chars.get(self.at) == Some(&' ') {
            self.at += 1;
        }
        let found = sign.chars().enumerate().all(|(i, c)| self.chars.get(self.at + i) == Some(&c));
        if found {
            self.at += sign.chars().count();
        }
        found
    }

    fn or(&mut self) -> Option<Filter> {
        let mut any = vec![self.and()?];
        while self.eat("||") {
            any.push(self.and()?);
        }
        Some(if any.len() == 1 { any.remove(0) } else { Filter::Or(any) })
    }

    fn and(&mut self) -> Option<Filter> {
        let mut all = vec![self.test()?];
        while self.eat("&&") {
            all.push(self.test()?);
        }
        Some(if all.len() == 1 { all.remove(0) } else { Filter::And(all) })
    }

    fn test(&mut self) -> Option<Filter> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let test = if self.eat("!") {
            Filter::Not(Box::new(self.test()?))
        } else if self.eat("(") {
            let inner = self.or()?;
            self.eat(")").then_some(inner)?
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Some(test)
    }

    fn comparison(&mut self) -> Option<Filter> {
        const SIGNS: &[(&str, Comparison)] = &[
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let left = self.operand()?;
        if self.eat("=~") {
            return Some(Filter::Matches(left, self.regex()?));
        }
        let (_, comparison) = SIGNS.iter().find(|(sign, _)| self.eat(sign))?;
        Some(Filter::Compare(left, *comparison, self.operand()?))
    }

    /// `/pattern/i`
    fn regex(&mut self) -> Option<Regex> {
        if !self.eat("/") {
            return None;
        }
        let mut pattern = String::new();
        while *self.chars.get(self.at)? != '/' {
            if self.chars[self.at] == '\\' && self.chars.get(self.at + 1) == Some(&'/') {
                self.at += 1;
            }
            pattern.push(self.chars[self.at]);
            self.at += 1;
        }
        self.at += 1;
        let start = self.at;
        while self.chars.get(self.at).is_some_and(char::is_ascii_alphabetic) {
            self.at += 1;
        }
        let flags: String = self.chars[start..self.at].iter().collect();
        let pattern = if flags.is_empty() { pattern } else { format!("(?{flags}){pattern}") };
        Regex::new(&pattern).ok()
    }

    fn operand(&mut self) -> Option<Operand> {
        self.eat("");
        let start = self.at;
        match *self.chars.get(start)? {
            root @ ('@' | '$') => {
                let (mut quote, mut brackets) = (None, 0usize);
                while let Some(c) = self.chars.get(self.at).copied() {
                    match (quote, c) {
                        (Some(q), c) if c == q => quote = None,
                        (Some(_), _) => {}
                        (None, '\'' | '"') => quote = Some(c),
                        (None, '[') => brackets += 1,
                        (None, ']') => brackets = brackets.checked_sub(1)?,
                        (None, ' ' | ')' | '=' | '!' | '<' | '>' | '&' | '|') if brackets == 0 => break,
                        _ => {}
                    }
                    self.at += 1;
                }
                let text: String = self.chars[start..self.at].iter().collect();
                // A filter inside of a filter would be one without an end.
                if text.contains('?') {
                    return None;
                }
                let path = Path::compile(&text).ok()?;
                Some(if root == '@' { Operand::Element(path) } else { Operand::Root(path) })
            }
            quote @ ('\'' | '"') => {
                let mut text = String::new();
                self.at += 1;
                loop {
                    let c = *self.chars.get(self.at)?;
                    self.at += 1;
                    match c {
                        '\\' => {
                            text.push(*self.chars.get(self.at)?);
                            self.at += 1;
                        }
                        c if c == quote => return Some(Operand::Constant(Json::String(text))),
                        c => text.push(c),
                    }
                }
            }
            _ => {
                while self.chars.get(self.at).is_some_and(|c| c.is_ascii_alphanumeric() || "+-.".contains(*c)) {
                    self.at += 1;
                }
                let word: String = self.chars[start..self.at].iter().collect();
                Some(Operand::Constant(match word.as_str() {
                    "true" => Json::Boolean(true),
                    "false" => Json::Boolean(false),
                    "null" => Json::Null,
                    number => match number.parse() {
                        Ok(i) => Json::Int(i),
                        Err(_) => Json::Double(number.parse().ok()?),
                    },
                }))
            }
        }
    }
}
