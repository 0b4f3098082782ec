//! Casts to DATE, TIME and timestamps.

use std::sync::Arc;

use super::{Caster, parse};
use crate::catalog::types::{DataType, TypeKind};
use crate::eval::{Datum, EvalError, Session, zone};
use crate::logical::translate::datetime::DAY;

/// A timestamp with fewer digits. Up to milliseconds the number is cut toward zero, so one before 1970 may move on
/// (`DateTimeUtils.truncate`).
pub(in crate::eval) fn cut(millis: i64, nanos: u32, precision: u8) -> Datum {
    if precision <= 3 {
        let unit = 10i64.pow(u32::from(3 - precision));
        return Datum::timestamp(millis / unit * unit);
    }
    let unit = 10u32.pow(u32::from(9 - precision.min(9)));
    Datum::Timestamp { millis, nanos: nanos / unit * unit }
}

/// As [`cut`], without its mistake before 1970.
pub(in crate::eval) fn cut_down(millis: i64, nanos: u32, precision: u8) -> Datum {
    match precision {
        0..=2 => {
            let unit = 10i64.pow(u32::from(3 - precision));
            Datum::timestamp(millis.div_euclid(unit) * unit)
        }
        _ => cut(millis, nanos, precision),
    }
}

pub(super) fn to_date(from: &DataType, session: &Session) -> Option<Caster> {
    let zone = session.zone.clone();
    Some(match from.kind {
        TypeKind::Char(_) | TypeKind::VarChar(_) => Arc::new(|v| match v {
            Datum::String(s) => match parse::date(s) {
                Some(days) => Ok(Datum::Date(days as i32)),
                None => Err(EvalError::new(format!("For input string: '{s}'."))),
            },
            _ => Ok(Datum::Null),
        }),
        // Cut toward zero: before 1970 it is the next day.
        TypeKind::Timestamp(..) => {
            Arc::new(|v| Ok(v.as_millis().map_or(Datum::Null, |ms| Datum::Date((ms / DAY) as i32))))
        }
        TypeKind::TimestampLtz(..) => Arc::new(move |v| {
            let day = |ms: i64| Datum::Date(zone::to_local(ms, &zone).div_euclid(DAY) as i32);
            Ok(v.as_millis().map_or(Datum::Null, day))
        }),
        TypeKind::Date => Arc::new(|v| Ok(v.clone())),
        _ => return None,
    })
}

pub(super) fn to_time(from: &DataType, session: &Session) -> Option<Caster> {
    let zone = session.zone.clone();
    let of_day = |ms: i64| Datum::Time(ms.rem_euclid(DAY) as i32);
    Some(match from.kind {
        TypeKind::Char(_) | TypeKind::VarChar(_) => Arc::new(|v| match v {
            Datum::String(s) => match parse::time(s) {
                Some(millis) => Ok(Datum::Time(millis)),
                None => Err(EvalError::new(format!("For input string: '{s}'."))),
            },
            _ => Ok(Datum::Null),
        }),
        TypeKind::Timestamp(..) => Arc::new(move |v| Ok(v.as_millis().map_or(Datum::Null, of_day))),
        TypeKind::TimestampLtz(..) => {
            Arc::new(move |v| Ok(v.as_millis().map_or(Datum::Null, |ms| of_day(zone::to_local(ms, &zone)))))
        }
        TypeKind::Time(_) => Arc::new(|v| Ok(v.clone())),
        _ => return None,
    })
}

/// Text as a timestamp of this precision.
fn read(text: &str, precision: u8) -> Result<(i64, u32), EvalError> {
    let (millis, nanos) = parse::parse_timestamp(text)
        .ok_or_else(|| EvalError::new(format!("Text '{text}' could not be parsed at index 0")))?;
    match cut_down(millis, nanos, precision) {
        Datum::Timestamp { millis, nanos } => Ok((millis, nanos)),
        _ => Ok((millis, nanos)),
    }
}

pub(super) fn to_timestamp(from: &DataType, precision: u8, session: &Session) -> Option<Caster> {
    let zone = session.zone.clone();
    Some(match from.kind {
        TypeKind::Char(_) | TypeKind::VarChar(_) => Arc::new(move |v| match v {
            Datum::String(s) => read(s, precision).map(|(millis, nanos)| Datum::Timestamp { millis, nanos }),
            _ => Ok(Datum::Null),
        }),
        TypeKind::Date => Arc::new(|v| {
            Ok(match v {
                Datum::Date(d) => Datum::timestamp(i64::from(*d) * DAY),
                _ => Datum::Null,
            })
        }),
        TypeKind::Time(_) => Arc::new(|v| {
            Ok(match v {
                Datum::Time(t) => Datum::timestamp(i64::from(*t)),
                _ => Datum::Null,
            })
        }),
        TypeKind::Timestamp(p, _) => Arc::new(move |v| {
            Ok(match v {
                Datum::Timestamp { millis, nanos } if p > precision => cut(*millis, *nanos, precision),
                other => other.clone(),
            })
        }),
        TypeKind::TimestampLtz(p, _) => Arc::new(move |v| {
            Ok(match v {
                Datum::Timestamp { millis, nanos } => {
                    let millis = zone::to_local(*millis, &zone);
                    if p > precision {
                        cut(millis, *nanos, precision)
                    } else {
                        Datum::Timestamp { millis, nanos: *nanos }
                    }
                }
                _ => Datum::Null,
            })
        }),
        _ => return None,
    })
}

pub(super) fn to_timestamp_ltz(from: &DataType, precision: u8, session: &Session) -> Option<Caster> {
    let zone = session.zone.clone();
    Some(match from.kind {
        TypeKind::Char(_) | TypeKind::VarChar(_) => Arc::new(move |v| match v {
            Datum::String(s) => read(s, precision)
                .map(|(local, nanos)| Datum::Timestamp { millis: zone::to_instant(local, &zone), nanos }),
            _ => Ok(Datum::Null),
        }),
        TypeKind::Date => Arc::new(move |v| {
            Ok(match v {
                Datum::Date(d) => Datum::timestamp(zone::to_instant(i64::from(*d) * DAY, &zone)),
                _ => Datum::Null,
            })
        }),
        TypeKind::Time(_) => Arc::new(move |v| {
            Ok(match v {
                Datum::Time(t) => Datum::timestamp(zone::to_instant(i64::from(*t), &zone)),
                _ => Datum::Null,
            })
        }),
        TypeKind::Timestamp(p, _) => Arc::new(move |v| {
            Ok(match v {
                Datum::Timestamp { millis, nanos } => {
                    let millis = zone::to_instant(*millis, &zone);
                    if p > precision {
                        cut(millis, *nanos, precision)
                    } else {
                        Datum::Timestamp { millis, nanos: *nanos }
                    }
                }
                _ => Datum::Null,
            })
        }),
        TypeKind::TimestampLtz(p, _) => Arc::new(move |v| {
            Ok(match v {
                Datum::Timestamp { millis, nanos } if p > precision => cut(*millis, *nanos, precision),
                other => other.clone(),
            })
        }),
        _ => return None,
    })
}
