//! What can be kept in state, and how it is written in savepoints.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use hashbrown::HashMap;
use serde_json::{Value, json};

use super::image::ImageError;
use crate::catalog::types::{DataType, TypeKind};
use crate::eval::{Datum, Decimal, Row};
use crate::run::change::{Change, RowKind};
use crate::state::types::{RowType, StateType};

/// A thing that state can hold.
pub trait StateData: Sized {
    /// True if it is of the declared type.
    fn fits(&self, ty: &StateType) -> bool;
    /// As it stands in a savepoint.
    fn to_json(&self, ty: &StateType) -> Value;
    /// Back from a savepoint.
    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError>;
}

/// What state is kept under beside the key.
pub trait Namespace: StateData + Clone + Eq + Ord + Hash + 'static {}

impl<T: StateData + Clone + Eq + Ord + Hash + 'static> Namespace for T {}

/// A window as a namespace (Flink's `TimeWindow`), in milliseconds of the window's own time line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    /// The first moment of it.
    pub start: i64,
    /// The first moment after it.
    pub end: i64,
}

/// Windows are in this span of some hundred million years, so that nothing that is computed from them overflows.
pub const IN_TIME: std::ops::RangeInclusive<i64> = -i64::MAX / 4..=i64::MAX / 4;

fn wrong(value: &Value, ty: &StateType) -> ImageError {
    let mut text = value.to_string();
    if text.len() > 60 {
        text = text.chars().take(60).chain("...".chars()).collect();
    }
    ImageError::new(format!("{text} is not of the type {ty}"))
}

impl StateData for () {
    fn fits(&self, ty: &StateType) -> bool {
        *ty == StateType::Void
    }

    fn to_json(&self, _: &StateType) -> Value {
        Value::Null
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        if value.is_null() { Ok(()) } else { Err(wrong(value, ty)) }
    }
}

impl StateData for i64 {
    fn fits(&self, ty: &StateType) -> bool {
        matches!(ty, StateType::Value(DataType { kind: TypeKind::BigInt, .. }))
    }

    fn to_json(&self, _: &StateType) -> Value {
        json!(self)
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        value.as_i64().ok_or_else(|| wrong(value, ty))
    }
}

impl StateData for i32 {
    fn fits(&self, ty: &StateType) -> bool {
        matches!(ty, StateType::Value(DataType { kind: TypeKind::Int, .. }))
    }

    fn to_json(&self, _: &StateType) -> Value {
        json!(self)
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        value.as_i64().and_then(|i| i32::try_from(i).ok()).ok_or_else(|| wrong(value, ty))
    }
}

impl StateData for bool {
    fn fits(&self, ty: &StateType) -> bool {
        matches!(ty, StateType::Value(DataType { kind: TypeKind::Boolean, .. }))
    }

    fn to_json(&self, _: &StateType) -> Value {
        json!(self)
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        value.as_bool().ok_or_else(|| wrong(value, ty))
    }
}

impl StateData for Window {
    fn fits(&self, ty: &StateType) -> bool {
        *ty == StateType::Window
    }

    fn to_json(&self, _: &StateType) -> Value {
        json!([self.start, self.end])
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        match value.as_array().map(Vec::as_slice) {
            Some([start, end]) => match (start.as_i64(), end.as_i64()) {
                (Some(start), Some(end)) if start < end && IN_TIME.contains(&start) && IN_TIME.contains(&end) => {
                    Ok(Window { start, end })
                }
                _ => Err(wrong(value, ty)),
            },
            _ => Err(wrong(value, ty)),
        }
    }
}

/// A value of one logical type, or a row where the entry holds one.
impl StateData for Datum {
    fn fits(&self, ty: &StateType) -> bool {
        match (self, ty) {
            (_, StateType::Value(ty)) => Datum::fits(self, ty),
            (Datum::Row(row), StateType::Row(fields)) => row_fits(row, fields),
            _ => false,
        }
    }

    fn to_json(&self, ty: &StateType) -> Value {
        match (self, ty) {
            (Datum::Row(row), StateType::Row(_)) => StateData::to_json(row, ty),
            _ => datum_to_json(self),
        }
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        match ty {
            StateType::Value(of) => datum_from_json(value, of).ok_or_else(|| wrong(value, ty)),
            StateType::Row(_) => Ok(Datum::Row(Row::from_json(value, ty)?)),
            _ => Err(wrong(value, ty)),
        }
    }
}

fn row_fits(row: &[Datum], ty: &RowType) -> bool {
    row.len() == ty.fields.len() && row.iter().zip(&ty.fields).all(|(d, f)| Datum::fits(d, &f.ty))
}

