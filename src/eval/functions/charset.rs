//! ENCODE and DECODE: `String.getBytes(charset)` and `new String(bytes, charset)`.

use crate::eval::{Datum, EvalError};

/// The charsets that every Java has (`StandardCharsets`), and UTF-32.
#[derive(Clone, Copy)]
enum Charset {
    Utf8,
    Ascii,
    Latin1,
    Utf16 { little: bool, mark: bool },
    Utf32 { little: bool },
}

/// The charset of this name or alias, in any letter case; else Java's `UnsupportedEncodingException`.
fn charset(name: &str) -> Result<Charset, EvalError> {
    Ok(match name.to_ascii_uppercase().as_str() {
        "UTF-8" | "UTF8" => Charset::Utf8,
        "US-ASCII" | "ASCII" | "ISO646-US" => Charset::Ascii,
        "ISO-8859-1" | "ISO8859-1" | "ISO8859_1" | "ISO_8859_1" | "ISO_8859-1" | "LATIN1" | "L1" => Charset::Latin1,
        "UTF-16" | "UTF16" | "UTF_16" => Charset::Utf16 { little: false, mark: true },
        "UTF-16BE" | "UTF_16BE" => Charset::Utf16 { little: false, mark: false },
        "UTF-16LE" | "UTF_16LE" => Charset::Utf16 { little: true, mark: false },
        "UTF-32" | "UTF32" | "UTF-32BE" => Charset::Utf32 { little: false },
        "UTF-32LE" => Charset::Utf32 { little: true },
        _ => return Err(EvalError::new(name)),
    })
}

/// The bytes of a text. What the charset does not have becomes `?`.
pub fn encode(s: &str, name: &str) -> Result<Datum, EvalError> {
    let narrow = |limit: u32| s.chars().map(|c| if u32::from(c) < limit { c as u8 } else { b'?' }).collect::<Vec<u8>>();
    let bytes: Vec<u8> = match charset(name)? {
        Charset::Utf8 => s.as_bytes().to_vec(),
        Charset::Ascii => narrow(0x80),
        Charset::Latin1 => narrow(0x100),
        Charset::Utf16 { little, mark } => {
            let mark = (mark && !s.is_empty()).then_some(0xfeff);
            let units = mark.into_iter().chain(s.encode_utf16());
            units.flat_map(|u| if little { u.to_le_bytes() } else { u.to_be_bytes() }).collect()
        }
        Charset::Utf32 { little } => {
            s.chars().map(u32::from).flat_map(|u| if little { u.to_le_bytes() } else { u.to_be_bytes() }).collect()
        }
    };
    Ok(Datum::Bytes(bytes.into()))
}

/// The text of some bytes. What is malformed becomes U+FFFD.
pub fn decode(bytes: &[u8], name: &str) -> Result<Datum, EvalError> {
    const UNKNOWN: char = char::REPLACEMENT_CHARACTER;
    let s: String = match charset(name)? {
        Charset::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
        Charset::Ascii => bytes.iter().map(|b| if b.is_ascii() { char::from(*b) } else { UNKNOWN }).collect(),
        Charset::Latin1 => bytes.iter().copied().map(char::from).collect(),
        Charset::Utf16 { little, mark } => {
            let (little, bytes) = match bytes {
                [0xfe, 0xff, rest @ ..] if mark => (false, rest),
                [0xff, 0xfe, rest @ ..] if mark => (true, rest),
                _ => (little, bytes),
            };
            let chunks = bytes.chunks_exact(2);
            let cut = !chunks.remainder().is_empty();
            let units = chunks
                .map(|c| [c[0], c[1]])
                .map(|c| if little { u16::from_le_bytes(c) } else { u16::from_be_bytes(c) });
            char::decode_utf16(units).map(|c| c.unwrap_or(UNKNOWN)).chain(cut.then_some(UNKNOWN)).collect()
        }
        Charset::Utf32 { little } => {
            let chunks = bytes.chunks_exact(4);
            let cut = !chunks.remainder().is_empty();
            let units = chunks
                .map(|c| [c[0], c[1], c[2], c[3]])
                .map(|c| if little { u32::from_le_bytes(c) } else { u32::from_be_bytes(c) });
            units.map(|u| char::from_u32(u).unwrap_or(UNKNOWN)).chain(cut.then_some(UNKNOWN)).collect()
        }
    };
    Ok(Datum::string(s))
}
