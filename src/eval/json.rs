//! Values as JSON: rows that are read, and rows that are written.
//!
//! What JSON has no number for is text: DECIMAL with its scale, NaN and Infinity, dates and times. Bytes are hex digits,
//! ROW and ARRAY lists, MAP an object.

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde_json::Value;

use super::java_number::{double_text, float_text};
use super::text::{self, BadCell};
use super::{Datum, Row};
use crate::catalog::types::{DataType, TypeKind};

/// The value of a JSON cell in a column of type `ty`. Numbers, dates and the like may be text; a ROW may be a list or an
/// object, a MAP an object or a list of pairs. TIMESTAMP_LTZ without `Z` is in `zone`.
pub fn read(cell: &Value, ty: &DataType, zone: &TimeZone) -> Result<Datum, BadCell> {
    let bad = || BadCell::new(ty, short(cell));
    match (cell, &ty.kind) {
        (Value::Null, _) => Ok(Datum::Null),
        (Value::Bool(b), TypeKind::Boolean | TypeKind::Unknown) => Ok(Datum::Boolean(*b)),
        (Value::Array(items), TypeKind::Array(of)) => {
            items.iter().map(|i| read(i, of, zone)).collect::<Result<Vec<_>, _>>().map(|v| Datum::Array(v.into()))
        }
        (Value::Array(items), TypeKind::Row(fields)) if items.len() == fields.len() => {
            let values = items.iter().zip(fields.iter()).map(|(i, f)| read(i, &f.ty, zone));
            values.collect::<Result<Vec<_>, _>>().map(|v| Datum::Row(Row::new(v)))
        }
        (Value::Object(object), TypeKind::Row(fields)) => {
            if let Some(name) = object.keys().find(|name| !fields.iter().any(|f| f.name == **name)) {
                return Err(BadCell::new(ty, format!("the field `{name}`")));
            }
            let values = fields.iter().map(|f| object.get(&f.name).map_or(Ok(Datum::Null), |v| read(v, &f.ty, zone)));
            values.collect::<Result<Vec<_>, _>>().map(|v| Datum::Row(Row::new(v)))
        }
        (Value::Object(object), TypeKind::Map(key, of)) => {
            entries(object.iter().map(|(k, v)| Ok((text::read(k, key, zone)?, read(v, of, zone)?))))
        }
        (Value::Object(object), TypeKind::Multiset(of)) => entries(
            object.iter().map(|(k, v)| Ok((text::read(k, of, zone)?, read(v, &TypeKind::Int.not_null(), zone)?))),
        ),
        (Value::Array(items), TypeKind::Map(key, of)) => entries(items.iter().map(|item| match item.as_array() {
            Some(pair) if pair.len() == 2 => Ok((read(&pair[0], key, zone)?, read(&pair[1], of, zone)?)),
            _ => Err(bad()),
        })),
        (Value::Array(items), TypeKind::Multiset(of)) => entries(items.iter().map(|item| match item.as_array() {
            Some(pair) if pair.len() == 2 => {
                Ok((read(&pair[0], of, zone)?, read(&pair[1], &TypeKind::Int.not_null(), zone)?))
            }
            _ => Err(bad()),
        })),
        (Value::String(_), TypeKind::Array(_) | TypeKind::Row(_) | TypeKind::Map(..) | TypeKind::Multiset(_)) => {
            Err(bad())
        }
        (Value::String(s), _) => text::scalar(s, ty, zone).ok_or_else(bad),
        (Value::Number(n), kind) => match kind {
            TypeKind::Double => n.as_f64().map(Datum::Double).ok_or_else(bad),
            TypeKind::Float => n.to_string().parse().map(Datum::Float).map_err(|_| bad()),
            _ if ty.is_integer() => match n.as_f64() {
                // `1.0` is the integer 1.
                Some(d) if n.as_i64().is_none() && d.fract() == 0.0 && d.abs() < 1e15 => {
                    text::scalar(&(d as i64).to_string(), ty, zone).ok_or_else(bad)
                }
                _ => text::scalar(&n.to_string(), ty, zone).ok_or_else(bad),
            },
            TypeKind::Decimal(..)
            | TypeKind::IntervalDayTime(_)
            | TypeKind::IntervalYearMonth(_)
            | TypeKind::Unknown => text::scalar(&n.to_string(), ty, zone).ok_or_else(bad),
            _ => Err(bad()),
        },
        _ => Err(bad()),
    }
}

fn entries(pairs: impl Iterator<Item = Result<(Datum, Datum), BadCell>>) -> Result<Datum, BadCell> {
    pairs.collect::<Result<Vec<_>, _>>().map(|v| Datum::Map(Arc::from(v)))
}

