//! Whole numbers of up to 256 bits: what products and aligned sums of DECIMALs need before they are rounded.

use std::cmp::Ordering;

/// A number of up to 256 bits with a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wide {
    negative: bool,
    /// From the lowest word.
    words: [u64; 4],
}

impl From<i128> for Wide {
    fn from(value: i128) -> Wide {
        let size = value.unsigned_abs();
        Wide { negative: value < 0, words: [size as u64, (size >> 64) as u64, 0, 0] }
    }
}

impl Wide {
    /// The product of two numbers of 128 bits: always fits.
    pub(super) fn product(a: i128, b: i128) -> Wide {
        let mut words = [0; 4];
        let (x, y) = (a.unsigned_abs(), b.unsigned_abs());
        let parts = |n: u128| [n as u64, (n >> 64) as u64];
        for (i, p) in parts(x).into_iter().enumerate() {
            let mut carry = 0u128;
            for (j, q) in parts(y).into_iter().enumerate() {
                let sum = u128::from(p) * u128::from(q) + u128::from(words[i + j]) + carry;
                words[i + j] = sum as u64;
                carry = sum >> 64;
            }
            words[i + 2] = carry as u64;
        }
        Wide { negative: (a < 0) != (b < 0), words }
    }

    fn is_zero(&self) -> bool {
        self.words == [0; 4]
    }

    fn compare_size(&self, other: &Wide) -> Ordering {
        self.words.iter().rev().cmp(other.words.iter().rev())
    }

    /// The sum of two numbers of at most 255 bits.
    pub(super) fn plus(&self, other: &Wide) -> Wide {
        if self.negative == other.negative {
            let (mut words, mut carry) = ([0; 4], 0u128);
            for (i, word) in words.iter_mut().enumerate() {
                let sum = u128::from(self.words[i]) + u128::from(other.words[i]) + carry;
                *word = sum as u64;
                carry = sum >> 64;
            }
            return Wide { negative: self.negative, words };
        }
        let (large, small) = if self.compare_size(other).is_ge() { (self, other) } else { (other, self) };
        let (mut words, mut borrow) = ([0; 4], false);
        for (i, word) in words.iter_mut().enumerate() {
            let (rest, a) = large.words[i].overflowing_sub(small.words[i]);
            let (rest, b) = rest.overflowing_sub(u64::from(borrow));
            *word = rest;
            borrow = a || b;
        }
        Wide { negative: large.negative, words }
    }

    /// The remainder of a division that is cut toward zero. `divisor` is not zero.
    pub(super) fn rem(&self, divisor: &Wide) -> Wide {
        let mut rest = Wide { negative: false, words: [0; 4] };
        let divisor = Wide { negative: true, ..*divisor };
        for bit in (0..256).rev() {
            let mut carry = self.words[bit / 64] >> (bit % 64) & 1;
            for word in &mut rest.words {
                let next = *word >> 63;
                *word = *word << 1 | carry;
                carry = next;
            }
            if rest.compare_size(&divisor).is_ge() {
                rest = rest.plus(&divisor);
            }
        }
        Wide { negative: self.negative && !rest.is_zero(), ..rest }
    }

    /// Divides by a word and gives the rest.
    fn divide(&mut self, divisor: u64) -> u64 {
        let mut rest = 0u128;
        for word in self.words.iter_mut().rev() {
            let value = rest << 64 | u128::from(*word);
            *word = (value / u128::from(divisor)) as u64;
            rest = value % u128::from(divisor);
        }
        rest as u64
    }

    /// Without its last `digits` decimal digits, rounded half up. `None` if that does not fit 127 bits.
    pub(super) fn rounded(mut self, digits: u32) -> Option<i128> {
        let mut up = false;
        if digits > 0 {
            // Only the first digit that is dropped decides.
            let mut rest = digits - 1;
            while rest > 0 {
                let step = rest.min(19);
                self.divide(10u64.pow(step));
                rest -= step;
            }
            up = self.divide(10) >= 5;
        }
        if self.words[2] != 0 || self.words[3] != 0 {
            return None;
        }
        let size = u128::from(self.words[1]) << 64 | u128::from(self.words[0]);
        let size = i128::try_from(size).ok()?.checked_add(i128::from(up))?;
        Some(if self.negative { -size } else { size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN_38: i128 = 10i128.pow(38);

    #[test]
    fn products_are_rounded_half_up() {
        assert_eq!(Wide::product(TEN_38, TEN_38).rounded(38), Some(TEN_38));
        assert_eq!(Wide::product(-15, 1).rounded(1), Some(-2));
        assert_eq!(Wide::product(14, 1).rounded(1), Some(1));
        assert_eq!(Wide::product(TEN_38, 10).rounded(0), None);
        assert_eq!(Wide::product(TEN_38 - 1, TEN_38 - 1).rounded(76), Some(1));
    }

    #[test]
    fn sums_and_remainders_keep_the_sign() {
        let a = Wide::product(TEN_38, 3);
        assert_eq!(a.plus(&Wide::product(TEN_38, -3)).rounded(0), Some(0));
        assert_eq!(Wide::from(-7).rem(&Wide::from(3)).rounded(0), Some(-1));
        assert_eq!(Wide::from(7).rem(&Wide::from(-3)).rounded(0), Some(1));
        assert_eq!(a.plus(&Wide::from(-5)).rem(&Wide::from(TEN_38)).rounded(0), Some(TEN_38 - 5));
    }
}
