//! What the aggregates without windows share: an accumulator per key, and the changes of its results.

use super::aggregate::{Aggregator, Scope};
use super::build::Build;
use super::change::RowKind;
use super::error::RunResult;
use super::store::{KeyId, KeyedState, Keys};
use super::task::{Output, States};
use crate::eval::{Datum, Row};

/// The accumulators of all keys.
pub struct GroupState {
    pub keys: Keys,
    acc: KeyedState<(), Vec<Datum>>,
    pub aggregator: Aggregator<()>,
    /// Somebody below needs `-U`.
    update_before: bool,
    /// An update that changes nothing is sent nevertheless: state with a time to live below would be forgotten otherwise.
    sends_equal: bool,
    old: Vec<Datum>,
    new: Vec<Datum>,
}

/// `RecordEqualiser`: floating point numbers are compared as IEEE 754 says, and arrays and maps as SQL's `=` does, so that those
/// with a NULL in them are equal to none.
pub fn equal_values(a: &[Datum], b: &[Datum]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a.is_null() && b.is_null()) || equal(a, b))
}

fn equal(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Null, _) | (_, Datum::Null) => false,
        (Datum::Double(a), Datum::Double(b)) => a == b,
        (Datum::Float(a), Datum::Float(b)) => a == b,
        (Datum::Array(a), Datum::Array(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b)),
        (Datum::Map(a), Datum::Map(b)) => {
            let same = |key: &Datum, value: &Datum| b.iter().any(|(k, v)| k == key && equal(v, value));
            a.len() == b.len() && a.iter().all(|(key, value)| same(key, value))
        }
        (Datum::Row(a), Datum::Row(b)) => equal_values(a, b),
        _ => a == b,
    }
}

impl GroupState {
    /// The state of the operator that `build` builds.
    pub fn build(
        build: &mut Build<'_>,
        keys: &[usize],
        aggregator: Aggregator<()>,
        sends_equal: bool,
    ) -> RunResult<GroupState> {
        Ok(GroupState {
            keys: Keys::of(keys),
            acc: build.entries.keyed("accState")?,
            aggregator,
            update_before: build.node.changelog.update_before,
            sends_equal,
            old: Vec::new(),
            new: Vec::new(),
        })
    }

    /// True if nothing is known of a key.
    pub fn is_new(&self, key: KeyId) -> bool {
        self.acc.get(key, ()).is_none()
    }

    /// Changes the accumulator of a key and sends what that changes in the results (`GroupAggFunction.processElement`).
    pub fn update(
        &mut self,
        key: KeyId,
        out: &mut Output,
        change: impl FnOnce(&mut Aggregator<()>, &mut [Datum], &Scope<()>) -> RunResult<()>,
    ) -> RunResult<()> {
        let at = Scope::kept(key, ());
        let first = self.is_new(key);
        if first {
            self.acc.put(key, (), self.aggregator.create())?;
        }
        let (aggregator, old, new) = (&mut self.aggregator, &mut self.old, &mut self.new);
        old.clear();
        new.clear();
        let empty = self.acc.update(key, (), Vec::new, |acc| {
            if !first {
                aggregator.append_values(acc, &at, old)?;
            }
            change(aggregator, acc, &at)?;
            let empty = aggregator.rows(acc) == Some(0);
            if !empty {
                aggregator.append_values(acc, &at, new)?;
            }
            Ok(empty)
        })?;
        let key_row = self.keys.key(key);
        let row = |values: &[Datum]| key_row.iter().chain(values).cloned().collect::<Row>();
        match (empty, first) {
            (true, first) => {
                if !first {
                    out.send(RowKind::Delete, row(old));
                }
                self.acc.remove(key, ());
                self.aggregator.clear(&at);
            }
            (false, true) => out.send(RowKind::Insert, row(new)),
            (false, false) if self.sends_equal || !equal_values(old, new) => {
                if self.update_before {
                    out.send(RowKind::UpdateBefore, row(old));
                }
                out.send(RowKind::UpdateAfter, row(new));
            }
            (false, false) => {}
        }
        Ok(())
    }

    /// For savepoints.
    pub fn states(&mut self) -> States<'_> {
        let mut tables = self.aggregator.tables();
        tables.insert(0, &mut self.acc);
        States { keys: &mut self.keys, tables }
    }
}
