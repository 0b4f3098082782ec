//! Hash functions: `HashCodeCallGen` and `MessageDigest` over the UTF-8 bytes of a text.

use std::fmt::Write;

use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::{Body, Call, integer, strict, text, total};
use crate::catalog::types::TypeKind;
use crate::eval::{Datum, EvalError, double_bits, float_bits};

/// The function behind a call, if it is one of this family.
pub fn find(call: &Call<'_>) -> Option<Body> {
    match call.name {
        "MD5" => total(|a| digest::<Md5>(text(a, 0))),
        "SHA1" => total(|a| digest::<Sha1>(text(a, 0))),
        "SHA224" => total(|a| digest::<Sha224>(text(a, 0))),
        "SHA256" => total(|a| digest::<Sha256>(text(a, 0))),
        "SHA384" => total(|a| digest::<Sha384>(text(a, 0))),
        "SHA512" => total(|a| digest::<Sha512>(text(a, 0))),
        "SHA2" => strict(|a| sha2(text(a, 0), integer(a, 1))),
        "HASH_CODE" => {
            let is_long = matches!(call.args.first()?.ty.kind, TypeKind::BigInt | TypeKind::IntervalDayTime(_));
            total(move |a| Datum::Int(i64::from(hash_code(&a[0], is_long))))
        }
        _ => None,
    }
}

fn digest<D: Digest>(s: &str) -> Datum {
    let mut hex = String::new();
    for byte in D::digest(s.as_bytes()).as_slice() {
        let _ = write!(hex, "{byte:02x}");
    }
    Datum::string(hex)
}

/// The algorithm `SHA-<bits>`, whichever Java has: SHA-1 as well.
fn sha2(s: &str, bits: i64) -> Result<Datum, EvalError> {
    Ok(match bits {
        224 => digest::<Sha224>(s),
        256 => digest::<Sha256>(s),
        384 => digest::<Sha384>(s),
        512 => digest::<Sha512>(s),
        1 => digest::<Sha1>(s),
        _ => return Err(EvalError::new(format!("SHA-{bits} MessageDigest not available"))),
    })
}

/// `HashCodeCallGen`: Java's hash codes, that of a text without its sign.
fn hash_code(value: &Datum, is_long: bool) -> i32 {
    match value {
        Datum::Boolean(true) => 1231,
        Datum::Boolean(false) => 1237,
        Datum::Int(n) | Datum::Millis(n) if is_long => hash_of_long(*n),
        Datum::Int(n) | Datum::Months(n) | Datum::Millis(n) => *n as i32,
        Datum::Date(n) | Datum::Time(n) => *n,
        Datum::Float(f) => float_bits(*f) as i32,
        Datum::Double(d) => hash_of_long(double_bits(*d) as i64),
        // `TimestampData.hashCode`
        Datum::Timestamp { millis, nanos } => hash_of_long(*millis).wrapping_mul(31).wrapping_add(*nanos as i32),
        Datum::String(s) => java_hash(s).wrapping_abs(),
        other => other.as_decimal().map_or(0, |d| hash_of_decimal(d.unscaled, d.scale)),
    }
}

/// `Long.hashCode`.
fn hash_of_long(n: i64) -> i32 {
    (n ^ ((n as u64) >> 32) as i64) as i32
}

/// `BigDecimal.hashCode`, which is that of a `BigInteger` if the digits do not fit into a long.
fn hash_of_decimal(unscaled: i128, scale: u8) -> i32 {
    let digits = unscaled.unsigned_abs();
    let hash = (0..4).rev().fold(0i32, |hash, i| hash.wrapping_mul(31).wrapping_add((digits >> (i * 32)) as i32));
    let signed = if unscaled < 0 { hash.wrapping_neg() } else { hash };
    signed.wrapping_mul(31).wrapping_add(i32::from(scale))
}

/// `String.hashCode`.
pub fn java_hash(s: &str) -> i32 {
    s.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}
