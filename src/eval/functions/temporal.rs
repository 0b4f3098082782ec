//! Functions of dates, times and timestamps.

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::{Body, Call};
use crate::catalog::types::{DataType, TypeKind};
use crate::catalog::value::Value;
use crate::eval::calendar::{add_months, add_months_to_millis, extract_from_date, floor_date, floor_millis};
use crate::eval::format::formatter::DateTimeFormatter;
use crate::eval::format::simple::SimpleDateFormat;
use crate::eval::{Datum, EvalError, Evaluator, cast, zone};
use crate::logical::translate::datetime::{DAY, days_from_civil};

/// What a text without a date gives as an instant.
const UNPARSED: i64 = i64::MIN;
/// The pattern where none is given.
const PATTERN: &str = "yyyy-MM-dd HH:mm:ss";

/// True for functions that give the processing time or part of it.
pub(super) fn reads_clock(name: &str) -> bool {
    matches!(
        name,
        "LOCALTIME"
            | "LOCALTIMESTAMP"
            | "CURRENT_TIME"
            | "CURRENT_DATE"
            | "CURRENT_TIMESTAMP"
            | "NOW"
            | "CURRENT_ROW_TIMESTAMP"
            | "PROCTIME"
            | "PROCTIME_MATERIALIZE"
            | "UNIX_TIMESTAMP"
    )
}

pub(super) fn clock(call: &Call<'_>) -> Option<Evaluator> {
    let zone = call.session.zone.clone();
    Some(match call.name {
        "CURRENT_DATE" => {
            Evaluator::computed(move |_, now| Ok(Datum::Date(zone::to_local(now, &zone).div_euclid(DAY) as i32)))
        }
        "LOCALTIME" | "CURRENT_TIME" => {
            Evaluator::computed(move |_, now| Ok(Datum::Time(zone::to_local(now, &zone).rem_euclid(DAY) as i32)))
        }
        "LOCALTIMESTAMP" => Evaluator::computed(move |_, now| Ok(Datum::timestamp(zone::to_local(now, &zone)))),
        "UNIX_TIMESTAMP" => Evaluator::computed(|_, now| Ok(Datum::Int(now.div_euclid(1_000)))),
        _ => Evaluator::computed(|_, now| Ok(Datum::timestamp(now))),
    })
}

pub(super) fn find(call: &Call<'_>) -> Option<Body> {
    match call.name {
        "EXTRACT" => extract(call),
        "FLOOR" | "CEIL" if call.args.len() == 2 => floor(call),
        "OVERLAPS" => Some(Arc::new(overlaps)),
        "TO_TIMESTAMP_LTZ" => Some(Arc::new(|args| Ok(to_timestamp_ltz(args)))),
        "TO_TIMESTAMP" => to_timestamp(call),
        "TO_DATE" => to_date(call),
        "DATE_FORMAT" => date_format(call),
        "FROM_UNIXTIME" => {
            let (zone, formats) = (call.session.zone.clone(), Formats::of(call, 1));
            Some(Arc::new(move |args| match (&args[0], formats.simple(args)?) {
                (Datum::Int(seconds), Some(format)) => {
                    format.format(seconds.wrapping_mul(1_000), &zone).map(Datum::string)
                }
                _ => Ok(Datum::Null),
            }))
        }
        "UNIX_TIMESTAMP" => {
            let (zone, formats) = (call.session.zone.clone(), Formats::of(call, 1));
            Some(Arc::new(move |args| match (args[0].as_str(), formats.simple(args)?) {
                (Some(text), Some(format)) => {
                    Ok(Datum::Int(format.parse(text, &zone).map_or(UNPARSED, |ms| ms / 1_000)))
                }
                _ => Ok(Datum::Null),
            }))
        }
        "CONVERT_TZ" => {
            let format = SimpleDateFormat::new(PATTERN).ok()?;
            Some(Arc::new(move |args| match (args[0].as_str(), args[1].as_str(), args[2].as_str()) {
                (Some(text), Some(from), Some(to)) => match format.parse(text, &zone::find(from)) {
                    Some(millis) => format.format(millis, &zone::find(to)).map(Datum::string),
                    None => Ok(Datum::Null),
                },
                _ => Ok(Datum::Null),
            }))
        }
        _ => None,
    }
}