/// A cell in an error message, cut where it is long.
fn short(cell: &Value) -> String {
    let text = cell.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// A value of a column of type `ty` as JSON. TIMESTAMP_LTZ is in `zone`, as Flink prints it.
pub fn write(value: &Datum, ty: &DataType, zone: &TimeZone) -> Value {
    match (value, &ty.kind) {
        (Datum::Null, _) => Value::Null,
        (Datum::Boolean(b), _) => Value::Bool(*b),
        (Datum::Int(i), _) => Value::from(*i),
        (Datum::Float(f), _) => number(float_text(*f)),
        (Datum::Double(d), _) => number(double_text(*d)),
        (Datum::Array(items), TypeKind::Array(of)) => items.iter().map(|i| write(i, of, zone)).collect(),
        (Datum::Row(row), TypeKind::Row(fields)) => {
            row.iter().zip(fields.iter()).map(|(v, f)| write(v, &f.ty, zone)).collect()
        }
        (Datum::Map(entries), TypeKind::Map(key, of)) => {
            let member = |(k, v): &(Datum, Datum)| (text::print(k, key, zone), write(v, of, zone));
            Value::Object(entries.iter().map(member).collect())
        }
        (Datum::Map(entries), TypeKind::Multiset(of)) => {
            let member =
                |(k, n): &(Datum, Datum)| (text::print(k, of, zone), write(n, &TypeKind::Int.not_null(), zone));
            Value::Object(entries.iter().map(member).collect())
        }
        _ => Value::String(text::print(value, ty, zone)),
    }
}

/// A floating point number by its digits; NaN and Infinity are text.
fn number(text: String) -> Value {
    match text.parse().ok().and_then(serde_json::Number::from_f64) {
        Some(number) => Value::Number(number),
        None => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::types::{Field, TimeAttribute};
    use serde_json::json;

    fn round(cell: Value, ty: &DataType) -> Result<Value, String> {
        let zone = TimeZone::UTC;
        let value = read(&cell, ty, &zone).map_err(|e| e.to_string())?;
        assert!(value.fits(ty), "{value:?} is no {ty}");
        Ok(write(&value, ty, &zone))
    }

    #[test]
    fn cells_come_back_in_the_form_of_their_type() {
        let row = TypeKind::Row(
            [
                Field { name: "a".into(), ty: TypeKind::Int.nullable() },
                Field { name: "b".into(), ty: TypeKind::string().nullable() },
            ]
            .into(),
        );
        let map = TypeKind::Map(Arc::new(TypeKind::string().not_null()), Arc::new(TypeKind::Int.nullable()));
        let cases = [
            (json!("1.5"), TypeKind::Decimal(10, 2), json!("1.50")),
            (json!(1.5), TypeKind::Decimal(10, 2), json!("1.50")),
            (json!("9223372036854775807"), TypeKind::BigInt, json!(i64::MAX)),
            (json!("NaN"), TypeKind::Double, json!("NaN")),
            (json!(0.1), TypeKind::Float, json!(0.1)),
            (json!("2024-01-01"), TypeKind::Date, json!("2024-01-01")),
            (
                json!("2024-01-01 00:00:05"),
                TypeKind::Timestamp(3, TimeAttribute::None),
                json!("2024-01-01 00:00:05.000"),
            ),
            (
                json!("2024-01-01T00:00:05Z"),
                TypeKind::TimestampLtz(0, TimeAttribute::None),
                json!("2024-01-01 00:00:05"),
            ),
            (json!("cafe"), TypeKind::VarBinary(9), json!("x'cafe'")),
            (json!("ab"), TypeKind::Char(3), json!("ab ")),
            (json!([1, "x"]), row.clone(), json!([1, "x"])),
            (json!({"b": "x"}), row, json!([null, "x"])),
            (json!([["k", 1]]), map.clone(), json!({"k": 1})),
            (json!({"k": null}), map, json!({"k": null})),
        ];
        for (cell, kind, expected) in cases {
            assert_eq!(round(cell, &kind.nullable()), Ok(expected));
        }
    }

    #[test]
    fn bad_cells_say_what_was_expected() {
        let cases = [
            (json!("x"), TypeKind::Int, "expected INT, found \"x\""),
            (json!(300), TypeKind::TinyInt, "expected TINYINT, found 300"),
            (json!(true), TypeKind::string(), "expected STRING, found true"),
            (json!("12345678.9"), TypeKind::Decimal(5, 1), "expected DECIMAL(5, 1), found \"12345678.9\""),
            (json!("2024-13-01"), TypeKind::Date, "expected DATE, found \"2024-13-01\""),
        ];
        for (cell, kind, expected) in cases {
            assert_eq!(round(cell, &kind.nullable()), Err(expected.to_owned()));
        }
    }
}
