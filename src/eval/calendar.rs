//! Fields of dates, and dates that begin a month, a year and so on, as Flink's `DateTimeUtils` computes them.

use crate::logical::translate::datetime::{self, DAY, civil_from_days, days_from_civil};

/// The Julian day number of 1970-01-01.
const EPOCH_JULIAN: i64 = 2_440_588;

/// Adds months to a day; a day that the month does not have becomes its last one.
pub(super) fn add_months(days: i64, months: i64) -> i64 {
    // Intervals count months in 32 bits.
    datetime::add_months(days, i64::from(months as i32))
}

/// Adds months to milliseconds since the epoch.
pub(super) fn add_months_to_millis(millis: i64, months: i64) -> i64 {
    add_months(millis.div_euclid(DAY), months) * DAY + millis.rem_euclid(DAY)
}

/// Whole months from the day `b` to the day `a` (`DateTimeUtils.subtractMonths`).
pub(super) fn months_between(a: i64, b: i64) -> i64 {
    if a < b {
        return -months_between(b, a);
    }
    let ((y, m, _), (z, n, _)) = (civil_from_days(a), civil_from_days(b));
    let mut months = (y - z) * 12 + i64::from(m) - i64::from(n);
    while months > 0 && add_months(b, months) > a {
        months -= 1;
    }
    months
}

/// Whole months between two points in milliseconds.
pub(super) fn months_between_millis(a: i64, b: i64) -> i64 {
    let (d0, d1) = (a.div_euclid(DAY), b.div_euclid(DAY));
    let months = months_between(d0, d1);
    if add_months(d1, months) == d0 && a.rem_euclid(DAY) < b.rem_euclid(DAY) { months - 1 } else { months }
}

/// A field of a day (`DateTimeUtils.extractFromDate`); `None` for units that are no field of a day.
pub(super) fn extract_from_date(unit: &str, days: i64) -> Option<i64> {
    let (year, month, day) = civil_from_days(days);
    let (month, day) = (i64::from(month), i64::from(day));
    let rounded_up = |n: i64| if year > 0 { (year + n - 1) / n } else { (year - n + 1) / n };
    Some(match unit {
        "MILLENNIUM" => rounded_up(1_000),
        "CENTURY" => rounded_up(100),
        "DECADE" => year.div_euclid(10),
        "YEAR" => year,
        "ISOYEAR" => iso_week(days).0,
        "QUARTER" => (month + 2) / 3,
        "MONTH" => month,
        "WEEK" => iso_week(days).1,
        "DAY" => day,
        "DOY" => days - days_from_civil(year, 1, 1) + 1,
        "DOW" => weekday(days) % 7 + 1,
        "ISODOW" => weekday(days),
        _ => return None,
    })
}

/// 1 for Monday to 7 for Sunday.
pub(super) fn weekday(days: i64) -> i64 {
    (days + 3).rem_euclid(7) + 1
}

/// The year and number of the ISO week.
fn iso_week(days: i64) -> (i64, i64) {
    // The week belongs to the year of its Thursday.
    let thursday = days + 4 - weekday(days);
    let year = civil_from_days(thursday).0;
    (year, (thursday - days_from_civil(year, 1, 1)) / 7 + 1)
}

/// The day on which the unit around `days` begins, or the one after it ends (`DateTimeUtils.julianDateFloor`). Dates before
/// 1582-10-15 are taken apart by the Julian calendar and put together by the Gregorian, as Flink does. `None` for units of
/// less than a day.
pub(super) fn floor_date(unit: &str, days: i64, floor: bool) -> Option<i64> {
    let julian = days + EPOCH_JULIAN;
    let (year, month, day) = if julian > 2_299_160 {
        let (year, month, day) = civil_from_days(days);
        (year, i64::from(month), i64::from(day))
    } else {
        julian_calendar(julian)
    };
    let first = |year: i64, month: i64| {
        let months = year * 12 + month - 1;
        days_from_civil(months.div_euclid(12), months.rem_euclid(12) as u32 + 1, 1)
    };
    let later = i64::from(!floor && (month > 1 || day > 1));
    Some(match unit {
        "MILLENNIUM" => first(1_000 * ((year + 999) / 1_000) + if floor { -999 } else { 1 }, 1),
        "CENTURY" => first(100 * ((year + 99) / 100) + if floor { -99 } else { 1 }, 1),
        "DECADE" => first(10 * (year / 10 + i64::from(!floor)), 1),
        "YEAR" => first(year + later, 1),
        "QUARTER" => first(year, (month - 1) / 3 * 3 + 1 + later * 3),
        "MONTH" => first(year, month + i64::from(!floor && day > 1)),
        "WEEK" => {
            let past = (julian + 1).rem_euclid(7);
            let past = if !floor && past > 0 { past - 7 } else { past };
            first(year, month) + day - 1 - past
        }
        "DAY" => first(year, month) + day - 1 + i64::from(!floor),
        _ => return None,
    })
}