fn symbol<'a>(call: &Call<'a>, i: usize) -> Option<&'a str> {
    match call.args.get(i)?.as_literal()? {
        Value::Symbol(word) | Value::String(word) => Some(word),
        _ => None,
    }
}

/// The pattern of a call: compiled once if it is a constant.
struct Formats {
    index: usize,
    simple: Option<Result<Arc<SimpleDateFormat>, EvalError>>,
    formatter: Option<Result<Arc<DateTimeFormatter>, EvalError>>,
}

impl Formats {
    fn of(call: &Call<'_>, index: usize) -> Formats {
        let constant = match call.args.get(index).map(|a| a.as_literal()) {
            None => Some(PATTERN),
            Some(Some(Value::String(pattern))) => Some(&**pattern),
            _ => None,
        };
        Formats {
            index,
            simple: constant.map(|p| SimpleDateFormat::new(p).map(Arc::new)),
            formatter: constant.map(|p| DateTimeFormatter::new(p).map(Arc::new)),
        }
    }

    fn simple(&self, args: &[Datum]) -> Result<Option<Arc<SimpleDateFormat>>, EvalError> {
        match &self.simple {
            Some(format) => format.clone().map(Some),
            None => args[self.index].as_str().map(|p| SimpleDateFormat::new(p).map(Arc::new)).transpose(),
        }
    }

    fn formatter(&self, args: &[Datum]) -> Result<Option<Arc<DateTimeFormatter>>, EvalError> {
        match &self.formatter {
            Some(format) => format.clone().map(Some),
            None => args[self.index].as_str().map(|p| DateTimeFormatter::new(p).map(Arc::new)).transpose(),
        }
    }
}

/// EXTRACT (`ExtractCallGen`): fields of times before 1970 are cut toward zero, and those of TIMESTAMP_LTZ are of the session's
/// clock.
fn extract(call: &Call<'_>) -> Option<Body> {
    let unit = symbol(call, 0)?.to_owned();
    let kind = call.args[1].ty.kind.clone();
    let zone = call.session.zone.clone();
    let of_day = extract_from_date(&unit, 0).is_some();
    let fails = match kind {
        TypeKind::Time(_) => of_day || unit == "EPOCH",
        TypeKind::Date => matches!(unit.as_str(), "MICROSECOND" | "NANOSECOND"),
        TypeKind::IntervalDayTime(_) | TypeKind::IntervalYearMonth(_) => matches!(unit.as_str(), "EPOCH" | "DECADE"),
        _ => false,
    };
    if fails {
        return Some(Arc::new(move |_| {
            Err(EvalError::new(format!("unit {unit} can not be applied to {kind} variable")))
        }));
    }
    let months: Option<fn(i64) -> i64> = match unit.as_str() {
        "MILLENNIUM" => Some(|n| n / 12_000),
        "CENTURY" => Some(|n| n / 1_200),
        "YEAR" => Some(|n| n / 12),
        "QUARTER" => Some(|n| n % 12 / 3 + 1),
        "MONTH" => Some(|n| n % 12),
        _ => None,
    };
    let clock: fn(i64, u32) -> i64 = match unit.as_str() {
        "DAY" => |n, _| n / DAY,
        "HOUR" => |n, _| n % DAY / 3_600_000,
        "MINUTE" => |n, _| n % 3_600_000 / 60_000,
        "SECOND" => |n, _| n % 60_000 / 1_000,
        "MILLISECOND" => |n, _| n % 1_000,
        "MICROSECOND" => |n, nanos| n % 1_000 * 1_000 + i64::from(nanos) / 1_000,
        "NANOSECOND" => |n, nanos| n % 1_000 * 1_000_000 + i64::from(nanos),
        "EPOCH" => |n, _| n / 1_000,
        _ if of_day => |n, _| n,
        _ => return None,
    };
    let ltz = matches!(kind, TypeKind::TimestampLtz(..));
    let epoch = unit == "EPOCH";
    Some(Arc::new(move |args| {
        let value = match &args[1] {
            Datum::Date(days) if of_day => extract_from_date(&unit, i64::from(*days)),
            Datum::Date(days) if epoch => Some(i64::from(*days) * 86_400),
            // Hours and less are taken from the number of days as if it were milliseconds.
            Datum::Date(n) | Datum::Time(n) => Some(clock(i64::from(*n), 0)),
            Datum::Timestamp { millis, nanos } => {
                let millis = if ltz { millis + zone::calendar_offset_at(*millis, &zone) } else { *millis };
                if of_day { extract_from_date(&unit, millis / DAY) } else { Some(clock(millis, *nanos)) }
            }
            Datum::Months(n) => months.map(|f| f(*n)),
            Datum::Millis(n) => Some(clock(*n, 0)),
            _ => None,
        };
        Ok(value.map_or(Datum::Null, Datum::Int))
    }))
}

