//! LIKE and SIMILAR TO: `SqlLikeUtils`.

use super::program::ends_line;

/// A LIKE pattern.
pub struct Like(Vec<Part>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Char(char),
    /// `_`: any character but a line terminator, which Java's `.` does not match.
    One,
    /// `%`
    Any,
}

/// The escape character, if there is one.
fn escape_char(escape: Option<&str>) -> Result<Option<char>, String> {
    let Some(escape) = escape else { return Ok(None) };
    let mut chars = escape.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Ok(Some(c)),
        _ => Err(format!("Invalid escape character '{escape}'")),
    }
}

fn invalid(pattern: &str, at: usize) -> String {
    format!("Invalid escape sequence '{pattern}', {at}")
}

impl Like {
    /// Takes a pattern apart. Only `%`, `_` and the escape character itself can be escaped.
    pub fn new(pattern: &str, escape: Option<&str>) -> Result<Like, String> {
        let escape = escape_char(escape)?;
        let mut parts = Vec::new();
        let mut chars = pattern.chars().enumerate();
        while let Some((at, c)) = chars.next() {
            parts.push(match c {
                c if Some(c) == escape => match chars.next() {
                    Some((_, next)) if matches!(next, '%' | '_') || next == c => Part::Char(next),
                    _ => return Err(invalid(pattern, at)),
                },
                '_' => Part::One,
                '%' => Part::Any,
                c => Part::Char(c),
            });
        }
        Ok(Like(parts))
    }

    /// True if the whole text fits.
    pub fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut at, mut part) = (0, 0);
        // Where to go on if the last `%` has to take more.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let fits = match (self.0.get(part), text.get(at)) {
                (None, None) => return true,
                (Some(Part::Any), _) => {
                    retry = Some((at, part));
                    part += 1;
                    continue;
                }
                (Some(Part::Char(c)), Some(here)) => c == here,
                (Some(Part::One), Some(here)) => !ends_line(*here, false),
                _ => false,
            };
            if fits {
                at += 1;
                part += 1;
            } else {
                match retry {
                    Some((from, any)) if from < text.len() => {
                        retry = Some((from + 1, any));
                        (at, part) = (from + 1, any + 1);
                    }
                    _ => return false,
                }
            }
        }
    }
}

/// A SIMILAR TO pattern as one of Java's (`SqlLikeUtils.sqlToRegexSimilar`).
pub fn similar_to_java(pattern: &str, escape: Option<&str>) -> Result<String, String> {
    const SPECIAL: &str = "_%|*+?{}()[]^-.$\\";
    let escape = escape_char(escape)?;
    let chars: Vec<char> = pattern.chars().collect();
    let unreadable = || format!("Invalid regular expression '{pattern}'");
    let mut out = String::new();
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        match c {
            c if Some(c) == escape => {
                let next = chars.get(at + 1).copied();
                match next {
                    Some(next) if next == c || "_%|*+-^?{}()[]".contains(next) => {
                        if SPECIAL.contains(next) {
                            out.push('\\');
                        }
                        out.push(next);
                    }
                    _ => return Err(invalid(pattern, at)),
                }
                at += 1;
            }
            '_' => out.push('.'),
            '%' => out.push_str("(?s:.*)"),
            '[' => at = class_to_java(&chars, at, escape, &mut out).ok_or_else(unreadable)?,
            c => out.push(c),
        }
        at += 1;
    }
    Ok(out)
}

/// The names of classes, in both letter cases that are known.
const CLASSES: &[(&str, &str)] = &[
    ("[:ALPHA:]", "\\p{Alpha}"),
    ("[:alpha:]", "\\p{Alpha}"),
    ("[:UPPER:]", "\\p{Upper}"),
    ("[:upper:]", "\\p{Upper}"),
    ("[:LOWER:]", "\\p{Lower}"),
    ("[:lower:]", "\\p{Lower}"),
    ("[:DIGIT:]", "\\d"),
    ("[:digit:]", "\\d"),
    ("[:SPACE:]", " "),
    ("[:space:]", " "),
    ("[:WHITESPACE:]", "\\s"),
    ("[:whitespace:]", "\\s"),
    ("[:ALNUM:]", "\\p{Alnum}"),
    ("[:alnum:]", "\\p{Alnum}"),
];

