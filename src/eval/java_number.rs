//! FLOAT and DOUBLE as the JVM that Flink runs on prints them.
//!
//! `Double.toString` of Java up to 18 (`jdk.internal.math.FloatingDecimal`) does not always find the shortest text:
//! `2.0E-3` is `0.002`, but the float -2147483648 is `-2.14748365E9`. Texts end up in STRING columns and keys, so the digits
//! are made with the same steps.

use std::cmp::Ordering;

/// `Double.toString`.
pub fn double_text(value: f64) -> String {
    if let Some(text) = special(value) {
        return text;
    }
    // Digits of a power of two end elsewhere: its neighbour below is nearer than the one above.
    let power_of_two = value.to_bits() << 12 == 0;
    match short(value).filter(|_| !power_of_two) {
        Some(text) => text,
        None => developed(value),
    }
}

/// `Double.toString` as Java computes it, for numbers that are finite and not zero.
fn developed(value: f64) -> String {
    let bits = value.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (exponent, fraction, significant) = normalized(exponent, fraction, 1023, 52);
    layout(value.is_sign_negative(), &digits(exponent, fraction, significant))
}

/// `Float.toString`.
pub fn float_text(value: f32) -> String {
    if let Some(text) = special(f64::from(value)) {
        return text;
    }
    let bits = value.abs().to_bits();
    let (exponent, fraction) = ((bits >> 23) as i32, u64::from(bits & ((1 << 23) - 1)));
    let (exponent, fraction, significant) = normalized(exponent, fraction, 127, 23);
    layout(value.is_sign_negative(), &digits(exponent, fraction << 29, significant))
}

/// The text of a number that has one of up to 15 digits and no exponent; not for powers of two.
///
/// Java stops at the first digits that are nearer to the number than half the way to its neighbours. Two decimals of up to 15
/// digits never share a number, and none lies right between two numbers of this range, so such digits are the shortest ones,
/// which is what Rust prints, and Java cannot stop before or after them. Java's quirks are with more digits.
fn short(value: f64) -> Option<String> {
    if !(1e-3..1e7).contains(&value.abs()) {
        return None;
    }
    let mut text = value.to_string();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if !text.contains('.') {
        text.push_str(".0");
    }
    (digits <= 15).then_some(text)
}

fn special(value: f64) -> Option<String> {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        Some("NaN".to_owned())
    } else if value.is_infinite() {
        Some(format!("{sign}Infinity"))
    } else if value == 0.0 {
        Some(format!("{sign}0.0"))
    } else {
        None
    }
}

/// Exponent, fraction with its leading bit, and the number of bits that count.
fn normalized(exponent: i32, fraction: u64, bias: i32, width: u32) -> (i32, u64, i32) {
    if exponent == 0 {
        // Subnormal: moved up until the leading bit is where others have it.
        let shift = fraction.leading_zeros() as i32 - (63 - width as i32);
        (1 - shift - bias, fraction << shift, width as i32 + 1 - shift)
    } else {
        (exponent - bias, fraction | (1 << width), width as i32 + 1)
    }
}

/// Decimal digits and the place of the point before them.
struct Digits {
    digits: Vec<u8>,
    exponent: i32,
}

