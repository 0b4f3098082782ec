//! `ROW_NUMBER`, `RANK` and `DENSE_RANK` over a window (`RowNumberAggFunction`, `RankAggFunction`, `DenseRankAggFunction`).
//!
//! Flink gives the last two no order keys to compare in a streaming OVER, so each row has a rank of its own; rows of one time, which
//! are aggregated before any of them is sent, share the rank of the last of them.

use super::Scope;
use super::function::Function;
use crate::eval::Datum;
use crate::run::error::RunResult;

/// Counts rows; all its fields are numbers of rows.
pub(super) struct Sequence;

impl<N> Function<N> for Sequence {
    fn create(&self, fields: &mut [Datum]) {
        fields.fill(Datum::Int(0));
    }

    fn accumulate(&mut self, fields: &mut [Datum], _: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        for field in fields {
            *field = Datum::Int(field.as_int().unwrap_or(0) + 1);
        }
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        Ok(fields[0].clone())
    }
}
