//! Casts to text and bytes.

use std::borrow::Cow;
use std::sync::Arc;

use super::Caster;
use crate::catalog::types::{DataType, MAX_LENGTH, TypeKind};
use crate::eval::text::{Style, write};
use crate::eval::{Datum, Session};

/// A text as CHAR(n) or VARCHAR(n): cut, and padded with blanks if `pads`.
pub(in crate::eval) fn fit_text(text: &str, length: usize, pads: bool) -> Cow<'_, str> {
    let characters = text.chars().count();
    if characters > length {
        Cow::Owned(text.chars().take(length).collect())
    } else if pads && characters < length {
        Cow::Owned(format!("{text}{}", " ".repeat(length - characters)))
    } else {
        Cow::Borrowed(text)
    }
}

/// Anything to CHAR or VARCHAR (`CharVarCharTrimPadCastRule` over the rule of the type).
pub(super) fn to_text(from: &DataType, to: &TypeKind, session: &Session) -> Caster {
    let (length, pads) = match to {
        TypeKind::Char(n) => (*n, true),
        TypeKind::VarChar(n) => (*n, false),
        _ => (MAX_LENGTH, false),
    };
    let (from, zone) = (from.kind.clone(), session.zone.clone());
    let unlimited = !pads && length == MAX_LENGTH;
    Arc::new(move |v| {
        Ok(match v {
            Datum::Null => Datum::Null,
            Datum::String(s) if unlimited => Datum::String(s.clone()),
            Datum::String(s) => match fit_text(s, length as usize, pads) {
                Cow::Borrowed(_) => Datum::String(s.clone()),
                Cow::Owned(text) => Datum::string(text),
            },
            other => {
                let mut text = String::new();
                write(&mut text, other, &from, &zone, Style::Cast);
                if unlimited { Datum::string(text) } else { Datum::string(&*fit_text(&text, length as usize, pads)) }
            }
        })
    })
}

/// Text and bytes to BINARY, padded with zeros and cut, or VARBINARY, cut.
pub(super) fn to_bytes(from: &DataType, to: &TypeKind) -> Option<Caster> {
    if !from.is_character() && !from.is_binary() {
        return None;
    }
    let (length, pads) = match to {
        TypeKind::Binary(n) => (*n as usize, true),
        TypeKind::VarBinary(n) => (*n as usize, false),
        _ => return None,
    };
    Some(Arc::new(move |v| {
        let bytes: &[u8] = match v {
            Datum::String(s) => s.as_bytes(),
            Datum::Bytes(b) => b,
            _ => return Ok(Datum::Null),
        };
        let mut bytes = bytes[..bytes.len().min(length)].to_vec();
        if pads {
            bytes.resize(length, 0);
        }
        Ok(Datum::Bytes(bytes.into()))
    }))
}