impl StateData for Row {
    fn fits(&self, ty: &StateType) -> bool {
        matches!(ty, StateType::Row(fields) if row_fits(self, fields))
    }

    fn to_json(&self, _: &StateType) -> Value {
        Value::Array(self.iter().map(datum_to_json).collect())
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        Ok(Row::new(Vec::<Datum>::from_json(value, ty)?))
    }
}

/// A row with its kind, which Flink's serializer of rows keeps beside the fields; a type says nothing of it.
impl StateData for Change {
    fn fits(&self, ty: &StateType) -> bool {
        StateData::fits(&self.row, ty)
    }

    fn to_json(&self, ty: &StateType) -> Value {
        let row = StateData::to_json(&self.row, ty);
        if self.kind == RowKind::Insert { row } else { json!({ "kind": self.kind.name(), "row": row }) }
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        match value {
            Value::Object(parts) => {
                let kind = parts.get("kind").and_then(Value::as_str).and_then(RowKind::from_name);
                match (kind, parts.get("row")) {
                    (Some(kind), Some(row)) => Ok(Change { kind, row: Row::from_json(row, ty)? }),
                    _ => Err(wrong(value, ty)),
                }
            }
            _ => Ok(Change::insert(Row::from_json(value, ty)?)),
        }
    }
}

/// An accumulator row, which is changed in place.
impl StateData for Vec<Datum> {
    fn fits(&self, ty: &StateType) -> bool {
        matches!(ty, StateType::Row(fields) if row_fits(self, fields))
            || matches!(ty, StateType::List(of) if self.iter().all(|d| StateData::fits(d, of)))
    }

    fn to_json(&self, _: &StateType) -> Value {
        Value::Array(self.iter().map(datum_to_json).collect())
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        let items = value.as_array().ok_or_else(|| wrong(value, ty))?;
        match ty {
            StateType::Row(fields) if items.len() == fields.fields.len() => items
                .iter()
                .zip(&fields.fields)
                .map(|(v, f)| datum_from_json(v, &f.ty).ok_or_else(|| wrong(value, ty)))
                .collect(),
            StateType::List(of) => items.iter().map(|v| Datum::from_json(v, of)).collect(),
            _ => Err(wrong(value, ty)),
        }
    }
}

/// A list of rows.
impl StateData for Vec<Row> {
    fn fits(&self, ty: &StateType) -> bool {
        matches!(ty, StateType::List(of) if self.iter().all(|r| r.fits(of)))
    }

    fn to_json(&self, ty: &StateType) -> Value {
        Value::Array(self.iter().map(|r| StateData::to_json(r, ty)).collect())
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        match (value, ty) {
            (Value::Array(items), StateType::List(of)) => items.iter().map(|v| Row::from_json(v, of)).collect(),
            _ => Err(wrong(value, ty)),
        }
    }
}

/// A list of rows from which the first ones are taken.
impl StateData for VecDeque<Row> {
    fn fits(&self, ty: &StateType) -> bool {
        matches!(ty, StateType::List(of) if self.iter().all(|r| r.fits(of)))
    }

    fn to_json(&self, ty: &StateType) -> Value {
        Value::Array(self.iter().map(|r| StateData::to_json(r, ty)).collect())
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        Vec::<Row>::from_json(value, ty).map(VecDeque::from)
    }
}

/// A list of Flink's `Tuple2`s.
impl<A: StateData, B: StateData> StateData for Vec<(A, B)> {
    fn fits(&self, ty: &StateType) -> bool {
        matches!(ty, StateType::List(of) if self.iter().all(|t| t.fits(of)))
    }

    fn to_json(&self, ty: &StateType) -> Value {
        let StateType::List(of) = ty else { return Value::Null };
        Value::Array(self.iter().map(|t| t.to_json(of)).collect())
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        match (value, ty) {
            (Value::Array(items), StateType::List(of)) => items.iter().map(|v| <(A, B)>::from_json(v, of)).collect(),
            _ => Err(wrong(value, ty)),
        }
    }
}

/// Flink's `Tuple2`.
impl<A: StateData, B: StateData> StateData for (A, B) {
    fn fits(&self, ty: &StateType) -> bool {
        matches!(ty, StateType::Tuple(parts) if matches!(&parts[..], [a, b] if self.0.fits(a) && self.1.fits(b)))
    }