/// A bracket expression; the place of its closing bracket. `_` and `%` are not allowed in one.
fn class_to_java(chars: &[char], start: usize, escape: Option<char>, out: &mut String) -> Option<usize> {
    out.push('[');
    let mut at = start + 1;
    loop {
        let c = *chars.get(at)?;
        match c {
            ']' => {
                out.push(']');
                return Some(at);
            }
            c if Some(c) == escape => {
                let next = *chars.get(at + 1)?;
                out.push('\\');
                out.push(next);
                at += 1;
            }
            '-' => out.push('-'),
            '^' if at == start + 1 => out.push('^'),
            '[' => {
                let rest: String = chars[at..].iter().take(16).collect();
                let (name, java) = CLASSES.iter().find(|(name, _)| rest.starts_with(name))?;
                out.push_str(java);
                at += name.chars().count() - 1;
            }
            '_' | '%' => return None,
            // A shorthand of Java's.
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Regex;
    use super::*;

    fn like(text: &str, pattern: &str, escape: Option<&str>) -> Result<bool, String> {
        Like::new(pattern, escape).map(|l| l.matches(text))
    }

    fn similar(text: &str, pattern: &str, escape: Option<&str>) -> Result<bool, String> {
        let regex = Regex::new(&similar_to_java(pattern, escape)?)?;
        regex.matches(text).map_err(|e| e.message)
    }

    #[test]
    fn like_has_two_wildcards() {
        for (text, pattern, wanted) in [
            ("abc", "a%", true),
            ("abcabc", "a%b%c", true),
            ("a\nb", "a%b", true),
            ("a\nb", "a_b", false),
            ("a😀c", "a_c", true),
            ("a%c", "a\\%c", false),
            ("", "", true),
            ("abc", "", false),
            ("", "%", true),
            ("ABC", "abc", false),
        ] {
            assert_eq!(like(text, pattern, None), Ok(wanted), "{text} LIKE {pattern}");
        }
        assert_eq!(like("a%c", "a!%c", Some("!")), Ok(true));
        assert_eq!(like("abc", "a!bc", Some("!")), Err("Invalid escape sequence 'a!bc', 1".to_owned()));
        assert_eq!(like("abc", "abc!", Some("!")), Err("Invalid escape sequence 'abc!', 3".to_owned()));
        assert_eq!(like("abc", "abc", Some("!!")), Err("Invalid escape character '!!'".to_owned()));
    }

    #[test]
    fn similar_is_a_regular_expression() {
        for (text, pattern, wanted) in [
            ("abc", "(a|x)bc", true),
            ("abc", "a[b-c]+", true),
            ("abc", "a.c", true),
            ("abc", "%(b|d)%", true),
            ("abc", "[^b-z]+", false),
            ("x1", "[a-z[:DIGIT:]]+", true),
            ("aaa", "a{3}", true),
            ("a^", "a^", false),
            ("abc", "abc|zzz", true),
        ] {
            assert_eq!(similar(text, pattern, None), Ok(wanted), "{text} SIMILAR TO {pattern}");
        }
        assert_eq!(similar("a(c", "a!(c", Some("!")), Ok(true));
        assert!(similar("a", "a\\.c", Some("\\")).is_err_and(|e| e.starts_with("Invalid escape sequence")));
        for pattern in ["[a%]", "a[b", "[[:foo:]]", "a[_]c"] {
            assert_eq!(similar("a", pattern, None), Err(format!("Invalid regular expression '{pattern}'")));
        }
    }
}
