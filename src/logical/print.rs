//! Row expressions in the notation of Flink's EXPLAIN (`RexExplainUtil`, `FlinkRexUtil.getExpressionString`).

use std::fmt::{self, Display as _};

use super::rex::{Function, Rex, RexKind, Sarg, SargBound, Value};
use super::translate::datetime::{DateText, TimeText, TimestampText};
use crate::catalog::functions::CallSyntax;
use crate::catalog::types::{DataType, TimeAttribute, TypeKind};

/// How operators, texts and casts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// `(a + 1)`
    Explain,
    /// `+(a, 1)`
    Prefix,
    /// The same, with character sets.
    Calcite,
}

/// An expression with the names of its input's columns, ready to print.
pub struct Printed<'a, N: AsRef<str>> {
    rex: &'a Rex,
    columns: &'a [N],
    notation: Notation,
}

/// `rex` in Flink's notation; columns beyond `columns` print as `$7`.
pub fn expression<'a, N: AsRef<str>>(rex: &'a Rex, columns: &'a [N]) -> Printed<'a, N> {
    Printed { rex, columns, notation: Notation::Explain }
}

/// `rex` with columns as `$0`, `$1`: a text that equal expressions share, whatever their columns are called.
pub fn digest(rex: &Rex) -> String {
    expression::<&str>(rex, &[]).to_string()
}

/// `rex` in Flink's notation.
pub fn print<N: AsRef<str>>(rex: &Rex, columns: &[N]) -> String {
    expression(rex, columns).to_string()
}

/// `rex` with operators before their operands, as scans print pushed watermarks and filters:
/// `-(TO_TIMESTAMP_LTZ(ms, 3), 5000:INTERVAL SECOND)`.
pub fn print_prefix<N: AsRef<str>>(rex: &Rex, columns: &[N]) -> String {
    Printed { rex, columns, notation: Notation::Prefix }.to_string()
}

/// `rex` as Calcite prints it by itself, which is how a `Correlate` shows its call: `LIKE($0, _UTF-16LE'a%')`.
pub fn print_call<N: AsRef<str>>(rex: &Rex, columns: &[N]) -> String {
    Printed { rex, columns, notation: Notation::Calcite }.to_string()
}

/// A constant as `Values` prints it in its tuples.
pub fn print_value(rex: &Rex) -> String {
    expression::<&str>(rex, &[]).to_string()
}

/// A constant argument of an aggregate, its type behind it where the text does not tell: `0.0:DOUBLE`.
pub fn print_argument(rex: &Rex) -> String {
    match rex.as_literal() {
        Some(value) => typed_literal(value, &rex.ty),
        None => digest(rex),
    }
}

impl<N: AsRef<str>> Printed<'_, N> {
    fn of<'b>(&'b self, rex: &'b Rex) -> Printed<'b, N> {
        Printed { rex, columns: self.columns, notation: self.notation }
    }

    fn list(&self, f: &mut fmt::Formatter<'_>, args: &[Rex], separator: &str) -> fmt::Result {
        for (i, arg) in args.iter().enumerate() {
            if i > 0 {
                f.write_str(separator)?;
            }
            self.of(arg).fmt(f)?;
        }
        Ok(())
    }
}

