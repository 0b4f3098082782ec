//! `java.text.SimpleDateFormat` with the English names, lenient as Flink uses it.

use jiff::tz::TimeZone;

use super::{MONTHS, WEEKDAYS, match_name, month_name, padded, short, weekday_name};
use crate::eval::calendar::{days_from_julian, julian_calendar, weekday};
use crate::eval::{EvalError, zone};
use crate::logical::translate::datetime::{DAY, civil_from_days, days_from_civil};

/// The first day of the Gregorian calendar, 1582-10-15; days before are those of the Julian one.
const CUTOVER: i64 = -141_427;
/// Years of two digits are those from here on. Java starts 80 years before today, which a result must not depend on here.
const CENTURY_START: i64 = 1945;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(in crate::eval) struct SimpleDateFormat(Vec<Item>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Literal(String),
    Field(char, usize),
}

impl SimpleDateFormat {
    /// Compiles a pattern.
    pub(in crate::eval) fn new(pattern: &str) -> Result<SimpleDateFormat, EvalError> {
        let mut items: Vec<Item> = Vec::new();
        let mut chars = pattern.chars().peekable();
        let literal = |items: &mut Vec<Item>, c: char| match items.last_mut() {
            Some(Item::Literal(text)) => text.push(c),
            _ => items.push(Item::Literal(c.to_string())),
        };
        while let Some(c) = chars.next() {
            if c == '\'' {
                if chars.next_if_eq(&'\'').is_some() {
                    literal(&mut items, '\'');
                    continue;
                }
                loop {
                    match chars.next() {
                        Some('\'') if chars.next_if_eq(&'\'').is_some() => literal(&mut items, '\''),
                        Some('\'') => break,
                        Some(c) => literal(&mut items, c),
                        None => return Err(EvalError::new("Unterminated quote")),
                    }
                }
            } else if c.is_ascii_alphabetic() {
                if !"GyMdkHmsSEDFwWahKzZYuXL".contains(c) {
                    return Err(EvalError::new(format!("Illegal pattern character '{c}'")));
                }
                let mut count = 1;
                while chars.next_if_eq(&c).is_some() {
                    count += 1;
                }
                if c == 'X' && count > 3 {
                    return Err(EvalError::new(format!("invalid ISO 8601 format: length={count}")));
                }
                items.push(Item::Field(c, count));
            } else {
                literal(&mut items, c);
            }
        }
        Ok(SimpleDateFormat(items))
    }

