//! Sets of characters, as classes of regular expressions combine them.

use crate::eval::functions::unicode;

/// The characters of some sorted, disjoint ranges, both ends in them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Set(Vec<(u32, u32)>);

const LAST: u32 = 0x10_ffff;

impl Set {
    /// The characters of these ranges.
    pub fn of(ranges: &[(char, char)]) -> Set {
        Set(ranges.iter().map(|(a, b)| (u32::from(*a), u32::from(*b))).collect()).sorted()
    }

    fn sorted(mut self) -> Set {
        self.0.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(self.0.len());
        for (from, to) in self.0 {
            match merged.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        Set(merged)
    }

    /// What is in either.
    pub fn union(mut self, other: Set) -> Set {
        self.0.extend(other.0);
        self.sorted()
    }

    /// What is not in it.
    pub fn negated(self) -> Set {
        let mut next = 0;
        let mut ranges = Vec::with_capacity(self.0.len() + 1);
        for (from, to) in self.0 {
            if from > next {
                ranges.push((next, from - 1));
            }
            next = to + 1;
        }
        if next <= LAST {
            ranges.push((next, LAST));
        }
        Set(ranges)
    }

    /// What is in both.
    pub fn intersection(self, other: Set) -> Set {
        self.negated().union(other.negated()).negated()
    }

    /// True if the character is in it.
    pub fn contains(&self, c: char) -> bool {
        let c = u32::from(c);
        let after = self.0.partition_point(|(from, _)| *from <= c);
        after > 0 && self.0[after - 1].1 >= c
    }

    /// The only character in it.
    pub fn single(&self) -> Option<char> {
        match self.0[..] {
            [(from, to)] if from == to => char::from_u32(from),
            _ => None,
        }
    }

    /// `\d`, `\s`, `\w`, `\h`, `\v`, and their opposites in capitals.
    pub fn shorthand(letter: char) -> Option<Set> {
        let set = match letter.to_ascii_lowercase() {
            'd' => Set::of(&[('0', '9')]),
            's' => Set::of(&[(' ', ' '), ('\t', '\r')]),
            'w' => Set::of(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]),
            'h' => Set::of(&[
                (' ', ' '),
                ('\t', '\t'),
                ('\u{a0}', '\u{a0}'),
                ('\u{1680}', '\u{1680}'),
                ('\u{180e}', '\u{180e}'),
                ('\u{2000}', '\u{200a}'),
                ('\u{202f}', '\u{202f}'),
                ('\u{205f}', '\u{205f}'),
                ('\u{3000}', '\u{3000}'),
            ]),
            'v' => Set::of(&[('\n', '\r'), ('\u{85}', '\u{85}'), ('\u{2028}', '\u{2029}')]),
            _ => return None,
        };
        Some(if letter.is_ascii_uppercase() { set.negated() } else { set })
    }

    /// `\p{name}`: the classes of POSIX, of `java.lang.Character`, and Unicode's categories, scripts and properties.
    pub fn property(name: &str) -> Option<Set> {
        let of = |ranges: &[(char, char)]| Some(Set::of(ranges));
        match name {
            "Lower" => return of(&[('a', 'z')]),
            "Upper" => return of(&[('A', 'Z')]),
            "ASCII" => return of(&[('\0', '\u{7f}')]),
            "Alpha" => return of(&[('a', 'z'), ('A', 'Z')]),
            "Digit" => return of(&[('0', '9')]),
            "Alnum" => return of(&[('a', 'z'), ('A', 'Z'), ('0', '9')]),
            "Punct" => return of(&[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
            "Graph" => return of(&[('!', '~')]),
            "Print" => return of(&[(' ', '~')]),
            "Blank" => return of(&[(' ', ' '), ('\t', '\t')]),
            "Cntrl" => return of(&[('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')]),
            "XDigit" => return of(&[('0', '9'), ('a', 'f'), ('A', 'F')]),
            "Space" => return Set::shorthand('s'),
            "L1" => return of(&[('\0', '\u{ff}')]),
            "all" => return Some(Set::default().negated()),
            _ => {}
        }
        let unicode = match name {
            "javaLowerCase" => "Lowercase",
            "javaUpperCase" => "Uppercase",
            "javaAlphabetic" => "Alphabetic",
            "javaTitleCase" => "Lt",
            "javaLetter" => "L",
            "javaDigit" => "Nd",
            "LC" => return Set::property("Lu")?.union(Set::property("Ll")?).union(Set::property("Lt")?).into(),
            "LD" => return Set::property("L")?.union(Set::property("Nd")?).into(),
            "javaLetterOrDigit" => return Set::property("LD"),
            "javaWhitespace" => {
                let space = Set::property("Z")?;
                let no_break = Set::of(&[('\u{a0}', '\u{a0}'), ('\u{2007}', '\u{2007}'), ('\u{202f}', '\u{202f}')]);
                return Some(
                    space.intersection(no_break.negated()).union(Set::of(&[('\t', '\r'), ('\u{1c}', '\u{1f}')])),
                );
            }
            _ => {
                let value = ["general_category=", "gc=", "script=", "sc="].iter().find_map(|p| name.strip_prefix(p));
                // Blocks are not in the tables.
                if name.starts_with("In") || name.starts_with("java") || name.starts_with("blk=") {
                    return None;
                }
                value.or_else(|| name.strip_prefix("Is")).unwrap_or(name)
            }
        };
        if unicode.is_empty() || !unicode.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b' ')) {
            return None;
        }
        unicode::class(&format!("\\p{{{unicode}}}")).map(|ranges| Set::of(&ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_combine() {
        let vowels = Set::of(&[('a', 'a'), ('e', 'e'), ('i', 'i')]);
        let rest = Set::of(&[('a', 'z')]).intersection(vowels.clone().negated());
        assert!(rest.contains('b') && !rest.contains('e') && !rest.contains('A'));
        assert_eq!(rest.union(vowels), Set::of(&[('a', 'z')]));
        assert!(Set::property("IsGreek").is_some_and(|s| s.contains('λ') && !s.contains('l')));
        assert!(Set::property("Lu").is_some_and(|s| s.contains('É')));
        assert_eq!(Set::property("Foo"), None);
    }
}