    fn to_json(&self, ty: &StateType) -> Value {
        match ty {
            StateType::Tuple(parts) if parts.len() == 2 => {
                json!([self.0.to_json(&parts[0]), self.1.to_json(&parts[1])])
            }
            _ => Value::Null,
        }
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        match (value.as_array().map(Vec::as_slice), ty) {
            (Some([a, b]), StateType::Tuple(parts)) if parts.len() == 2 => {
                Ok((A::from_json(a, &parts[0])?, B::from_json(b, &parts[1])?))
            }
            _ => Err(wrong(value, ty)),
        }
    }
}

/// The types of keys and values of a map.
pub(in crate::run) fn map_types(ty: &StateType) -> Option<(&StateType, &StateType)> {
    match ty {
        StateType::Map(k, v) | StateType::SortedMap(k, v) => Some((k, v)),
        _ => None,
    }
}

pub(super) fn entries_from_json<K: StateData, V: StateData, M: FromIterator<(K, V)>>(
    value: &Value,
    ty: &StateType,
) -> Result<M, ImageError> {
    let ((k, v), Some(items)) = (map_types(ty).ok_or_else(|| wrong(value, ty))?, value.as_array()) else {
        return Err(wrong(value, ty));
    };
    items
        .iter()
        .map(|item| match item.as_array().map(Vec::as_slice) {
            Some([key, of]) => Ok((K::from_json(key, k)?, V::from_json(of, v)?)),
            _ => Err(wrong(item, ty)),
        })
        .collect()
}

impl<K: StateData + Ord, V: StateData> StateData for BTreeMap<K, V> {
    fn fits(&self, ty: &StateType) -> bool {
        map_types(ty).is_some_and(|(k, v)| self.iter().all(|(a, b)| a.fits(k) && b.fits(v)))
    }

    fn to_json(&self, ty: &StateType) -> Value {
        let Some((k, v)) = map_types(ty) else { return Value::Null };
        Value::Array(self.iter().map(|(a, b)| json!([a.to_json(k), b.to_json(v)])).collect())
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        entries_from_json(value, ty)
    }
}

/// Written in the order of its keys, so that equal state gives equal savepoints.
impl<K: StateData + Ord + Hash, V: StateData, S: BuildHasher + Default> StateData for HashMap<K, V, S> {
    fn fits(&self, ty: &StateType) -> bool {
        map_types(ty).is_some_and(|(k, v)| self.iter().all(|(a, b)| a.fits(k) && b.fits(v)))
    }

    fn to_json(&self, ty: &StateType) -> Value {
        let Some((k, v)) = map_types(ty) else { return Value::Null };
        let mut sorted: Vec<_> = self.iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(b.0));
        Value::Array(sorted.into_iter().map(|(a, b)| json!([a.to_json(k), b.to_json(v)])).collect())
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        entries_from_json(value, ty)
    }
}

/// A value without loss: floating point numbers as text, timestamps as milliseconds (and nanoseconds). Values whose type a plan
/// does not know in full (accumulators of functions that are not code-generated) say their kind themselves.
fn datum_to_json(datum: &Datum) -> Value {
    match datum {
        Datum::Null => Value::Null,
        Datum::Boolean(b) => json!(b),
        Datum::Int(i) => json!(i),
        Datum::Float(f) => json!({ "float": format!("{f:?}") }),
        Datum::Double(d) => json!({ "double": format!("{d:?}") }),
        Datum::Decimal { .. } => json!({ "decimal": datum.as_decimal().map(|d| d.to_string()) }),
        Datum::String(s) => json!(&**s),
        Datum::Bytes(b) => json!({ "bytes": b.iter().map(|b| format!("{b:02x}")).collect::<String>() }),
        Datum::Date(d) => json!({ "date": d }),
        Datum::Time(t) => json!({ "time": t }),
        Datum::Timestamp { millis, nanos: 0 } => json!({ "timestamp": millis }),
        Datum::Timestamp { millis, nanos } => json!({ "timestamp": millis, "nanos": nanos }),
        Datum::Months(m) => json!({ "months": m }),
        Datum::Millis(m) => json!({ "millis": m }),
        Datum::Array(items) => Value::Array(items.iter().map(datum_to_json).collect()),
        Datum::Map(entries) => {
            json!({ "map": entries.iter().map(|(k, v)| json!([datum_to_json(k), datum_to_json(v)])).collect::<Vec<_>>() })
        }
        Datum::Row(row) => json!({ "row": row.iter().map(datum_to_json).collect::<Vec<_>>() }),
    }
}

fn datum_from_json(value: &Value, ty: &DataType) -> Option<Datum> {
    let datum = untyped(value)?;
    datum.fits(ty).then_some(datum)
}

