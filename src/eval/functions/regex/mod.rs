//! Regular expressions as Java has them, and the functions that use them.
//!
//! Java's syntax and its rules for what matches differ from those of Rust's regex crates in too many places to translate one
//! into the other (look-around, back references, classes of classes, line terminators, what ends a text), so there is a
//! parser ([`parse`]) and a matcher ([`program`]) of its own.

mod functions;
mod like;
mod parse;
mod program;
mod set;

pub use functions::find;
use program::{Program, Slots};

use crate::eval::EvalError;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Regex(Program);

/// A match: the positions of its groups in the characters of the text.
pub struct Match(Slots);

impl Match {
    /// Start and end of a group, 0 being the whole match; none if the group took no part.
    pub fn group(&self, group: usize) -> Option<(usize, usize)> {
        self.0.get(2 * group).copied().flatten().zip(self.0.get(2 * group + 1).copied().flatten())
    }

    /// Start and end of the whole match.
    pub fn span(&self) -> (usize, usize) {
        self.group(0).unwrap_or_default()
    }
}

fn too_long(_: program::TooLong) -> EvalError {
    EvalError::new("the regular expression takes too long")
}

impl Regex {
    /// Compiles a pattern. The error is the message of Java's `PatternSyntaxException`.
    pub fn new(pattern: &str) -> Result<Regex, String> {
        let (node, groups) = parse::parse(pattern)?;
        Program::new(&node, groups).map(Regex).ok_or_else(|| "the regular expression is too large".to_owned())
    }

    /// `Matcher.find(from)`.
    pub fn find(&self, text: &[char], from: usize) -> Result<Option<Match>, EvalError> {
        self.0.find(text, from).map(|found| found.map(Match)).map_err(too_long)
    }

    /// All matches, one behind the other.
    pub fn find_all(&self, text: &[char]) -> Result<Vec<Match>, EvalError> {
        let mut found = Vec::new();
        let mut from = 0;
        while from <= text.len() {
            let Some(next) = self.find(text, from)? else { break };
            let (start, end) = next.span();
            from = if start == end { end + 1 } else { end };
            found.push(next);
        }
        Ok(found)
    }

    /// `Matcher.matches`: the whole text.
    pub fn matches(&self, text: &str) -> Result<bool, EvalError> {
        self.0.matches(&text.chars().collect::<Vec<_>>()).map_err(too_long)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(pattern: &str, text: &str) -> Option<String> {
        let chars: Vec<char> = text.chars().collect();
        let found = Regex::new(pattern).unwrap().find(&chars, 0).unwrap()?;
        let (from, to) = found.span();
        Some(chars[from..to].iter().collect())
    }

    #[test]
    fn finds_what_java_finds() {
        for (pattern, text, wanted) in [
            ("foo(.*?)(bar)", "foothebar", "foothebar"),
            ("a|ab", "ab", "a"),
            ("(a+)+b", "xaaab", "aaab"),
            ("(.)\\1", "abb", "bb"),
            ("foo(?=bar)", "foobar", "foo"),
            ("(?<=o)b.", "foobar", "ba"),
            ("(?<!o)b.", "foobar bx", "bx"),
            ("(?i)B", "abc", "b"),
            ("a{2}", "aaa", "aa"),
            ("[a-z&&[^b]]\\d", "b1a1", "a1"),
            ("[a-c[x-z]]+", "mxyab", "xyab"),
            ("\\Qo.b\\E", "foo.bar", "o.b"),
            ("\\p{Alpha}\\d", "1a1", "a1"),
            ("\\p{Lu}", "aÉ", "É"),
            ("(a*)*", "aab", "aa"),
            ("(?:a?){3}", "aa", "aa"),
            ("x*+x|y", "xxy", "y"),
            ("(?>a+)b", "aab", "aab"),
            ("(?<n>b)\\k<n>", "abb", "bb"),
            ("\\x41\\u0042\\t?", "xAB", "AB"),
            ("[]a]+", "x]a", "]a"),
            ("(?x) a b # c", "ab", "ab"),
            ("(?s).+", "a\nb", "a\nb"),
            ("(?m)^b$", "a\nb\nc", "b"),
            ("b\\Z", "ab\n", "b"),
        ] {
            assert_eq!(first(pattern, text).as_deref(), Some(wanted), "{pattern}");
        }
        for (pattern, text) in [("a.b", "a\nb"), ("\\w", "é"), ("b\\z", "ab\n"), ("^b", "ab")] {
            assert_eq!(first(pattern, text), None, "{pattern}");
        }
    }

    #[test]
    fn says_what_is_wrong_in_java_s_words() {
        for (pattern, message) in [
            ("(", "Unclosed group near index 1\n("),
            ("*a", "Dangling meta character '*' near index 0\n*a\n^"),
            ("a{1,", "Unclosed counted closure near index 4\na{1,"),
            ("a)", "Unmatched closing ')' near index 0\na)\n^"),
            ("[a", "Unclosed character class near index 1\n[a\n ^"),
        ] {
            assert_eq!(Regex::new(pattern).err().as_deref(), Some(message));
        }
        for pattern in ["\\y", "a**", "[b-a]", "\\p{Foo}", "\\", "(?<1>a)", "(?z)", "\\k<x>", "a{2,1}"] {
            assert!(Regex::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn nothing_runs_without_a_limit() {
        assert!(Regex::new(&"(".repeat(100_000)).is_err());
        assert!(Regex::new(&"((a{999}){999}){999}".repeat(10)).is_err());
        let regex = Regex::new("(a|aa)+$").unwrap();
        let text: Vec<char> = format!("{}b", "a".repeat(60)).chars().collect();
        assert!(regex.find(&text, 0).is_err());
        let long: Vec<char> = "ab".repeat(100_000).chars().collect();
        assert!(Regex::new("(ab)*").unwrap().find(&long, 0).unwrap().is_some_and(|m| m.span() == (0, 200_000)));
    }
}
