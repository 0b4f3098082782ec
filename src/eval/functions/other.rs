//! Functions about types and about what a text looks like.

use std::sync::Arc;

use super::{Body, Call};
use crate::catalog::types::{DataType, MAX_LENGTH, TypeKind};
use crate::catalog::value::Value;
use crate::eval::Datum;

/// The function behind a call, if it is one of this family.
pub fn find(call: &Call<'_>) -> Option<Body> {
    match call.name {
        "TYPEOF" => {
            let serializable = match call.args.get(1) {
                Some(flag) => matches!(flag.as_literal()?, Value::Boolean(true)),
                None => false,
            };
            let name = Datum::string(type_text(&call.args.first()?.ty, serializable));
            Some(Arc::new(move |_| Ok(name.clone())))
        }
        "IS_ALPHA" => predicate(is_alpha),
        "IS_DECIMAL" => predicate(is_decimal),
        "IS_DIGIT" => predicate(is_digit),
        _ => None,
    }
}

/// These are FALSE of NULL.
fn predicate(test: fn(&Datum) -> bool) -> Option<Body> {
    Some(Arc::new(move |a| Ok(Datum::Boolean(test(&a[0])))))
}

/// `StringUtils.isAlpha`: letters only, one at least.
fn is_alpha(value: &Datum) -> bool {
    let letter = |c: char| c <= '\u{ffff}' && super::unicode::is_letter(c);
    value.as_str().is_some_and(|s| !s.is_empty() && s.chars().all(letter))
}

/// `StringUtils.isNumeric`, or an integer.
fn is_digit(value: &Datum) -> bool {
    let digit = |c: char| c <= '\u{ffff}' && super::unicode::is_digit(c);
    value.as_int().is_some() || value.as_str().is_some_and(|s| !s.is_empty() && s.chars().all(digit))
}

/// A number but for a DECIMAL (`DecimalData` is none of the classes that are asked for), or a text that
/// `Double.parseDouble` takes.
fn is_decimal(value: &Datum) -> bool {
    match value {
        Datum::Int(_) | Datum::Float(_) | Datum::Double(_) => true,
        other => other.as_str().is_some_and(is_java_double),
    }
}

/// True if `Double.parseDouble` takes the text: blanks around it, a sign, NaN, Infinity, decimal or hexadecimal digits, and
/// the suffix of a type.
fn is_java_double(s: &str) -> bool {
    let s = s.trim_matches(|c| c <= ' ');
    let s = s.strip_prefix(['+', '-']).unwrap_or(s);
    if matches!(s, "NaN" | "Infinity") {
        return true;
    }
    let s = s.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(s);
    let (digits, marks, hexadecimal) = match s.strip_prefix("0x").or_else(|| s.strip_prefix("0X")) {
        Some(rest) => (rest, ['p', 'P'], true),
        None => (s, ['e', 'E'], false),
    };
    let (mantissa, exponent) = match digits.split_once(marks) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let valid = |part: &str| part.bytes().all(|b| if hexadecimal { b.is_ascii_hexdigit() } else { b.is_ascii_digit() });
    let exponent_is_valid = exponent.map_or(!hexadecimal, |e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && e.bytes().all(|b| b.is_ascii_digit())
    });
    valid(whole) && valid(fraction) && !(whole.is_empty() && fraction.is_empty()) && exponent_is_valid
}

/// A type as `LogicalType.asSummaryString` prints it, or as `asSerializableString` does, which knows no STRING and no BYTES.
pub fn type_text(ty: &DataType, serializable: bool) -> String {
    let inner = |t: &DataType| type_text(t, serializable);
    let name = match &ty.kind {
        TypeKind::VarChar(MAX_LENGTH) if !serializable => "STRING".to_owned(),
        TypeKind::VarBinary(MAX_LENGTH) if !serializable => "BYTES".to_owned(),
        // Whatever its units, an interval is one of these two.
        TypeKind::IntervalDayTime(_) => "INTERVAL SECOND(3)".to_owned(),
        TypeKind::IntervalYearMonth(_) => "INTERVAL MONTH".to_owned(),
        TypeKind::Array(of) => format!("ARRAY<{}>", inner(of)),
        TypeKind::Multiset(of) => format!("MULTISET<{}>", inner(of)),
        TypeKind::Map(key, value) => format!("MAP<{}, {}>", inner(key), inner(value)),
        TypeKind::Row(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|f| format!("`{}` {}", f.name.replace('`', "``"), inner(&f.ty))).collect();
            format!("ROW<{}>", fields.join(", "))
        }
        TypeKind::Null => return "NULL".to_owned(),
        kind => kind.to_string(),
    };
    if ty.nullable { name } else { format!("{name} NOT NULL") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_java_s_numbers() {
        for text in ["1.5", " 1 ", "1e5", "NaN", "1d", "0x1p3", "-.5", "5.", "+Infinity"] {
            assert!(is_java_double(text), "{text}");
        }
        for text in ["", "a", ".", "1e", "0x1", "1 2", "nan", "--1"] {
            assert!(!is_java_double(text), "{text}");
        }
    }

    #[test]
    fn letters_and_digits_are_unicode_s() {
        assert!(is_alpha(&Datum::string("é")) && !is_alpha(&Datum::string("a1")) && !is_alpha(&Datum::string("")));
        assert!(is_digit(&Datum::string("１２")) && is_digit(&Datum::Int(1)) && !is_digit(&Datum::string("1.5")));
    }

    #[test]
    fn types_have_two_names() {
        let text = TypeKind::string().not_null();
        assert_eq!(type_text(&text, false), "STRING NOT NULL");
        assert_eq!(type_text(&text, true), "VARCHAR(2147483647) NOT NULL");
        assert_eq!(type_text(&TypeKind::Array(Arc::new(text)).nullable(), false), "ARRAY<STRING NOT NULL>");
    }
}
