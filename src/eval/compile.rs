//! From a typed expression to something that can be evaluated row by row.

use std::sync::Arc;

use super::functions::{self, Call};
use super::{Datum, EvalError, UnknownFunction};
use crate::logical::rex::{Rex, RexKind, Value};

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

impl Evaluator {
    /// The value over `row`. `now` is the processing time in milliseconds: what `PROCTIME()`, `NOW()` and their like read.
    pub fn eval(&self, row: &[Datum], now: i64) -> Result<Datum, EvalError> {
        match self {
            Evaluator::Column(i) => Ok(row[*i].clone()),
            Evaluator::Constant(value) => Ok(value.clone()),
            Evaluator::Computed(body) => body(row, now),
        }
    }
}

/// Compiles an expression.
pub fn compile(rex: &Rex, session: &Session) -> Result<Evaluator, UnknownFunction> {
    let unknown = |name: &str| UnknownFunction { name: name.to_owned(), origins: rex.origins.clone() };
    match &rex.kind {
        RexKind::Input(i) => Ok(Evaluator::Column(*i)),
        // Keywords are no values: functions read them off the call.
        RexKind::Literal(Value::Symbol(_)) => Ok(Evaluator::Constant(Datum::Null)),
        RexKind::Literal(value) => {
            Datum::of_constant(value, &rex.ty).map(Evaluator::Constant).ok_or_else(|| unknown("a keyword"))
        }
        RexKind::Call(function, args) => {
            let call = Call { name: function.name(), args, result: &rex.ty, session };
            let body = functions::find(&call).ok_or_else(|| unknown(function.name()))?;
            let args = args.iter().map(|a| compile(a, session)).collect::<Result<Vec<_>, _>>()?;
            Ok(Evaluator::Computed(Arc::new(move |row, now| {
                let values = args.iter().map(|a| a.eval(row, now)).collect::<Result<Vec<_>, _>>()?;
                body(&values)
            })))
        }
        RexKind::Cast { .. } => Err(unknown("CAST")),
        RexKind::Field(..) => Err(unknown("a field access")),
        RexKind::Over(_) => Err(unknown("OVER")),
        RexKind::Subquery(_) => Err(unknown("a subquery")),
    }
}
