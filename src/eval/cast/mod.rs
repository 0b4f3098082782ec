//! Casts, one file per kind of result (Flink's `CastRules`). What a cast gives depends on the two types only.

mod number;
mod parse;
mod temporal;
mod text;

pub(super) use parse::{java_double, java_float};

use std::sync::Arc;

pub(super) use self::number::{to_f32, to_f64, wrap};
pub(super) use self::parse::{date as parse_date, parse_timestamp};
pub(super) use self::temporal::{cut, cut_down};
pub(super) use self::text::fit_text;
use super::{Datum, EvalError, Row, Session};
use crate::catalog::types::{DataType, TypeKind};

/// A cast of one value. NULL gives NULL.
pub(super) type Caster = Arc<dyn Fn(&Datum) -> Result<Datum, EvalError> + Send + Sync>;

/// The cast between two types; none if there is no such cast.
pub(super) fn find(from: &DataType, to: &DataType, session: &Session) -> Option<Caster> {
    use TypeKind::{
        Array, BigInt, Binary, Boolean, Char, Date, Decimal, Double, Float, Int, IntervalDayTime, IntervalYearMonth,
        Map, Multiset, SmallInt, Time, Timestamp, TimestampLtz, TinyInt, VarBinary, VarChar,
    };
    match (&from.kind, &to.kind) {
        (TypeKind::Null, _) => Some(Arc::new(|_| Ok(Datum::Null))),
        (TypeKind::Unknown | TypeKind::Other(_), _) | (_, TypeKind::Unknown | TypeKind::Other(_)) => {
            Some(Arc::new(|v| Ok(v.clone())))
        }
        (_, Char(_) | VarChar(_)) => Some(text::to_text(from, &to.kind, session)),
        (_, Binary(_) | VarBinary(_)) => text::to_bytes(from, &to.kind),
        (_, Boolean) => number::to_boolean(from),
        (_, TinyInt | SmallInt | Int | BigInt) => number::to_integer(from, &to.kind),
        (_, Float) => number::to_float(from, false),
        (_, Double) => number::to_float(from, true),
        (_, Decimal(p, s)) => number::to_decimal(from, *p, *s),
        (_, Date) => temporal::to_date(from, session),
        (_, Time(_)) => temporal::to_time(from, session),
        (_, Timestamp(p, _)) => temporal::to_timestamp(from, *p, session),
        (_, TimestampLtz(p, _)) => temporal::to_timestamp_ltz(from, *p, session),
        (IntervalYearMonth(_), IntervalYearMonth(_)) | (IntervalDayTime(_), IntervalDayTime(_)) => {
            Some(Arc::new(|v| Ok(v.clone())))
        }
        (_, IntervalYearMonth(units) | IntervalDayTime(units)) if from.is_integer() => {
            let size = number::unit_size(*units)?;
            let months = units.is_year_month();
            Some(Arc::new(move |v| {
                Ok(match v {
                    Datum::Int(n) if months => Datum::Months(n.wrapping_mul(size)),
                    Datum::Int(n) => Datum::Millis(n.wrapping_mul(size)),
                    _ => Datum::Null,
                })
            }))
        }
        (Array(a), Array(b)) => {
            let element = element(a, b, session)?;
            Some(Arc::new(move |v| match v {
                Datum::Array(items) => {
                    items.iter().map(|i| element(i)).collect::<Result<Vec<_>, _>>().map(|v| Datum::Array(v.into()))
                }
                _ => Ok(Datum::Null),
            }))
        }
        (Map(k1, v1), Map(k2, v2)) => entries(element(k1, k2, session)?, element(v1, v2, session)?),
        (Multiset(a), Multiset(b)) => entries(element(a, b, session)?, Arc::new(|v| Ok(v.clone()))),
        (TypeKind::Row(a), TypeKind::Row(b)) if a.len() == b.len() => {
            let fields = a.iter().zip(b.iter()).map(|(a, b)| element(&a.ty, &b.ty, session));
            let fields = fields.collect::<Option<Vec<_>>>()?;
            Some(Arc::new(move |v| match v {
                Datum::Row(row) => {
                    let values = row.iter().zip(&fields).map(|(v, cast)| cast(v));
                    values.collect::<Result<Vec<_>, _>>().map(|v| Datum::Row(Row::new(v)))
                }
                _ => Ok(Datum::Null),
            }))
        }
        _ => None,
    }
}

/// The cast of a part of a value: nothing to do if the types are one.
fn element(from: &DataType, to: &DataType, session: &Session) -> Option<Caster> {
    if from.kind == to.kind { Some(Arc::new(|v| Ok(v.clone()))) } else { find(from, to, session) }
}

fn entries(key: Caster, value: Caster) -> Option<Caster> {
    Some(Arc::new(move |v| match v {
        Datum::Map(entries) => {
            let cast = entries.iter().map(|(k, v)| Ok((key(k)?, value(v)?)));
            cast.collect::<Result<Vec<_>, EvalError>>().map(|v| Datum::Map(v.into()))
        }
        _ => Ok(Datum::Null),
    }))
}
