//! Sums as Flink's code generation computes them: integers wrap, DECIMALs overflow to NULL.

use crate::catalog::types::{DataType, TypeKind};
use crate::eval::{Datum, Decimal};

/// The type of a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// TINYINT
    Byte,
    /// SMALLINT
    Short,
    /// INT
    Int,
    /// BIGINT
    Long,
    /// FLOAT
    Float,
    /// DOUBLE
    Double,
    /// DECIMAL(precision, scale)
    Decimal(u8, u8),
}

impl Number {
    /// The number behind a type.
    pub fn of(ty: &DataType) -> Option<Number> {
        Some(match ty.kind {
            TypeKind::TinyInt => Number::Byte,
            TypeKind::SmallInt => Number::Short,
            TypeKind::Int => Number::Int,
            TypeKind::BigInt => Number::Long,
            TypeKind::Float => Number::Float,
            TypeKind::Double => Number::Double,
            TypeKind::Decimal(p, s) => Number::Decimal(p, s),
            _ => return None,
        })
    }

    /// Zero of this type.
    pub fn zero(self) -> Datum {
        match self {
            Number::Float => Datum::Float(0.0),
            Number::Double => Datum::Double(0.0),
            Number::Decimal(_, scale) => Decimal { unscaled: 0, scale }.into(),
            _ => Datum::Int(0),
        }
    }

    /// A value as one of this type, which is as wide or wider; DECIMALs that do not fit are NULL.
    pub fn convert(self, value: &Datum) -> Datum {
        match (self, value) {
            (Number::Double, Datum::Float(f)) => Datum::Double(f64::from(*f)),
            (Number::Float, Datum::Double(d)) => Datum::Float(*d as f32),
            (Number::Double, Datum::Int(i)) => Datum::Double(*i as f64),
            (Number::Float, Datum::Int(i)) => Datum::Float(*i as f32),
            (Number::Decimal(p, s), Datum::Int(i)) => {
                Decimal { unscaled: i128::from(*i), scale: 0 }.fit(p, s).map_or(Datum::Null, Datum::from)
            }
            (Number::Decimal(p, s), Datum::Decimal { .. }) => {
                value.as_decimal().and_then(|d| d.fit(p, s)).map_or(Datum::Null, Datum::from)
            }
            (_, Datum::Int(i)) => Datum::Int(self.wrap(*i)),
            _ => value.clone(),
        }
    }

    /// Cuts an integer to the width of the type, as Java's narrowing casts do.
    pub fn wrap(self, i: i64) -> i64 {
        match self {
            Number::Byte => i64::from(i as i8),
            Number::Short => i64::from(i as i16),
            Number::Int => i64::from(i as i32),
            _ => i,
        }
    }

    /// `a + b`; NULL if one of them is.
    pub fn plus(self, a: &Datum, b: &Datum) -> Datum {
        self.combine(a, b, i64::wrapping_add, i128::checked_add, |a, b| a + b, |a, b| a + b)
    }

    /// `a - b`; NULL if one of them is.
    pub fn minus(self, a: &Datum, b: &Datum) -> Datum {
        self.combine(a, b, i64::wrapping_sub, i128::checked_sub, |a, b| a - b, |a, b| a - b)
    }

    fn combine(
        self,
        a: &Datum,
        b: &Datum,
        integers: fn(i64, i64) -> i64,
        decimals: fn(i128, i128) -> Option<i128>,
        floats: fn(f32, f32) -> f32,
        doubles: fn(f64, f64) -> f64,
    ) -> Datum {
        match (self, a, b) {
            (Number::Float, Datum::Float(a), Datum::Float(b)) => Datum::Float(floats(*a, *b)),
            (Number::Double, ..) => match (a.as_double(), b.as_double()) {
                (Some(a), Some(b)) => Datum::Double(doubles(a, b)),
                _ => Datum::Null,
            },
            (Number::Decimal(precision, scale), ..) => {
                let sum = |a: Decimal, b: Decimal| {
                    let unscaled = decimals(a.with_scale(scale)?.unscaled, b.with_scale(scale)?.unscaled)?;
                    Decimal { unscaled, scale }.fit(precision, scale)
                };
                match (a.as_decimal(), b.as_decimal()) {
                    (Some(a), Some(b)) => sum(a, b).map_or(Datum::Null, Datum::from),
                    _ => Datum::Null,
                }
            }
            (_, Datum::Int(a), Datum::Int(b)) => Datum::Int(self.wrap(integers(*a, *b))),
            _ => Datum::Null,
        }
    }
}
