//! `java.time.format.DateTimeFormatter`: its patterns, and text of local timestamps.

use super::{month_name, padded, short, weekday_name};
use crate::eval::EvalError;
use crate::eval::calendar::{extract_from_date, weekday};
use crate::logical::translate::datetime::{DAY, civil_from_days, days_from_civil};

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Literal(String),
    /// A letter, how often it stands there, and the width to which `p` pads it.
    Field(char, usize, usize),
    /// `[...]`: left out where it does not fit.
    Optional(Vec<Part>),
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(in crate::eval) struct DateTimeFormatter(pub(super) Vec<Part>);

impl DateTimeFormatter {
    /// Compiles a pattern (`DateTimeFormatterBuilder.appendPattern`).
    pub(in crate::eval) fn new(pattern: &str) -> Result<DateTimeFormatter, EvalError> {
        let mut open: Vec<Vec<Part>> = vec![Vec::new()];
        let mut chars = pattern.chars().peekable();
        let push = |open: &mut Vec<Vec<Part>>, part: Part| {
            if let Some(parts) = open.last_mut() {
                match (parts.last_mut(), part) {
                    (Some(Part::Literal(text)), Part::Literal(more)) => text.push_str(&more),
                    (_, part) => parts.push(part),
                }
            }
        };
        while let Some(c) = chars.next() {
            match c {
                'A'..='Z' | 'a'..='z' => {
                    let (mut letter, mut count, mut pad) = (c, 1, 0);
                    while chars.next_if_eq(&letter).is_some() {
                        count += 1;
                    }
                    if letter == 'p' {
                        pad = count;
                        letter = match chars.next() {
                            Some(next) if next.is_ascii_alphabetic() => next,
                            _ => {
                                return Err(EvalError::new(format!(
                                    "Pad letter 'p' must be followed by valid pad pattern: {pattern}"
                                )));
                            }
                        };
                        count = 1;
                        while chars.next_if_eq(&letter).is_some() {
                            count += 1;
                        }
                    }
                    check(letter, count)?;
                    push(&mut open, Part::Field(letter, count, pad));
                }
                '\'' => {
                    let mut text = String::new();
                    loop {
                        match chars.next() {
                            Some('\'') if chars.next_if_eq(&'\'').is_some() => text.push('\''),
                            Some('\'') => break,
                            Some(c) => text.push(c),
                            None => {
                                return Err(EvalError::new(format!(
                                    "Pattern ends with an incomplete string literal: {pattern}"
                                )));
                            }
                        }
                    }
                    push(&mut open, Part::Literal(if text.is_empty() { "'".to_owned() } else { text }));
                }
                '[' => open.push(Vec::new()),
                ']' => match open.pop() {
                    Some(parts) if !open.is_empty() => push(&mut open, Part::Optional(parts)),
                    _ => return Err(EvalError::new("Pattern invalid as it contains ] without previous [")),
                },
                '{' | '}' | '#' => {
                    return Err(EvalError::new(format!("Pattern includes reserved character: '{c}'")));
                }
                c => push(&mut open, Part::Literal(c.to_string())),
            }
        }
        // What is still open ends with the pattern.
        while let Some(parts) = open.pop() {
            if open.is_empty() {
                return Ok(DateTimeFormatter(parts));
            }
            push(&mut open, Part::Optional(parts));
        }
        Ok(DateTimeFormatter(Vec::new()))
    }

    /// The text of a local timestamp.
    pub(in crate::eval) fn format(&self, millis: i64, nanos: u32) -> Result<String, EvalError> {
        let mut out = String::new();
        print(&self.0, millis, nanos, &mut out)?;
        Ok(out)
    }
}

/// Refuses letters that Java does not know, and too many of them.
fn check(letter: char, count: usize) -> Result<(), EvalError> {
    let most = match letter {
        'u' | 'y' | 'Y' | 'n' | 'N' | 'A' | 'g' => 19,
        'S' => 9,
        'D' => 3,
        'M' | 'L' | 'Q' | 'q' | 'E' | 'e' | 'c' | 'G' | 'Z' | 'X' | 'x' => 5,
        'O' | 'v' | 'z' | 'B' => 4,
        'd' | 'h' | 'H' | 'k' | 'K' | 'm' | 's' | 'w' | 'V' => 2,
        'a' | 'F' | 'W' => 1,
        _ => return Err(EvalError::new(format!("Unknown pattern letter: {letter}"))),
    };
    let odd =
        (letter == 'V' && count != 2) || (letter == 'c' && count == 2) || (letter == 'O' && matches!(count, 2 | 3));
    if count > most {
        Err(EvalError::new(format!("Too many pattern letters: {letter}")))
    } else if odd {
        Err(EvalError::new(format!("Invalid pattern \"{}\"", letter.to_string().repeat(count))))
    } else {
        Ok(())
    }
}

fn print(parts: &[Part], millis: i64, nanos: u32, out: &mut String) -> Result<(), EvalError> {
    for part in parts {
        match part {
            Part::Literal(text) => out.push_str(text),
            Part::Optional(parts) => {
                let mut text = String::new();
                if print(parts, millis, nanos, &mut text).is_ok() {
                    out.push_str(&text);
                }
            }
            Part::Field(letter, count, pad) => {
                let text = field(*letter, *count, millis, nanos)?;
                if *pad > 0 && text.chars().count() > *pad {
                    return Err(EvalError::new(format!(
                        "Cannot print as output of {} characters exceeds pad width of {pad}",
                        text.chars().count()
                    )));
                }
                out.push_str(&padded(&text, *pad, ' '));
            }
        }
    }
    Ok(())
}

