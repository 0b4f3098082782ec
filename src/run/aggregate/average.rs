//! `AVG` (`AvgAggFunction`): a sum and a count, divided in the sum's type and cast to the result's.

use super::Scope;
use super::function::Function;
use super::number::Number;
use crate::catalog::types::{DataType, TypeKind};
use crate::eval::{Datum, Decimal};
use crate::run::error::RunResult;

/// The average.
pub(super) struct Average {
    /// The type of the sum.
    pub sum: Number,
    /// The type of the result.
    pub result: DataType,
}

impl Average {
    fn count(fields: &mut [Datum], rows: i64) {
        fields[1] = Datum::Int(fields[1].as_int().unwrap_or(0).wrapping_add(rows));
    }
}

impl<N> Function<N> for Average {
    fn create(&self, fields: &mut [Datum]) {
        fields[0] = self.sum.zero();
        fields[1] = Datum::Int(0);
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        if !args[0].is_null() {
            fields[0] = self.sum.plus(&fields[0], args[0]);
            Self::count(fields, 1);
        }
        Ok(())
    }

    fn retract(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        if !args[0].is_null() {
            fields[0] = self.sum.minus(&fields[0], args[0]);
            Self::count(fields, -1);
        }
        Ok(())
    }

    fn merge(&mut self, fields: &mut [Datum], _: &Scope<N>, other: &[Datum], _: &Scope<N>) -> RunResult<()> {
        fields[0] = self.sum.plus(&fields[0], &other[0]);
        Self::count(fields, other[1].as_int().unwrap_or(0));
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        let count = fields[1].as_int().unwrap_or(0);
        if count == 0 {
            return Ok(Datum::Null);
        }
        let result = Number::of(&self.result).unwrap_or(self.sum);
        Ok(match &fields[0] {
            Datum::Int(sum) => Datum::Int(result.wrap(sum.wrapping_div(count))),
            Datum::Double(sum) => result.convert(&Datum::Double(sum / count as f64)),
            sum @ Datum::Decimal { .. } => match (sum.as_decimal(), &self.result.kind) {
                (Some(sum), TypeKind::Decimal(p, s)) => {
                    divide(sum, count).and_then(|q| q.fit(*p, *s)).map_or(Datum::Null, Datum::from)
                }
                _ => Datum::Null,
            },
            _ => Datum::Null,
        })
    }
}

/// `DecimalDataUtils.divide`: 38 significant digits, rounded half up. The caller rounds once more, to its scale.
fn divide(sum: Decimal, count: i64) -> Option<Decimal> {
    let negative = (sum.unscaled < 0) != (count < 0);
    let divisor = u128::from(count.unsigned_abs());
    let dividend = sum.unscaled.unsigned_abs();
    let (mut quotient, mut rest) = (dividend / divisor, dividend % divisor);
    let mut scale = sum.scale;
    // 38 digits at the most, and no more digits after the point than the scale of any result can use.
    const LIMIT: u128 = 10u128.pow(37);
    while rest != 0 && quotient < LIMIT && scale < 76 {
        rest *= 10;
        quotient = quotient * 10 + rest / divisor;
        rest %= divisor;
        scale += 1;
    }
    if rest * 2 >= divisor {
        quotient += 1;
    }
    let unscaled = i128::try_from(quotient).ok()?;
    Some(Decimal { unscaled: if negative { -unscaled } else { unscaled }, scale })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_have_38_digits() {
        let third = divide(Decimal { unscaled: 1, scale: 0 }, 3).and_then(|d| d.fit(38, 6));
        assert_eq!(third.map(|d| d.to_string()).as_deref(), Some("0.333333"));
        let two_thirds = divide(Decimal { unscaled: -200, scale: 2 }, 3).and_then(|d| d.fit(38, 6));
        assert_eq!(two_thirds.map(|d| d.to_string()).as_deref(), Some("-0.666667"));
        let exact = divide(Decimal { unscaled: 250, scale: 2 }, 2).and_then(|d| d.fit(38, 6));
        assert_eq!(exact.map(|d| d.to_string()).as_deref(), Some("1.250000"));
    }

    #[test]
    fn a_quotient_with_too_many_digits_is_null() {
        let large = Decimal { unscaled: 10i128.pow(37), scale: 0 };
        assert_eq!(divide(large, 1).and_then(|d| d.fit(38, 6)), None);
    }
}
