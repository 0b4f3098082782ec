//! Hash functions: `HashCodeCallGen` and `MessageDigest` over the UTF-8 bytes of a text.

use std::fmt::Write;

use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::{Body, Call, integer, strict, text, total};
use crate::eval::{Datum, EvalError};

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
        "HASH_CODE" => total(|a| Datum::Int(i64::from(java_hash(text(a, 0)).wrapping_abs()))),
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

/// `String.hashCode`.
pub fn java_hash(s: &str) -> i32 {
    s.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}
