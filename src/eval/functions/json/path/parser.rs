//! The syntax of JSON paths.

use super::super::filter;
use super::{FUNCTIONS, PathError, Step};

/// Reads the steps of a path.
pub(super) struct Parser<'a> {
    chars: &'a [char],
    at: usize,
}

impl<'a> Parser<'a> {
    /// Reads on from a place.
    pub(super) fn new(chars: &'a [char], at: usize) -> Parser<'a> {
        Parser { chars, at }
    }

    /// True behind the last step.
    pub(super) fn at_end(&self) -> bool {
        self.at >= self.chars.len()
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    /// One step behind the root or another step.
    pub(super) fn step(&mut self, steps: &mut Vec<Step>) -> Result<(), PathError> {
        if matches!(steps.last(), Some(Step::Function(_))) {
            return Err("a function ends the path".to_owned().into());
        }
        match self.peek() {
            Some('.') => {
                self.at += 1;
                if self.peek() == Some('.') {
                    self.at += 1;
                    steps.push(Step::Scan);
                }
                match self.peek() {
                    Some('[') => self.bracket(steps),
                    Some('*') => {
                        self.at += 1;
                        steps.push(Step::Wildcard);
                        Ok(())
                    }
                    _ => Ok(self.property(steps)?),
                }
            }
            Some('[') => self.bracket(steps),
            _ => Err(format!("Illegal character at position {} expected '.' or '['", self.at).into()),
        }
    }

    fn property(&mut self, steps: &mut Vec<Step>) -> Result<(), String> {
        let start = self.at;
        while let Some(c) = self.peek() {
            match c {
                ' ' => {
                    return Err(format!(
                        "Use bracket notion ['my prop'] if your property contains blank characters. position: {}",
                        self.at
                    ));
                }
                '.' | '[' | '(' => break,
                _ => self.at += 1,
            }
        }
        let name: String = self.chars[start..self.at].iter().collect();
        if name.is_empty() {
            return Err("Empty property".to_owned());
        }
        if self.peek() == Some('(') {
            let known = FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function);
            let closed = self.chars.get(self.at + 1) == Some(&')');
            let Some(function) = known.filter(|_| closed) else {
                return Err(format!("Function of name: {name} cannot be created"));
            };
            self.at += 2;
            steps.push(Step::Function(function));
        } else {
            steps.push(Step::Properties(vec![name]));
        }
        Ok(())
    }

    fn bracket(&mut self, steps: &mut Vec<Step>) -> Result<(), PathError> {
        let start = self.at;
        let invalid = || format!("Could not parse token starting at position {start}. Expected ?, ', 0-9, * ");
        self.at += 1;
        self.blanks();
        let step = match self.peek() {
            Some('\'' | '"') => Step::Properties(self.names().ok_or_else(invalid)?),
            Some('*') => {
                self.at += 1;
                Step::Wildcard
            }
            Some('?') => {
                self.at += 1;
                self.blanks();
                let (filter, at) = filter::parse(self.chars, self.at).ok_or(PathError::Filter)?;
                self.at = at;
                Step::Filter(filter)
            }
            _ => self.places().ok_or_else(invalid)?,
        };
        self.blanks();
        if self.peek() != Some(']') {
            return Err(invalid().into());
        }
        self.at += 1;
        steps.push(step);
        Ok(())
    }

    /// `'a', "b"`
    fn names(&mut self) -> Option<Vec<String>> {
        let mut names = Vec::new();
        loop {
            self.blanks();
            let quote = self.peek().filter(|c| matches!(c, '\'' | '"'))?;
            self.at += 1;
            let mut name = String::new();
            loop {
                let c = self.peek()?;
                self.at += 1;
                match c {
                    '\\' => {
                        name.push(self.peek()?);
                        self.at += 1;
                    }
                    c if c == quote => break,
                    c => name.push(c),
                }
            }
            names.push(name);
            self.blanks();
            if self.peek() != Some(',') {
                return Some(names);
            }
            self.at += 1;
        }
    }

    /// `0`, `0, 2`, `1:3`, `:2`, `-2:`
    fn places(&mut self) -> Option<Step> {
        let end = (self.at..self.chars.len()).find(|i| self.chars[*i] == ']')?;
        let text: String = self.chars[self.at..end].iter().collect();
        self.at = end;
        let number = |text: &str| text.trim().parse::<i32>().ok().map(i64::from);
        let Some((from, to)) = text.split_once(':') else {
            return text.split(',').map(number).collect::<Option<Vec<_>>>().map(Step::Indexes);
        };
        let end = |text: &str| if text.trim().is_empty() { Some(None) } else { number(text).map(Some) };
        match (end(from)?, end(to)?) {
            (None, None) => None,
            (from, to) => Some(Step::Slice(from, to)),
        }
    }
}
