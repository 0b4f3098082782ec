//! Text to local timestamps by a `DateTimeFormatter` pattern, resolved in its smart way.

use super::formatter::{DateTimeFormatter, Part};
use super::{MONTHS, WEEKDAYS, match_name};
use crate::eval::calendar::weekday;
use crate::logical::translate::datetime::{DAY, civil_from_days, days_from_civil, days_in_month};

impl DateTimeFormatter {
    /// The timestamp that a text names: milliseconds and nanoseconds of the millisecond. Fields that the pattern has not are
    /// those of 1970-01-01 00:00:00 (`DateTimeUtils.fromTemporalAccessor`). `None` if the text does not fit.
    pub(in crate::eval) fn parse(&self, text: &str) -> Option<(i64, u32)> {
        let mut fields = Fields::default();
        let rest = parse_all(&self.0, text, &mut fields)?;
        if rest.is_empty() { fields.resolve() } else { None }
    }
}

#[derive(Debug, Clone, Default)]
struct Fields {
    /// Letters with their values; `y` and `u` are one, and so are `M` and `L`.
    values: Vec<(char, i64)>,
    conflict: bool,
}

impl Fields {
    fn set(&mut self, letter: char, value: i64) {
        let letter = match letter {
            'u' => 'y',
            'L' => 'M',
            'q' => 'Q',
            other => other,
        };
        match self.get(letter) {
            Some(old) if old != value => self.conflict = true,
            Some(_) => {}
            None => self.values.push((letter, value)),
        }
    }

    fn get(&self, letter: char) -> Option<i64> {
        self.values.iter().find(|(l, _)| *l == letter).map(|(_, v)| *v)
    }

    fn resolve(&self) -> Option<(i64, u32)> {
        let within = |letter: char, least: i64, most: i64| self.get(letter).is_none_or(|v| (least..=most).contains(&v));
        let valid = !self.conflict
            && within('M', 1, 12)
            && within('d', 1, 31)
            && within('D', 1, 366)
            && within('H', 0, 24)
            && within('k', 1, 24)
            && within('K', 0, 11)
            && within('h', 1, 12)
            && within('m', 0, 59)
            && within('s', 0, 59);
        if !valid {
            return None;
        }
        let year = match (self.get('y'), self.get('G')) {
            (Some(year), Some(0)) => 1 - year,
            (year, _) => year.unwrap_or(1970),
        };
        if year.abs() > 999_999_999 {
            return None;
        }
        let days = match (self.get('y'), self.get('D')) {
            (Some(_), Some(day)) => {
                let days = days_from_civil(year, 1, 1) + day - 1;
                if civil_from_days(days).0 != year {
                    return None;
                }
                days
            }
            _ => {
                let month = self.get('M').unwrap_or(1) as u32;
                let day = self.get('d').unwrap_or(1) as u32;
                days_from_civil(year, month, day.min(days_in_month(year, month)))
            }
        };
        let complete = self.get('y').is_some() && self.get('M').is_some() && self.get('d').is_some();
        if complete && self.get('E').is_some_and(|w| w != weekday(days)) {
            return None;
        }
        let of_half = self.get('K').or(self.get('h').map(|h| h % 12));
        let hour = match (self.get('H').or(self.get('k').map(|h| h % 24)), of_half, self.get('a')) {
            (Some(hour), ..) => hour,
            (None, Some(hour), Some(half)) => hour + half * 12,
            _ => 0,
        };
        let (minute, second) = (self.get('m').unwrap_or(0), self.get('s').unwrap_or(0));
        let nanos = self.get('S').or(self.get('n')).unwrap_or(0);
        if hour == 24 && (minute, second, nanos) != (0, 0, 0) {
            return None;
        }
        let millis = days * DAY + hour * 3_600_000 + minute * 60_000 + second * 1_000 + nanos / 1_000_000;
        Some((millis, (nanos % 1_000_000) as u32))
    }
}

fn parse_all<'a>(parts: &[Part], mut text: &'a str, fields: &mut Fields) -> Option<&'a str> {
    for (i, part) in parts.iter().enumerate() {
        text = match part {
            Part::Literal(literal) => text.strip_prefix(literal.as_str())?,
            Part::Optional(parts) => {
                let mut tried = fields.clone();
                match parse_all(parts, text, &mut tried) {
                    Some(rest) => {
                        *fields = tried;
                        rest
                    }
                    None => text,
                }
            }
            Part::Field(letter, count, 0) => {
                // Fields of a fixed width right behind leave this one what they do not need.
                let follow = parts[i + 1..].iter().map_while(|p| match p {
                    Part::Field(letter, count, 0) => width(*letter, *count).filter(|(a, b, _)| a == b).map(|w| w.1),
                    _ => None,
                });
                field(text, *letter, *count, follow.sum(), fields)?
            }
            Part::Field(letter, count, pad) => {
                let cell = text.get(..*pad)?;
                let rest = field(cell.trim_start_matches(' '), *letter, *count, 0, fields)?;
                if !rest.is_empty() {
                    return None;
                }
                &text[*pad..]
            }
        };
    }
    Some(text)
}

/// Least and most digits of a number, and whether it may have a sign; nothing for fields that are words.
fn width(letter: char, count: usize) -> Option<(usize, usize, bool)> {
    Some(match letter {
        'u' | 'y' | 'Y' if count == 2 => (2, 2, false),
        'u' | 'y' | 'Y' => (count, 19, true),
        'S' => (count, count, false),
        'D' => (count, 3, false),
        'n' | 'N' | 'A' | 'g' => (count, 19, count == 1),
        'M' | 'L' | 'Q' | 'q' | 'e' | 'c' if count > 2 => return None,
        'E' | 'a' | 'G' | 'B' | 'V' | 'v' | 'z' | 'O' | 'X' | 'x' | 'Z' => return None,
        _ if count == 1 => (1, 19, true),
        _ => (count, count, false),
    })
}

