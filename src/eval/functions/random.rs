//! RAND, RAND_INTEGER and UUID.
//!
//! What is random in Flink is a fixed sequence here: a run has to be repeatable, and no result may depend on more than the
//! arguments of a check.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Body, Call, integer, strict};
use crate::eval::{Datum, EvalError};

/// `java.util.Random`.
struct Random(i64);

const MASK: i64 = (1 << 48) - 1;

impl Random {
    fn new(seed: i64) -> Random {
        Random((seed ^ 0x5_DEEC_E66D) & MASK)
    }

    fn bits(&mut self, count: u32) -> i32 {
        self.0 = self.0.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & MASK;
        (self.0 >> (48 - count)) as i32
    }

    fn double(&mut self) -> f64 {
        let high = i64::from(self.bits(26)) << 27;
        (high + i64::from(self.bits(27))) as f64 / (1i64 << 53) as f64
    }

    fn below(&mut self, bound: i64) -> Result<i64, EvalError> {
        let bound = bound as i32;
        if bound <= 0 {
            return Err(EvalError::new("bound must be positive"));
        }
        if bound & (bound - 1) == 0 {
            return Ok((i64::from(bound) * i64::from(self.bits(31))) >> 31);
        }
        loop {
            let bits = self.bits(31);
            let value = bits % bound;
            if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                return Ok(i64::from(value));
            }
        }
    }
}

/// The sequence that calls without a seed read.
const UNSEEDED: i64 = 0;

/// The function behind a call, if it is one of this family.
pub fn find(call: &Call<'_>) -> Option<Body> {
    let double = |r: &mut Random, _: &[Datum]| Ok(Datum::Double(r.double()));
    match (call.name, call.args.len()) {
        ("RAND", 0) => sequence(Some(UNSEEDED), double),
        ("RAND", 1) => sequence(seed(call), double),
        ("RAND_INTEGER", 1) => sequence(Some(UNSEEDED), |r, a| r.below(integer(a, 0)).map(Datum::Int)),
        ("RAND_INTEGER", 2) => sequence(seed(call), |r, a| r.below(integer(a, 1)).map(Datum::Int)),
        ("UUID", 0) => sequence(Some(UNSEEDED), |r, _| Ok(Datum::string(uuid(r)))),
        _ => None,
    }
}

/// The seed, if it is a constant.
fn seed(call: &Call<'_>) -> Option<i64> {
    match call.args.first()?.as_literal()? {
        crate::catalog::value::Value::Int(seed) => Some(*seed),
        _ => None,
    }
}

/// `RandCallGen`: a constant seed starts one sequence for all rows, any other starts one for each row.
fn sequence<F>(seed: Option<i64>, next: F) -> Option<Body>
where
    F: Fn(&mut Random, &[Datum]) -> Result<Datum, EvalError> + Send + Sync + 'static,
{
    let Some(seed) = seed else { return strict(move |a| next(&mut Random::new(integer(a, 0)), a)) };
    let random = Mutex::new(Random::new(seed));
    Some(Arc::new(move |a| {
        if a.iter().any(Datum::is_null) {
            return Ok(Datum::Null);
        }
        next(&mut random.lock().unwrap_or_else(PoisonError::into_inner), a)
    }))
}

/// A version 4 UUID.
fn uuid(random: &mut Random) -> String {
    let mut long = || (i64::from(random.bits(32)) << 32).wrapping_add(i64::from(random.bits(32))) as u64;
    let high = long() & 0xffff_ffff_ffff_0fff | 0x4000;
    let low = long() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_java_s_sequence() {
        assert_eq!(Random::new(5).double(), 0.730519863614471);
        assert_eq!(Random::new(5).below(100), Ok(87));
        assert_eq!(Random::new(1).below(100), Ok(85));
        assert_eq!(Random::new(1).below(0), Err(EvalError::new("bound must be positive")));
        assert_eq!(uuid(&mut Random::new(0)).len(), 36);
    }
}
