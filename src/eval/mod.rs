//! Values and what expressions make of them: the scalar half of the reference executor.
//!
//! [`Datum`] is a value, [`Row`] a row of them; [`compile`](compile()) turns a typed expression of a plan into an [`Evaluator`].
//! What a function gives is what Flink's code generation gives, surprises included; the sources are named where they matter.

mod calendar;
mod cast;
mod compile;
pub mod datum;
pub mod decimal;
mod error;
mod format;
mod functions;
pub(crate) use functions::base64;
pub mod java_number;
pub mod json;
pub mod row;
pub mod text;
mod wide;
pub mod zone;

pub use compile::{Evaluator, Session, compile};
pub use datum::{Datum, double_bits, float_bits};
pub use decimal::Decimal;
pub use error::{EvalError, Unrunnable};
pub use row::Row;
