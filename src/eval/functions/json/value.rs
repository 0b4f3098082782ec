//! JSON values as Jackson reads and writes them.

use std::fmt::{self, Write};

use crate::eval::java_number::double_text;

/// A JSON value. Numbers keep the Java class that Jackson picks for them.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Boolean(bool),
    /// An `Integer` or a `Long`.
    Int(i64),
    /// A `BigInteger`, as text.
    Big(String),
    Double(f64),
    String(String),
    Array(Vec<Json>),
    /// In the order in which the keys came first.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Neither an object nor an array.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// The member of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// A number as a double.
    pub fn number(&self) -> Option<f64> {
        match self {
            Json::Int(i) => Some(*i as f64),
            Json::Big(text) => text.parse().ok(),
            Json::Double(d) => Some(*d),
            _ => None,
        }
    }

    /// The name of its Java class.
    pub fn class(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Boolean(_) => "java.lang.Boolean",
            Json::Int(i) if i32::try_from(*i).is_ok() => "java.lang.Integer",
            Json::Int(_) => "java.lang.Long",
            Json::Big(_) => "java.math.BigInteger",
            Json::Double(_) => "java.lang.Double",
            Json::String(_) => "java.lang.String",
            Json::Array(_) => "java.util.ArrayList",
            Json::Object(_) => "java.util.LinkedHashMap",
        }
    }

    /// Its JSON text, without blanks.
    pub fn write(&self, out: &mut String) {
        match self {
            Json::String(s) => quote(s, out),
            // What is no JSON number is written as text.
            Json::Double(d) if !d.is_finite() => quote(&double_text(*d), out),
            Json::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (i, (key, value)) in members.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    quote(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
            scalar => {
                let _ = write!(out, "{scalar}");
            }
        }
    }

    /// Its JSON text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// Java's `toString` of the value: what messages show, and what a scalar is as a STRING.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Boolean(b) => write!(f, "{b}"),
            Json::Int(i) => write!(f, "{i}"),
            Json::Big(text) | Json::String(text) => f.write_str(text),
            Json::Double(d) => f.write_str(&double_text(*d)),
            Json::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                for (i, (key, value)) in members.iter().enumerate() {
                    write!(f, "{}{key}={value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A JSON string with Jackson's escapes: the controls, the quote and the backslash.
pub fn quote(s: &str, out: &mut String) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
