//! A value at run time. Its SQL type is the type of the column or expression it stands in.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Decimal, Row};
use crate::catalog::types::{DataType, TypeKind};
use crate::catalog::value::Value;

/// A value. Equality, hashing and order are those of Flink's keys in state (`BinaryRowData`): floating point numbers by their
/// bits, so that NaN equals itself and 0.0 is not -0.0. SQL's `=` and `<` are functions.
#[derive(Debug, Clone, Default)]
pub enum Datum {
    /// NULL of any type.
    #[default]
    Null,
    /// BOOLEAN
    Boolean(bool),
    /// TINYINT, SMALLINT, INT, BIGINT: always within the range of its type.
    Int(i64),
    /// FLOAT
    Float(f32),
    /// DOUBLE
    Double(f64),
    /// DECIMAL, with the scale of its type. The digits are in two halves, which keeps a value at 24 bytes.
    Decimal {
        /// Digits after the point.
        scale: u8,
        /// The upper half of the unscaled number.
        high: i64,
        /// The lower half of the unscaled number.
        low: u64,
    },
    /// CHAR, VARCHAR
    String(Arc<str>),
    /// BINARY, VARBINARY
    Bytes(Arc<[u8]>),
    /// DATE: days since the epoch.
    Date(i32),
    /// TIME: milliseconds of the day.
    Time(i32),
    /// TIMESTAMP and TIMESTAMP_LTZ.
    Timestamp {
        /// Milliseconds since the epoch, rounded down.
        millis: i64,
        /// Nanoseconds of the millisecond.
        nanos: u32,
    },
    /// Interval of months.
    Months(i64),
    /// Interval of milliseconds.
    Millis(i64),
    /// ARRAY
    Array(Arc<[Datum]>),
    /// MAP and MULTISET (each value with its count), in order of first insertion.
    Map(Arc<[(Datum, Datum)]>),
    /// ROW
    Row(Row),
}

impl Datum {
    /// A string.
    pub fn string(text: impl Into<Arc<str>>) -> Datum {
        Datum::String(text.into())
    }

    /// A timestamp of whole milliseconds.
    pub fn timestamp(millis: i64) -> Datum {
        Datum::Timestamp { millis, nanos: 0 }
    }

    /// True for NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }

