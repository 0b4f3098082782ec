//! Text to values, as Flink's `BinaryStringDataUtil` and `DateTimeUtils` read it.

use crate::catalog::types::TypeKind;
use crate::eval::{Decimal, EvalError};
use crate::logical::translate::datetime::{DAY, days_from_civil, days_in_month};

fn invalid(text: &str, reason: &str) -> EvalError {
    EvalError::new(format!("For input string: '{text}'. {reason}"))
}

/// Java's `String.trim`: everything up to the blank goes.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

/// `t`, `true`, `y`, `yes`, `1` and their opposites, in any letter case, not trimmed.
pub(super) fn boolean(text: &str) -> Result<bool, EvalError> {
    match text.to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "1" => Ok(true),
        "f" | "false" | "n" | "no" | "0" => Ok(false),
        _ => Err(EvalError::new(format!("Cannot parse '{text}' as BOOLEAN."))),
    }
}

/// Digits, perhaps with a sign and a fraction that is left out. Blanks around it are trimmed.
pub(super) fn integer(text: &str, kind: &TypeKind) -> Result<i64, EvalError> {
    let trimmed = text.trim_matches(' ');
    if trimmed.is_empty() {
        return Err(invalid(text, "Input is empty."));
    }
    let character = || invalid(text, "Invalid character found.");
    let (negative, digits) = match trimmed.as_bytes()[0] {
        b'-' => (true, &trimmed[1..]),
        b'+' => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    if digits.is_empty() {
        return Err(invalid(text, "Input has only positive or negative symbol."));
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut value: i128 = 0;
    for b in whole.bytes().chain(fraction.bytes()) {
        if !b.is_ascii_digit() {
            return Err(character());
        }
    }
    for b in whole.bytes() {
        value = (value * 10 + i128::from(b - b'0')).min(1 << 64);
    }
    let value = if negative { -value } else { value };
    let value = i64::try_from(value).map_err(|_| invalid(text, "Overflow."))?;
    if super::wrap(value, kind) != value {
        return Err(invalid(text, "Overflow."));
    }
    Ok(value)
}

/// `Double.parseDouble`.
pub(super) fn floating(text: &str) -> Result<f64, EvalError> {
    java_double(text).ok_or_else(|| number_format(text))
}

/// `Float.parseFloat`.
pub(super) fn floating_f32(text: &str) -> Result<f32, EvalError> {
    java_float(text).ok_or_else(|| number_format(text))
}

/// What `Float.parseFloat` takes.
pub(in crate::eval) fn java_float(text: &str) -> Option<f32> {
    let value = java_double(text)?;
    let plain = trim(text).trim_end_matches(['d', 'D', 'f', 'F']);
    // Read as a FLOAT at once: by way of DOUBLE it would be rounded twice.
    Some(plain.parse().ok().filter(|_| value.is_finite()).unwrap_or(value as f32))
}

fn number_format(text: &str) -> EvalError {
    let trimmed = trim(text);
    EvalError::new(if trimmed.is_empty() {
        "empty String".to_owned()
    } else {
        format!("For input string: \"{trimmed}\"")
    })
}

/// Java's floating point literals: with a suffix, in hexadecimal, or by the names `NaN` and `Infinity`.
pub(in crate::eval) fn java_double(text: &str) -> Option<f64> {
    let text = trim(text);
    let (sign, size) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    match size {
        "NaN" => return Some(f64::NAN),
        "Infinity" => return Some(sign * f64::INFINITY),
        _ => {}
    }
    if let Some(hex) = size.strip_prefix("0x").or_else(|| size.strip_prefix("0X")) {
        return hexadecimal(hex).map(|v| sign * v);
    }
    let number = size.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(size);
    // Rust knows more names than Java.
    if !number.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-')) {
        return None;
    }
    number
        .starts_with(|c: char| c.is_ascii_digit() || c == '.')
        .then(|| number.parse::<f64>().ok())
        .flatten()
        .map(|v| sign * v)
}

/// `1.8p3` after `0x`.
fn hexadecimal(text: &str) -> Option<f64> {
    let text = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let exponent: i32 = exponent.parse().ok()?;
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    let mut value = 0.0;
    for c in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(c.to_digit(16)?);
    }
    Some(value * 2f64.powi(exponent - 4 * fraction.len() as i32))
}

/// A DECIMAL; too many digits are an error here, not NULL. Short texts for short DECIMALs go through a reader of Flink's own
/// that overlooks a last character that is none of a number (`BinaryStringDataUtil.toDecimal`).
pub(super) fn decimal(text: &str, precision: u8, scale: u8) -> Result<Decimal, EvalError> {
    let trimmed = trim(text);
    let parsed = if precision <= 18 && text.len() <= 18 { short_decimal(trimmed) } else { Decimal::parse(trimmed) };
    let value = parsed.ok_or_else(|| invalid(text, "Invalid character found."))?;
    value.fit(precision, scale).ok_or_else(|| invalid(text, "Overflow."))
}