/// Year, month and day of a Julian day number by the Julian calendar.
pub(super) fn julian_calendar(julian: i64) -> (i64, i64, i64) {
    let c = julian + 32_082;
    let d = (4 * c + 3).div_euclid(1_461);
    let e = c - (1_461 * d).div_euclid(4);
    let m = (5 * e + 2) / 153;
    (d - 4_800 + m / 10, m + 3 - 12 * (m / 10), e - (153 * m + 2) / 5 + 1)
}

/// Days since 1970-01-01 of a date of the Julian calendar.
pub(super) fn days_from_julian(year: i64, month: i64, day: i64) -> i64 {
    let a = (14 - month) / 12;
    let (y, m) = (year + 4_800 - a, month + 12 * a - 3);
    day + (153 * m + 2) / 5 + 365 * y + y.div_euclid(4) - 32_083 - EPOCH_JULIAN
}

/// As [`floor_date`] for milliseconds of a local clock. The day of a time before 1970 is cut toward zero, so it is the next
/// one; units below a day are right (`DateTimeUtils.timestampFloor`).
pub(super) fn floor_millis(unit: &str, millis: i64, floor: bool) -> Option<i64> {
    let size = match unit {
        "DAY" => DAY,
        "HOUR" => 3_600_000,
        "MINUTE" => 60_000,
        "SECOND" => 1_000,
        "MILLISECOND" => 1,
        _ => return floor_date(unit, millis / DAY, floor).map(|days| days * DAY),
    };
    Some(if floor { millis.div_euclid(size) * size } else { -(-millis).div_euclid(size) * size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logical::translate::datetime::{DateText, parse_date};

    fn moved(unit: &str, date: &str, floor: bool) -> Option<String> {
        floor_date(unit, parse_date(date)?, floor).map(|d| DateText(d).to_string())
    }

    #[test]
    fn dates_are_floored_and_ceiled_as_flink_does() {
        assert_eq!(moved("WEEK", "2024-05-15", true).as_deref(), Some("2024-05-12"));
        assert_eq!(moved("WEEK", "2024-05-15", false).as_deref(), Some("2024-05-19"));
        assert_eq!(moved("QUARTER", "2024-04-01", false).as_deref(), Some("2024-07-01"));
        assert_eq!(moved("QUARTER", "2024-01-01", false).as_deref(), Some("2024-01-01"));
        assert_eq!(moved("DAY", "0001-01-01", true).as_deref(), Some("0001-01-03"));
        assert_eq!(moved("MONTH", "2024-12-02", false).as_deref(), Some("2025-01-01"));
    }

    #[test]
    fn months_between_count_whole_ones() {
        let between = |a, b| Some(months_between(parse_date(a)?, parse_date(b)?));
        assert_eq!(between("2024-02-29", "2024-01-31"), Some(1));
        assert_eq!(between("2024-01-31", "2024-02-29"), Some(-1));
        assert_eq!(between("2024-02-28", "2020-02-29"), Some(47));
    }

    #[test]
    fn weeks_are_those_of_iso() {
        let week = |text| parse_date(text).and_then(|d| extract_from_date("WEEK", d));
        assert_eq!(week("2021-01-01"), Some(53));
        assert_eq!(week("2024-12-31"), Some(1));
        assert_eq!(week("1969-12-31"), Some(1));
    }
}
