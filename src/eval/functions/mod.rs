//! Flink's built-in scalar functions, one file per family, as the families stand in `catalog::functions`.

use std::sync::Arc;

use super::{Datum, EvalError, Session};
use crate::catalog::types::DataType;
use crate::logical::rex::Rex;

/// A call to be compiled.
pub struct Call<'a> {
    /// The function's upper-case name.
    pub name: &'a str,
    /// The arguments: their types, and their constants where they are ones (formats, units, JSON paths).
    pub args: &'a [Rex],
    /// The type of the result.
    pub result: &'a DataType,
    /// Time zone and the like.
    pub session: &'a Session,
}

/// A function of its evaluated arguments. NULL is the function's own affair.
pub type Body = Arc<dyn Fn(&[Datum]) -> Result<Datum, EvalError> + Send + Sync>;

/// The function behind a call; none if it cannot be run.
pub fn find(_call: &Call<'_>) -> Option<Body> {
    None
}
