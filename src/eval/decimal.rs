//! Decimal numbers of up to 38 digits, computed as Flink's `DecimalData` and Java's `BigDecimal` do.

use std::cmp::Ordering;
use std::fmt;

use super::wide::Wide;

/// The most digits that a DECIMAL has.
pub const MAX_PRECISION: u8 = 38;

/// `unscaled / 10^scale`. The number is kept with the scale of its type, trailing zeros included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// All digits.
    pub unscaled: i128,
    /// Digits after the point.
    pub scale: u8,
}

/// `10^exponent`; `None` past the 38 digits that an `i128` holds.
pub fn power_of_ten(exponent: u32) -> Option<i128> {
    10i128.checked_pow(exponent)
}

impl Decimal {
    /// The same number with another scale, rounded half up (away from zero on a tie). `None` if it has too many digits.
    pub fn with_scale(self, scale: u8) -> Option<Decimal> {
        let unscaled = match scale.cmp(&self.scale) {
            Ordering::Equal => self.unscaled,
            Ordering::Greater => self.unscaled.checked_mul(power_of_ten(u32::from(scale - self.scale))?)?,
            Ordering::Less => match power_of_ten(u32::from(self.scale - scale)) {
                Some(divisor) => {
                    let (quotient, rest) = (self.unscaled / divisor, self.unscaled % divisor);
                    let up = rest.unsigned_abs() >= (divisor.unsigned_abs()).div_ceil(2);
                    quotient + if up { self.unscaled.signum() } else { 0 }
                }
                None => 0,
            },
        };
        Some(Decimal { unscaled, scale })
    }

    /// As a value of `DECIMAL(precision, scale)`: rounded, and `None` (NULL in SQL) if it has too many digits
    /// (`DecimalData.fromBigDecimal`).
    pub fn fit(self, precision: u8, scale: u8) -> Option<Decimal> {
        let rounded = self.with_scale(scale)?;
        let limit = power_of_ten(u32::from(precision.min(MAX_PRECISION)))?;
        (rounded.unscaled.abs() < limit).then_some(rounded)
    }

