//! `SINGLE_VALUE` (`SingleValueAggFunction`): the value of a scalar subquery.

use super::Scope;
use super::function::Function;
use crate::eval::Datum;
use crate::run::error::{RunError, RunResult};

/// The one value, and how many there are.
pub(super) struct SingleValue;

fn count(fields: &[Datum]) -> i64 {
    fields[1].as_int().unwrap_or(0)
}

impl<N> Function<N> for SingleValue {
    fn create(&self, fields: &mut [Datum]) {
        fields[1] = Datum::Int(0);
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        if count(fields) > 0 {
            return Err(RunError::job("SingleValueAggFunction received more than one element."));
        }
        fields[0] = args[0].clone();
        fields[1] = Datum::Int(count(fields) + 1);
        Ok(())
    }

    fn retract(&mut self, fields: &mut [Datum], _: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        let left = count(fields) - 1;
        if !matches!(left, 0 | -1) {
            return Err(RunError::job("SingleValueAggFunction received more than one element."));
        }
        fields[0] = Datum::Null;
        fields[1] = Datum::Int(left);
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        Ok(fields[0].clone())
    }
}
