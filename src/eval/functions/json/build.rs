//! JSON_OBJECT, JSON_ARRAY and JSON_STRING: SQL values as JSON (`JsonGenerateUtils`). Keys come out sorted.

use std::sync::Arc;

use jiff::civil::DateTime;

use super::value::quote;
use crate::catalog::types::{DataType, TypeKind};
use crate::catalog::value::Value;
use crate::eval::functions::{Body, Call, base64, total};
use crate::eval::java_number::{double_text, float_text};
use crate::eval::{Datum, Decimal};
use crate::logical::rex::{Rex, RexKind};

/// The function behind a call; none for values that JSON does not have.
pub fn find(call: &Call<'_>) -> Option<Body> {
    match call.name {
        "JSON_STRING" => {
            let writer = Writer::of(&call.args.first()?.ty)?;
            total(move |a| Datum::string(writer.text(&a[0])))
        }
        "JSON_OBJECT" => {
            let keeps_null = !clause(call, "ABSENT");
            let (places, writers) = values(call)?;
            Some(Arc::new(move |a| {
                let pairs = places.chunks_exact(2).zip(writers.chunks_exact(2));
                let members = pairs.filter(|(p, _)| keeps_null || !a[p[1]].is_null());
                let members = members.map(|(p, w)| (a[p[0]].as_str().unwrap_or_default(), w[1].text(&a[p[1]])));
                Ok(Datum::string(object(members)))
            }))
        }
        "JSON_ARRAY" => {
            let keeps_null = clause(call, "NULL");
            let (places, writers) = values(call)?;
            Some(Arc::new(move |a| {
                let items = places.iter().zip(&writers).filter(|(p, _)| keeps_null || !a[**p].is_null());
                let items: Vec<String> = items.map(|(p, writer)| writer.text(&a[*p])).collect();
                Ok(Datum::string(format!("[{}]", items.join(","))))
            }))
        }
        _ => None,
    }
}

/// True if a clause of the call begins with a word: `ABSENT ON NULL`.
fn clause(call: &Call<'_>, word: &str) -> bool {
    call.args.iter().any(|a| matches!(a.as_literal(), Some(Value::Symbol(words)) if words.starts_with(word)))
}

/// The places of the arguments that are values, and how they are written.
fn values(call: &Call<'_>) -> Option<(Vec<usize>, Vec<Writer>)> {
    let values = call.args.iter().enumerate().filter(|(_, a)| !matches!(a.as_literal(), Some(Value::Symbol(_))));
    values
        .map(|(i, arg)| Some((i, Writer::of_argument(arg)?)))
        .collect::<Option<Vec<_>>>()
        .map(|v| v.into_iter().unzip())
}

/// An object of members, sorted as Java sorts strings. A key that comes again takes the later value.
fn object<'a>(members: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut sorted: Vec<(&str, String)> = Vec::new();
    for (key, value) in members {
        match sorted.binary_search_by(|(k, _)| k.encode_utf16().cmp(key.encode_utf16())) {
            Ok(at) => sorted[at].1 = value,
            Err(at) => sorted.insert(at, (key, value)),
        }
    }
    let mut out = "{".to_owned();
    for (i, (key, value)) in sorted.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        quote(key, &mut out);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    out
}

/// How values of a type are written.
enum Writer {
    /// What is JSON already: JSON_OBJECT and JSON_ARRAY directly as an argument.
    Raw,
    Scalar,
    Timestamp {
        instant: bool,
    },
    Array(Box<Writer>),
    Map(Box<Writer>),
    Row(Vec<(String, Writer)>),
}

impl Writer {
    fn of_argument(arg: &Rex) -> Option<Writer> {
        match &arg.kind {
            RexKind::Call(function, _) if matches!(function.name(), "JSON_OBJECT" | "JSON_ARRAY") => Some(Writer::Raw),
            _ => Writer::of(&arg.ty),
        }
    }

    fn of(ty: &DataType) -> Option<Writer> {
        Some(match &ty.kind {
            TypeKind::Timestamp(..) => Writer::Timestamp { instant: false },
            TypeKind::TimestampLtz(..) => Writer::Timestamp { instant: true },
            TypeKind::Array(of) => Writer::Array(Box::new(Writer::of(of)?)),
            TypeKind::Map(key, value) if key.is_character() => Writer::Map(Box::new(Writer::of(value)?)),
            TypeKind::Row(fields) => Writer::Row(
                fields.iter().map(|f| Some((f.name.clone(), Writer::of(&f.ty)?))).collect::<Option<Vec<_>>>()?,
            ),
            TypeKind::Null | TypeKind::Boolean => Writer::Scalar,
            _ if ty.is_numeric() || ty.is_character() || ty.is_binary() => Writer::Scalar,
            _ => return None,
        })
    }

