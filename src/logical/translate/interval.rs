//! Interval literals, after Calcite's `SqlIntervalQualifier`: every form, each field with its limits.

use crate::catalog::types::IntervalUnits;
use crate::logical::rex::Value;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::IntervalLiteral;

/// The digits of the first field if no precision is written.
const DEFAULT_PRECISION: u32 = 2;
/// The most that may be written.
pub(super) const MAX_PRECISION: u32 = 10;
/// The digits of a second's fraction if no precision is written, and the most that may be.
const DEFAULT_FRACTION: u32 = 6;
const MAX_FRACTION: u32 = 9;

/// Milliseconds or months of an interval literal, and its units.
pub fn parse_interval(literal: &IntervalLiteral, span: Span) -> PlanResult<(Value, IntervalUnits)> {
    let words = match &literal.to {
        Some(to) => format!("{} TO {to}", literal.unit),
        None => literal.unit.clone(),
    };
    let Some(units) = IntervalUnits::from_words(&words) else {
        return Err(unknown_unit(&words, span));
    };
    let text = literal.value.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text).trim_start()),
    };
    let sign = if negative != literal.negative { -1 } else { 1 };
    let illegal = || -> Box<PlanError> {
        PlanError::rejected(span, format!("Illegal interval literal format '{}' for INTERVAL {words}", literal.value))
            .label("cannot be read")
            .help(format!("write it like INTERVAL {}", example(units)))
            .into()
    };
    let precision = literal.precision.unwrap_or(DEFAULT_PRECISION);
    let out_of_range = |what: &str, digits: u32, most: u32| -> Box<PlanError> {
        PlanError::rejected(span, format!("Interval {what} precision '{digits}' out of range for INTERVAL {words}"))
            .label(format!("{digits} digits"))
            .help(format!("write a number from 1 to {most}"))
            .into()
    };
    if !(1..=MAX_PRECISION).contains(&precision) {
        return Err(out_of_range("leading field", precision, MAX_PRECISION));
    }
    let fraction = literal.fraction.unwrap_or(DEFAULT_FRACTION);
    if !(1..=MAX_FRACTION).contains(&fraction) {
        return Err(out_of_range("fractional second", fraction, MAX_FRACTION));
    }
    let fields = split(digits, units, fraction as usize).ok_or_else(illegal)?;
    let mut total: i64 = 0;
    for (i, field) in fields.iter().enumerate() {
        if i == 0 {
            // Ten digits are as many as an INT has, and no more.
            let limit = 10_i64.saturating_pow(precision).min(1 << 31);
            if field.value >= limit {
                return Err(too_large(literal, field.value, precision, span));
            }
        } else if field.value > field.limit {
            return Err(illegal());
        }
        let part = field.value.checked_mul(field.scale).and_then(|p| p.checked_add(field.millis));
        total = part.and_then(|p| total.checked_add(p)).ok_or_else(illegal)?;
    }
    let total = sign * total;
    Ok((if units.is_year_month() { Value::Months(total) } else { Value::Millis(total) }, units))
}

/// One number of an interval.
struct IntervalField {
    value: i64,
    /// The largest value of a field that is not the first.
    limit: i64,
    /// Milliseconds or months of one.
    scale: i64,
    /// Milliseconds of the fraction (SECOND only).
    millis: i64,
}

/// What a unit is worth and how large it may be behind another.
fn unit(word: &str) -> (i64, i64) {
    match word {
        "YEAR" => (12, i64::MAX),
        "MONTH" => (1, 11),
        "DAY" => (86_400_000, i64::MAX),
        "HOUR" => (3_600_000, 23),
        "MINUTE" => (60_000, 59),
        _ => (1_000, 59),
    }
}

fn split(text: &str, units: IntervalUnits, most: usize) -> Option<Vec<IntervalField>> {
    const ORDER: [&str; 6] = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"];
    let (first, last) = units.name().split_once(" TO ").unwrap_or((units.name(), units.name()));
    let from = ORDER.iter().position(|u| *u == first)?;
    let to = ORDER.iter().position(|u| *u == last)?;
    let mut rest = text;
    let mut fields = Vec::with_capacity(to - from + 1);
    for word in &ORDER[from..=to] {
        let is_last = *word == last;
        let part = if is_last {
            std::mem::take(&mut rest)
        } else {
            let separator = match *word {
                "YEAR" => '-',
                "DAY" => ' ',
                _ => ':',
            };
            let (part, tail) = rest.split_once(separator)?;
            rest = tail.trim_start();
            part
        };
        let (digits, fraction) = match part.split_once('.') {
            Some((digits, fraction)) if *word == "SECOND" => (digits, fraction),
            Some(_) => return None,
            None => (part, ""),
        };
        let all_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        let fraction_only = digits.is_empty() && !fraction.is_empty();
        if (digits.is_empty() && !fraction_only)
            || !all_digits(digits)
            || !all_digits(fraction)
            || fraction.len() > most
        {
            return None;
        }
        let value = if fraction_only { 0 } else { digits.parse().ok()? };
        let millis = if fraction.is_empty() { 0 } else { format!("{fraction:0<3}")[..3].parse().ok()? };
        let (scale, limit) = unit(word);
        fields.push(IntervalField { value, limit, scale, millis });
    }
    Some(fields)
}