/// `FloatingDecimal.BinaryToASCIIBuffer.dtoa`: `fraction` has its leading bit at 52.
fn digits(exponent: i32, fraction: u64, significant: i32) -> Digits {
    let tail_zeros = fraction.trailing_zeros() as i32;
    let fraction_bits = 53 - tail_zeros;
    let tiny_bits = (fraction_bits - exponent - 1).max(0);
    if tiny_bits == 0 && (-21..=62).contains(&exponent) {
        let insignificant = if exponent > significant { insignificant_digits(exponent - significant - 1) } else { 0 };
        let whole = if exponent >= 52 { fraction << (exponent - 52) } else { fraction >> (52 - exponent) };
        return long_digits(whole, insignificant);
    }
    let mut decimal = estimate(fraction, exponent);
    let b5 = (-decimal).max(0);
    let mut b2 = b5 + tiny_bits + exponent;
    let s5 = decimal.max(0);
    let mut s2 = s5 + tiny_bits;
    let m5 = b5;
    let mut m2 = b2 - significant;
    let fraction = fraction >> tail_zeros;
    b2 -= fraction_bits - 1;
    let common = b2.min(s2);
    b2 -= common;
    s2 -= common;
    m2 -= common;
    if fraction_bits == 1 {
        m2 -= 1;
    }
    if m2 < 0 {
        b2 -= m2;
        s2 -= m2;
        m2 = 0;
    }
    let small = narrow(fraction_bits, b2, b5, s2, s5);
    let s = Natural::from(1).times_power_of_five(s5).shifted(s2);
    let tens = s.clone().times(10);
    let mut b = Natural::from(fraction).times_power_of_five(b5).shifted(b2);
    let mut m = Natural::from(1).times_power_of_five(m5).shifted(m2).times(10);
    let mut out = Vec::with_capacity(20);
    let step = |b: &mut Natural| {
        let q = b.divide_small(&s);
        *b = std::mem::replace(b, Natural::from(0)).times(10);
        q
    };
    // The arithmetic of big numbers compares with `>=` where that of machine words has `>`.
    let ends = |b: &Natural, m: &Natural| {
        let above = b.clone().plus(m).compare(&tens);
        (b.compare(m).is_lt(), if small { above.is_gt() } else { above.is_ge() })
    };
    let q = step(&mut b);
    let (mut low, mut high) = ends(&b, &m);
    if q == 0 && !high {
        decimal -= 1;
    } else {
        out.push(q);
    }
    if !(-3..8).contains(&decimal) {
        (low, high) = (false, false);
    }
    while !low && !high {
        let q = step(&mut b);
        m = m.times(10);
        (low, high) = ends(&b, &m);
        out.push(q);
    }
    let rounds_up = high
        && (!low || {
            match b.shifted(1).compare(&tens) {
                Ordering::Equal => out.last().is_some_and(|d| d % 2 == 1),
                order => order.is_gt(),
            }
        });
    let mut result = Digits { digits: out, exponent: decimal + 1 };
    if rounds_up {
        result.round_up();
    }
    result
}

/// True if Java computes in machine words.
fn narrow(fraction_bits: i32, b2: i32, b5: i32, s2: i32, s5: i32) -> bool {
    const BITS_OF_FIVE: [i32; 27] =
        [0, 3, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28, 31, 33, 35, 38, 40, 42, 45, 47, 49, 52, 54, 56, 59, 61];
    let bits = |n: i32| BITS_OF_FIVE.get(n as usize).copied().unwrap_or(n * 3);
    fraction_bits + b2 + bits(b5) < 64 && s2 + 1 + bits(s5 + 1) < 64
}

/// `estimateDecExp`: the decimal exponent, or one more.
fn estimate(fraction: u64, exponent: i32) -> i32 {
    let mantissa = f64::from_bits((1023 << 52) | (fraction & ((1 << 52) - 1)));
    ((mantissa - 1.5) * 0.289_529_654 + 0.176_091_259 + f64::from(exponent) * std::f64::consts::LOG10_2).floor() as i32
}

/// `insignificantDigitsForPow2`.
fn insignificant_digits(power: i32) -> u32 {
    if power > 1 && power < 64 { (f64::from(power) * std::f64::consts::LOG10_2) as u32 } else { 0 }
}

/// `developLongDigits`: a whole number without the digits that do not count, rounded half up.
fn long_digits(mut value: u64, insignificant: u32) -> Digits {
    let mut exponent = 0;
    if insignificant != 0 {
        let unit = 10u64.pow(insignificant);
        let rest = value % unit;
        value /= unit;
        exponent += insignificant as i32;
        if rest >= unit / 2 {
            value += 1;
        }
    }
    let text = value.to_string();
    exponent += text.len() as i32;
    let digits = text.trim_end_matches('0').bytes().map(|b| b - b'0').collect();
    Digits { digits, exponent }
}

impl Digits {
    fn round_up(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.exponent += 1;
        self.digits[0] = 1;
    }
}

/// `getChars`: plain from 10^-3 to 10^7, else with an exponent.
fn layout(negative: bool, value: &Digits) -> String {
    let sign = if negative { "-" } else { "" };
    let digits: String = value.digits.iter().map(|d| (b'0' + d) as char).collect();
    let point = value.exponent;
    if point > 0 && point < 8 {
        let point = point as usize;
        if digits.len() > point {
            format!("{sign}{}.{}", &digits[..point], &digits[point..])
        } else {
            format!("{sign}{digits:0<point$}.0")
        }
    } else if point <= 0 && point > -3 {
        format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize))
    } else {
        let (first, rest) = digits.split_at(1);
        format!("{sign}{first}.{}E{}", if rest.is_empty() { "0" } else { rest }, point - 1)
    }
}

