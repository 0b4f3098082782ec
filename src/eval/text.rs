//! Values as text: what Flink prints of a row, and cells of CSV files.

use jiff::tz::TimeZone;

use super::cast::cut_down;
use super::java_number::{double_text, float_text};
use super::{Datum, Decimal, zone};
use crate::catalog::session_zone;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::translate::datetime::{DAY, civil_from_days, parse_date, parse_iso_timestamp, parse_time};

/// A cell that is no value of its column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {}, found {}", written(expected), short(found))]
pub struct BadCell {
    /// The type of the column, or of the part of it that is wrong.
    pub expected: DataType,
    /// What stands there.
    pub found: String,
}

impl BadCell {
    /// `found` where a value of type `expected` should be.
    pub fn new(expected: &DataType, found: impl Into<String>) -> BadCell {
        BadCell { expected: expected.clone(), found: found.into() }
    }
}

/// A type as people write it.
fn written(ty: &DataType) -> String {
    ty.to_string().replace("VARCHAR(2147483647)", "STRING").replace("VARBINARY(2147483647)", "BYTES")
}

/// What stands in a cell, cut where it is long.
fn short(found: &str) -> String {
    match found.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &found[..end]),
        None => found.to_owned(),
    }
}

/// What bytes and collections look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As `CAST(... AS STRING)` gives it: bytes are UTF-8.
    Cast,
    /// As a result is shown: bytes are hex digits.
    Shown,
}

/// A value as Flink shows it in results (`RowDataToStringConverter`). TIMESTAMP_LTZ is in `zone`.
pub fn print(value: &Datum, ty: &DataType, zone: &TimeZone) -> String {
    let mut out = String::new();
    append(&mut out, value, ty, zone);
    out
}

/// Appends what [`print()`] gives.
pub fn append(out: &mut String, value: &Datum, ty: &DataType, zone: &TimeZone) {
    write(out, value, &ty.kind, zone, Style::Shown);
}

/// Appends the text of a value.
pub(super) fn write(out: &mut String, value: &Datum, kind: &TypeKind, zone: &TimeZone, style: Style) {
    let mut list =
        |open: &str, items: &mut dyn Iterator<Item = (&Datum, Option<(&Datum, &TypeKind)>, &TypeKind)>, close| {
            out.push_str(open);
            for (i, (item, entry, kind)) in items.enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write(out, item, kind, zone, style);
                if let Some((value, kind)) = entry {
                    out.push('=');
                    write(out, value, kind, zone, style);
                }
            }
            out.push_str(close);
        };
    match (value, kind) {
        (Datum::Array(items), TypeKind::Array(of)) => {
            list("[", &mut items.iter().map(|i| (i, None, &of.kind)), "]");
        }
        (Datum::Map(entries), TypeKind::Map(key, of)) => {
            list("{", &mut entries.iter().map(|(k, v)| (k, Some((v, &of.kind)), &key.kind)), "}");
        }
        (Datum::Map(entries), TypeKind::Multiset(of)) => {
            list("{", &mut entries.iter().map(|(k, n)| (k, Some((n, &TypeKind::Int)), &of.kind)), "}");
        }
        (Datum::Row(row), TypeKind::Row(fields)) => {
            list("(", &mut row.iter().zip(fields.iter()).map(|(v, f)| (v, None, &f.ty.kind)), ")");
        }
        (Datum::Null, _) => out.push_str("NULL"),
        (Datum::Boolean(b), _) => out.push_str(if *b { "TRUE" } else { "FALSE" }),
        (Datum::Int(i), _) => push_integer(out, *i),
        (Datum::Float(f), _) => out.push_str(&float_text(*f)),
        (Datum::Double(d), _) => out.push_str(&double_text(*d)),
        (Datum::Decimal { .. }, _) => {
            if let Some(d) = value.as_decimal() {
                out.push_str(&d.to_string());
            }
        }
        (Datum::String(s), _) => out.push_str(s),
        (Datum::Bytes(bytes), _) if style == Style::Cast => out.push_str(&String::from_utf8_lossy(bytes)),
        (Datum::Bytes(bytes), _) => {
            out.push_str("x'");
            bytes.iter().for_each(|b| out.push_str(&format!("{b:02x}")));
            out.push('\'');
        }
        (Datum::Date(days), _) => write_date(out, i64::from(*days)),
        (Datum::Time(millis), _) => {
            write_time(out, i64::from(*millis), if let TypeKind::Time(p) = kind { *p } else { 0 })
        }
        (Datum::Timestamp { millis, nanos }, TypeKind::TimestampLtz(p, _)) => {
            write_timestamp(out, zone::to_local(*millis, zone), *nanos, *p);
        }
        (Datum::Timestamp { millis, nanos }, _) => {
            write_timestamp(out, *millis, *nanos, if let TypeKind::Timestamp(p, _) = kind { *p } else { 3 });
        }
        (Datum::Months(n), _) => {
            let (sign, n) = (if *n < 0 { '-' } else { '+' }, n.unsigned_abs());
            out.push_str(&format!("{sign}{}-{:02}", n / 12, n % 12));
        }
        (Datum::Millis(n), _) => {
            let (sign, n) = (if *n < 0 { '-' } else { '+' }, n.unsigned_abs());
            let (day, hour, minute) = (n / 86_400_000, n / 3_600_000 % 24, n / 60_000 % 60);
            out.push_str(&format!("{sign}{day} {hour:02}:{minute:02}:{:02}.{:03}", n / 1_000 % 60, n % 1_000));
        }
        // Values of types that are not known print by what they are.
        (Datum::Array(items), _) => list("[", &mut items.iter().map(|i| (i, None, &TypeKind::Unknown)), "]"),
        (Datum::Map(entries), _) => {
            list("{", &mut entries.iter().map(|(k, v)| (k, Some((v, &TypeKind::Unknown)), &TypeKind::Unknown)), "}");
        }
        (Datum::Row(row), _) => list("(", &mut row.iter().map(|v| (v, None, &TypeKind::Unknown)), ")"),
    }
}