fn untyped(value: &Value) -> Option<Datum> {
    Some(match value {
        Value::Null => Datum::Null,
        Value::Bool(b) => Datum::Boolean(*b),
        Value::Number(n) => Datum::Int(n.as_i64()?),
        Value::String(s) => Datum::string(s.as_str()),
        Value::Array(items) => Datum::Array(items.iter().map(untyped).collect::<Option<Arc<[_]>>>()?),
        Value::Object(fields) => {
            let (kind, of) = fields.iter().find(|(k, _)| *k != "nanos")?;
            match kind.as_str() {
                "float" => Datum::Float(of.as_str()?.parse().ok()?),
                "double" => Datum::Double(of.as_str()?.parse().ok()?),
                "decimal" => decimal(of.as_str()?)?.into(),
                "bytes" => Datum::Bytes(bytes(of.as_str()?)?),
                "date" => Datum::Date(i32::try_from(of.as_i64()?).ok()?),
                "time" => Datum::Time(i32::try_from(of.as_i64()?).ok()?),
                "timestamp" => {
                    let nanos = fields.get("nanos").map_or(Some(0), Value::as_u64)?;
                    Datum::Timestamp {
                        millis: of.as_i64()?,
                        nanos: u32::try_from(nanos).ok().filter(|n| *n < 1_000_000)?,
                    }
                }
                "months" => Datum::Months(of.as_i64()?),
                "millis" => Datum::Millis(of.as_i64()?),
                "map" => {
                    let entry = |e: &Value| match e.as_array().map(Vec::as_slice) {
                        Some([k, v]) => Some((untyped(k)?, untyped(v)?)),
                        _ => None,
                    };
                    Datum::Map(of.as_array()?.iter().map(entry).collect::<Option<Arc<[_]>>>()?)
                }
                "row" => Datum::Row(of.as_array()?.iter().map(untyped).collect::<Option<Row>>()?),
                _ => return None,
            }
        }
    })
}

fn decimal(text: &str) -> Option<Decimal> {
    let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let unscaled = text.replace('.', "").parse().ok()?;
    Some(Decimal { unscaled, scale: u8::try_from(scale).ok()? })
}

fn bytes(hex: &str) -> Option<Arc<[u8]>> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_back_as_it_was() {
        let values = [
            (Datum::Null, TypeKind::Int),
            (Datum::Boolean(true), TypeKind::Boolean),
            (Datum::Int(i64::MIN), TypeKind::BigInt),
            (Datum::Double(f64::NAN), TypeKind::Double),
            (Datum::Double(-0.0), TypeKind::Double),
            (Datum::Double(0.1 + 0.2), TypeKind::Double),
            (Datum::Float(f32::INFINITY), TypeKind::Float),
            (Decimal { unscaled: -5, scale: 3 }.into(), TypeKind::Decimal(4, 3)),
            (Datum::string("a\"\n"), TypeKind::string()),
            (Datum::Bytes(Arc::from([0u8, 255])), TypeKind::VarBinary(2)),
            (Datum::Date(-1), TypeKind::Date),
            (Datum::Timestamp { millis: -1, nanos: 999_999 }, TypeKind::Timestamp(9, Default::default())),
            (Datum::Array(Arc::from([Datum::Null, Datum::Int(1)])), TypeKind::Array(TypeKind::Int.nullable().into())),
            (
                Datum::Map(Arc::from([(Datum::string("k"), Datum::Int(1))])),
                TypeKind::Map(TypeKind::string().nullable().into(), TypeKind::Int.nullable().into()),
            ),
        ];
        for (value, kind) in values {
            let ty = StateType::Value(kind.nullable());
            assert!(StateData::fits(&value, &ty), "{value:?}");
            let text = StateData::to_json(&value, &ty).to_string();
            let back = Datum::from_json(&serde_json::from_str(&text).unwrap(), &ty).unwrap();
            assert_eq!(back, value, "{text}");
        }
    }

    #[test]
    fn rows_keep_their_kind() {
        let ty = StateType::Row(RowType::new([("n", TypeKind::Int.nullable())]));
        for kind in [RowKind::Insert, RowKind::UpdateBefore, RowKind::UpdateAfter, RowKind::Delete] {
            let change = Change { kind, row: Row::new(vec![Datum::Int(7)]) };
            assert_eq!(Change::from_json(&change.to_json(&ty), &ty).unwrap(), change);
        }
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        let ty = StateType::Value(TypeKind::Int.nullable());
        assert!(Datum::from_json(&json!("x"), &ty).is_err());
        assert!(Datum::from_json(&json!(3_000_000_000_i64), &ty).is_err());
        assert!(Datum::from_json(&json!({ "double": "1.0" }), &ty).is_err());
    }
}