    fn text(&self, value: &Datum) -> String {
        let quoted = |s: &str| {
            let mut out = String::new();
            quote(s, &mut out);
            out
        };
        match (self, value) {
            (_, Datum::Null) => "null".to_owned(),
            (Writer::Raw, value) => value.as_str().unwrap_or_default().to_owned(),
            (Writer::Timestamp { instant }, Datum::Timestamp { millis, nanos }) => {
                quoted(&iso(*millis, *nanos, if *instant { "Z" } else { "" }))
            }
            (Writer::Array(of), Datum::Array(items)) => {
                let items: Vec<String> = items.iter().map(|i| of.text(i)).collect();
                format!("[{}]", items.join(","))
            }
            (Writer::Map(of), Datum::Map(entries)) => {
                object(entries.iter().map(|(k, v)| (k.as_str().unwrap_or_default(), of.text(v))))
            }
            (Writer::Row(fields), Datum::Row(row)) => {
                object(fields.iter().zip(row.iter()).map(|((name, of), v)| (name.as_str(), of.text(v))))
            }
            (_, Datum::Boolean(b)) => b.to_string(),
            (_, Datum::Int(i)) => i.to_string(),
            (_, Datum::Double(d)) if d.is_finite() => double_text(*d),
            (_, Datum::Float(f)) if f.is_finite() => float_text(*f),
            // No JSON number: text.
            (_, Datum::Double(d)) => quoted(&double_text(*d)),
            (_, Datum::Float(f)) => quoted(&float_text(*f)),
            (_, Datum::Bytes(bytes)) => quoted(&base64::encode(bytes)),
            (_, value) => match value.as_decimal() {
                Some(d) => decimal_text(d),
                None => quoted(value.as_str().unwrap_or_default()),
            },
        }
    }
}

/// `DateTimeFormatter.ISO_LOCAL_DATE_TIME`: seconds always, and as many digits behind them as there are.
fn iso(millis: i64, nanos: u32, zone: &str) -> String {
    let days = millis.div_euclid(86_400_000);
    let of_day = millis.rem_euclid(86_400_000);
    let span = jiff::SignedDuration::from_hours(24).checked_mul(i32::try_from(days).unwrap_or_default());
    let date =
        span.and_then(|span| DateTime::constant(1970, 1, 1, 0, 0, 0, 0).checked_add(span).ok()).unwrap_or_default();
    let (hour, minute, second) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60);
    let fraction = format!("{:09}", of_day % 1000 * 1_000_000 + i64::from(nanos));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!(
        "{:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}{point}{fraction}{zone}",
        date.year(),
        date.month(),
        date.day()
    )
}

/// `BigDecimal.stripTrailingZeros().toString()`, which Jackson writes for a DECIMAL: 100.00 is `1E+2`.
fn decimal_text(d: Decimal) -> String {
    let (mut unscaled, mut scale) = (d.unscaled, i32::from(d.scale));
    if unscaled == 0 {
        return "0".to_owned();
    }
    while unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    let digits = unscaled.unsigned_abs().to_string();
    let exponent = digits.len() as i32 - 1 - scale;
    if scale >= 0 && exponent >= -6 {
        return Decimal { unscaled, scale: scale as u8 }.to_string();
    }
    let sign = if unscaled < 0 { "-" } else { "" };
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}E{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_lose_their_zeros() {
        let text = |unscaled, scale| decimal_text(Decimal { unscaled, scale });
        assert_eq!(text(150, 2), "1.5");
        assert_eq!(text(10000, 2), "1E+2");
        assert_eq!(text(1, 7), "1E-7");
        assert_eq!(text(-12000, 0), "-1.2E+4");
        assert_eq!(text(0, 2), "0");
        assert_eq!(text(1, 6), "0.000001");
    }

    #[test]
    fn times_are_iso() {
        assert_eq!(iso(1_704_067_200_120, 0, "Z"), "2024-01-01T00:00:00.12Z");
        assert_eq!(iso(-1, 1, ""), "1969-12-31T23:59:59.999000001");
    }

    #[test]
    fn keys_are_sorted() {
        let members = [("b", "1"), ("a", "2"), ("b", "3")].map(|(k, v)| (k, v.to_owned()));
        assert_eq!(object(members.into_iter()), "{\"a\":2,\"b\":3}");
    }
}