/// Appends an integer. The formatting machinery would take several times as long, and output is mostly numbers.
fn push_integer(out: &mut String, value: i64) {
    if value < 0 {
        out.push('-');
    }
    let mut rest = value.unsigned_abs();
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] += (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    push_ascii(out, &digits[start..]);
}

/// A number below 100 as two digits.
fn two(value: i64) -> [u8; 2] {
    [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]
}

/// A number below 1,000,000,000 as nine digits.
fn nine(value: i64) -> [u8; 9] {
    let (mut rest, mut digits) = (value as u32, [b'0'; 9]);
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    digits
}

fn push_ascii(out: &mut String, ascii: &[u8]) {
    out.push_str(std::str::from_utf8(ascii).unwrap_or_default());
}

/// `2025-01-01`. A year has four digits; of others the last four show (`DateTimeUtils.int4`).
fn date(days: i64) -> [u8; 10] {
    let (year, month, day) = civil_from_days(days);
    // Java's remainder keeps the sign, so years before 0 print characters below the digits.
    let [y1, y2, y3, y4] = [1_000, 100, 10, 1].map(|unit| (i64::from(b'0') + year / unit % 10) as u8);
    let ([m1, m2], [d1, d2]) = (two(month.into()), two(day.into()));
    [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2]
}

fn write_date(out: &mut String, days: i64) {
    push_ascii(out, &date(days));
}

/// `10:20:30`
fn time_of_day(millis: i64) -> [u8; 8] {
    let ([h1, h2], [m1, m2], [s1, s2]) = (two(millis / 3_600_000), two(millis / 60_000 % 60), two(millis / 1_000 % 60));
    [h1, h2, b':', m1, m2, b':', s1, s2]
}

/// `10:20:30`, with a fraction if the type has one.
fn write_time(out: &mut String, millis: i64, precision: u8) {
    if !(0..100 * 3_600_000).contains(&millis) {
        // Not a time of day: arithmetic gives such values, and they print as long as they are.
        out.push_str(&format!("{:02}:{:02}:{:02}", millis / 3_600_000, millis / 60_000 % 60, millis / 1_000 % 60));
        if precision > 0 {
            let digits = format!("{:03}", millis % 1_000);
            let digits = digits.get(..usize::from(precision.min(3))).unwrap_or(&digits).trim_end_matches('0');
            out.push('.');
            out.push_str(if digits.is_empty() { "0" } else { digits });
        }
        return;
    }
    push_ascii(out, &time_of_day(millis));
    if precision > 0 {
        let fraction = nine(millis % 1_000 * 1_000_000);
        let shown = trimmed_zeros(&fraction[..usize::from(precision.min(3))]);
        out.push('.');
        push_ascii(out, if shown.is_empty() { b"0" } else { shown });
    }
}

