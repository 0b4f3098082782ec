//! `COUNT` (`Count1AggFunction`, `CountAggFunction`).

use super::Scope;
use super::function::Function;
use crate::eval::Datum;
use crate::run::error::RunResult;

/// Counts rows, or those whose arguments are not NULL.
pub(super) struct Count;

fn add(fields: &mut [Datum], rows: i64) {
    fields[0] = Datum::Int(fields[0].as_int().unwrap_or(0).wrapping_add(rows));
}

impl<N> Function<N> for Count {
    fn create(&self, fields: &mut [Datum]) {
        fields[0] = Datum::Int(0);
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        if !args.iter().any(|a| a.is_null()) {
            add(fields, 1);
        }
        Ok(())
    }

    fn retract(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        if !args.iter().any(|a| a.is_null()) {
            add(fields, -1);
        }
        Ok(())
    }

    fn merge(&mut self, fields: &mut [Datum], _: &Scope<N>, other: &[Datum], _: &Scope<N>) -> RunResult<()> {
        add(fields, other[0].as_int().unwrap_or(0));
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        Ok(fields[0].clone())
    }
}
