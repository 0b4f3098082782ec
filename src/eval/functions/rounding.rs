//! ROUND and TRUNCATE: `SqlFunctionUtils.sround` and `struncate`, which go by way of `BigDecimal` whatever the type.

use super::{Body, Call, integer, strict};
use crate::catalog::types::TypeKind;
use crate::eval::decimal::power_of_ten;
use crate::eval::{Datum, Decimal, EvalError};

/// How digits are dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Ties go away from zero.
    HalfUp,
    /// Toward zero.
    Down,
}

/// ROUND or TRUNCATE.
pub fn find(call: &Call<'_>, mode: Mode) -> Option<Body> {
    let kind = call.result.kind.clone();
    strict(move |a| {
        let digits = if a.len() > 1 { integer(a, 1) } else { 0 };
        Ok(match &a[0] {
            Datum::Int(i) => Datum::Int(wrapped(integral(*i, digits, mode), &kind)),
            Datum::Double(d) => Datum::Double(double(*d, digits, mode)?),
            // A FLOAT is widened before its digits are looked at.
            Datum::Float(f) => Datum::Float(double(f64::from(*f), digits, mode)? as f32),
            value => match (value.as_decimal(), &kind) {
                (Some(d), TypeKind::Decimal(p, s)) => {
                    decimal(d, digits, mode).and_then(|d| d.fit(*p, *s)).map_or(Datum::Null, Datum::from)
                }
                _ => Datum::Null,
            },
        })
    })
}

/// An integer cut to its type, as Java's `intValue()` does.
pub fn wrapped(i: i128, kind: &TypeKind) -> i64 {
    match kind {
        TypeKind::TinyInt => i64::from(i as i8),
        TypeKind::SmallInt => i64::from(i as i16),
        TypeKind::Int => i64::from(i as i32),
        _ => i as i64,
    }
}

/// `value / divisor`, rounded.
fn divided(value: i128, divisor: i128, mode: Mode) -> i128 {
    let (quotient, rest) = (value / divisor, value % divisor);
    let up = mode == Mode::HalfUp && rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2);
    quotient + if up { value.signum() } else { 0 }
}

fn integral(value: i64, digits: i64, mode: Mode) -> i128 {
    let value = i128::from(value);
    if digits >= 0 {
        return value;
    }
    let divisor = u32::try_from(digits.unsigned_abs()).ok().and_then(power_of_ten);
    divisor.map_or(0, |divisor| divided(value, divisor, mode) * divisor)
}

fn decimal(value: Decimal, digits: i64, mode: Mode) -> Option<Decimal> {
    if digits >= i64::from(value.scale) {
        return Some(value);
    }
    let dropped = u32::try_from(i64::from(value.scale) - digits).ok().and_then(power_of_ten);
    let kept = dropped.map_or(0, |divisor| divided(value.unscaled, divisor, mode));
    match u8::try_from(digits) {
        Ok(scale) => Some(Decimal { unscaled: kept, scale }),
        Err(_) if kept == 0 => Some(Decimal { unscaled: 0, scale: 0 }),
        Err(_) => {
            let factor = u32::try_from(digits.unsigned_abs()).ok().and_then(power_of_ten)?;
            Some(Decimal { unscaled: kept.checked_mul(factor)?, scale: 0 })
        }
    }
}

/// The digits that `Double.toString` shows, rounded: 2.345 is a tie although the double is a little more. Neither NaN nor
/// the infinities are a `BigDecimal`.
fn double(value: f64, digits: i64, mode: Mode) -> Result<f64, EvalError> {
    if !value.is_finite() {
        let first = if value.is_nan() { 'N' } else { 'I' };
        return Err(EvalError::new(format!(
            "Character {first} is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark."
        )));
    }
    let text = format!("{:e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let shown: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let exponent: i64 = exponent.parse().unwrap_or(0);
    // How many of the digits stay: those before the point, and `digits` behind it.
    let kept = exponent.saturating_add(1).saturating_add(digits);
    if kept >= shown.len() as i64 {
        // Zero has no sign as a BigDecimal.
        return Ok(value + 0.0);
    }
    let up = mode == Mode::HalfUp && kept >= 0 && shown[kept as usize] >= b'5';
    let digits_kept = if kept > 0 { &shown[..kept as usize] } else { b"0" };
    let digits_kept = String::from_utf8_lossy(digits_kept);
    let number: u128 = digits_kept.parse::<u128>().unwrap_or(0) + u128::from(up);
    let rounded: f64 = format!("{number}e{}", -digits).parse().unwrap_or(0.0);
    Ok(if value < 0.0 && rounded != 0.0 { -rounded } else { rounded })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_rounded_by_the_digits_that_they_show() {
        let round = |d, n| double(d, n, Mode::HalfUp);
        assert_eq!(round(2.345, 2), Ok(2.35));
        assert_eq!(round(-2.5, 0), Ok(-3.0));
        assert_eq!(round(2.5, -1), Ok(0.0));
        assert_eq!(round(5.0, -1), Ok(10.0));
        assert_eq!(round(1e300, 2), Ok(1e300));
        assert_eq!(round(0.05, 0), Ok(0.0));
        assert_eq!(round(1.0, 400), Ok(1.0));
        assert_eq!(round(-0.0, 1).map(f64::is_sign_positive), Ok(true));
        assert_eq!(double(1.999, 2, Mode::Down), Ok(1.99));
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(wrapped(integral(i64::MAX, -1, Mode::HalfUp), &TypeKind::BigInt), -9223372036854775806);
        assert_eq!(wrapped(integral(127, -1, Mode::HalfUp), &TypeKind::TinyInt), -126);
        assert_eq!(integral(1250, -2, Mode::HalfUp), 1300);
        assert_eq!(integral(1250, -60, Mode::HalfUp), 0);
    }

    #[test]
    fn decimals_keep_or_lose_their_scale() {
        let d = |unscaled, scale| Decimal { unscaled, scale };
        assert_eq!(decimal(d(9999, 2), 1, Mode::HalfUp), Some(d(1000, 1)));
        assert_eq!(decimal(d(12345678, 3), -2, Mode::Down), Some(d(12300, 0)));
        assert_eq!(decimal(d(125, 1), 5, Mode::HalfUp), Some(d(125, 1)));
    }
}
