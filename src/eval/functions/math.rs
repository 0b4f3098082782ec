//! Arithmetic functions: `SqlFunctionUtils`, Calcite's `SqlFunctions` and `java.lang.Math`.

use std::sync::Arc;

use super::rounding::{self, Mode, wrapped};
use super::{Body, Call, integer, random, total};
use crate::catalog::types::TypeKind;
use crate::eval::decimal::power_of_ten;
use crate::eval::{Datum, Decimal, EvalError};

/// The function behind a call, if it is one of this family.
pub fn find(call: &Call<'_>) -> Option<Body> {
    match (call.name, call.args.len()) {
        ("ABS", 1) => abs(call),
        ("SIGN", 1) => sign_call(call),
        // With a unit they are functions of time.
        ("CEIL", 1) => total(|a| to_whole(&a[0], f64::ceil, 1)),
        ("FLOOR", 1) => total(|a| to_whole(&a[0], f64::floor, -1)),
        ("ROUND", _) => rounding::find(call, Mode::HalfUp),
        ("TRUNCATE", _) => rounding::find(call, Mode::Down),
        ("POWER", 2) => doubles2(power),
        ("SQRT", 1) => doubles(f64::sqrt),
        ("LN", 1) | ("LOG", 1) => doubles(f64::ln),
        ("LOG", 2) => doubles2(|base, x| x.ln() / base.ln()),
        ("LOG10", 1) => doubles(f64::log10),
        ("LOG2", 1) => doubles(|x| x.ln() / 2f64.ln()),
        ("EXP", 1) => doubles(f64::exp),
        ("SIN", 1) => doubles(f64::sin),
        ("COS", 1) => doubles(f64::cos),
        ("TAN", 1) => doubles(f64::tan),
        ("COT", 1) => doubles(|x| 1.0 / x.tan()),
        ("SINH", 1) => doubles(f64::sinh),
        ("COSH", 1) => doubles(f64::cosh),
        ("TANH", 1) => doubles(f64::tanh),
        ("ASIN", 1) => doubles(f64::asin),
        ("ACOS", 1) => doubles(f64::acos),
        ("ATAN", 1) => doubles(f64::atan),
        ("ATAN2", 2) => doubles2(f64::atan2),
        // `Math.toDegrees` and `toRadians` multiply by these constants.
        ("DEGREES", 1) => doubles(|x| x * 57.29577951308232),
        ("RADIANS", 1) => doubles(|x| x * 0.017453292519943295),
        ("PI", 0) => total(|_| Datum::Double(std::f64::consts::PI)),
        ("E", 0) => total(|_| Datum::Double(std::f64::consts::E)),
        ("RAND" | "RAND_INTEGER" | "UUID", _) => random::find(call),
        ("BIN", 1) => total(|a| Datum::string(format!("{:b}", integer(a, 0)))),
        ("HEX", 1) => total(|a| match &a[0] {
            Datum::Int(i) => Datum::string(format!("{i:X}")),
            text => {
                Datum::string(text.as_str().unwrap_or_default().bytes().map(|b| format!("{b:02X}")).collect::<String>())
            }
        }),
        _ => None,
    }
}

/// A number as a DOUBLE.
fn number(value: &Datum) -> f64 {
    match value {
        Datum::Int(i) => *i as f64,
        other => other.as_double().or_else(|| other.as_decimal().map(Decimal::to_f64)).unwrap_or(f64::NAN),
    }
}

fn doubles(f: fn(f64) -> f64) -> Option<Body> {
    total(move |a| Datum::Double(f(number(&a[0]))))
}

fn doubles2(f: fn(f64, f64) -> f64) -> Option<Body> {
    total(move |a| Datum::Double(f(number(&a[0]), number(&a[1]))))
}

/// `Math.pow`, which is NaN where C's `pow` says 1: for an infinite exponent of 1 or -1, and for a NaN of 1.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent != 0.0 && (exponent.is_nan() || exponent.is_infinite() && base.abs() == 1.0) {
        return f64::NAN;
    }
    base.powf(exponent)
}

/// The least number of a type is its own absolute value.
fn abs(call: &Call<'_>) -> Option<Body> {
    let kind = call.result.kind.clone();
    total(move |a| match &a[0] {
        Datum::Int(i) => Datum::Int(wrapped(i128::from(*i).abs(), &kind)),
        Datum::Double(d) => Datum::Double(d.abs()),
        Datum::Float(f) => Datum::Float(f.abs()),
        Datum::Months(m) => Datum::Months(m.wrapping_abs()),
        Datum::Millis(m) => Datum::Millis(m.wrapping_abs()),
        other => match other.as_decimal() {
            Some(d) => Decimal { unscaled: d.unscaled.abs(), ..d }.into(),
            None => Datum::Null,
        },
    })
}