fn field(letter: char, count: usize, millis: i64, nanos: u32) -> Result<String, EvalError> {
    let (days, time) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    let (year, month, day) = civil_from_days(days);
    let (month, day) = (i64::from(month), i64::from(day));
    let (hour, minute, second) = (time / 3_600_000, time / 60_000 % 60, time / 1_000 % 60);
    let nano = time % 1_000 * 1_000_000 + i64::from(nanos);
    let number = |n: i64| Ok(padded(&n.to_string(), count, '0'));
    let name = |name: &str| match count {
        1..=3 => short(name).to_owned(),
        4 => name.to_owned(),
        _ => name[..1].to_owned(),
    };
    let of_era = if year > 0 { year } else { 1 - year };
    match letter {
        'G' => {
            let names = if year > 0 { ["AD", "Anno Domini", "A"] } else { ["BC", "Before Christ", "B"] };
            Ok(names[count.saturating_sub(3).min(2)].to_owned())
        }
        'u' => Ok(year_text(year, count)),
        'y' => Ok(year_text(of_era, count)),
        'Y' => Ok(year_text(us_week(days).0, count)),
        'M' | 'L' if count >= 3 => Ok(name(month_name(month))),
        'M' | 'L' => number(month),
        'Q' | 'q' => {
            let quarter = (month + 2) / 3;
            match count {
                1 | 2 => number(quarter),
                3 => Ok(format!("Q{quarter}")),
                4 => Ok(format!("{} quarter", ["1st", "2nd", "3rd", "4th"][(quarter - 1) as usize])),
                _ => Ok(quarter.to_string()),
            }
        }
        'D' => number(extract_from_date("DOY", days).unwrap_or(1)),
        'd' => number(day),
        'F' => number((day - 1) % 7 + 1),
        'w' => number(us_week(days).1),
        'W' => number((day - 1 + weekday(days - day + 1) % 7) / 7 + 1),
        'E' => Ok(name(weekday_name(weekday(days)))),
        'e' | 'c' if count >= 3 => Ok(name(weekday_name(weekday(days)))),
        'e' | 'c' => number(weekday(days) % 7 + 1),
        'a' => Ok(if hour < 12 { "AM" } else { "PM" }.to_owned()),
        'H' => number(hour),
        'k' => number(if hour == 0 { 24 } else { hour }),
        'K' => number(hour % 12),
        'h' => number(if hour % 12 == 0 { 12 } else { hour % 12 }),
        'm' => number(minute),
        's' => number(second),
        'S' => Ok(format!("{nano:09}")[..count].to_owned()),
        'A' => number(time),
        'n' => number(nano),
        'N' => number(time / 1_000 * 1_000_000_000 + nano),
        'g' => number(days + 40_587),
        'B' => Ok(day_period(hour, minute).to_owned()),
        'V' | 'v' | 'z' => Err(EvalError::new("Unable to extract ZoneId from temporal")),
        _ => Err(EvalError::new("Unsupported field: OffsetSeconds")),
    }
}

/// Two letters are the last two digits; from four on, more digits than letters get a sign.
fn year_text(year: i64, count: usize) -> String {
    let size = year.abs();
    let sign = if year < 0 { "-" } else { "" };
    match count {
        2 => format!("{:02}", size % 100),
        4.. if size.to_string().len() > count && year > 0 => format!("+{size}"),
        _ => format!("{sign}{}", padded(&size.to_string(), count, '0')),
    }
}

/// Year and number of the week, which begins on Sunday, of the year whose January 1 it has.
fn us_week(days: i64) -> (i64, i64) {
    let year = civil_from_days(days).0;
    let start = |year: i64| {
        let first = days_from_civil(year, 1, 1);
        first - weekday(first) % 7
    };
    let year = if days >= start(year + 1) { year + 1 } else { year };
    (year, (days - start(year)) / 7 + 1)
}

fn day_period(hour: i64, minute: i64) -> &'static str {
    match (hour, minute) {
        (0, 0) => "midnight",
        (12, 0) => "noon",
        (6..=11, _) => "in the morning",
        (12..=17, _) => "in the afternoon",
        (18..=20, _) => "in the evening",
        _ => "at night",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logical::translate::datetime::parse_timestamp;

    fn format(pattern: &str, text: &str) -> Result<String, String> {
        let (millis, nanos, _) = parse_timestamp(text).ok_or("no timestamp")?;
        let formatter = DateTimeFormatter::new(pattern).map_err(|e| e.message)?;
        formatter.format(millis, nanos).map_err(|e| e.message)
    }

    #[test]
    fn prints_as_java_does() {
        let cases = [
            ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2024-02-09T03:04:05.006"),
            ("dd/MM/yy", "09/02/24"),
            ("EEE, d MMM uuuu h:mm a", "Fri, 9 Feb 2024 3:04 AM"),
            ("EEEEE MMMM DDD", "F February 040"),
            ("[yyyy]''Q", "2024'1"),
            ("w W F e", "6 2 2 6"),
        ];
        for (pattern, text) in cases {
            assert_eq!(format(pattern, "2024-02-09 03:04:05.006007008").as_deref(), Ok(text), "{pattern}");
        }
    }

    #[test]
    fn refuses_what_java_refuses() {
        assert_eq!(format("bad!", "2024-01-01"), Err("Unknown pattern letter: b".to_owned()));
        assert_eq!(format("{", "2024-01-01"), Err("Pattern includes reserved character: '{'".to_owned()));
        assert_eq!(format("X", "2024-01-01"), Err("Unsupported field: OffsetSeconds".to_owned()));
        assert_eq!(format("ddd", "2024-01-01"), Err("Too many pattern letters: d".to_owned()));
    }
}
