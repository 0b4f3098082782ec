//! Implicit conversions of arguments: constructors and collection functions bring their arguments to one type without a CAST
//! in the plan.

use super::Call;
use crate::catalog::types::DataType;
use crate::eval::cast::{self, Caster};
use crate::eval::{Datum, EvalError};

/// How a value of one type becomes one of another.
pub struct Conversion(Option<Caster>);

/// The conversion between two types; none if there is no cast.
pub fn conversion(call: &Call<'_>, from: &DataType, to: &DataType) -> Option<Conversion> {
    Some(Conversion(if from.same_kind(to) { None } else { Some(cast::find(from, to, call.session)?) }))
}

impl Conversion {
    /// The value as one of the other type.
    pub fn apply(&self, value: &Datum) -> Result<Datum, EvalError> {
        match &self.0 {
            Some(caster) => caster(value),
            None => Ok(value.clone()),
        }
    }
}
