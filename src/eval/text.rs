//! Values as text: what Flink prints of a row, and cells of CSV files.

use jiff::tz::TimeZone;

use super::java_number::{double_text, float_text};
use super::{Datum, Decimal, zone};
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::translate::datetime::{DAY, civil_from_days, parse_date, parse_time, parse_timestamp};

/// A cell that is no value of its column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
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
    write(&mut out, value, &ty.kind, zone, Style::Shown);
    out
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
        (Datum::Int(i), _) => out.push_str(&i.to_string()),
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

/// A year of four digits; of others the last four (`DateTimeUtils.int4`).
fn write_date(out: &mut String, days: i64) {
    let (year, month, day) = civil_from_days(days);
    // Java's remainder keeps the sign, so years before 0 print characters below the digits.
    for unit in [1_000, 100, 10, 1] {
        out.push((i64::from(b'0') + year / unit % 10) as u8 as char);
    }
    out.push_str(&format!("-{month:02}-{day:02}"));
}

/// `10:20:30`, with a fraction if the type has one.
fn write_time(out: &mut String, millis: i64, precision: u8) {
    out.push_str(&format!("{:02}:{:02}:{:02}", millis / 3_600_000, millis / 60_000 % 60, millis / 1_000 % 60));
    if precision > 0 {
        let digits = format!("{:03}", millis % 1_000);
        let digits = digits.get(..usize::from(precision.min(3))).unwrap_or(&digits).trim_end_matches('0');
        out.push('.');
        out.push_str(if digits.is_empty() { "0" } else { digits });
    }
}

/// At least as many digits of the fraction as the type has, more if they are not zero (`DateTimeUtils.formatTimestamp`).
pub(super) fn write_timestamp(out: &mut String, millis: i64, nanos: u32, precision: u8) {
    write_date(out, millis.div_euclid(DAY));
    out.push(' ');
    let rest = millis.rem_euclid(DAY);
    write_time(out, rest, 0);
    let fraction = format!("{:09}", rest % 1_000 * 1_000_000 + i64::from(nanos));
    let least = usize::from(precision.min(9));
    let digits = fraction.trim_end_matches('0').len().max(least);
    if digits > 0 {
        out.push('.');
        out.push_str(&fraction[..digits]);
    }
}

/// The value of a cell of a text file. An empty cell is an empty text, and NULL for every other type. Timestamps that end in
/// `Z` are UTC, others with local time zone are in `zone`.
pub fn read(text: &str, ty: &DataType, zone: &TimeZone) -> Result<Datum, BadCell> {
    let trimmed = text.trim();
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

/// A value of a type without parts.
pub(super) fn scalar(text: &str, ty: &DataType, zone: &TimeZone) -> Option<Datum> {
    let trimmed = text.trim();
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
        TypeKind::Float => trimmed.parse().ok().map(Datum::Float),
        TypeKind::Double => trimmed.parse().ok().map(Datum::Double),
        TypeKind::Decimal(p, s) => Decimal::parse(trimmed)?.fit(*p, *s).map(Datum::from),
        TypeKind::Char(n) => Some(Datum::string(super::cast::fit_text(text, *n as usize, true).into_owned())),
        TypeKind::VarChar(_) => Some(Datum::string(text)),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            let digits = trimmed.strip_prefix("x'").and_then(|t| t.strip_suffix('\'')).unwrap_or(trimmed);
            bytes(digits).map(|b| Datum::Bytes(b.into()))
        }
        TypeKind::Date => parse_date(trimmed).and_then(|d| i32::try_from(d).ok()).map(Datum::Date),
        TypeKind::Time(_) => parse_time(trimmed).map(|(millis, ..)| Datum::Time(millis as i32)),
        TypeKind::Timestamp(..) | TypeKind::TimestampLtz(..) => {
            let utc = trimmed.strip_suffix('Z');
            let (millis, nanos, _) = parse_timestamp(&utc.unwrap_or(trimmed).replacen('T', " ", 1))?;
            let local = utc.is_none() && matches!(ty.kind, TypeKind::TimestampLtz(..));
            Some(Datum::Timestamp { millis: if local { zone::to_instant(millis, zone) } else { millis }, nanos })
        }
        TypeKind::IntervalYearMonth(_) => trimmed.parse().ok().map(Datum::Months),
        TypeKind::IntervalDayTime(_) => trimmed.parse().ok().map(Datum::Millis),
        // A column whose type is not known holds what is written.
        TypeKind::Unknown | TypeKind::Other(_) => Some(Datum::string(text)),
        TypeKind::Null | TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Multiset(_) | TypeKind::Row(_) => None,
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
