//! Unicode's classes of characters, from the tables of `regex-syntax`.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, HirKind};

/// A set of characters: sorted ranges, both ends in them.
pub type Ranges = Vec<(char, char)>;

/// The characters of a class, such as `\p{L}` or `\p{Greek}`; none if there is no such class.
pub fn class(pattern: &str) -> Option<Ranges> {
    let hir = regex_syntax::parse(pattern).ok()?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.ranges().iter().map(|r| (r.start(), r.end())).collect()),
        _ => None,
    }
}

/// True if one of the sorted ranges has the character.
pub fn contains(ranges: &[(char, char)], c: char) -> bool {
    let after = ranges.partition_point(|(start, _)| *start <= c);
    after > 0 && ranges[after - 1].1 >= c
}

/// `Character.isLetter`: the categories Lu, Ll, Lt, Lm and Lo.
pub fn is_letter(c: char) -> bool {
    static LETTERS: OnceLock<Ranges> = OnceLock::new();
    contains(LETTERS.get_or_init(|| class(r"\p{L}").unwrap_or_default()), c)
}

/// `Character.isDigit`: the category Nd.
pub fn is_digit(c: char) -> bool {
    static DIGITS: OnceLock<Ranges> = OnceLock::new();
    contains(DIGITS.get_or_init(|| class(r"\p{Nd}").unwrap_or_default()), c)
}