/// SIGN. Of TINYINT and SMALLINT Flink generates code that does not compile.
fn sign_call(call: &Call<'_>) -> Option<Body> {
    let small = match call.result.kind {
        TypeKind::TinyInt => "byte",
        TypeKind::SmallInt => "short",
        _ => return total(|a| sign(&a[0])),
    };
    let error = EvalError::new(format!("Assignment conversion not possible from type \"int\" to type \"{small}\""));
    Some(Arc::new(move |_| Err(error.clone())))
}

/// -1, 0 or 1 of the type of the argument. NaN and both zeros of floating point are their own sign.
fn sign(value: &Datum) -> Datum {
    let of_double = |d: f64| if d.is_nan() || d == 0.0 { d } else { d.signum() };
    match value {
        Datum::Int(i) => Datum::Int(i.signum()),
        Datum::Double(d) => Datum::Double(of_double(*d)),
        Datum::Float(f) => Datum::Float(of_double(f64::from(*f)) as f32),
        other => match other.as_decimal() {
            Some(d) => {
                let one = power_of_ten(u32::from(d.scale)).unwrap_or(0);
                Decimal { unscaled: d.unscaled.signum() * one, ..d }.into()
            }
            None => Datum::Null,
        },
    }
}

/// CEIL (`direction` 1) and FLOOR (-1): integers stay as they are, decimals lose their scale.
fn to_whole(value: &Datum, of_double: fn(f64) -> f64, direction: i128) -> Datum {
    match value {
        Datum::Double(d) => Datum::Double(of_double(*d)),
        Datum::Float(f) => Datum::Float(of_double(f64::from(*f)) as f32),
        other => match other.as_decimal() {
            Some(d) => {
                let one = power_of_ten(u32::from(d.scale)).unwrap_or(i128::MAX);
                let (whole, rest) = (d.unscaled / one, d.unscaled % one);
                let away = if rest.signum() == direction { direction } else { 0 };
                Decimal { unscaled: whole + away, scale: 0 }.into()
            }
            None => other.clone(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(unscaled: i128, scale: u8) -> Datum {
        Decimal { unscaled, scale }.into()
    }

    #[test]
    fn decimals_become_whole() {
        let (ceil, floor) = (|d: &Datum| to_whole(d, f64::ceil, 1), |d: &Datum| to_whole(d, f64::floor, -1));
        assert_eq!(ceil(&decimal(12, 1)), decimal(2, 0));
        assert_eq!(ceil(&decimal(-12, 1)), decimal(-1, 0));
        assert_eq!(floor(&decimal(-55, 1)), decimal(-6, 0));
        assert_eq!(floor(&decimal(20, 1)), decimal(2, 0));
    }

    #[test]
    fn signs_keep_the_scale() {
        assert_eq!(sign(&decimal(-15, 1)), decimal(-10, 1));
        assert_eq!(sign(&decimal(0, 2)), decimal(0, 2));
        assert_eq!(sign(&Datum::Double(-2.5)), Datum::Double(-1.0));
    }

    #[test]
    fn powers_of_one_are_java_s() {
        assert!(power(1.0, f64::NAN).is_nan());
        assert!(power(-1.0, f64::INFINITY).is_nan());
        assert_eq!(power(f64::NAN, 0.0), 1.0);
    }

    /// What Java gives, to the last bit.
    #[test]
    fn transcendental_functions_agree_with_java() {
        for (ours, java) in [
            (3.3f64.ln(), 1.1939224684724346),
            (10f64.ln() / 2f64.ln(), 3.3219280948873626),
            (2.5f64.exp(), 12.182493960703473),
            (1f64.sinh(), 1.1752011936438014),
            (2.5f64.sinh(), 6.0502044810397875),
            ((-3f64).cosh(), 10.067661995777765),
            (0.5f64.tanh(), 0.46211715726000974),
            (1f64.tanh(), 0.7615941559557649),
            (0.3f64.acos(), 1.2661036727794992),
            (0.123f64.asin(), 0.12331227519187199),
            (1.5f64.atan2(2.5), 0.5404195002705842),
            (100f64.sin(), -0.5063656411097588),
            (100f64.tan(), -0.5872139151569291),
            (1e22f64.sin(), -0.8522008497671888),
        ] {
            assert_eq!(ours, java);
        }
    }
}
