//! `PERCENTILE` (`PercentileAggFunction`): exact, with linear interpolation between neighbours.

use std::collections::BTreeMap;

use super::Scope;
use super::function::Function;
use super::number::Number;
use super::view::View;
use crate::eval::{Datum, Row};
use crate::run::error::RunResult;
use crate::run::store::{Entries, Namespace, StateTable};

/// How often each value was seen. Its field is a structure of the percentages and, on the way from a local aggregate, the counts.
pub(super) struct Percentile<N> {
    counts: View<N, BTreeMap<Datum, i64>>,
}

impl<N: Namespace> Percentile<N> {
    /// The function; its map is the state `view`.
    pub fn build(view: &str, entries: Option<&mut Entries>) -> RunResult<Percentile<N>> {
        Ok(Percentile { counts: View::build(view, entries)? })
    }

    fn add(&mut self, value: &Datum, by: i64, at: &Scope<N>) -> RunResult<()> {
        self.counts.check_key(value)?;
        let counts = self.counts.entry_mut(at);
        let count = counts.get(value).copied().unwrap_or(0) + by;
        if count == 0 {
            counts.remove(value);
        } else {
            counts.insert(value.clone(), count);
        }
        Ok(())
    }

    fn change(&mut self, fields: &mut [Datum], args: &[&Datum], at: &Scope<N>, sign: i64) -> RunResult<()> {
        if percentages(fields).is_null() {
            put(fields, args[1].clone(), Datum::Null);
        }
        let frequency = args.get(2).map_or(Some(1), |f| f.as_int()).unwrap_or(0);
        let value = as_double(args[0]);
        if value.is_null() || frequency <= 0 {
            return Ok(());
        }
        self.add(&value, frequency * sign, at)
    }
}

fn percentages(fields: &[Datum]) -> Datum {
    match &fields[0] {
        Datum::Row(row) => row[0].clone(),
        _ => Datum::Null,
    }
}

fn put(fields: &mut [Datum], percentages: Datum, counts: Datum) {
    fields[0] = Datum::Row(Row::new(vec![percentages, counts]));
}

fn as_double(value: &Datum) -> Datum {
    match value.as_decimal() {
        Some(decimal) => Datum::Double(decimal.to_f64()),
        None => Number::Double.convert(value),
    }
}

/// The value at `percentage` of the way through all values.
fn at_percentage(counts: &BTreeMap<Datum, i64>, percentage: &Datum) -> Datum {
    let Some(percentage) = as_double(percentage).as_double() else { return Datum::Null };
    let total: i64 = counts.values().sum();
    let position = (total - 1) as f64 * percentage;
    let (lower, higher) = (position.floor(), position.ceil());
    let value_at = |place: f64| {
        let mut seen = 0;
        let mut values = counts.iter().map(|(value, count)| {
            seen += count;
            (seen, value.as_double())
        });
        values.find(|(seen, _)| *seen as f64 > place).and_then(|(_, value)| value)
    };
    match (value_at(lower), value_at(higher)) {
        (Some(low), Some(high)) if lower == higher || low == high => Datum::Double(low),
        (Some(low), Some(high)) => Datum::Double((higher - position) * low + (position - lower) * high),
        _ => Datum::Null,
    }
}

impl<N: Namespace> Function<N> for Percentile<N> {
    fn create(&self, fields: &mut [Datum]) {
        put(fields, Datum::Null, Datum::Null);
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        self.change(fields, args, at, 1)
    }

    fn retract(&mut self, fields: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        self.change(fields, args, at, -1)
    }

    fn merge(&mut self, fields: &mut [Datum], at: &Scope<N>, other: &[Datum], from: &Scope<N>) -> RunResult<()> {
        if percentages(fields).is_null() {
            put(fields, percentages(other), Datum::Null);
        }
        let theirs = self.counts.get(from).cloned().unwrap_or_default();
        theirs.iter().try_for_each(|(value, count)| self.add(value, *count, at))
    }

    fn value(&self, fields: &[Datum], at: &Scope<N>) -> RunResult<Datum> {
        let Some(counts) = self.counts.get(at).filter(|c| !c.is_empty()) else { return Ok(Datum::Null) };
        Ok(match percentages(fields) {
            Datum::Array(all) => Datum::Array(all.iter().map(|p| at_percentage(counts, p)).collect()),
            one => at_percentage(counts, &one),
        })
    }

    fn export(&mut self, fields: &mut [Datum], at: &Scope<N>) {
        let counts = self.counts.remove(at).unwrap_or_default();
        let counts = Datum::Map(counts.into_iter().map(|(value, n)| (value, Datum::Int(n))).collect());
        put(fields, percentages(fields), counts);
    }

    fn import(&mut self, fields: &[Datum], at: &Scope<N>) -> RunResult<()> {
        if let Datum::Row(row) = &fields[0]
            && let Datum::Map(entries) = &row[1]
        {
            *self.counts.entry_mut(at) =
                entries.iter().map(|(value, n)| (value.clone(), n.as_int().unwrap_or(0))).collect();
        }
        Ok(())
    }

    fn clear(&mut self, at: &Scope<N>) {
        self.counts.remove(at);
    }

    fn tables<'a>(&'a mut self, out: &mut Vec<&'a mut dyn StateTable>) {
        self.counts.table(out);
    }
}