/// At least as many digits of the fraction as the type has, more if they are not zero (`DateTimeUtils.formatTimestamp`).
pub(super) fn write_timestamp(out: &mut String, millis: i64, nanos: u32, precision: u8) {
    // `2025-01-01 10:20:30.123456789`, in one piece: every result of a window has such values.
    let mut text = *b"0000-00-00 00:00:00.000000000";
    let rest = millis.rem_euclid(DAY);
    text[..10].copy_from_slice(&date(millis.div_euclid(DAY)));
    text[11..19].copy_from_slice(&time_of_day(rest));
    text[20..].copy_from_slice(&nine(rest % 1_000 * 1_000_000 + i64::from(nanos)));
    let digits = trimmed_zeros(&text[20..]).len().max(usize::from(precision.min(9)));
    push_ascii(out, if digits > 0 { &text[..20 + digits] } else { &text[..19] });
}

fn trimmed_zeros(digits: &[u8]) -> &[u8] {
    let end = digits.iter().rposition(|d| *d != b'0').map_or(0, |last| last + 1);
    &digits[..end]
}

/// The value of a cell of a text file. An empty cell is an empty text, and NULL for every other type. Timestamps that end in
/// `Z` are UTC, others with local time zone are in `zone`.
pub fn read(text: &str, ty: &DataType, zone: &TimeZone) -> Result<Datum, BadCell> {
    let trimmed = trim(text);
    if trimmed.is_empty() && !ty.is_character() && !ty.is_binary() {
        return Ok(Datum::Null);
    }
    match &ty.kind {
        TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Multiset(_) | TypeKind::Row(_) => {
            let cell: serde_json::Value =
                serde_json::from_str(trimmed).map_err(|_| BadCell::new(ty, format!("`{text}`")))?;
            super::json::read(&cell, ty, zone)
        }
        _ => scalar(text, ty, zone).ok_or_else(|| BadCell::new(ty, format!("`{text}`"))),
    }
}

/// Text without the white space around it. Cells seldom have any, and two bytes tell.
fn trim(text: &str) -> &str {
    match text.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => text,
        _ => text.trim(),
    }
}

/// A value of a type without parts.
pub(super) fn scalar(text: &str, ty: &DataType, zone: &TimeZone) -> Option<Datum> {
    let trimmed = trim(text);
    let integer = |least: i64, most: i64| {
        let n = trimmed.parse().ok()?;
        (least..=most).contains(&n).then_some(Datum::Int(n))
    };
    match &ty.kind {
        TypeKind::Boolean => match () {
            () if trimmed.eq_ignore_ascii_case("true") => Some(Datum::Boolean(true)),
            () if trimmed.eq_ignore_ascii_case("false") => Some(Datum::Boolean(false)),
            () => None,
        },
        TypeKind::TinyInt => integer(i8::MIN.into(), i8::MAX.into()),
        TypeKind::SmallInt => integer(i16::MIN.into(), i16::MAX.into()),
        TypeKind::Int => integer(i32::MIN.into(), i32::MAX.into()),
        TypeKind::BigInt => integer(i64::MIN, i64::MAX),
        TypeKind::Float => super::cast::java_float(trimmed).map(Datum::Float),
        TypeKind::Double => super::cast::java_double(trimmed).map(Datum::Double),
        TypeKind::Decimal(p, s) => Decimal::parse(trimmed)?.fit(*p, *s).map(Datum::from),
        TypeKind::Char(n) => Some(Datum::string(super::cast::fit_text(text, *n as usize, true).into_owned())),
        TypeKind::VarChar(_) => Some(Datum::string(text)),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            let digits = trimmed.strip_prefix("x'").and_then(|t| t.strip_suffix('\'')).unwrap_or(trimmed);
            bytes(digits).map(|b| Datum::Bytes(b.into()))
        }
        TypeKind::Date => parse_date(trimmed).and_then(|d| i32::try_from(d).ok()).map(Datum::Date),
        TypeKind::Time(_) => parse_time(trimmed).map(|(millis, ..)| Datum::Time(millis as i32)),
        TypeKind::Timestamp(p, _) => {
            let (millis, nanos, _) = parse_iso_timestamp(trimmed.strip_suffix('Z').unwrap_or(trimmed))?;
            Some(cut_down(millis, nanos, *p))
        }
        TypeKind::TimestampLtz(p, _) => {
            let (clock, written) = split_zone(trimmed)?;
            let (millis, nanos, _) = parse_iso_timestamp(clock)?;
            Some(cut_down(zone::to_instant(millis, written.as_ref().unwrap_or(zone)), nanos, *p))
        }
        TypeKind::IntervalYearMonth(_) => trimmed.parse().ok().map(Datum::Months),
        TypeKind::IntervalDayTime(_) => trimmed.parse().ok().map(Datum::Millis),
        // A column whose type is not known holds what is written.
        TypeKind::Unknown | TypeKind::Other(_) => Some(Datum::string(text)),
        TypeKind::Null | TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Multiset(_) | TypeKind::Row(_) => None,
    }
}