    /// Reads `-12.50` or `1.25E3`. `None` for anything else, and for more digits than a DECIMAL has once the number is cut to
    /// [`MAX_PRECISION`] digits after the point.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match number.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, number.strip_prefix('+').unwrap_or(number)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        // Digits after the point; negative for zeros before it.
        let mut scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        let digits = format!("{whole}{fraction}");
        let mut digits = digits.trim_start_matches('0');
        // What is past the digits that any DECIMAL keeps only decides the rounding.
        let mut up = false;
        let past = scale - i32::from(MAX_PRECISION);
        if past > 0 {
            let kept = digits.len().saturating_sub(usize::try_from(past).ok()?);
            up = digits.len() >= past as usize && digits.as_bytes()[kept] >= b'5';
            digits = &digits[..kept];
            scale = i32::from(MAX_PRECISION);
        }
        let mut unscaled: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        unscaled += i128::from(up);
        if scale < 0 {
            unscaled = if unscaled == 0 { 0 } else { unscaled.checked_mul(power_of_ten(scale.unsigned_abs())?)? };
            scale = 0;
        }
        Some(Decimal { unscaled: if negative { -unscaled } else { unscaled }, scale: scale as u8 })
    }

    /// `a + b` as a DECIMAL(precision, scale); NULL if it has too many digits (`DecimalDataUtils.add`).
    pub fn plus(self, other: Decimal, precision: u8, scale: u8) -> Option<Decimal> {
        if self.scale == scale && other.scale == scale {
            return Decimal { unscaled: self.unscaled.checked_add(other.unscaled)?, scale }.fit(precision, scale);
        }
        let (a, b, own) = aligned(self, other);
        round(&a.plus(&b), own, precision, scale)
    }

    /// `a - b`, as [`plus`](Decimal::plus).
    pub fn minus(self, other: Decimal, precision: u8, scale: u8) -> Option<Decimal> {
        self.plus(other.negated(), precision, scale)
    }

    /// `a * b`, as [`plus`](Decimal::plus).
    pub fn times(self, other: Decimal, precision: u8, scale: u8) -> Option<Decimal> {
        let own = self.scale + other.scale;
        match self.unscaled.checked_mul(other.unscaled) {
            Some(unscaled) => Decimal { unscaled, scale: own }.fit(precision, scale),
            None => round(&Wide::product(self.unscaled, other.unscaled), own, precision, scale),
        }
    }

    /// `a % b`, as [`plus`](Decimal::plus). `b` is not zero.
    pub fn modulo(self, other: Decimal, precision: u8, scale: u8) -> Option<Decimal> {
        let (a, b, own) = aligned(self, other);
        round(&a.rem(&b), own, precision, scale)
    }

    /// `a / b`: 38 significant digits, then the scale, both half up (`DecimalDataUtils.divide`). `b` is not zero.
    pub fn divided(self, other: Decimal, precision: u8, scale: u8) -> Option<Decimal> {
        let negative = (self.unscaled < 0) != (other.unscaled < 0);
        let (numerator, divisor) = (self.unscaled.unsigned_abs(), other.unscaled.unsigned_abs());
        let (mut quotient, mut rest) = (numerator / divisor, numerator % divisor);
        // Digits behind the point of the quotient of the unscaled numbers.
        let mut digits: i32 = 0;
        while rest != 0 && quotient < 10u128.pow(37) {
            let (digit, next) = ten_times(rest, divisor);
            quotient = quotient * 10 + digit;
            rest = next;
            digits += 1;
        }
        if rest >= divisor - rest {
            quotient += 1;
        }
        let unscaled = i128::try_from(quotient).ok()?;
        let own = digits + i32::from(self.scale) - i32::from(other.scale);
        let unscaled = if negative { -unscaled } else { unscaled };
        if own < 0 {
            let unscaled = unscaled.checked_mul(power_of_ten(own.unsigned_abs())?)?;
            return Decimal { unscaled, scale: 0 }.fit(precision, scale);
        }
        Decimal { unscaled, scale: u8::try_from(own).ok()? }.fit(precision, scale)
    }

    /// The same number with the other sign.
    pub fn negated(self) -> Decimal {
        Decimal { unscaled: -self.unscaled, scale: self.scale }
    }

    /// The whole number, cut toward zero.
    pub fn to_integer(self) -> i128 {
        power_of_ten(u32::from(self.scale)).map_or(0, |unit| self.unscaled / unit)
    }

    /// The number that a double's shortest text says (`BigDecimal.valueOf`), to 38 digits after the point; `None` for NaN,
    /// infinities and numbers beyond 38 digits.
    pub fn of_f64(value: f64) -> Option<Decimal> {
        Decimal::parse(&super::java_number::double_text(value))
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        // Through text: the correctly rounded result, as `BigDecimal.doubleValue` gives.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// Compares by value, whatever the scales.
    pub fn compare(&self, other: &Decimal) -> Ordering {
        if self.scale == other.scale {
            return self.unscaled.cmp(&other.unscaled);
        }
        let scale = self.scale.max(other.scale);
        match (self.with_scale(scale), other.with_scale(scale)) {
            (Some(a), Some(b)) => a.unscaled.cmp(&b.unscaled),
            // One of them has too many digits for the other's scale: it is the larger in size.
            (None, _) => {
                if self.unscaled < 0 {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (_, None) => {
                if other.unscaled < 0 {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
        }
    }
}

/// Both numbers with the larger of their scales, and that scale.
fn aligned(a: Decimal, b: Decimal) -> (Wide, Wide, u8) {
    let scale = a.scale.max(b.scale);
    let widen = |d: Decimal| Wide::product(d.unscaled, power_of_ten(u32::from(scale - d.scale)).unwrap_or(1));
    (widen(a), widen(b), scale)
}

/// `DecimalData.fromBigDecimal`.
fn round(value: &Wide, own: u8, precision: u8, scale: u8) -> Option<Decimal> {
    if scale > own {
        return Decimal { unscaled: value.rounded(0)?, scale: own }.fit(precision, scale);
    }
    Decimal { unscaled: value.rounded(u32::from(own - scale))?, scale }.fit(precision, scale)
}

/// Quotient and rest of `10 * rest / divisor`, for a rest below the divisor and a divisor of at most 127 bits.
fn ten_times(rest: u128, divisor: u128) -> (u128, u128) {
    let reduce = |quotient: u128, rest: u128| {
        if rest >= divisor { (quotient + 1, rest - divisor) } else { (quotient, rest) }
    };
    let (q2, r2) = reduce(0, rest * 2);
    let (q4, r4) = reduce(q2 * 2, r2 * 2);
    let (q5, r5) = reduce(q4, r4 + rest);
    reduce(q5 * 2, r5 * 2)
}

/// `-12.50`: all digits of the scale, never an exponent.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let digits = self.unscaled.unsigned_abs().to_string();
        let scale = usize::from(self.scale);
        if scale == 0 {
            return write!(f, "{sign}{digits}");
        }
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        write!(f, "{sign}{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(unscaled: i128, scale: u8) -> Decimal {
        Decimal { unscaled, scale }
    }

    #[test]
    fn rounding_is_half_up() {
        assert_eq!(decimal(1250, 2).with_scale(1), Some(decimal(125, 1)));
        assert_eq!(decimal(125, 1).with_scale(0), Some(decimal(13, 0)));
        assert_eq!(decimal(-125, 1).with_scale(0), Some(decimal(-13, 0)));
        assert_eq!(decimal(124, 1).with_scale(0), Some(decimal(12, 0)));
    }

    #[test]
    fn too_many_digits_are_no_value() {
        assert_eq!(decimal(99_999, 2).fit(4, 1), None);
        assert_eq!(decimal(9_994, 1).fit(3, 0), Some(decimal(999, 0)));
        assert_eq!(decimal(9_995, 1).fit(3, 0), None);
    }

    #[test]
    fn quotients_have_38_digits_before_they_are_rounded() {
        let divide = |a: &str, b: &str, p, s| {
            let (a, b) = (Decimal::parse(a)?, Decimal::parse(b)?);
            a.divided(b, p, s).map(|d| d.to_string())
        };
        assert_eq!(divide("12345678.91", "12.345", 19, 8).as_deref(), Some("1000054.99473471"));
        assert_eq!(divide("1", "3", 15, 11).as_deref(), Some("0.33333333333"));
        assert_eq!(divide("-0.01", "-0.001", 19, 8).as_deref(), Some("10.00000000"));
        assert_eq!(
            divide("9223372036854775808", "3.00001", 38, 14).as_deref(),
            Some("3074447097461267065.10978296739011")
        );
        assert_eq!(divide("1", "0.00000000000000000001", 38, 6).as_deref(), Some("100000000000000000000.000000"));
        assert_eq!(divide("99999999999999999999999999999999999999", "0.1", 38, 6), None);
    }

    #[test]
    fn prints_every_digit() {
        assert_eq!(decimal(-5, 3).to_string(), "-0.005");
        assert_eq!(decimal(1200, 2).to_string(), "12.00");
        assert_eq!(decimal(7, 0).to_string(), "7");
    }

    #[test]
    fn compares_across_scales() {
        assert_eq!(decimal(10, 1).compare(&decimal(100, 2)), Ordering::Equal);
        assert_eq!(decimal(10i128.pow(37), 0).compare(&decimal(1, 38)), Ordering::Greater);
        assert_eq!(decimal(-10i128.pow(37), 0).compare(&decimal(1, 38)), Ordering::Less);
    }
}