    /// The truth value; `None` for NULL.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Datum::Boolean(b) => Some(*b),
            _ => None,
        }
    }

    /// The integer; `None` for NULL and other values.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Datum::Int(i) => Some(*i),
            _ => None,
        }
    }

    /// The floating point number, a FLOAT widened.
    pub fn as_double(&self) -> Option<f64> {
        match self {
            Datum::Double(d) => Some(*d),
            Datum::Float(f) => Some(f64::from(*f)),
            _ => None,
        }
    }

    /// The decimal number.
    pub fn as_decimal(&self) -> Option<Decimal> {
        match self {
            Datum::Decimal { scale, high, low } => {
                Some(Decimal { unscaled: (i128::from(*high) << 64) | i128::from(*low), scale: *scale })
            }
            _ => None,
        }
    }

    /// The text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Datum::String(s) => Some(s),
            _ => None,
        }
    }

    /// Milliseconds since the epoch of a timestamp.
    pub fn as_millis(&self) -> Option<i64> {
        match self {
            Datum::Timestamp { millis, .. } => Some(*millis),
            _ => None,
        }
    }

    /// The constant of a plan as a value of type `ty`. `None` for what is no value: keywords, `${variables}`, search arguments.
    pub fn of_constant(value: &Value, ty: &DataType) -> Option<Datum> {
        Some(match value {
            Value::Null => Datum::Null,
            Value::Boolean(b) => Datum::Boolean(*b),
            Value::Int(i) => match ty.kind {
                TypeKind::Float => Datum::Float(*i as f32),
                TypeKind::Double => Datum::Double(*i as f64),
                TypeKind::Decimal(_, scale) => {
                    Decimal { unscaled: i128::from(*i), scale: 0 }.with_scale(scale).map_or(Datum::Null, Datum::from)
                }
                _ => Datum::Int(*i),
            },
            Value::Decimal { unscaled, scale } => {
                let decimal = Decimal { unscaled: *unscaled, scale: *scale };
                match ty.kind {
                    TypeKind::Float => Datum::Float(decimal.to_f64() as f32),
                    TypeKind::Double => Datum::Double(decimal.to_f64()),
                    TypeKind::Decimal(_, to) => decimal.with_scale(to).map_or(Datum::Null, Datum::from),
                    _ => decimal.into(),
                }
            }
            Value::Double(bits) => match ty.kind {
                TypeKind::Float => Datum::Float(f64::from_bits(*bits) as f32),
                _ => Datum::Double(f64::from_bits(*bits)),
            },
            Value::String(s) => Datum::String(s.clone()),
            Value::Bytes(b) => Datum::Bytes(b.clone()),
            Value::Date(d) => Datum::Date(*d),
            Value::Time(t) => Datum::Time(*t),
            Value::Timestamp(millis, nanos) => Datum::Timestamp { millis: *millis, nanos: *nanos },
            Value::Months(m) => Datum::Months(*m),
            Value::Millis(m) => Datum::Millis(*m),
            Value::Symbol(_) | Value::Placeholder(_) | Value::Sarg(_) => return None,
        })
    }

    /// True if the value can stand in a column of type `ty`: what the state store checks on every write. NULL fits everywhere:
    /// Flink's serializers keep it even where the type says NOT NULL.
    pub fn fits(&self, ty: &DataType) -> bool {
        use TypeKind as T;
        match (self, &ty.kind) {
            (Datum::Null, _) | (_, T::Unknown | T::Other(_)) => true,
            (Datum::Boolean(_), T::Boolean) => true,
            (Datum::Int(_), T::BigInt) => true,
            (Datum::Int(i), T::Int) => i32::try_from(*i).is_ok(),
            (Datum::Int(i), T::SmallInt) => i16::try_from(*i).is_ok(),
            (Datum::Int(i), T::TinyInt) => i8::try_from(*i).is_ok(),
            (Datum::Float(_), T::Float) | (Datum::Double(_), T::Double) => true,
            (Datum::Decimal { scale, .. }, T::Decimal(_, s)) => scale == s,
            (Datum::String(_), T::Char(_) | T::VarChar(_)) => true,
            (Datum::Bytes(_), T::Binary(_) | T::VarBinary(_)) => true,
            (Datum::Date(_), T::Date) | (Datum::Time(_), T::Time(_)) => true,
            (Datum::Timestamp { .. }, T::Timestamp(..) | T::TimestampLtz(..)) => true,
            (Datum::Months(_), T::IntervalYearMonth(_)) | (Datum::Millis(_), T::IntervalDayTime(_)) => true,
            (Datum::Array(items), T::Array(of)) => items.iter().all(|i| i.fits(of)),
            (Datum::Map(entries), T::Map(k, v)) => entries.iter().all(|(a, b)| a.fits(k) && b.fits(v)),
            (Datum::Map(entries), T::Multiset(of)) => entries.iter().all(|(a, _)| a.fits(of)),
            (Datum::Row(row), T::Row(fields)) => {
                row.len() == fields.len() && row.iter().zip(fields.iter()).all(|(d, f)| d.fits(&f.ty))
            }
            _ => false,
        }
    }

    /// Where the kinds of values stand in the total order. NULL comes first.
    fn rank(&self) -> u8 {
        match self {
            Datum::Null => 0,
            Datum::Boolean(_) => 1,
            Datum::Int(_) => 2,
            Datum::Float(_) => 3,
            Datum::Double(_) => 4,
            Datum::Decimal { .. } => 5,
            Datum::String(_) => 6,
            Datum::Bytes(_) => 7,
            Datum::Date(_) => 8,
            Datum::Time(_) => 9,
            Datum::Timestamp { .. } => 10,
            Datum::Months(_) => 11,
            Datum::Millis(_) => 12,
            Datum::Array(_) => 13,
            Datum::Map(_) => 14,
            Datum::Row(_) => 15,
        }
    }
}

impl From<Decimal> for Datum {
    fn from(d: Decimal) -> Datum {
        Datum::Decimal { scale: d.scale, high: (d.unscaled >> 64) as i64, low: d.unscaled as u64 }
    }
}

impl From<bool> for Datum {
    fn from(b: bool) -> Datum {
        Datum::Boolean(b)
    }
}

impl From<Option<bool>> for Datum {
    fn from(b: Option<bool>) -> Datum {
        b.map_or(Datum::Null, Datum::Boolean)
    }
}

/// `Float.floatToIntBits`: Java has one NaN.
pub fn float_bits(value: f32) -> u32 {
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }
}

