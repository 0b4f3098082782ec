//! Implicit conversions of arguments: constructors and collection functions bring their arguments to one type without a CAST
//! in the plan.

use std::sync::Arc;

use crate::catalog::types::{DataType, TypeKind};
use crate::eval::{Datum, Decimal, Row};

/// How a value of one type becomes one of another.
pub struct Conversion(Step);

enum Step {
    Keep,
    Number(TypeKind),
    Cut(usize),
    Array(Box<Step>),
    Map(Box<Step>, Box<Step>),
    Row(Vec<Step>),
}

/// The conversion from a type to one that it may become implicitly.
pub fn conversion(from: &DataType, to: &DataType) -> Conversion {
    Conversion(step(&from.kind, &to.kind))
}

fn step(from: &TypeKind, to: &TypeKind) -> Step {
    match (from, to) {
        (from, to) if from == to => Step::Keep,
        (_, TypeKind::Float | TypeKind::Double | TypeKind::Decimal(..)) => Step::Number(to.clone()),
        // A longer text is cut to the length of the elements: ARRAY_PREPEND(ARRAY['a'], 'bcd') has a 'b'.
        (TypeKind::Char(m) | TypeKind::VarChar(m), TypeKind::Char(n) | TypeKind::VarChar(n)) if m > n => {
            Step::Cut(*n as usize)
        }
        (TypeKind::Array(from), TypeKind::Array(to)) => Step::Array(Box::new(step(&from.kind, &to.kind))),
        (TypeKind::Map(key, value), TypeKind::Map(to_key, to_value)) => {
            Step::Map(Box::new(step(&key.kind, &to_key.kind)), Box::new(step(&value.kind, &to_value.kind)))
        }
        (TypeKind::Row(from), TypeKind::Row(to)) if from.len() == to.len() => {
            Step::Row(from.iter().zip(to.iter()).map(|(f, t)| step(&f.ty.kind, &t.ty.kind)).collect())
        }
        _ => Step::Keep,
    }
}

impl Conversion {
    /// The value as one of the other type.
    pub fn apply(&self, value: &Datum) -> Datum {
        self.0.apply(value)
    }
}

impl Step {
    fn apply(&self, value: &Datum) -> Datum {
        match (self, value) {
            (Step::Number(kind), value) => number(value, kind),
            (Step::Cut(length), Datum::String(s)) => Datum::string(s.chars().take(*length).collect::<String>()),
            (Step::Array(step), Datum::Array(items)) => Datum::Array(items.iter().map(|i| step.apply(i)).collect()),
            (Step::Map(key, of), Datum::Map(entries)) => {
                Datum::Map(entries.iter().map(|(k, v)| (key.apply(k), of.apply(v))).collect::<Arc<_>>())
            }
            (Step::Row(steps), Datum::Row(row)) => {
                Datum::Row(row.iter().zip(steps).map(|(field, step)| step.apply(field)).collect::<Row>())
            }
            (_, value) => value.clone(),
        }
    }
}

fn number(value: &Datum, kind: &TypeKind) -> Datum {
    let exact = match value {
        Datum::Int(i) => Some(Decimal { unscaled: i128::from(*i), scale: 0 }),
        other => other.as_decimal(),
    };
    match (kind, exact) {
        (TypeKind::Decimal(p, s), Some(d)) => d.fit(*p, *s).map_or(Datum::Null, Datum::from),
        (TypeKind::Double, Some(d)) => Datum::Double(d.to_f64()),
        (TypeKind::Float, Some(d)) => Datum::Float(d.to_f64() as f32),
        (TypeKind::Double, None) => value.as_double().map_or_else(|| value.clone(), Datum::Double),
        (TypeKind::Float, None) => value.as_double().map_or_else(|| value.clone(), |d| Datum::Float(d as f32)),
        _ => value.clone(),
    }
}
