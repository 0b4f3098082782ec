//! Dates and times as text and as numbers (proleptic Gregorian calendar, as Flink's `DateTimeUtils`).

use std::fmt;

/// Milliseconds of a day.
pub const DAY: i64 = 86_400_000;

/// Days since 1970-01-01.
pub fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let month_index = i64::from((month + 9) % 12);
    let day_of_year = (153 * month_index + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a count of days since 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_index + 2) / 5 + 1) as u32;
    let month = ((month_index + 2) % 12 + 1) as u32;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Days of a month.
pub fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Adds months to a day; a day that the month does not have becomes its last one.
pub fn add_months(days: i64, months: i64) -> i64 {
    let (year, month, day) = civil_from_days(days);
    let total = year * 12 + i64::from(month) - 1 + months;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) as u32 + 1);
    days_from_civil(year, month, day.min(days_in_month(year, month)))
}

/// `yyyy-MM-dd` to days.
pub fn parse_date(text: &str) -> Option<i64> {
    let mut rest = text.as_bytes();
    let year = i64::from(number(&mut rest, 4)?);
    let month = after(&mut rest, b'-').and_then(|()| number(&mut rest, 2))?;
    let day = after(&mut rest, b'-').and_then(|()| number(&mut rest, 2))?;
    let valid = rest.is_empty() && (1..=12).contains(&month) && day >= 1 && day <= days_in_month(year, month);
    valid.then(|| days_from_civil(year, month, day))
}

/// `HH:mm:ss[.f]` to milliseconds of the day, nanoseconds of the millisecond, and the number of fraction digits.
pub fn parse_time(text: &str) -> Option<(i64, u32, u8)> {
    let mut rest = text.as_bytes();
    let h = number(&mut rest, 2)?;
    let m = after(&mut rest, b':').and_then(|()| number(&mut rest, 2))?;
    let s = match after(&mut rest, b':') {
        Some(()) => number(&mut rest, 2)?,
        None => 0,
    };
    if h > 23 || m > 59 || s > 59 {
        return None;
    }
    let digits = match after(&mut rest, b'.') {
        Some(()) => rest.len(),
        None => 0,
    };
    // A point without digits behind it is a fraction of none.
    let nanos = if digits == 0 { 0 } else { number(&mut rest, 9)? * 10u32.pow(9u32.saturating_sub(digits as u32)) };
    let millis = i64::from(h) * 3_600_000 + i64::from(m) * 60_000 + i64::from(s) * 1_000 + i64::from(nanos / 1_000_000);
    rest.is_empty().then_some((millis, nanos % 1_000_000, digits as u8))
}

/// `yyyy-MM-dd[ HH:mm:ss[.f]]` to milliseconds since the epoch, nanoseconds of the millisecond, and fraction digits.
pub fn parse_timestamp(text: &str) -> Option<(i64, u32, u8)> {
    joined(text, |b| b == b' ')
}

/// The same, with ISO 8601's `T` as well between day and time.
pub fn parse_iso_timestamp(text: &str) -> Option<(i64, u32, u8)> {
    joined(text, |b| matches!(b, b' ' | b'T'))
}

fn joined(text: &str, separates: impl Fn(u8) -> bool) -> Option<(i64, u32, u8)> {
    let Some(at) = text.bytes().position(separates) else { return Some((parse_date(text)? * DAY, 0, 0)) };
    let days = parse_date(&text[..at])?;
    let (millis, nanos, digits) = parse_time(&text[at + 1..])?;
    Some((days * DAY + millis, nanos, digits))
}

/// Takes a number of one to `most` digits off the front.
fn number(rest: &mut &[u8], most: usize) -> Option<u32> {
    let (mut number, mut length) = (0, 0);
    while let Some(digit) = rest.get(length).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10 && length < most) {
        number = number * 10 + u32::from(digit);
        length += 1;
    }
    *rest = &rest[length..];
    (length > 0).then_some(number)
}

/// Takes a separator off the front.
fn after(rest: &mut &[u8], separator: u8) -> Option<()> {
    *rest = rest.strip_prefix(&[separator])?;
    Some(())
}

/// Prints a day as `2025-01-01`.
pub struct DateText(pub i64);

impl fmt::Display for DateText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.0);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// Prints milliseconds of a day as `10:00:00`, with a fraction if there is one.
pub struct TimeText(pub i64, pub u32);

impl fmt::Display for TimeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (millis, nanos) = (self.0, self.1);
        write!(f, "{:02}:{:02}:{:02}", millis / 3_600_000, millis / 60_000 % 60, millis / 1_000 % 60)?;
        let fraction = (millis % 1_000) * 1_000_000 + i64::from(nanos);
        if fraction != 0 {
            let text = format!("{fraction:09}");
            write!(f, ".{}", text.trim_end_matches('0'))?;
        }
        Ok(())
    }
}

/// Prints a timestamp as `2025-01-01 00:00:00`, with a fraction if there is one.
pub struct TimestampText(pub i64, pub u32);

impl fmt::Display for TimestampText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", DateText(self.0.div_euclid(DAY)), TimeText(self.0.rem_euclid(DAY), self.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_inverse() {
        for days in (-800_000..800_000).step_by(37) {
            let (y, m, d) = civil_from_days(days);
            assert_eq!(days_from_civil(y, m, d), days);
        }
        assert_eq!(parse_date("1970-01-01"), Some(0));
        assert_eq!(parse_date("2024-02-29"), Some(19_782));
        assert_eq!(parse_date("2023-02-29"), None);
        assert_eq!(parse_date("2025-13-01"), None);
    }

    #[test]
    fn months_end_where_the_month_ends() {
        let add = |text, months| parse_date(text).map(|d| DateText(add_months(d, months)).to_string());
        assert_eq!(add("2024-01-31", 1).as_deref(), Some("2024-02-29"));
        assert_eq!(add("2024-02-29", -12).as_deref(), Some("2023-02-28"));
    }

    #[test]
    fn timestamps_print_as_they_are_read() {
        for text in ["2025-01-01 00:00:00", "1969-12-31 23:59:59.5", "2025-01-01 00:00:00.123456"] {
            let parsed = parse_timestamp(text).map(|(ms, ns, _)| TimestampText(ms, ns).to_string());
            assert_eq!(parsed.as_deref(), Some(text));
        }
        for text in
            ["2025-01-01 25:00:00", "2025-01-01T00:00:00", "2025-01-01 00:00:00.1234567890", "12025-01-01", "2025-1-1 "]
        {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
        assert_eq!(parse_timestamp("2025-1-1 1:2"), parse_timestamp("2025-01-01 01:02:00."));
        assert_eq!(parse_iso_timestamp("2025-01-01T01:02:03.4"), parse_timestamp("2025-01-01 01:02:03.4"));
    }
}
