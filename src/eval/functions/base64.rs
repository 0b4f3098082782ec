//! Base64 as `java.util.Base64`'s basic coder has it, with its messages.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of some bytes, padded.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for i in 0..4 {
            let sextet = (bits >> (18 - 6 * i)) & 63;
            out.push(if i <= chunk.len() { char::from(ALPHABET[sextet as usize]) } else { '=' });
        }
    }
    out
}

/// The bytes of a text, or Java's words for what is wrong with it. Padding may be left out, but not be cut short.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, String> {
    if text.len() == 1 {
        return Err("Input byte[] should at least have 2 bytes for base64 bytes".to_owned());
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut shift) = (0u32, 18i32);
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        at += 1;
        let Some(sextet) = ALPHABET.iter().position(|a| *a == c) else {
            if c != b'=' {
                return Err(format!("Illegal base64 character {:x}", c as i8 as i32));
            }
            // One character before `=` holds no byte; after two there have to be two `=`.
            let second = shift == 6 && text.get(at).is_none_or(|c| *c != b'=');
            if shift == 6 {
                at += 1;
            }
            if second || shift == 18 {
                return Err("Input byte array has wrong 4-byte ending unit".to_owned());
            }
            break;
        };
        bits |= (sextet as u32) << shift;
        shift -= 6;
        if shift < 0 {
            out.extend([(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
            (bits, shift) = (0, 18);
        }
    }
    match shift {
        6 => out.push((bits >> 16) as u8),
        0 => out.extend([(bits >> 16) as u8, (bits >> 8) as u8]),
        12 => return Err("Last unit does not have enough valid bits".to_owned()),
        _ => {}
    }
    if at < text.len() {
        return Err(format!("Input byte array has incorrect ending byte at {at}"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_both_ways() {
        for (plain, coded) in [("", ""), ("x", "eA=="), ("abcd", "YWJjZA=="), ("hello", "aGVsbG8="), ("abc", "YWJj")] {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded.as_bytes()).as_deref(), Ok(plain.as_bytes()));
        }
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(decode(b"!!"), Err("Illegal base64 character 21".to_owned()));
        assert_eq!(decode(b"aGVsbG8=="), Err("Input byte array has incorrect ending byte at 8".to_owned()));
        assert_eq!(decode(b"aGVsbG8").as_deref(), Ok(&b"hello"[..]));
    }
}