    /// The text of an instant in a zone.
    pub(in crate::eval) fn format(&self, millis: i64, zone: &TimeZone) -> Result<String, EvalError> {
        let offset = zone::calendar_offset_at(millis, zone);
        let local = millis.saturating_add(offset);
        let (days, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let (year, month, day) = if days >= CUTOVER {
            let (year, month, day) = civil_from_days(days);
            (year, i64::from(month), i64::from(day))
        } else {
            julian_calendar(days + 2_440_588)
        };
        let first_of_year = lenient_days(year, 1, 1);
        let hour = time / 3_600_000;
        let mut out = String::new();
        for item in &self.0 {
            let (letter, count) = match item {
                Item::Literal(text) => {
                    out.push_str(text);
                    continue;
                }
                Item::Field(letter, count) => (*letter, *count),
            };
            let number = |n: i64| padded(&n.to_string(), count, '0');
            let text = match letter {
                'G' => if year > 0 { "AD" } else { "BC" }.to_owned(),
                'y' | 'Y' => {
                    let year = if letter == 'Y' { week_year(days, year) } else { year };
                    let of_era = if year > 0 { year } else { 1 - year };
                    if count == 2 { format!("{:02}", of_era % 100) } else { number(of_era) }
                }
                'M' | 'L' if count >= 4 => month_name(month).to_owned(),
                'M' | 'L' if count == 3 => short(month_name(month)).to_owned(),
                'M' | 'L' => number(month),
                'd' => number(day),
                'D' => number(days - first_of_year + 1),
                'F' => number((day - 1) / 7 + 1),
                'w' => {
                    let first = lenient_days(week_year(days, year), 1, 1);
                    number((days - (first - sunday_based(first))) / 7 + 1)
                }
                'W' => number((day - 1 + sunday_based(days - day + 1)) / 7 + 1),
                'E' if count >= 4 => weekday_name(weekday(days)).to_owned(),
                'E' => short(weekday_name(weekday(days))).to_owned(),
                'u' => number(weekday(days)),
                'a' => if hour < 12 { "AM" } else { "PM" }.to_owned(),
                'H' => number(hour),
                'k' => number(if hour == 0 { 24 } else { hour }),
                'K' => number(hour % 12),
                'h' => number(if hour % 12 == 0 { 12 } else { hour % 12 }),
                'm' => number(time / 60_000 % 60),
                's' => number(time / 1_000 % 60),
                'S' => number(time % 1_000),
                'z' => zone_name(millis, zone, count)?,
                'Z' => offset_text(offset, "+0000", false),
                _ => match count {
                    1 => offset_text(offset, "Z", false)[..3.min(if offset == 0 { 1 } else { 3 })].to_owned(),
                    2 => offset_text(offset, "Z", false),
                    _ => offset_text(offset, "Z", true),
                },
            };
            out.push_str(&text);
        }
        Ok(out)
    }

    /// The instant that a text names in a zone; what follows is left out. `None` if it does not begin with a date of the
    /// pattern.
    pub(in crate::eval) fn parse(&self, text: &str, zone: &TimeZone) -> Option<i64> {
        let mut fields = Fields::default();
        let mut rest = text;
        for (i, item) in self.0.iter().enumerate() {
            match item {
                Item::Literal(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Item::Field(letter, count) => {
                    // Digits of a field that another one follows are counted.
                    let counted = matches!(self.0.get(i + 1), Some(Item::Field(..)));
                    rest = fields.read(rest, *letter, *count, counted)?;
                }
            }
        }
        Some(fields.instant(zone))
    }
}

/// Sunday is 0.
fn sunday_based(days: i64) -> i64 {
    weekday(days) % 7
}

/// The year whose first week, which has January 1 and begins on Sunday, is on or before a day.
fn week_year(days: i64, year: i64) -> i64 {
    let next = lenient_days(year + 1, 1, 1);
    if days >= next - sunday_based(next) { year + 1 } else { year }
}

/// The day of a year, month and day of any size, by the calendar that was in use.
fn lenient_days(year: i64, month: i64, day: i64) -> i64 {
    let months = year * 12 + month - 1;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    let gregorian = days_from_civil(year, month as u32, 1) + day - 1;
    if gregorian >= CUTOVER { gregorian } else { days_from_julian(year, month, 1) + day - 1 }
}

fn offset_text(offset: i64, zero: &str, colon: bool) -> String {
    if offset == 0 {
        return zero.to_owned();
    }
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60_000);
    format!("{sign}{:02}{}{:02}", minutes / 60, if colon { ":" } else { "" }, minutes % 60)
}

/// The abbreviation of a zone, such as `CST`.
fn zone_name(millis: i64, zone: &TimeZone, count: usize) -> Result<String, EvalError> {
    if count > 3 {
        return Err(EvalError::new("the long names of time zones are not known"));
    }
    let at = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let name = zone.to_offset_info(at).abbreviation().to_owned();
    Ok(if name.starts_with(['+', '-']) {
        format!("GMT{}", offset_text(zone::offset_at(millis, zone), "", true))
    } else {
        name
    })
}

/// Fields as they were read, each with the time at which it was set: the latest decide.
#[derive(Default)]
struct Fields {
    year: Option<i64>,
    before_christ: bool,
    month: Option<i64>,
    day: Option<(i64, usize)>,
    day_of_year: Option<(i64, usize)>,
    week_of_year: Option<(i64, usize)>,
    week_of_month: Option<(i64, usize)>,
    weekday_in_month: Option<(i64, usize)>,
    /// Sunday is 0.
    weekday: Option<(i64, usize)>,
    hour: Option<(i64, usize)>,
    hour_of_half: Option<(i64, usize)>,
    afternoon: bool,
    minute: i64,
    second: i64,
    milli: i64,
    offset: Option<i64>,
    sets: usize,
}

impl Fields {
    fn read<'a>(&mut self, text: &'a str, letter: char, count: usize, counted: bool) -> Option<&'a str> {
        let trimmed = text.trim_start_matches([' ', '\t']);
        if trimmed.is_empty() {
            return None;
        }
        self.sets += 1;
        let stamp = self.sets;
        match letter {
            'G' => {
                let era = trimmed.get(..2)?;
                self.before_christ = era.eq_ignore_ascii_case("BC");
                return (self.before_christ || era.eq_ignore_ascii_case("AD")).then(|| &trimmed[2..]);
            }
            'M' | 'L' if count > 2 => {
                let (month, length) = match_name(trimmed, &MONTHS, true)?;
                self.month = Some(month as i64 + 1);
                return Some(&trimmed[length..]);
            }
            'E' => {
                let (day, length) = match_name(trimmed, &WEEKDAYS, true)?;
                self.weekday = Some(((day as i64 + 1) % 7, stamp));
                return Some(&trimmed[length..]);
            }
            'a' => {
                let half = trimmed.get(..2)?;
                self.afternoon = half.eq_ignore_ascii_case("PM");
                return (self.afternoon || half.eq_ignore_ascii_case("AM")).then(|| &trimmed[2..]);
            }
            'z' | 'Z' | 'X' => return self.read_zone(trimmed, letter, count),
            _ => {}
        }
        // The count includes blanks that were skipped.
        let limit = if counted { Some(count.checked_sub(text.len() - trimmed.len())?) } else { None };
        let (value, length) = number(trimmed, limit)?;
        let rest = &trimmed[length..];
        match letter {
            'y' | 'Y' => {
                let short = count <= 2 && length == 2 && trimmed.as_bytes()[0].is_ascii_digit();
                let value = if short {
                    let century = CENTURY_START / 100 * 100;
                    value + century + if value < CENTURY_START % 100 { 100 } else { 0 }
                } else {
                    value
                };
                self.year = Some(value);
            }
            'M' | 'L' => self.month = Some(value),
            'd' => self.day = Some((value, stamp)),
            'D' => self.day_of_year = Some((value, stamp)),
            'F' => self.weekday_in_month = Some((value, stamp)),
            'w' => self.week_of_year = Some((value, stamp)),
            'W' => self.week_of_month = Some((value, stamp)),
            'u' => self.weekday = Some((value % 7, stamp)),
            'H' => self.hour = Some((value, stamp)),
            'k' => self.hour = Some((if value == 24 { 0 } else { value }, stamp)),
            'K' => self.hour_of_half = Some((value, stamp)),
            'h' => self.hour_of_half = Some((if value == 12 { 0 } else { value }, stamp)),
            'm' => self.minute = value,
            's' => self.second = value,
            _ => self.milli = value,
        }
        Some(rest)
    }

    fn read_zone<'a>(&mut self, text: &'a str, letter: char, count: usize) -> Option<&'a str> {
        if let Some(rest) = text.strip_prefix('Z').filter(|_| letter == 'X') {
            self.offset = Some(0);
            return Some(rest);
        }
        let text = match text.strip_prefix("GMT").filter(|_| letter != 'X') {
            Some(rest) if !rest.starts_with(['+', '-']) => {
                self.offset = Some(0);
                return Some(rest);
            }
            Some(rest) => rest,
            None => text,
        };
        let (sign, digits) = match text.split_at_checked(1)? {
            ("+", rest) => (1, rest),
            ("-", rest) => (-1, rest),
            _ => {
                let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
                let (name, rest) = text.split_at(end);
                let zone = zone::known(name).filter(|_| letter != 'X' && !name.is_empty())?;
                self.offset = Some(zone::standard_offset(&zone));
                return Some(rest);
            }
        };
        let two = |t: &str| t.get(..2).filter(|t| t.bytes().all(|b| b.is_ascii_digit()))?.parse::<i64>().ok();
        let hours = two(digits)?;
        let mut rest = &digits[2..];
        let mut minutes = 0;
        if letter != 'X' || count > 1 {
            rest = rest.strip_prefix(':').unwrap_or(rest);
            minutes = two(rest)?;
            rest = &rest[2..];
        }
        self.offset = Some(sign * (hours * 3_600_000 + minutes * 60_000));
        Some(rest)
    }

    /// `GregorianCalendar.computeTime`.
    fn instant(&self, zone: &TimeZone) -> i64 {
        let year = self.year.unwrap_or(1970);
        let year = if self.before_christ { 1 - year } else { year };
        let local = self.days(year) * DAY + self.time();
        match self.offset {
            Some(offset) => local - offset,
            None => zone::to_instant_of_calendar(local, zone),
        }
    }

    fn days(&self, year: i64) -> i64 {
        let stamp = |field: Option<(i64, usize)>| field.map_or(0, |f| f.1);
        let both = |field: Option<(i64, usize)>| match (field, self.weekday) {
            (Some(a), Some(b)) => a.1.max(b.1),
            _ => 0,
        };
        let mut stamps = [
            stamp(self.day),
            both(self.week_of_month),
            both(self.weekday_in_month),
            stamp(self.day_of_year),
            both(self.week_of_year),
        ];
        if stamps == [0; 5] {
            stamps[1] = stamp(self.week_of_month);
            stamps[2] = stamp(self.weekday_in_month).max(stamp(self.weekday));
            stamps[4] = stamp(self.week_of_year);
        }
        let best = stamps.iter().copied().max().unwrap_or(0);
        let first = lenient_days(year, self.month.unwrap_or(1), 1);
        let value = |field: Option<(i64, usize)>, default| field.map_or(default, |f| f.0);
        let weekday = value(self.weekday, 0);
        match stamps.iter().position(|s| *s == best && best > 0) {
            Some(1) => first - sunday_based(first) + (value(self.week_of_month, 1) - 1) * 7 + weekday,
            Some(2) => {
                let first_such = first + (weekday - sunday_based(first)).rem_euclid(7);
                first_such + (value(self.weekday_in_month, 1) - 1) * 7
            }
            Some(3) => lenient_days(year, 1, value(self.day_of_year, 1)),
            Some(4) => {
                let first = lenient_days(year, 1, 1);
                first - sunday_based(first) + (value(self.week_of_year, 1) - 1) * 7 + weekday
            }
            _ => lenient_days(year, self.month.unwrap_or(1), value(self.day, 1)),
        }
    }

    fn time(&self) -> i64 {
        let stamp = |field: Option<(i64, usize)>| field.map_or(0, |f| f.1);
        let hour = if stamp(self.hour) > stamp(self.hour_of_half) {
            self.hour.map_or(0, |f| f.0)
        } else {
            self.hour_of_half.map_or(0, |f| f.0) + if self.afternoon { 12 } else { 0 }
        };
        hour * 3_600_000 + self.minute * 60_000 + self.second * 1_000 + self.milli
    }
}

/// A whole number of at most `limit` characters and how many it has.
fn number(text: &str, limit: Option<usize>) -> Option<(i64, usize)> {
    let text = match limit {
        Some(limit) => text.get(..limit)?,
        None => text,
    };
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 {
        return None;
    }
    // As `Number.intValue` of what was read.
    let value = digits[..end].parse::<i64>().unwrap_or(i64::MAX) as i32;
    Some((if negative { -i64::from(value) } else { i64::from(value) }, end + usize::from(negative)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_as_wide_as_its_letters() {
        let text = SimpleDateFormat::new(&"y".repeat(70_000)).unwrap().format(0, &TimeZone::UTC).unwrap();
        assert_eq!((text.len(), &text[69_995..]), (70_000, "01970"));
    }
}