/// FLOOR and CEIL to a unit (`FloorCeilCallGen`).
fn floor(call: &Call<'_>) -> Option<Body> {
    let unit = symbol(call, 1)?.to_owned();
    let floor = call.name == "FLOOR";
    let zone = call.session.zone.clone();
    let ltz = matches!(call.args[0].ty.kind, TypeKind::TimestampLtz(..));
    let below_hour = matches!(unit.as_str(), "MINUTE" | "SECOND" | "MILLISECOND");
    if ltz && below_hour {
        let message = format!("{} of TIMESTAMP_LTZ to {unit} cannot be compiled", call.name);
        return Some(Arc::new(move |_| Err(EvalError::new(message.clone()))));
    }
    floor_millis(&unit, 0, floor)?;
    Some(Arc::new(move |args| {
        Ok(match &args[0] {
            Datum::Date(days) => Datum::Date(floor_date(&unit, i64::from(*days), floor).map_or(*days, |d| d as i32)),
            Datum::Timestamp { millis, .. } => {
                let offset = if ltz { zone::calendar_offset_at(*millis, &zone) } else { 0 };
                floor_millis(&unit, millis + offset, floor).map_or(Datum::Null, |ms| Datum::timestamp(ms - offset))
            }
            // Units of a day and more take the milliseconds for days.
            Datum::Time(t) => {
                let t = i64::from(*t);
                let moved = floor_date(&unit, t, floor).or_else(|| floor_millis(&unit, t, floor));
                moved.map_or(Datum::Null, |t| Datum::Time(t as i32))
            }
            _ => Datum::Null,
        })
    }))
}

/// `(a, b) OVERLAPS (c, d)`, each a period by its ends or by one end and its length. Periods that touch overlap.
fn overlaps(args: &[Datum]) -> Result<Datum, EvalError> {
    let millis = |v: &Datum| match v {
        Datum::Date(d) => Some(i64::from(*d) * DAY),
        Datum::Time(t) => Some(i64::from(*t)),
        Datum::Timestamp { millis, .. } => Some(*millis),
        _ => None,
    };
    let period = |start: &Datum, end: &Datum| {
        let from = millis(start)?;
        let to = match (start, end) {
            (Datum::Date(d), Datum::Months(n)) => add_months(i64::from(*d), *n) * DAY,
            (_, Datum::Months(n)) => add_months_to_millis(from, *n),
            (_, Datum::Millis(n)) => from + n,
            (_, end) => millis(end)?,
        };
        Some((from.min(to), from.max(to)))
    };
    Ok(match (period(&args[0], &args[1]), period(&args[2], &args[3])) {
        (Some((a, b)), Some((c, d))) => Datum::Boolean(b >= c && d >= a),
        _ => Datum::Null,
    })
}

/// TO_TIMESTAMP_LTZ: NULL outside of the years 0 to 9999.
fn to_timestamp_ltz(args: &[Datum]) -> Datum {
    let Some(precision) = args[1].as_int() else { return Datum::Null };
    let unit = if precision == 0 { 1_000 } else { 1 };
    let millis = match &args[0] {
        Datum::Int(n) => n.checked_mul(unit),
        Datum::Decimal { .. } => args[0].as_decimal().and_then(|d| (d.to_integer() as i64).checked_mul(unit)),
        other => other.as_double().map(|d| (d * unit as f64) as i64),
    };
    let (least, most) = (days_from_civil(0, 1, 1) * DAY, days_from_civil(10_000, 1, 1) * DAY);
    millis.filter(|ms| (least..most).contains(ms)).map_or(Datum::Null, Datum::timestamp)
}

