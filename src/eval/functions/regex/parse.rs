//! The syntax of `java.util.regex.Pattern`.

mod class;

use super::set::Set;

/// A regular expression.
#[derive(Debug, Clone)]
pub enum Node {
    Empty,
    /// One character of a set.
    Set(Set, Fold),
    /// One character; with `dotall`, a line terminator as well.
    Any {
        dotall: bool,
        unix: bool,
    },
    Assert(Assertion),
    Concat(Vec<Node>),
    Alternatives(Vec<Node>),
    Capture(usize, Box<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        greed: Greed,
    },
    BackReference(usize, Fold),
    Look {
        ahead: bool,
        negated: bool,
        node: Box<Node>,
    },
    Atomic(Box<Node>),
}

/// Whether the case of letters counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    None,
    Ascii,
    Unicode,
}

/// How a repetition gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Greed {
    Greedy,
    Lazy,
    Possessive,
}

/// A condition on a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assertion {
    /// `\A`, `^`
    Start,
    /// `^` of many lines.
    LineStart { unix: bool },
    /// `\Z`, `$`: also before a line terminator that ends the text.
    End { unix: bool },
    /// `$` of many lines.
    LineEnd { unix: bool },
    /// `\z`
    VeryEnd,
    /// `\G`
    LastMatch,
    /// `\b`
    Word,
    /// `\B`
    NotWord,
}

/// Parses a pattern: the expression, the number of groups and their names. Else the message of `PatternSyntaxException`.
pub fn parse(pattern: &str) -> Result<(Node, usize), String> {
    let mut parser = Parser {
        pattern,
        chars: pattern.chars().collect(),
        at: 0,
        groups: 0,
        names: Vec::new(),
        flags: Flags::default(),
        depth: 0,
    };
    let node = parser.alternatives()?;
    if parser.peek().is_some() {
        return Err(parser.error("Unmatched closing ')'", parser.at.saturating_sub(1)));
    }
    Ok((node, parser.groups))
}

/// How deep groups and classes may be nested.
const MAX_DEPTH: usize = 200;
/// The largest bound of a repetition.
const MAX_REPEAT: u32 = 10_000;

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    case_insensitive: bool,
    unicode_case: bool,
    dotall: bool,
    multiline: bool,
    comments: bool,
    unix: bool,
}

struct Parser<'a> {
    pattern: &'a str,
    chars: Vec<char>,
    at: usize,
    groups: usize,
    names: Vec<(String, usize)>,
    flags: Flags,
    depth: usize,
}

