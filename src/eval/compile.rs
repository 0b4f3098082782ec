//! From a typed expression to something that can be evaluated row by row.

use std::ops::Deref;
use std::sync::Arc;

use super::functions::{self, Call};
use super::{Datum, EvalError, Unrunnable, cast};
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::rex::{Function, Rex, RexKind, Value};

/// What expressions depend on beside the row.
#[derive(Debug, Clone)]
pub struct Session {
    /// `table.local-time-zone`: the zone in which TIMESTAMP_LTZ is read and printed.
    pub zone: jiff::tz::TimeZone,
}

/// A function of a row. `now` is the processing time in milliseconds.
type Body = dyn Fn(&[Datum], i64) -> Result<Datum, EvalError> + Send + Sync;

/// An expression, ready to run.
#[derive(Clone)]
pub enum Evaluator {
    /// A column.
    Column(usize),
    /// A constant.
    Constant(Datum),
    /// Anything else.
    Computed(Arc<Body>),
}

/// A value that is used where it lies, or has just been made.
pub(super) enum Held<'a> {
    Borrowed(&'a Datum),
    Owned(Datum),
}

impl Deref for Held<'_> {
    type Target = Datum;

    fn deref(&self) -> &Datum {
        match self {
            Held::Borrowed(value) => value,
            Held::Owned(value) => value,
        }
    }
}

impl Evaluator {
    /// The value over `row`. `now` is the processing time in milliseconds: what `PROCTIME()`, `NOW()` and their like read.
    pub fn eval(&self, row: &[Datum], now: i64) -> Result<Datum, EvalError> {
        match self {
            Evaluator::Column(i) => Ok(row[*i].clone()),
            Evaluator::Constant(value) => Ok(value.clone()),
            Evaluator::Computed(body) => body(row, now),
        }
    }

    /// The value over `row`, not copied if it is a column or a constant.
    pub(super) fn hold<'a>(&'a self, row: &'a [Datum], now: i64) -> Result<Held<'a>, EvalError> {
        Ok(match self {
            Evaluator::Column(i) => Held::Borrowed(&row[*i]),
            Evaluator::Constant(value) => Held::Borrowed(value),
            Evaluator::Computed(body) => Held::Owned(body(row, now)?),
        })
    }

    /// The truth value over `row`; `None` is unknown. For conditions: nothing is copied.
    pub fn test(&self, row: &[Datum], now: i64) -> Result<Option<bool>, EvalError> {
        Ok(self.hold(row, now)?.as_bool())
    }

    /// A function of a row.
    pub(super) fn computed(
        body: impl Fn(&[Datum], i64) -> Result<Datum, EvalError> + Send + Sync + 'static,
    ) -> Evaluator {
        Evaluator::Computed(Arc::new(body))
    }

    /// Something that fails over every row.
    pub(super) fn failing(message: &str) -> Evaluator {
        let error = EvalError::new(message);
        Evaluator::computed(move |_, _| Err(error.clone()))
    }

    /// A function of one value. NULL is the function's own affair.
    pub(super) fn map(self, f: impl Fn(&Datum) -> Result<Datum, EvalError> + Send + Sync + 'static) -> Evaluator {
        match self {
            Evaluator::Column(i) => Evaluator::computed(move |row, _| f(&row[i])),
            a => Evaluator::computed(move |row, now| f(&*a.hold(row, now)?)),
        }
    }

    /// A function of two values, with the usual operands, columns and constants, reached without a detour.
    pub(super) fn zip(
        self,
        other: Evaluator,
        f: impl Fn(&Datum, &Datum) -> Result<Datum, EvalError> + Send + Sync + 'static,
    ) -> Evaluator {
        match (self, other) {
            (Evaluator::Column(i), Evaluator::Column(j)) => Evaluator::computed(move |row, _| f(&row[i], &row[j])),
            (Evaluator::Column(i), Evaluator::Constant(c)) => Evaluator::computed(move |row, _| f(&row[i], &c)),
            (Evaluator::Constant(c), Evaluator::Column(i)) => Evaluator::computed(move |row, _| f(&c, &row[i])),
            (a, b) => Evaluator::computed(move |row, now| f(&*a.hold(row, now)?, &*b.hold(row, now)?)),
        }
    }