/// A natural number of any size.
#[derive(Clone)]
struct Natural(Vec<u32>);

impl From<u64> for Natural {
    fn from(value: u64) -> Natural {
        Natural(vec![value as u32, (value >> 32) as u32]).trimmed()
    }
}

impl Natural {
    fn trimmed(mut self) -> Natural {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn times(mut self, factor: u32) -> Natural {
        let mut carry = 0;
        for word in &mut self.0 {
            let product = u64::from(*word) * u64::from(factor) + carry;
            *word = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
        self
    }

    fn times_power_of_five(mut self, power: i32) -> Natural {
        for _ in 0..power / 13 {
            self = self.times(1_220_703_125);
        }
        self.times(5u32.pow((power % 13) as u32))
    }

    fn shifted(mut self, bits: i32) -> Natural {
        self = self.times(1 << (bits % 32));
        if !self.0.is_empty() {
            self.0.splice(0..0, std::iter::repeat_n(0, (bits / 32) as usize));
        }
        self
    }

    fn plus(mut self, other: &Natural) -> Natural {
        let mut carry = 0;
        for i in 0..self.0.len().max(other.0.len()) {
            if i == self.0.len() {
                self.0.push(0);
            }
            let sum = u64::from(self.0[i]) + u64::from(other.0.get(i).copied().unwrap_or(0)) + carry;
            self.0[i] = sum as u32;
            carry = sum >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
        self
    }

    fn minus(&mut self, other: &Natural) {
        let mut borrow = 0;
        for (i, word) in self.0.iter_mut().enumerate() {
            let difference = i64::from(*word) - i64::from(other.0.get(i).copied().unwrap_or(0)) - borrow;
            *word = difference as u32;
            borrow = i64::from(difference < 0);
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn compare(&self, other: &Natural) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// Leaves the rest; the quotient is a digit.
    fn divide_small(&mut self, divisor: &Natural) -> u8 {
        let mut quotient = 0;
        while self.compare(divisor).is_ge() {
            self.minus(divisor);
            quotient += 1;
        }
        quotient
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_java_prints_them() {
        let cases = [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (0.002, "0.002"),
            (1e-5, "1.0E-5"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (12_345_679.91, "1.234567991E7"),
            (1e10, "1.0E10"),
            (-1e300, "-1.0E300"),
            (4.9e-324, "4.9E-324"),
            (4.9e-323, "4.9E-323"),
            (f64::MAX, "1.7976931348623157E308"),
            (9_223_372_036_854_775_807.0, "9.223372036854776E18"),
            (0.1 / 3.0, "0.03333333333333333"),
            (2e23, "1.9999999999999998E23"),
            (8.41e21, "8.409999999999999E21"),
            (9.999999e-4, "9.999999E-4"),
            (123_456_789_012_345_680.0, "1.2345678901234568E17"),
            (2.225_073_858_507_201_4e-308, "2.2250738585072014E-308"),
            (2e-322, "2.0E-322"),
            (-0.0, "-0.0"),
        ];
        for (value, text) in cases {
            assert_eq!(double_text(value), text);
        }
    }

    #[test]
    fn short_decimals_print_as_if_developed() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (digits, scale) = ((state >> 12) as i64 >> (state % 50), (state >> 6) % 18);
            let value = digits as f64 / 10f64.powi(scale as i32);
            if value != 0.0 {
                assert_eq!(double_text(value), developed(value));
            }
        }
    }

    #[test]
    fn floats_print_as_java_prints_them() {
        let cases = [
            (1.5_f32, "1.5"),
            (-2_147_483_648.0, "-2.14748365E9"),
            (16_777_216.0, "1.6777216E7"),
            (12_345_678.9, "1.2345679E7"),
            (1e-45, "1.4E-45"),
            (1.4e-44, "1.4E-44"),
            (f32::MAX, "3.4028235E38"),
            (300.7, "300.7"),
            (0.1 / 3.0, "0.033333335"),
            (3.3e-44, "3.4E-44"),
            (1.175_494_4e-38, "1.17549435E-38"),
            (1e23, "1.0E23"),
            (-1e30, "-1.0E30"),
        ];
        for (value, text) in cases {
            assert_eq!(float_text(value), text);
        }
    }
}
