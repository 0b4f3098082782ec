//! `LAG` and `LEAD` (`LagAggFunction`): the last few values, in the accumulator row.

use super::Scope;
use super::function::Function;
use crate::eval::{Datum, Row};
use crate::run::error::{RunError, RunResult};

/// Its field is a structure of the offset, the default and the buffer.
pub(super) struct Lag;

fn members(fields: &[Datum]) -> (i64, &Datum, &[Datum]) {
    match &fields[0] {
        Datum::Row(row) => match &row[2] {
            Datum::Array(buffer) => (row[0].as_int().unwrap_or(1), &row[1], buffer),
            _ => (row[0].as_int().unwrap_or(1), &row[1], &[]),
        },
        _ => (1, &Datum::Null, &[]),
    }
}

fn put(fields: &mut [Datum], offset: i64, default: Datum, buffer: &[Datum]) {
    fields[0] = Datum::Row(Row::new(vec![Datum::Int(offset), default, Datum::Array(buffer.into())]));
}

impl<N> Function<N> for Lag {
    fn create(&self, fields: &mut [Datum]) {
        put(fields, 1, Datum::Null, &[]);
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        let (offset, default, buffer) = members(fields);
        let offset = args.get(1).and_then(|a| a.as_int()).unwrap_or(offset);
        if offset < 0 {
            return Err(RunError::job(format!("Offset({offset}) should be positive.")));
        }
        let default = args.get(2).map_or(default, |d| d).clone();
        let buffer: Vec<Datum> = buffer.iter().chain([args[0]]).cloned().collect();
        let surplus = buffer.len().saturating_sub(offset as usize + 1);
        put(fields, offset, default, &buffer[surplus..]);
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        let (offset, default, buffer) = members(fields);
        Ok(if buffer.len() as i64 > offset { buffer[0].clone() } else { default.clone() })
    }
}