    /// The value as one of another type, as a cast gives it; itself if the types are one.
    pub(super) fn converted(self, from: &DataType, to: &DataType, session: &Session) -> Option<Evaluator> {
        let text = from.is_character() && to.is_character();
        if text || same(&from.kind, &to.kind) {
            return Some(self);
        }
        let caster = cast::find(from, to, session)?;
        Some(match self {
            Evaluator::Constant(value) => match caster(&value) {
                Ok(value) => Evaluator::Constant(value),
                Err(error) => Evaluator::computed(move |_, _| Err(error.clone())),
            },
            other => other.map(move |v| caster(v)),
        })
    }
}

/// True if values of the two kinds look the same.
fn same(a: &TypeKind, b: &TypeKind) -> bool {
    match (a, b) {
        (TypeKind::Timestamp(p, _), TypeKind::Timestamp(q, _)) => p == q,
        (TypeKind::TimestampLtz(p, _), TypeKind::TimestampLtz(q, _)) => p == q,
        (_, TypeKind::Unknown) | (TypeKind::Unknown, _) => true,
        _ => a == b,
    }
}

/// Compiles an expression.
pub fn compile(rex: &Rex, session: &Session) -> Result<Evaluator, Unrunnable> {
    compile_part(rex, session, false)
}

/// Compiles a part of an expression. `inside`: of a constant one, so it is constant itself.
fn compile_part(rex: &Rex, session: &Session, inside: bool) -> Result<Evaluator, Unrunnable> {
    let constant = inside || is_constant(rex);
    let unknown = |name: &str| Unrunnable::Function { name: name.to_owned(), origins: rex.origins.clone() };
    let evaluator = match &rex.kind {
        RexKind::Input(i) => return Ok(Evaluator::Column(*i)),
        RexKind::Literal(value) => {
            return match (Datum::of_constant(value, &rex.ty), value) {
                (Some(datum), _) => Ok(Evaluator::Constant(datum)),
                (None, Value::Placeholder(name)) => {
                    Err(Unrunnable::Placeholder { name: name.to_string(), origins: rex.origins.clone() })
                }
                (None, _) => Err(unknown("a keyword")),
            };
        }
        RexKind::Call(function, args) => call(rex, function, args, session, constant)?,
        RexKind::Cast { operand, is_try } => {
            let evaluator = compile_part(operand, session, constant)?;
            if same(&operand.ty.kind, &rex.ty.kind) {
                return Ok(evaluator);
            }
            let caster = cast::find(&operand.ty, &rex.ty, session)
                .ok_or_else(|| unknown(&format!("CAST({} AS {})", operand.ty.kind, rex.ty.kind)))?;
            if *is_try {
                // TRY_CAST: what a cast would fail for is NULL.
                evaluator.map(move |v| Ok(caster(v).unwrap_or(Datum::Null)))
            } else {
                evaluator.map(move |v| caster(v))
            }
        }
        RexKind::Field(operand, index) => {
            let index = *index;
            compile_part(operand, session, constant)?.map(move |v| {
                Ok(match v {
                    Datum::Row(row) => row.get(index).cloned().unwrap_or_default(),
                    _ => Datum::Null,
                })
            })
        }
        RexKind::Over(_) => return Err(unknown("OVER")),
        RexKind::Outer(_) => return Err(unknown("a column of another query")),
    };
    Ok(match folded(evaluator, rex, constant) {
        // The whole of a constant expression becomes a literal of its type, and only then is it as long as that.
        Evaluator::Constant(value) if constant && !inside => of_length(value, &rex.ty, session),
        evaluator => evaluator,
    })
}