impl<N: AsRef<str>> fmt::Display for Printed<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rex.kind {
            RexKind::Input(i) => match self.columns.get(*i) {
                Some(name) => f.write_str(name.as_ref()),
                None => write!(f, "${i}"),
            },
            RexKind::Literal(Value::String(text)) if self.notation == Notation::Calcite => {
                write!(f, "_UTF-16LE'{text}'")?;
                match self.rex.ty.kind {
                    TypeKind::Char(_) => Ok(()),
                    _ => write!(f, ":{}", CalciteType(&self.rex.ty.kind)),
                }
            }
            RexKind::Literal(value) => literal(f, value, &self.rex.ty),
            RexKind::Cast { operand, is_try: false } if self.notation == Notation::Calcite => {
                write!(f, "CAST({}):{}", self.of(operand), CalciteType(&self.rex.ty.kind))
            }
            RexKind::Call(function, args) => self.call(f, function, args),
            RexKind::Cast { operand, is_try } => {
                let word = if *is_try { "TRY_CAST" } else { "CAST" };
                write!(f, "{word}({} AS {})", self.of(operand), SqlType(&self.rex.ty.kind))
            }
            RexKind::Field(operand, index) => {
                self.of(operand).fmt(f)?;
                match &operand.ty.kind {
                    TypeKind::Row(fields) if *index < fields.len() => write!(f, ".{}", fields[*index].name),
                    _ => write!(f, ".f{index}"),
                }
            }
            RexKind::Over(over) => {
                let distinct = if over.distinct { "DISTINCT " } else { "" };
                write!(f, "{}({distinct}", over.function)?;
                if over.args.is_empty() {
                    f.write_str("*")?;
                }
                self.list(f, &over.args, ", ")?;
                f.write_str(") OVER (PARTITION BY ")?;
                self.list(f, &over.partition_by, ", ")?;
                f.write_str(" ORDER BY ")?;
                for (i, sort) in over.order_by.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{} {}", self.of(&sort.expr), if sort.descending { "DESC" } else { "ASC" })?;
                }
                f.write_str(")")
            }
            RexKind::Outer(i) => write!(f, "$cor0.{i}"),
        }
    }
}

impl<N: AsRef<str>> Printed<'_, N> {
    fn call(&self, f: &mut fmt::Formatter<'_>, function: &Function, args: &[Rex]) -> fmt::Result {
        let syntax = match function {
            Function::Builtin(def) => def.syntax,
            Function::User(_) => CallSyntax::Function,
        };
        let name = function.name();
        let syntax = match syntax {
            CallSyntax::Infix | CallSyntax::Postfix if self.notation != Notation::Explain => CallSyntax::Prefix,
            syntax => syntax,
        };
        match syntax {
            CallSyntax::Infix => {
                f.write_str("(")?;
                self.list(f, args, &format!(" {name} "))?;
                f.write_str(")")
            }
            CallSyntax::Postfix => {
                self.list(f, args, ", ")?;
                write!(f, " {name}")
            }
            CallSyntax::Prefix | CallSyntax::Function => {
                write!(f, "{name}(")?;
                self.list(f, args, ", ")?;
                f.write_str(")")
            }
        }
    }
}

fn literal(f: &mut fmt::Formatter<'_>, value: &Value, ty: &DataType) -> fmt::Result {
    match value {
        Value::Null => write!(f, "null:{}", SqlType(&ty.kind)),
        Value::String(text) => write!(f, "'{text}'"),
        Value::Millis(n) | Value::Months(n) => write!(f, "{n}:{}", SqlType(&ty.kind)),
        other => plain(f, other),
    }
}

fn typed_literal(value: &Value, ty: &DataType) -> String {
    let text = Constant(value, ty).to_string();
    let plain_type = match value {
        Value::Int(_) => matches!(ty.kind, TypeKind::Int),
        Value::Decimal { scale, .. } => matches!(ty.kind, TypeKind::Decimal(_, s) if s == *scale),
        Value::String(_) => matches!(ty.kind, TypeKind::Char(_)),
        Value::Null | Value::Millis(_) | Value::Months(_) => true,
        Value::Double(_) => false,
        _ => true,
    };
    if plain_type { text } else { format!("{text}:{}", SqlType(&ty.kind)) }
}

struct Constant<'a>(&'a Value, &'a DataType);

impl fmt::Display for Constant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        literal(f, self.0, self.1)
    }
}

/// A value without type and quotes of its own.
fn plain(f: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::Null => f.write_str("null"),
        Value::Boolean(b) => write!(f, "{b}"),
        Value::Int(n) | Value::Millis(n) | Value::Months(n) => write!(f, "{n}"),
        Value::Decimal { unscaled, scale } => decimal(f, *unscaled, *scale),
        Value::Double(bits) => double(f, f64::from_bits(*bits)),
        Value::String(text) => write!(f, "'{text}'"),
        Value::Bytes(bytes) => {
            f.write_str("X'")?;
            bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
            f.write_str("'")
        }
        Value::Date(days) => DateText(i64::from(*days)).fmt(f),
        Value::Time(millis) => TimeText(i64::from(*millis), 0).fmt(f),
        Value::Timestamp(millis, nanos) => TimestampText(*millis, *nanos).fmt(f),
        Value::Symbol(word) => f.write_str(word),
        Value::Placeholder(name) => write!(f, "${{{name}}}"),
        Value::Sarg(sarg) => sarg.fmt(f),
    }
}