type Parsed<T> = Result<T, String>;

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    fn eat_all(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(i, c)| self.chars.get(self.at + i) == Some(&c));
        self.at += if found { text.chars().count() } else { 0 };
        found
    }

    /// `PatternSyntaxException.getMessage`.
    fn error(&self, message: &str, at: usize) -> String {
        let caret = if at < self.chars.len() { format!("\n{}^", " ".repeat(at)) } else { String::new() };
        format!("{message} near index {at}\n{}{caret}", self.pattern)
    }

    fn fold(&self) -> Fold {
        match (self.flags.case_insensitive, self.flags.unicode_case) {
            (false, _) => Fold::None,
            (true, false) => Fold::Ascii,
            (true, true) => Fold::Unicode,
        }
    }

    fn literal(&self, c: char) -> Node {
        Node::Set(Set::of(&[(c, c)]), self.fold())
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("Too deeply nested", self.at));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn alternatives(&mut self) -> Parsed<Node> {
        self.deeper(|p| {
            let mut any = vec![p.sequence()?];
            while p.eat('|') {
                any.push(p.sequence()?);
            }
            Ok(if any.len() == 1 { any.remove(0) } else { Node::Alternatives(any) })
        })
    }

    fn sequence(&mut self) -> Parsed<Node> {
        let mut all = Vec::new();
        loop {
            if self.flags.comments {
                self.skip_comments();
            }
            match self.peek() {
                None | Some('|' | ')') => break,
                Some(c @ ('*' | '+' | '?')) => {
                    return Err(self.error(&format!("Dangling meta character '{c}'"), self.at));
                }
                _ => {}
            }
            if self.eat_all("\\Q") {
                let end = (self.at..self.chars.len()).find(|i| self.chars[*i..].starts_with(&['\\', 'E']));
                let quoted: Vec<char> = self.chars[self.at..end.unwrap_or(self.chars.len())].to_vec();
                self.at = end.map_or(self.chars.len(), |end| end + 2);
                let last = quoted.len().saturating_sub(1);
                for (i, c) in quoted.into_iter().enumerate() {
                    let node = self.literal(c);
                    all.push(if i == last { self.repeated(node)? } else { node });
                }
                continue;
            }
            let atom = self.atom()?;
            all.push(self.repeated(atom)?);
        }
        Ok(match all.len() {
            0 => Node::Empty,
            1 => all.remove(0),
            _ => Node::Concat(all),
        })
    }

    fn skip_comments(&mut self) {
        while let Some(c) = self.peek() {
            if c.is_ascii_whitespace() {
                self.at += 1;
            } else if c == '#' {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            } else {
                break;
            }
        }
    }

    /// An atom with the repetition behind it.
    fn repeated(&mut self, node: Node) -> Parsed<Node> {
        if self.flags.comments {
            self.skip_comments();
        }
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => self.bounds()?,
            _ => return Ok(node),
        };
        self.at += 1;
        let greed = match self.peek() {
            Some('?') => Greed::Lazy,
            Some('+') => Greed::Possessive,
            _ => Greed::Greedy,
        };
        self.at += usize::from(greed != Greed::Greedy);
        Ok(Node::Repeat { node: Box::new(node), min, max, greed })
    }

    /// `{n}`, `{n,}`, `{n,m}`, up to the closing brace.
    fn bounds(&mut self) -> Parsed<(u32, Option<u32>)> {
        let start = self.at;
        self.at += 1;
        let Some(min) = self.number()? else { return Err(self.error("Illegal repetition", start)) };
        let max = if self.eat(',') { self.number()? } else { Some(min) };
        if self.peek() != Some('}') {
            return Err(self.error("Unclosed counted closure", self.at));
        }
        if max.is_some_and(|max| max < min) {
            return Err(self.error("Illegal repetition range", self.at));
        }
        Ok((min, max))
    }

    fn number(&mut self) -> Parsed<Option<u32>> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self.chars[start..self.at].iter().collect();
        if digits.is_empty() {
            return Ok(None);
        }
        digits
            .parse()
            .ok()
            .filter(|n| *n <= MAX_REPEAT)
            .map(Some)
            .ok_or_else(|| self.error("Illegal repetition range", start))
    }

    fn atom(&mut self) -> Parsed<Node> {
        let Some(c) = self.peek() else { return Ok(Node::Empty) };
        let unix = self.flags.unix;
        Ok(match c {
            '(' => return self.group(),
            '[' => {
                self.at += 1;
                Node::Set(self.class()?, self.fold())
            }
            '\\' => return self.escape(),
            '.' => {
                self.at += 1;
                Node::Any { dotall: self.flags.dotall, unix }
            }
            '^' => {
                self.at += 1;
                let start = if self.flags.multiline { Assertion::LineStart { unix } } else { Assertion::Start };
                Node::Assert(start)
            }
            '$' => {
                self.at += 1;
                Node::Assert(if self.flags.multiline { Assertion::LineEnd { unix } } else { Assertion::End { unix } })
            }
            '{' => return Err(self.error("Illegal repetition", self.at)),
            c => {
                self.at += 1;
                self.literal(c)
            }
        })
    }

    fn group(&mut self) -> Parsed<Node> {
        self.at += 1;
        let flags = self.flags;
        let node = if !self.eat('?') {
            self.groups += 1;
            let group = self.groups;
            Node::Capture(group, Box::new(self.alternatives()?))
        } else if self.eat(':') {
            self.alternatives()?
        } else if self.eat('>') {
            Node::Atomic(Box::new(self.alternatives()?))
        } else if self.eat('=') {
            self.look(true, false)?
        } else if self.eat('!') {
            self.look(true, true)?
        } else if self.eat_all("<=") {
            self.look(false, false)?
        } else if self.eat_all("<!") {
            self.look(false, true)?
        } else if self.eat('<') {
            let name = self.group_name()?;
            if self.names.iter().any(|(known, _)| *known == name) {
                return Err(self.error(&format!("Named capturing group <{name}> is already defined"), self.at));
            }
            self.groups += 1;
            let group = self.groups;
            self.names.push((name, group));
            Node::Capture(group, Box::new(self.alternatives()?))
        } else {
            self.read_flags()?;
            if self.eat(')') {
                // The flags hold up to the end of the group around.
                return Ok(Node::Empty);
            }
            if !self.eat(':') {
                return Err(self.error("Unknown inline modifier", self.at));
            }
            self.alternatives()?
        };
        self.flags = flags;
        if !self.eat(')') {
            return Err(self.error("Unclosed group", self.at));
        }
        Ok(node)
    }

    fn look(&mut self, ahead: bool, negated: bool) -> Parsed<Node> {
        Ok(Node::Look { ahead, negated, node: Box::new(self.alternatives()?) })
    }

    fn group_name(&mut self) -> Parsed<String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(self.error("capturing group name does not start with a Latin letter", start));
        }
        if !self.eat('>') {
            return Err(self.error("named capturing group is missing trailing '>'", self.at));
        }
        Ok(name)
    }

    fn read_flags(&mut self) -> Parsed<()> {
        let mut on = true;
        while let Some(c) = self.peek() {
            match c {
                '-' if on => on = false,
                'i' => self.flags.case_insensitive = on,
                'm' => self.flags.multiline = on,
                's' => self.flags.dotall = on,
                'd' => self.flags.unix = on,
                'u' => self.flags.unicode_case = on,
                'x' => self.flags.comments = on,
                _ => break,
            }
            self.at += 1;
        }
        match self.peek() {
            Some(')' | ':') => Ok(()),
            _ => Err(self.error("Unknown inline modifier", self.at)),
        }
    }

    /// An escape outside of a class.
    fn escape(&mut self) -> Parsed<Node> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.peek() else { return Err(self.error("Unexpected internal error", self.at)) };
        let unix = self.flags.unix;
        let assertion = match c {
            'A' => Some(Assertion::Start),
            'Z' => Some(Assertion::End { unix }),
            'z' => Some(Assertion::VeryEnd),
            'G' => Some(Assertion::LastMatch),
            'b' => Some(Assertion::Word),
            'B' => Some(Assertion::NotWord),
            _ => None,
        };
        if let Some(assertion) = assertion {
            self.at += 1;
            return Ok(Node::Assert(assertion));
        }
        match c {
            'R' => {
                self.at += 1;
                let set = |ranges: &[(char, char)]| Node::Set(Set::of(ranges), Fold::None);
                let pair = Node::Concat(vec![set(&[('\r', '\r')]), set(&[('\n', '\n')])]);
                let one = Node::Set(Set::shorthand('v').unwrap_or_default(), Fold::None);
                Ok(Node::Atomic(Box::new(Node::Alternatives(vec![pair, one]))))
            }
            '1'..='9' => {
                self.at += 1;
                let mut group = c as usize - '0' as usize;
                // Further digits belong to the number as long as there is such a group.
                while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    if longer > self.groups {
                        break;
                    }
                    group = longer;
                    self.at += 1;
                }
                Ok(Node::BackReference(group, self.fold()))
            }
            'k' => {
                self.at += 1;
                if !self.eat('<') {
                    return Err(self.error("\\k is not followed by '<' for named capturing group", self.at));
                }
                let name = self.group_name()?;
                match self.names.iter().find(|(known, _)| *known == name) {
                    Some((_, group)) => Ok(Node::BackReference(*group, self.fold())),
                    None => Err(self.error(&format!("named capturing group <{name}> does not exist"), self.at)),
                }
            }
            _ => {
                self.at = start;
                Ok(Node::Set(self.escaped_set()?, self.fold()))
            }
        }
    }
}
