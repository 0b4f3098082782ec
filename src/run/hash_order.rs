//! The order of keys in a Java hash map: Flink keeps bundles and map state in one, and sends them in its order.

use crate::catalog::types::{DataType, TypeKind};
use crate::eval::{Datum, double_bits, float_bits};

/// Puts keys with what belongs to them, which are in the order of insertion, into the order of a `HashMap<RowData, _>`.
pub fn sort<T>(entries: &mut [T], types: &[DataType], key: impl Fn(&T) -> &[Datum]) {
    let mut table = 16;
    // The table doubles when it is more than three quarters full.
    while entries.len() * 4 > table * 3 {
        table *= 2;
    }
    // Stable: in a bucket, what came first is first.
    entries.sort_by_cached_key(|entry| spread(hash(key(entry), types)) as usize & (table - 1));
}

/// `HashMap.hash`: what buckets are chosen by.
pub fn spread(hash: u32) -> u32 {
    hash ^ (hash >> 16)
}

/// `Long.hashCode`
pub fn hash_of_long(n: i64) -> u32 {
    (n ^ ((n as u64) >> 32) as i64) as u32
}

/// `BinaryRowData.hashCode`: Murmur3 of the row's bytes, word by word.
pub fn hash<'a>(row: &[Datum], types: impl IntoIterator<Item = &'a DataType>) -> u32 {
    let bytes = binary_row(row, types);
    let mut h: u32 = 42;
    for word in bytes.chunks_exact(4) {
        let mut k = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        k = k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        h = (h ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    h ^= bytes.len() as u32;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// The bytes of a `BinaryRowData`: a byte for the kind of change and bits for NULLs, eight bytes per field, and behind them what is
/// longer than that.
fn binary_row<'a>(row: &[Datum], types: impl IntoIterator<Item = &'a DataType>) -> Vec<u8> {
    let head = (row.len() + 63 + 8) / 64 * 8;
    let mut bytes = vec![0; head + row.len() * 8];
    for (i, (value, ty)) in row.iter().zip(types).enumerate() {
        let slot = head + i * 8;
        let mut write = |value: &[u8]| bytes[slot..slot + value.len()].copy_from_slice(value);
        match value {
            Datum::Null => bytes[(i + 8) / 8] |= 1 << ((i + 8) % 8),
            Datum::Boolean(b) => write(&[u8::from(*b)]),
            Datum::Int(n) => match ty.kind {
                TypeKind::TinyInt => write(&n.to_le_bytes()[..1]),
                TypeKind::SmallInt => write(&n.to_le_bytes()[..2]),
                TypeKind::Int => write(&n.to_le_bytes()[..4]),
                _ => write(&n.to_le_bytes()),
            },
            Datum::Float(f) => write(&float_bits(*f).to_le_bytes()),
            Datum::Double(d) => write(&double_bits(*d).to_le_bytes()),
            Datum::Date(n) | Datum::Time(n) => write(&n.to_le_bytes()),
            Datum::Months(n) => write(&n.to_le_bytes()[..4]),
            Datum::Millis(n) => write(&n.to_le_bytes()),
            Datum::Timestamp { millis, nanos } => match ty.kind {
                TypeKind::Timestamp(p, _) | TypeKind::TimestampLtz(p, _) if p > 3 => {
                    let offset = bytes.len() as u64;
                    let place = offset << 32 | u64::from(*nanos);
                    bytes[slot..slot + 8].copy_from_slice(&place.to_le_bytes());
                    bytes.extend(millis.to_le_bytes());
                }
                _ => write(&millis.to_le_bytes()),
            },
            Datum::Decimal { .. } => {
                let unscaled = value.as_decimal().map_or(0, |d| d.unscaled);
                if matches!(ty.kind, TypeKind::Decimal(p, _) if p <= 18) {
                    write(&(unscaled as i64).to_le_bytes());
                } else {
                    // `BigInteger.toByteArray`: the shortest two's complement, highest byte first, in 16 bytes.
                    let all = unscaled.to_be_bytes();
                    let sign = if unscaled < 0 { 0xff } else { 0 };
                    let mut from = 0;
                    while from < 15 && all[from] == sign && (all[from + 1] ^ sign) & 0x80 == 0 {
                        from += 1;
                    }
                    let place = (bytes.len() as u64) << 32 | (16 - from as u64);
                    bytes[slot..slot + 8].copy_from_slice(&place.to_le_bytes());
                    bytes.extend(&all[from..]);
                    bytes.extend(std::iter::repeat_n(0, from));
                }
            }
            Datum::String(text) => variable(&mut bytes, slot, text.as_bytes()),
            Datum::Bytes(value) => variable(&mut bytes, slot, value),
            // Nested values are no keys of bundles in plans that Flink makes; their order is that of insertion.
            Datum::Array(_) | Datum::Map(_) | Datum::Row(_) => {}
        }
    }
    bytes
}

/// Up to seven bytes stand in the field itself, with their number in the last byte; more stand behind, in words.
fn variable(bytes: &mut Vec<u8>, slot: usize, value: &[u8]) {
    if value.len() <= 7 {
        bytes[slot..slot + value.len()].copy_from_slice(value);
        bytes[slot + 7] = 0x80 | value.len() as u8;
        return;
    }
    let place = (bytes.len() as u64) << 32 | value.len() as u64;
    bytes[slot..slot + 8].copy_from_slice(&place.to_le_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_in_the_order_that_flink_sends_them() {
        let types = [TypeKind::string().nullable()];
        let sorted = |keys: [&str; 2]| {
            let mut keys = keys.map(|k| [Datum::string(k)]);
            sort(&mut keys, &types, |key| key);
            keys.map(|k| k[0].clone())
        };
        assert_eq!(sorted(["y", "x"]), ["x", "y"].map(Datum::string));
        // These share a bucket.
        assert_eq!(sorted(["w", "z"]), ["w", "z"].map(Datum::string));
        assert_eq!(sorted(["z", "w"]), ["z", "w"].map(Datum::string));
    }

    #[test]
    fn long_values_stand_behind_the_fields() {
        let types = [TypeKind::string().nullable(), TypeKind::Int.nullable()];
        let bytes = binary_row(&[Datum::string("longer text"), Datum::Null], &types);
        assert_eq!(bytes.len(), 8 + 16 + 16);
        assert_eq!(bytes[1], 0b10, "the second field is NULL");
        assert_eq!(bytes[8..16], (24u64 << 32 | 11).to_le_bytes());
    }
}