/// `unscaled / 10^scale`, all digits of the scale shown.
fn decimal(f: &mut fmt::Formatter<'_>, unscaled: i128, scale: u8) -> fmt::Result {
    let sign = if unscaled < 0 { "-" } else { "" };
    let width = usize::from(scale) + 1;
    let digits = format!("{:0>width$}", unscaled.unsigned_abs());
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
    if scale == 0 { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{fraction}") }
}

/// Java's and Calcite's `1.5E0`.
fn double(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_finite() { write!(f, "{value:E}") } else { write!(f, "{value}") }
}

/// Prints Calcite's `Sarg[1, (3..5), [7..+∞); NULL AS TRUE]`.
impl fmt::Display for Sarg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sarg[")?;
        for (i, range) in self.ranges.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            match (&range.lower, &range.upper) {
                (Some(a), Some(b)) if a.value == b.value => sarg_value(f, &a.value)?,
                (lower, upper) => {
                    bound(f, lower.as_ref(), true)?;
                    f.write_str("..")?;
                    bound(f, upper.as_ref(), false)?;
                }
            }
        }
        match self.null_as {
            Some(true) => f.write_str("; NULL AS TRUE")?,
            Some(false) => f.write_str("; NULL AS FALSE")?,
            None => {}
        }
        f.write_str("]")
    }
}

fn bound(f: &mut fmt::Formatter<'_>, bound: Option<&SargBound>, lower: bool) -> fmt::Result {
    match (bound, lower) {
        (None, true) => f.write_str("(-∞"),
        (None, false) => f.write_str("+∞)"),
        (Some(b), true) => {
            f.write_str(if b.inclusive { "[" } else { "(" })?;
            sarg_value(f, &b.value)
        }
        (Some(b), false) => {
            sarg_value(f, &b.value)?;
            f.write_str(if b.inclusive { "]" } else { ")" })
        }
    }
}

/// Text inside a Sarg carries its character set.
fn sarg_value(f: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::String(text) => write!(f, "_UTF-16LE'{text}'"),
        other => plain(f, other),
    }
}

/// A type as Calcite writes it in plans: `INTEGER`, `TIMESTAMP_WITH_LOCAL_TIME_ZONE(3)`, `RecordType(INTEGER x)`.
pub struct SqlType<'a>(pub &'a TypeKind);

impl fmt::Display for SqlType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            TypeKind::Int => f.write_str("INTEGER"),
            TypeKind::TimestampLtz(p, TimeAttribute::None) => write!(f, "TIMESTAMP_WITH_LOCAL_TIME_ZONE({p})"),
            TypeKind::Array(t) => write!(f, "{} ARRAY", SqlType(&t.kind)),
            TypeKind::Multiset(t) => write!(f, "{} MULTISET", SqlType(&t.kind)),
            TypeKind::Map(k, v) => write!(f, "({}, {}) MAP", SqlType(&k.kind), SqlType(&v.kind)),
            TypeKind::Row(fields) => {
                f.write_str("RecordType(")?;
                for (i, field) in fields.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{} {}", SqlType(&field.ty.kind), field.name)?;
                }
                f.write_str(")")
            }
            other => other.fmt(f),
        }
    }
}

/// A type with its character set.
struct CalciteType<'a>(&'a TypeKind);

impl fmt::Display for CalciteType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SqlType(self.0).fmt(f)?;
        match self.0 {
            TypeKind::Char(_) | TypeKind::VarChar(_) => f.write_str(" CHARACTER SET \"UTF-16LE\""),
            _ => Ok(()),
        }
    }
}
