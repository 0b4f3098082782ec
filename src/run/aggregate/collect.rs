//! `COLLECT` (`CollectAggFunction`): how often each value was seen.

use std::collections::BTreeMap;

use super::Scope;
use super::function::Function;
use super::view::View;
use crate::eval::{Datum, Row};
use crate::run::error::RunResult;
use crate::run::store::{Entries, Namespace, StateTable};

/// The values with their counts. Its field holds them on the way from a local aggregate only. The order of a multiset is that of
/// its values here; Flink's is that of a hash map.
pub(super) struct Collect<N> {
    counts: View<N, BTreeMap<Datum, i32>>,
}

impl<N: Namespace> Collect<N> {
    /// The function; its map is the state `view`.
    pub fn build(view: &str, entries: Option<&mut Entries>) -> RunResult<Collect<N>> {
        Ok(Collect { counts: View::build(view, entries)? })
    }

    fn add(&mut self, value: &Datum, by: i32, at: &Scope<N>) -> RunResult<()> {
        if value.is_null() {
            return Ok(());
        }
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

    fn multiset(counts: Option<&BTreeMap<Datum, i32>>) -> Datum {
        let entries = counts.into_iter().flatten().map(|(value, n)| (value.clone(), Datum::Int(i64::from(*n))));
        Datum::Map(entries.collect())
    }
}

impl<N: Namespace> Function<N> for Collect<N> {
    fn create(&self, fields: &mut [Datum]) {
        fields[0] = Datum::Row(Row::new(vec![Datum::Null]));
    }

    fn accumulate(&mut self, _: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        self.add(args[0], 1, at)
    }

    fn retract(&mut self, _: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        self.add(args[0], -1, at)
    }

    fn merge(&mut self, _: &mut [Datum], at: &Scope<N>, _: &[Datum], from: &Scope<N>) -> RunResult<()> {
        let theirs = self.counts.get(from).cloned().unwrap_or_default();
        theirs.iter().try_for_each(|(value, count)| self.add(value, *count, at))
    }

    fn value(&self, _: &[Datum], at: &Scope<N>) -> RunResult<Datum> {
        Ok(Self::multiset(self.counts.get(at)))
    }

    fn export(&mut self, fields: &mut [Datum], at: &Scope<N>) {
        fields[0] = Datum::Row(Row::new(vec![Self::multiset(self.counts.remove(at).as_ref())]));
    }

    fn import(&mut self, fields: &[Datum], at: &Scope<N>) -> RunResult<()> {
        if let Datum::Row(row) = &fields[0]
            && let Datum::Map(entries) = &row[0]
        {
            let count = |n: &Datum| n.as_int().and_then(|n| i32::try_from(n).ok()).unwrap_or(0);
            *self.counts.entry_mut(at) = entries.iter().map(|(value, n)| (value.clone(), count(n))).collect();
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