fn short_decimal(text: &str) -> Option<Decimal> {
    if let Some(value) = Decimal::parse(text) {
        return Some(value);
    }
    let last = text.chars().last()?;
    if !last.is_ascii() || matches!(last, '+' | '-') {
        return None;
    }
    match &text[..text.len() - 1] {
        "" => Some(Decimal { unscaled: 0, scale: 0 }),
        rest => Decimal::parse(rest),
    }
}

fn digits(text: &str) -> Option<i64> {
    let text = trim(text);
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse::<i32>().ok().map(i64::from))
        .flatten()
}

/// `2024-1-3`, `2024-1` or `2024`; what follows a blank is left out (`DateTimeUtils.parseDate`).
pub(in crate::eval) fn date(text: &str) -> Option<i64> {
    let text = match text.find(' ') {
        Some(at) if at > 0 => &text[..at],
        _ => text,
    };
    let (year, rest) = match text.split_once('-') {
        Some((year, rest)) => (year, Some(rest)),
        None => (text, None),
    };
    let (month, day) = match rest.map(|r| r.split_once('-').unwrap_or((r, "1"))) {
        Some((month, day)) => (digits(month)?, digits(day)?),
        None => (1, 1),
    };
    let year = digits(year)?;
    let valid = (0..=9_999).contains(&year)
        && (1..=12).contains(&month)
        && day >= 1
        && day <= i64::from(days_in_month(year, month as u32));
    valid.then(|| days_from_civil(year, month as u32, day as u32))
}

/// `10`, `10:20`, `10:20:30.5`, with an offset that is added; fields may be of any size (`DateTimeUtils.parseTime`).
pub(super) fn time(text: &str) -> Option<i32> {
    let zone = text.find('-').map(|at| (at, -1)).or_else(|| text.find('+').map(|at| (at, 1)));
    let (end, sign) = zone.unwrap_or((text.len(), 0));
    let (zone_hours, zone_minutes) = match zone {
        Some((at, _)) => match text[at..].find(':') {
            Some(colon) => (digits(&text[at + 1..at + colon])?, digits(&text[at + colon + 1..])?),
            None => (digits(&text[at + 1..])?, 0),
        },
        None => (0, 0),
    };
    let (mut minute, mut second, mut milli) = (0, 0, 0);
    let hour = match text.find(':') {
        None => digits(&text[..end])?,
        Some(first) => {
            match text[first + 1..].find(':').map(|at| first + 1 + at) {
                None => minute = digits(text.get(first + 1..end)?)?,
                Some(colon) => {
                    minute = digits(&text[first + 1..colon])?;
                    match text[colon..].find('.').map(|at| colon + at) {
                        None => second = digits(text.get(colon + 1..end)?)?,
                        Some(dot) => {
                            second = digits(&text[colon + 1..dot])?;
                            let fraction = trim(text.get(dot + 1..end)?);
                            digits(fraction)?;
                            milli = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
                        }
                    }
                }
            }
            digits(&text[..first])?
        }
    };
    // Computed in 32 bits, where it wraps.
    let (hour, minute) = (hour + sign * zone_hours, minute + sign * zone_minutes);
    Some((hour * 3_600_000 + minute * 60_000 + second * 1_000 + milli) as i32)
}

/// `yyyy-[MM][M]-[dd][d]` with an optional ` [HH][H]:[mm][m]:[ss][s]` and fraction, as a smart `DateTimeFormatter` resolves
/// it: the 31st of a short month is its last day, and 24:00 the next one. Milliseconds and nanoseconds of the millisecond.
pub(in crate::eval) fn parse_timestamp(text: &str) -> Option<(i64, u32)> {
    let (date, time) = match text.split_once(' ') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let field =
        |text: &str| (matches!(text.len(), 1 | 2)).then(|| digits(text)).flatten().filter(|_| !text.contains(' '));
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, field(parts.next()?)?, field(parts.next()?)?);
    let year = year.strip_prefix('+').filter(|y| y.len() > 4).unwrap_or(year);
    if parts.next().is_some() || year.len() < 4 || (year.len() > 4 && !date.starts_with('+')) {
        return None;
    }
    let year = year.bytes().all(|b| b.is_ascii_digit()).then(|| year.parse::<i64>().ok()).flatten()?;
    if !(1..=999_999_999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let day = (day as u32).min(days_in_month(year, month as u32));
    let midnight = days_from_civil(year, month as u32, day) * DAY;
    let Some(time) = time else { return Some((midnight, 0)) };
    let mut parts = time.splitn(3, ':');
    let (hour, minute, second) = (field(parts.next()?)?, field(parts.next()?)?, parts.next()?);
    let (second, fraction) = second.split_once('.').unwrap_or((second, ""));
    let second = field(second)?;
    if fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) || minute > 59 || second > 59 {
        return None;
    }
    let nanos: u32 = format!("{fraction:0<9}").parse().ok()?;
    if hour > 24 || (hour == 24 && (minute, second, nanos) != (0, 0, 0)) {
        return None;
    }
    let millis = hour * 3_600_000 + minute * 60_000 + second * 1_000 + i64::from(nanos / 1_000_000);
    Some((midnight + millis, nanos % 1_000_000))
}
