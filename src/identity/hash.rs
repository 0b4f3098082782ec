//! The id itself: of a uid, or of a place in the stream graph (Flink's `StreamGraphHasherV2`).

use std::fmt;

/// What a savepoint knows an operator by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperatorId(pub [u8; 16]);

impl OperatorId {
    /// The id of an operator with a uid.
    pub fn of_uid(uid: &str) -> OperatorId {
        OperatorId(murmur3_128(uid.as_bytes()))
    }

    /// The id of an operator without one. `position` is how many operators have got their ids before it, `chained` how many
    /// operators may be chained to its output, `inputs` are the ids of its inputs, one for each in-edge.
    pub fn of_place(position: usize, chained: usize, inputs: &[OperatorId]) -> OperatorId {
        // Java's Hasher.putInt, once for the operator itself and once for each chained one. No job comes near 2^32 operators.
        let position = (position as u32).to_le_bytes();
        let mut id = murmur3_128(&position.repeat(1 + chained));
        for input in inputs {
            for (byte, of_input) in id.iter_mut().zip(input.0) {
                *byte = byte.wrapping_mul(37) ^ of_input;
            }
        }
        OperatorId(id)
    }
}

/// In hex, as Flink's messages have it.
impl fmt::Display for OperatorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for OperatorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OperatorId({self})")
    }
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// MurmurHash3, x64, 128 bits, seed 0 (Austin Appleby, public domain), as Guava's `Hashing.murmur3_128(0)` writes it out.
fn murmur3_128(bytes: &[u8]) -> [u8; 16] {
    let word = |part: &[u8]| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    };
    let first = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let second = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let mut blocks = bytes.chunks_exact(16);
    for block in &mut blocks {
        h1 ^= first(word(&block[..8]));
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= second(word(&block[8..]));
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (low, high) = blocks.remainder().split_at(blocks.remainder().len().min(8));
    h1 ^= first(word(low));
    h2 ^= second(word(high));
    let length = bytes.len() as u64;
    (h1, h2) = (h1 ^ length, h2 ^ length);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (h1, h2) = (avalanche(h1), avalanche(h2));
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    let mut out = [0; 16];
    out[..8].copy_from_slice(&h1.to_le_bytes());
    out[8..].copy_from_slice(&h2.to_le_bytes());
    out
}

fn avalanche(mut k: u64) -> u64 {
    k = (k ^ (k >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ (k >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_uids() {
        // Measured: a source, what is chained to it, and operators with uids.
        assert_eq!(OperatorId::of_uid("src-T").to_string(), "954033dd38eb0071b2cfaae8da13e307");
        assert_eq!(OperatorId::of_uid("tap-snk").to_string(), "a4eacad7b415ab437517b5020425931f");
        let assigner = OperatorId::of_place(1, 1, &[OperatorId::of_uid("src-T")]);
        assert_eq!(assigner.to_string(), "098c14601c68216b14e92f2a5cd492ce");
        assert_eq!(OperatorId::of_place(0, 1, &[]).to_string(), "cbc357ccb763df2852fee8c4fc7d55f2");
    }
}