fn call(
    rex: &Rex,
    function: &Function,
    args: &[Rex],
    session: &Session,
    constant: bool,
) -> Result<Evaluator, Unrunnable> {
    let unknown = || Unrunnable::Function { name: function.name().to_owned(), origins: rex.origins.clone() };
    if matches!(function, Function::User(_)) {
        return Err(unknown());
    }
    let call = Call { name: function.name(), args, result: &rex.ty, session };
    // Keywords and search arguments are no values: functions read them off the call.
    let compiled = args.iter().map(|a| match a.as_literal() {
        Some(Value::Symbol(_) | Value::Sarg(_)) => Ok(Evaluator::Constant(Datum::Null)),
        _ => compile_part(a, session, constant),
    });
    let args = match functions::inline(&call, compiled.collect::<Result<_, _>>()?) {
        Ok(evaluator) => return evaluator.ok_or_else(unknown),
        Err(args) => args,
    };
    let body = functions::find(&call).ok_or_else(unknown)?;
    Ok(match <[Evaluator; 1]>::try_from(args) {
        Ok([a]) => Evaluator::computed(move |row, now| body(&[a.eval(row, now)?])),
        Err(args) => match <[Evaluator; 2]>::try_from(args) {
            Ok([a, b]) => Evaluator::computed(move |row, now| body(&[a.eval(row, now)?, b.eval(row, now)?])),
            Err(args) => Evaluator::computed(move |row, now| {
                let values = args.iter().map(|a| a.eval(row, now)).collect::<Result<Vec<_>, _>>()?;
                body(&values)
            }),
        },
    })
}

/// True if the value is known before any row comes.
fn is_constant(rex: &Rex) -> bool {
    let mut constant = rex.is_deterministic();
    rex.visit(&mut |r| {
        constant &= match &r.kind {
            RexKind::Call(Function::Builtin(def), _) => {
                // What Flink materializes from the clock is no constant, whatever its arguments are.
                !matches!(def.name, "PROCTIME_MATERIALIZE" | "SOURCE_WATERMARK")
            }
            RexKind::Literal(_) | RexKind::Cast { .. } | RexKind::Field(..) => true,
            _ => false,
        }
    });
    constant
}

/// The value of a constant expression. One that fails does so when it is asked for: a branch of CASE may never be.
fn folded(evaluator: Evaluator, rex: &Rex, constant: bool) -> Evaluator {
    if !constant {
        return evaluator;
    }
    match evaluator.eval(&[], 0) {
        // Flink's `ExpressionReducer` makes a number of the value's text, which fails for FLOAT but spares DOUBLE.
        Ok(Datum::Float(f)) if !f.is_finite() && !is_number_cast(rex) => Evaluator::failing("Infinite or NaN"),
        // So are constants of type TIME made a literal, which has no hour beyond a day.
        Ok(Datum::Time(t)) if t >= 86_400_000 => Evaluator::failing(&format!("Hour out of range: [{}]", t / 3_600_000)),
        Ok(value) => Evaluator::Constant(value),
        Err(_) => evaluator,
    }
}

/// A literal of CHAR or BINARY has the length of its type (Calcite's `RexBuilder.makeLiteral`): `UPPER('straße')`, a CHAR(6),
/// is `STRASS`.
fn of_length(value: Datum, ty: &DataType, session: &Session) -> Evaluator {
    let caster = if ty.is_character() || ty.is_binary() { cast::find(ty, ty, session) } else { None };
    match caster.map(|caster| caster(&value)) {
        Some(Ok(value)) => Evaluator::Constant(value),
        _ => Evaluator::Constant(value),
    }
}

/// A cast of a literal number is made a literal without the `ExpressionReducer`.
fn is_number_cast(rex: &Rex) -> bool {
    matches!(&rex.kind, RexKind::Cast { operand, .. } if operand.ty.is_numeric() && operand.as_literal().is_some())
}
