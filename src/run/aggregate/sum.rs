//! `SUM` and `$SUM0` (`SumAggFunction`, `SumWithRetractAggFunction`, `Sum0AggFunction`).

use super::Scope;
use super::function::Function;
use super::number::Number;
use crate::eval::Datum;
use crate::run::error::RunResult;

/// What `SUM` does with the next value: a sum that is NULL, because there was no value yet or because a DECIMAL overflowed,
/// starts anew with it.
fn add(number: Number, sum: &mut Datum, value: &Datum) {
    if !value.is_null() {
        *sum = if sum.is_null() { number.convert(value) } else { number.plus(sum, value) };
    }
}

/// `SUM` over rows that stay.
pub(super) struct Sum(pub Number);

impl<N> Function<N> for Sum {
    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        add(self.0, &mut fields[0], args[0]);
        Ok(())
    }

    fn merge(&mut self, fields: &mut [Datum], _: &Scope<N>, other: &[Datum], _: &Scope<N>) -> RunResult<()> {
        add(self.0, &mut fields[0], &other[0]);
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        Ok(fields[0].clone())
    }
}

/// `SUM` over rows that may be taken back: it counts values, to be NULL again when there are none left.
pub(super) struct SumWithRetract(pub Number);

impl SumWithRetract {
    fn count(fields: &mut [Datum], rows: i64) {
        fields[1] = Datum::Int(fields[1].as_int().unwrap_or(0).wrapping_add(rows));
    }
}

impl<N> Function<N> for SumWithRetract {
    fn create(&self, fields: &mut [Datum]) {
        fields[1] = Datum::Int(0);
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        if !args[0].is_null() {
            add(self.0, &mut fields[0], args[0]);
            Self::count(fields, 1);
        }
        Ok(())
    }

    fn retract(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        if !args[0].is_null() {
            let zero = self.0.zero();
            let sum = if fields[0].is_null() { &zero } else { &fields[0] };
            fields[0] = self.0.minus(sum, args[0]);
            Self::count(fields, -1);
        }
        Ok(())
    }

    fn merge(&mut self, fields: &mut [Datum], _: &Scope<N>, other: &[Datum], _: &Scope<N>) -> RunResult<()> {
        add(self.0, &mut fields[0], &other[0]);
        Self::count(fields, other[1].as_int().unwrap_or(0));
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        Ok(if fields[1] == Datum::Int(0) { Datum::Null } else { fields[0].clone() })
    }
}

/// `$SUM0`: a sum that begins at zero. A DECIMAL that overflowed stays NULL.
pub(super) struct Sum0(pub Number);

impl<N> Function<N> for Sum0 {
    fn create(&self, fields: &mut [Datum]) {
        fields[0] = self.0.zero();
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        if !args[0].is_null() {
            fields[0] = self.0.plus(&fields[0], args[0]);
        }
        Ok(())
    }

    fn retract(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        if !args[0].is_null() {
            fields[0] = self.0.minus(&fields[0], args[0]);
        }
        Ok(())
    }

    fn merge(&mut self, fields: &mut [Datum], _: &Scope<N>, other: &[Datum], _: &Scope<N>) -> RunResult<()> {
        fields[0] = self.0.plus(&fields[0], &other[0]);
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        Ok(fields[0].clone())
    }
}