fn field<'a>(text: &'a str, letter: char, count: usize, follow: usize, fields: &mut Fields) -> Option<&'a str> {
    let Some((least, most, signed)) = width(letter, count) else {
        return word(text, letter, count, fields);
    };
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') if signed => ('-', &text[1..]),
        // Years of four letters and more have a sign where they have more digits.
        Some(b'+') if signed && count >= 4 && matches!(letter, 'u' | 'y' | 'Y') => ('+', &text[1..]),
        _ => (' ', text),
    };
    let there = digits.bytes().take_while(u8::is_ascii_digit).count();
    let length = there.min(most + follow);
    let length = if follow > 0 { length.saturating_sub(follow).max(least) } else { length }.min(most);
    if there < length || length < least || length == 0 {
        return None;
    }
    let exceeds = count >= 4 && matches!(letter, 'u' | 'y' | 'Y') && sign != '-';
    if exceeds && ((sign == '+') != (length > least)) {
        return None;
    }
    let value: i64 = digits[..length].parse().ok()?;
    let value = match letter {
        'u' | 'y' | 'Y' if count == 2 => 2_000 + value,
        'S' => value * 10i64.pow(9 - count as u32),
        _ if sign == '-' => -value,
        _ => value,
    };
    // A year of an era begins with 1.
    if letter == 'y' && count != 2 && value < 1 {
        return None;
    }
    fields.set(letter, value);
    Some(&digits[length..])
}

fn word<'a>(text: &'a str, letter: char, count: usize, fields: &mut Fields) -> Option<&'a str> {
    match letter {
        'M' | 'L' | 'E' | 'e' | 'c' => {
            let names: &[&str] = if matches!(letter, 'M' | 'L') { &MONTHS } else { &WEEKDAYS };
            let (index, length) = if count == 4 {
                let index = names.iter().position(|n| text.starts_with(n))?;
                (index, names[index].len())
            } else {
                // Three letters are the short name and no more.
                let index = names.iter().position(|n| text.starts_with(&n[..3]))?;
                (index, 3)
            };
            fields.set(if matches!(letter, 'M' | 'L') { 'M' } else { 'E' }, index as i64 + 1);
            Some(&text[length..])
        }
        'a' => {
            let (half, rest) = text.split_at_checked(2)?;
            fields.set('a', ["AM", "PM"].iter().position(|h| *h == half)? as i64);
            Some(rest)
        }
        'G' => {
            let names: &[(&str, i64)] = match count {
                4 => &[("Anno Domini", 1), ("Before Christ", 0)],
                5 => &[("A", 1), ("B", 0)],
                _ => &[("AD", 1), ("BC", 0)],
            };
            let (name, era) = names.iter().find(|(n, _)| text.starts_with(n))?;
            fields.set('G', *era);
            Some(&text[name.len()..])
        }
        'Q' | 'q' => {
            let rest = text.strip_prefix('Q')?;
            rest.starts_with(['1', '2', '3', '4']).then(|| &rest[1..])
        }
        // Zones are read and then left out of account.
        'V' | 'v' | 'z' | 'O' => {
            let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "/_+-:".contains(c))).unwrap_or(text.len());
            crate::eval::zone::known(&text[..end]).map(|_| &text[end..])
        }
        'X' if text.starts_with('Z') => Some(&text[1..]),
        'X' | 'x' | 'Z' => {
            let rest = text.strip_prefix(['+', '-'])?;
            let two = |t: &'a str| t.get(..2).filter(|d| d.bytes().all(|b| b.is_ascii_digit())).map(|_| &t[2..]);
            let hours = two(rest)?;
            match (letter, count) {
                ('Z', 1..=3) | (_, 2 | 4) => two(hours),
                ('Z', _) | (_, 3 | 5) => two(hours.strip_prefix(':')?),
                _ => Some(two(hours).unwrap_or(hours)),
            }
        }
        _ => match_name(text, &WEEKDAYS, false).map(|(_, length)| &text[length..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logical::translate::datetime::TimestampText;

    #[test]
    fn reads_as_java_does() {
        let parse = |pattern: &str, text: &str| {
            let formatter = DateTimeFormatter::new(pattern).ok()?;
            formatter.parse(text).map(|(ms, ns)| TimestampText(ms, ns).to_string())
        };
        let cases = [
            ("yyyyMMdd", "20240229", Some("2024-02-29 00:00:00")),
            ("yyyyMMddHHmmssSSS", "20240229102030123", Some("2024-02-29 10:20:30.123")),
            ("yyyy-MM-dd", "2024-02-30", Some("2024-02-29 00:00:00")),
            ("yyyy-MM-dd", "2024-02-29 1", None),
            ("yyyy-DDD", "2024-060", Some("2024-02-29 00:00:00")),
            ("HH:mm", "10:20", Some("1970-01-01 10:20:00")),
            ("MMM d, yyyy", "Feb 29, 2024", Some("2024-02-29 00:00:00")),
            ("yyyy-MM-dd hh:mm:ss a", "2024-02-29 10:20:30 PM", Some("2024-02-29 22:20:30")),
            ("yyyy-MM-dd HH:mm:ss", "2024-02-29 24:00:00", Some("2024-03-01 00:00:00")),
            ("y-M-d", "24-02-29", Some("0024-02-29 00:00:00")),
            ("yyyy-M-d", "24-02-29", None),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(parse(pattern, text).as_deref(), expected, "{pattern} {text}");
        }
    }
}