/// A timestamp without the zone that it ends in, and that zone: `Z`, an offset such as `+01:00` or `+0100`, or a name such as
/// ` Europe/Berlin`. None if it ends in what is no zone.
fn split_zone(text: &str) -> Option<(&str, Option<TimeZone>)> {
    if let Some(clock) = text.strip_suffix('Z') {
        return Some((clock, Some(TimeZone::UTC)));
    }
    if let Some((clock, name)) = text.rsplit_once(' ').filter(|(_, last)| last.starts_with(|c: char| c.is_alphabetic()))
    {
        return Some((clock.trim_end(), Some(session_zone(name)?)));
    }
    // The date has dashes too, so an offset is looked for behind the time.
    let time = text.find(':').unwrap_or(text.len());
    match text[time..].find(['+', '-']) {
        Some(sign) => {
            let (clock, offset) = text.split_at(time + sign);
            Some((clock.trim_end(), Some(session_zone(&format!("GMT{offset}"))?)))
        }
        None => Some((text, None)),
    }
}

/// Bytes of hex digits.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    if !digits.is_ascii() || !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
    digits.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::types::TimeAttribute;

    #[test]
    fn timestamps_with_a_zone_are_instants_and_no_finer_than_their_type() {
        let read_as = |text: &str, kind: TypeKind| {
            let ty = kind.nullable();
            let value = read(text, &ty, &TimeZone::UTC).ok()?;
            Some(print(&value, &ty, &TimeZone::UTC))
        };
        let ltz = |text: &str| read_as(text, TypeKind::TimestampLtz(3, TimeAttribute::default()));
        for text in [
            "2026-03-29 01:30:00.1239Z",
            "2026-03-29T02:30:00.1239+01:00",
            "2026-03-29 02:30:00.1239+0100",
            "2026-03-28 20:30:00.123 -05",
            "2026-03-29 09:30:00.123 Asia/Shanghai",
        ] {
            assert_eq!(ltz(text).as_deref(), Some("2026-03-29 01:30:00.123"), "{text}");
        }
        for text in ["2026-03-29 02:30:00+99:00", "2026-03-29 02:30:00 Mars", "2026-03-29 02:30:00+"] {
            assert_eq!(ltz(text), None, "{text}");
        }
        let plain = |text: &str| read_as(text, TypeKind::Timestamp(0, TimeAttribute::default()));
        assert_eq!(plain("2026-03-29 01:30:00.9").as_deref(), Some("2026-03-29 01:30:00"));
        assert_eq!(plain("2026-03-29T02:30:00+01:00"), None, "a TIMESTAMP has no zone");
    }

    #[test]
    fn bad_cells_name_types_as_people_do_and_are_cut() {
        let bad = BadCell::new(&TypeKind::Array(TypeKind::string().nullable().into()).nullable(), "x".repeat(1_000));
        assert_eq!(bad.to_string(), format!("expected ARRAY<STRING>, found {}...", "x".repeat(80)));
    }

    #[test]
    fn floating_point_numbers_are_read_as_java_reads_them() {
        let double = |text: &str| read(text, &TypeKind::Double.nullable(), &TimeZone::UTC).ok();
        let float = |text: &str| read(text, &TypeKind::Float.nullable(), &TimeZone::UTC).ok();
        for text in ["NaN", "-NaN", "+NaN"] {
            assert_eq!(double(text), Some(Datum::Double(f64::NAN)), "{text}");
            assert_eq!(float(text), Some(Datum::Float(f32::NAN)), "{text}");
        }
        assert_eq!(double("-Infinity"), Some(Datum::Double(f64::NEG_INFINITY)));
        assert_eq!(double("1e309"), Some(Datum::Double(f64::INFINITY)));
        assert_eq!(double("-0.0"), Some(Datum::Double(-0.0)));
        assert_eq!(float("0.1"), Some(Datum::Float(0.1)));
        for text in ["nan", "inf", "infinity", "-inf", "INF", "1_0", "e5"] {
            assert_eq!((double(text), float(text)), (None, None), "{text}");
        }
    }
}