/// `Double.doubleToLongBits`: Java has one NaN.
pub fn double_bits(value: f64) -> u64 {
    if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Datum) -> bool {
        match (self, other) {
            (Datum::Null, Datum::Null) => true,
            (Datum::Boolean(a), Datum::Boolean(b)) => a == b,
            (Datum::Int(a), Datum::Int(b))
            | (Datum::Months(a), Datum::Months(b))
            | (Datum::Millis(a), Datum::Millis(b)) => a == b,
            (Datum::Float(a), Datum::Float(b)) => float_bits(*a) == float_bits(*b),
            (Datum::Double(a), Datum::Double(b)) => double_bits(*a) == double_bits(*b),
            (
                Datum::Decimal { scale, high, low },
                Datum::Decimal { scale: other_scale, high: other_high, low: other_low },
            ) => scale == other_scale && high == other_high && low == other_low,
            (Datum::String(a), Datum::String(b)) => a == b,
            (Datum::Bytes(a), Datum::Bytes(b)) => a == b,
            (Datum::Date(a), Datum::Date(b)) | (Datum::Time(a), Datum::Time(b)) => a == b,
            (Datum::Timestamp { millis, nanos }, Datum::Timestamp { millis: m, nanos: n }) => millis == m && nanos == n,
            (Datum::Array(a), Datum::Array(b)) => a == b,
            (Datum::Map(a), Datum::Map(b)) => a == b,
            (Datum::Row(a), Datum::Row(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Datum {}

impl Hash for Datum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.rank());
        match self {
            Datum::Null => {}
            Datum::Boolean(b) => state.write_u8(u8::from(*b)),
            Datum::Int(i) | Datum::Months(i) | Datum::Millis(i) => state.write_i64(*i),
            Datum::Float(f) => state.write_u32(float_bits(*f)),
            Datum::Double(d) => state.write_u64(double_bits(*d)),
            Datum::Decimal { scale, high, low } => {
                state.write_u8(*scale);
                state.write_i64(*high);
                state.write_u64(*low);
            }
            Datum::String(s) => s.hash(state),
            Datum::Bytes(b) => b.hash(state),
            Datum::Date(i) | Datum::Time(i) => state.write_i32(*i),
            Datum::Timestamp { millis, nanos } => {
                state.write_i64(*millis);
                state.write_u32(*nanos);
            }
            Datum::Array(items) => items.hash(state),
            Datum::Map(entries) => entries.hash(state),
            Datum::Row(row) => row.hash(state),
        }
    }
}

impl PartialOrd for Datum {
    fn partial_cmp(&self, other: &Datum) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of values of one type as `Double.compare` and its like have it: NULL first, NaN last, -0.0 before 0.0.
impl Ord for Datum {
    fn cmp(&self, other: &Datum) -> Ordering {
        match (self, other) {
            (Datum::Boolean(a), Datum::Boolean(b)) => a.cmp(b),
            (Datum::Int(a), Datum::Int(b))
            | (Datum::Months(a), Datum::Months(b))
            | (Datum::Millis(a), Datum::Millis(b)) => a.cmp(b),
            (Datum::Float(a), Datum::Float(b)) => {
                f32::from_bits(float_bits(*a)).total_cmp(&f32::from_bits(float_bits(*b)))
            }
            (Datum::Double(a), Datum::Double(b)) => {
                f64::from_bits(double_bits(*a)).total_cmp(&f64::from_bits(double_bits(*b)))
            }
            (Datum::Decimal { .. }, Datum::Decimal { .. }) => match (self.as_decimal(), other.as_decimal()) {
                (Some(a), Some(b)) => a.compare(&b),
                _ => Ordering::Equal,
            },
            (Datum::String(a), Datum::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Datum::Bytes(a), Datum::Bytes(b)) => a.cmp(b),
            (Datum::Date(a), Datum::Date(b)) | (Datum::Time(a), Datum::Time(b)) => a.cmp(b),
            (Datum::Timestamp { millis, nanos }, Datum::Timestamp { millis: m, nanos: n }) => {
                (millis, nanos).cmp(&(m, n))
            }
            (Datum::Array(a), Datum::Array(b)) => a.cmp(b),
            (Datum::Map(a), Datum::Map(b)) => a.cmp(b),
            (Datum::Row(a), Datum::Row(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_three_words() {
        assert_eq!(std::mem::size_of::<Datum>(), 24);
    }

    #[test]
    fn decimals_keep_their_digits_and_sign() {
        for unscaled in [0, 1, -1, i128::from(i64::MIN), 10i128.pow(38) - 1, 1 - 10i128.pow(38)] {
            let d = Decimal { unscaled, scale: 2 };
            assert_eq!(Datum::from(d).as_decimal(), Some(d));
        }
    }

    #[test]
    fn keys_tell_zeros_apart_and_find_nan() {
        assert_ne!(Datum::Double(0.0), Datum::Double(-0.0));
        assert_eq!(Datum::Double(f64::NAN), Datum::Double(f64::NAN));
        assert_eq!(Datum::Double(-f64::NAN), Datum::Double(f64::NAN));
        assert!(Datum::Float(-f32::NAN) > Datum::Float(f32::INFINITY));
    }
}