fn to_timestamp(call: &Call<'_>) -> Option<Body> {
    if call.args.len() == 1 {
        return Some(Arc::new(|args| {
            Ok(args[0]
                .as_str()
                .and_then(cast::parse_timestamp)
                .map_or(Datum::Null, |(millis, _)| Datum::timestamp(millis)))
        }));
    }
    let formats = Formats::of(call, 1);
    Some(Arc::new(move |args| match (args[0].as_str(), formats.formatter(args)?) {
        (Some(text), Some(format)) => Ok(match format.parse(text) {
            Some((millis, _)) => Datum::timestamp(millis),
            None => sql_timestamp(text).unwrap_or_default(),
        }),
        _ => Ok(Datum::Null),
    }))
}

/// What TO_TIMESTAMP tries where the pattern does not fit: `java.sql.Timestamp.valueOf` and `java.sql.Date.valueOf`, in which
/// hours and days of any size move on.
fn sql_timestamp(text: &str) -> Option<Datum> {
    let text = text.trim();
    let (date, time) = match text.split_once(' ') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let number = |t: &str| t.parse::<u32>().ok().filter(|_| !t.starts_with('+')).map(i64::from);
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 || month.len() > 2 || day.len() > 2 {
        return None;
    }
    let (year, month, day) = (number(year)?, number(month)?, number(day)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let midnight = (days_from_civil(year, month as u32, 1) + day - 1) * DAY;
    let Some(time) = time else { return Some(Datum::timestamp(midnight)) };
    let mut parts = time.trim().splitn(3, ':');
    let (hour, minute, second) = (number(parts.next()?)?, number(parts.next()?)?, parts.next()?);
    let (second, nanos) = match second.split_once('.') {
        Some((second, fraction)) if (1..=9).contains(&fraction.len()) => (second, number(&format!("{fraction:0<9}"))?),
        Some(_) => return None,
        None => (second, 0),
    };
    let millis = midnight + hour * 3_600_000 + minute * 60_000 + number(second)? * 1_000 + nanos / 1_000_000;
    Some(Datum::Timestamp { millis, nanos: (nanos % 1_000_000) as u32 })
}

fn to_date(call: &Call<'_>) -> Option<Body> {
    if call.args.len() == 1 {
        return Some(Arc::new(|args| {
            Ok(args[0].as_str().and_then(cast::parse_date).map_or(Datum::Null, |days| Datum::Date(days as i32)))
        }));
    }
    let formats = Formats::of(call, 1);
    Some(Arc::new(move |args| match (args[0].as_str(), formats.simple(args)?) {
        // A text that does not fit is a day far off: the number of days of `UNPARSED` in 32 bits.
        (Some(text), Some(format)) => {
            let millis = format.parse(text, &TimeZone::UTC).unwrap_or(UNPARSED);
            Ok(Datum::Date((millis / DAY) as i32))
        }
        _ => Ok(Datum::Null),
    }))
}

fn date_format(call: &Call<'_>) -> Option<Body> {
    let formats = Formats::of(call, 1);
    let ty: &DataType = &call.args[0].ty;
    if ty.is_character() {
        let reader = SimpleDateFormat::new(PATTERN).ok()?;
        return Some(Arc::new(move |args| match (args[0].as_str(), formats.simple(args)?) {
            (Some(text), Some(format)) => match reader.parse(text, &TimeZone::UTC) {
                Some(millis) => format.format(millis, &TimeZone::UTC).map(Datum::string),
                None => Ok(Datum::Null),
            },
            _ => Ok(Datum::Null),
        }));
    }
    let zone = call.session.zone.clone();
    let ltz = matches!(ty.kind, TypeKind::TimestampLtz(..));
    Some(Arc::new(move |args| match (&args[0], formats.formatter(args)?) {
        (Datum::Timestamp { millis, nanos }, Some(format)) => {
            let millis = if ltz { zone::to_local(*millis, &zone) } else { *millis };
            format.format(millis, *nanos).map(Datum::string)
        }
        _ => Ok(Datum::Null),
    }))
}
