//! `FIRST_VALUE` and `LAST_VALUE` (`FirstValueAggFunction`, `LastValueAggFunction` and their forms with retraction).

use std::collections::BTreeMap;

use super::Scope;
use super::function::Function;
use super::view::View;
use crate::eval::{Datum, Row};
use crate::run::error::{RunError, RunResult};
use crate::run::store::{Entries, Namespace, StateTable};

/// The first or last value that is not NULL, of rows that stay. Its field is a row of the value and its order. Flink's order is the
/// time of day; here values are numbered, which comes to the same and does not depend on the time of a run.
pub(super) struct FirstLast {
    /// The first one.
    pub first: bool,
}

impl<N> Function<N> for FirstLast {
    fn create(&self, fields: &mut [Datum]) {
        let order = if self.first { i64::MAX } else { i64::MIN };
        fields[0] = Datum::Row(Row::new(vec![Datum::Null, Datum::Int(order)]));
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        let Datum::Row(row) = &fields[0] else {
            return Err(RunError::internal("an accumulator is no row"));
        };
        let seen = row[1].as_int().filter(|order| !matches!(*order, i64::MAX | i64::MIN));
        if !args[0].is_null() && (!self.first || seen.is_none()) {
            let order = seen.map_or(0, |order| order + 1);
            fields[0] = Datum::Row(Row::new(vec![args[0].clone(), Datum::Int(order)]));
        }
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        Ok(match &fields[0] {
            Datum::Row(row) => row[0].clone(),
            _ => Datum::Null,
        })
    }
}

/// The same over rows that may be taken back. Its field is a structure of the value and its order; two maps lead from values to
/// their orders and back. No two values have one order here, so each list of values has one element.
pub(super) struct FirstLastWithRetract<N> {
    first: bool,
    orders: View<N, BTreeMap<Datum, Datum>>,
    values: View<N, BTreeMap<i64, Datum>>,
}

impl<N: Namespace> FirstLastWithRetract<N> {
    /// The function; its maps are the states `orders` and `values`.
    pub fn build(first: bool, orders: &str, values: &str, mut entries: Option<&mut Entries>) -> RunResult<Self> {
        let orders = View::build(orders, entries.as_deref_mut())?;
        Ok(FirstLastWithRetract { first, orders, values: View::build(values, entries)? })
    }

    fn put(fields: &mut [Datum], found: Option<(&i64, &Datum)>) {
        let (value, order) = match found {
            Some((order, Datum::Array(values))) => (values.first().cloned().unwrap_or_default(), Datum::Int(*order)),
            _ => (Datum::Null, Datum::Null),
        };
        fields[0] = Datum::Row(Row::new(vec![value, order]));
    }
}

fn list(datum: Option<&Datum>) -> &[Datum] {
    match datum {
        Some(Datum::Array(items)) => items,
        _ => &[],
    }
}

impl<N: Namespace> Function<N> for FirstLastWithRetract<N> {
    fn create(&self, fields: &mut [Datum]) {
        Self::put(fields, None);
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        let value = args[0];
        if value.is_null() {
            return Ok(());
        }
        self.orders.check_key(value)?;
        let values = self.values.entry_mut(at);
        let order = values.last_key_value().map_or(0, |(last, _)| last + 1);
        values.insert(order, Datum::Array([value.clone()].into()));
        if !self.first || values.len() == 1 {
            Self::put(fields, values.last_key_value());
        }
        let orders = self.orders.entry_mut(at).entry(value.clone()).or_default();
        *orders = Datum::Array(list(Some(orders)).iter().cloned().chain([Datum::Int(order)]).collect());
        Ok(())
    }

    fn retract(&mut self, fields: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        let value = args[0];
        let Some(orders) = self.orders.get_mut(at).filter(|_| !value.is_null()) else { return Ok(()) };
        // The oldest of equal values goes.
        let [Datum::Int(order), rest @ ..] = list(orders.get(value)) else { return Ok(()) };
        let order = *order;
        if rest.is_empty() {
            orders.remove(value);
        } else {
            let rest = Datum::Array(rest.into());
            orders.insert(value.clone(), rest);
        }
        let Some(values) = self.values.get_mut(at) else { return Ok(()) };
        values.remove(&order);
        let Datum::Row(current) = &fields[0] else { return Ok(()) };
        if current[0] == *value {
            let place = current[1].as_int().unwrap_or(0);
            let found = if self.first { values.range(place..).next() } else { values.range(..=place).next_back() };
            Self::put(fields, found);
        }
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        Ok(match &fields[0] {
            Datum::Row(row) => row[0].clone(),
            _ => Datum::Null,
        })
    }

    fn clear(&mut self, at: &Scope<N>) {
        self.orders.remove(at);
        self.values.remove(at);
    }

    fn tables<'a>(&'a mut self, out: &mut Vec<&'a mut dyn StateTable>) {
        self.orders.table(out);
        self.values.table(out);
    }
}
