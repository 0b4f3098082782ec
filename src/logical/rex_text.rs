//! Row expressions as Calcite's `RexNode.toString` writes them: operators before their operands, types behind constants and casts.
//! EXPLAIN shows it where an expression is printed as it is, as in the conditions of `Match`.

use std::fmt;

use super::print::{SqlType, print_value};
use super::rex::{Rex, RexKind, Value};
use crate::catalog::types::{DataType, MAX_LENGTH, TypeKind};

/// An expression with the names of its columns.
pub struct RexText<'a, N: AsRef<str>> {
    /// The expression.
    pub rex: &'a Rex,
    /// The names.
    pub columns: &'a [N],
}

impl<N: AsRef<str>> fmt::Display for RexText<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |rex| RexText { rex, columns: self.columns };
        match &self.rex.kind {
            RexKind::Input(i) => match self.columns.get(*i) {
                Some(name) => f.write_str(name.as_ref()),
                None => write!(f, "${i}"),
            },
            RexKind::Literal(value) => constant(f, value, self.rex),
            RexKind::Call(function, args) => {
                write!(f, "{}(", function.name())?;
                for (i, arg) in args.iter().enumerate() {
                    write!(f, "{}{}", if i > 0 { ", " } else { "" }, of(arg))?;
                }
                f.write_str(")")
            }
            RexKind::Cast { operand, is_try } => {
                let word = if *is_try { "TRY_CAST" } else { "CAST" };
                write!(f, "{word}({}):{}", of(operand), FullType(&self.rex.ty))
            }
            RexKind::Field(operand, index) => match &operand.ty.kind {
                TypeKind::Row(fields) if *index < fields.len() => write!(f, "{}.{}", of(operand), fields[*index].name),
                _ => write!(f, "{}.f{index}", of(operand)),
            },
            RexKind::Over(_) | RexKind::Outer(_) => f.write_str(&print_value(self.rex)),
        }
    }
}

fn constant(f: &mut fmt::Formatter<'_>, value: &Value, rex: &Rex) -> fmt::Result {
    let text = print_value(rex);
    match (value, &rex.ty.kind) {
        (Value::String(_), TypeKind::Char(_)) => write!(f, "_UTF-16LE{text}"),
        (Value::String(_), _) => write!(f, "_UTF-16LE{text}:{}", Charset(&rex.ty.kind)),
        (Value::Int(_), TypeKind::Int)
        | (Value::Boolean(_) | Value::Null | Value::Millis(_) | Value::Months(_) | Value::Symbol(_), _)
        | (Value::Date(_) | Value::Time(_) | Value::Timestamp(..) | Value::Placeholder(_) | Value::Sarg(_), _) => {
            f.write_str(&text)
        }
        (_, kind) => write!(f, "{text}:{}", SqlType(kind)),
    }
}

/// A type with its character set and NOT NULL.
struct FullType<'a>(&'a DataType);

impl fmt::Display for FullType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Charset(&self.0.kind), if self.0.nullable { "" } else { " NOT NULL" })
    }
}

struct Charset<'a>(&'a TypeKind);

impl fmt::Display for Charset<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            TypeKind::VarChar(MAX_LENGTH) => write!(f, "VARCHAR({MAX_LENGTH}) CHARACTER SET \"UTF-16LE\""),
            TypeKind::Char(_) | TypeKind::VarChar(_) => write!(f, "{} CHARACTER SET \"UTF-16LE\"", SqlType(self.0)),
            kind => SqlType(kind).fmt(f),
        }
    }
}