fn example(units: IntervalUnits) -> &'static str {
    match units {
        IntervalUnits::YearToMonth => "'1-2' YEAR TO MONTH",
        IntervalUnits::DayToHour => "'1 02' DAY TO HOUR",
        IntervalUnits::DayToMinute => "'1 02:03' DAY TO MINUTE",
        IntervalUnits::DayToSecond => "'1 02:03:04' DAY TO SECOND",
        IntervalUnits::HourToMinute => "'02:03' HOUR TO MINUTE",
        IntervalUnits::HourToSecond => "'02:03:04' HOUR TO SECOND",
        IntervalUnits::MinuteToSecond => "'03:04' MINUTE TO SECOND",
        IntervalUnits::Year => "'1' YEAR",
        IntervalUnits::Month => "'1' MONTH",
        IntervalUnits::Day => "'1' DAY",
        IntervalUnits::Hour => "'1' HOUR",
        IntervalUnits::Minute => "'1' MINUTE",
        IntervalUnits::Second => "'1' SECOND",
    }
}

fn too_large(literal: &IntervalLiteral, value: i64, precision: u32, span: Span) -> Box<PlanError> {
    let unit = &literal.unit;
    let needed = value.to_string().len();
    PlanError::rejected(span, format!("Interval field value {value} exceeds precision of {unit}({precision}) field"))
        .label(format!("a {unit} field has {precision} digits unless more are written"))
        .help(format!("write {unit}({needed}), or a larger unit"))
        .into()
}

fn unknown_unit(words: &str, span: Span) -> Box<PlanError> {
    PlanError::rejected(span, format!("INTERVAL {words} is no interval of Flink 1.20"))
        .label("unknown units")
        .help("use YEAR, MONTH, DAY, HOUR, MINUTE or SECOND: a week is INTERVAL '7' DAY")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: &str, unit: &str, precision: Option<u32>, to: Option<&str>) -> Result<Value, String> {
        let literal = IntervalLiteral {
            value: value.to_owned(),
            negative: false,
            unit: unit.to_owned(),
            precision,
            to: to.map(str::to_owned),
            fraction: None,
        };
        parse_interval(&literal, Span::default()).map(|(v, _)| v).map_err(|e| e.message)
    }

    #[test]
    fn by_value() {
        assert_eq!(parse("1", "MINUTE", None, None), parse("60", "SECOND", None, None));
        assert_eq!(parse("0.5", "SECOND", None, None), Ok(Value::Millis(500)));
        assert_eq!(parse("0.001", "SECOND", None, None), Ok(Value::Millis(1)));
        assert_eq!(parse("1 02:03", "DAY", None, Some("MINUTE")), Ok(Value::Millis(93_780_000)));
        assert_eq!(parse("1 02:03:04.567", "DAY", None, Some("SECOND")), Ok(Value::Millis(93_784_567)));
        assert_eq!(parse("2-10", "YEAR", None, Some("MONTH")), Ok(Value::Months(34)));
        assert_eq!(parse("100", "DAY", Some(3), None), Ok(Value::Millis(8_640_000_000)));
        assert_eq!(parse("-8", "HOUR", None, None), Ok(Value::Millis(-28_800_000)));
        assert_eq!(parse("25:00", "HOUR", None, Some("MINUTE")), Ok(Value::Millis(90_000_000)));
        assert_eq!(parse("14", "MONTH", None, None), Ok(Value::Months(14)));
    }

    #[test]
    fn refused_as_flink_refuses() {
        assert_eq!(
            parse("120", "SECOND", None, None),
            Err("Interval field value 120 exceeds precision of SECOND(2) field".to_owned())
        );
        assert!(parse("1000", "SECOND", Some(3), None).is_err());
        assert!(parse("1:70", "HOUR", None, Some("MINUTE")).is_err());
        assert!(parse("x", "DAY", None, None).is_err());
        assert!(parse("", "DAY", None, None).is_err());
        assert!(parse("1", "WEEK", None, None).is_err());
        for precision in [0, 11] {
            let message = format!("Interval leading field precision '{precision}' out of range for INTERVAL DAY");
            assert_eq!(parse("1", "DAY", Some(precision), None), Err(message));
        }
        assert!(parse("1.1234567", "SECOND", None, None).is_err());
        assert!(parse("2147483647", "SECOND", Some(10), None).is_ok());
        assert!(parse("2147483648", "SECOND", Some(10), None).is_err());
    }
}
