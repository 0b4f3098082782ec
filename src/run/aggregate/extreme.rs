//! `MAX` and `MIN` (`MaxAggFunction`, `MinAggFunction`, `MaxWithRetractAggFunction`, `MinWithRetractAggFunction`).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::Scope;
use super::function::Function;
use super::view::View;
use crate::eval::{Datum, Row};
use crate::run::error::{RunError, RunResult};
use crate::run::store::{Entries, Namespace, StateTable};

/// The largest or smallest value of rows that stay.
pub(super) struct Extreme {
    /// The largest.
    pub max: bool,
}

/// `a > b` as generated code compares: floating point numbers as IEEE 754 says, so NaN never wins and never loses.
fn greater(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Double(a), Datum::Double(b)) => a > b,
        (Datum::Float(a), Datum::Float(b)) => a > b,
        _ => a > b,
    }
}

impl Extreme {
    fn take(&self, fields: &mut [Datum], value: &Datum) {
        let current = &fields[0];
        let wins = |v| current.is_null() || if self.max { greater(v, current) } else { greater(current, v) };
        if !value.is_null() && wins(value) {
            fields[0] = value.clone();
        }
    }
}

impl<N> Function<N> for Extreme {
    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        self.take(fields, args[0]);
        Ok(())
    }

    /// Of a call that is monotonic: what took the place of the row is closer to the extreme.
    fn retract(&mut self, _: &mut [Datum], _: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        Ok(())
    }

    fn merge(&mut self, fields: &mut [Datum], _: &Scope<N>, other: &[Datum], _: &Scope<N>) -> RunResult<()> {
        self.take(fields, &other[0]);
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        Ok(fields[0].clone())
    }
}

/// How often each value was seen.
type Counts = BTreeMap<Datum, i64>;

/// The largest or smallest value of rows that may be taken back. Its field is a structure of the extreme, the number of values
/// in the map that were seen more often than taken back, and, on the way from a local aggregate, the map.
pub(super) struct ExtremeWithRetract<N> {
    max: bool,
    counts: View<N, Counts>,
}

/// The members of the structure.
struct Members {
    extreme: Datum,
    size: i64,
}

impl Members {
    fn of(fields: &[Datum]) -> Members {
        match &fields[0] {
            Datum::Row(row) => Members { extreme: row[0].clone(), size: row[1].as_int().unwrap_or(0) },
            _ => Members { extreme: Datum::Null, size: 0 },
        }
    }

    fn put(self, fields: &mut [Datum]) {
        fields[0] = Datum::Row(Row::new(vec![self.extreme, Datum::Int(self.size)]));
    }
}

impl<N: Namespace> ExtremeWithRetract<N> {
    /// The function; its map is the state `view`.
    pub fn build(max: bool, view: &str, entries: Option<&mut Entries>) -> RunResult<ExtremeWithRetract<N>> {
        Ok(ExtremeWithRetract { max, counts: View::build(view, entries)? })
    }

    /// `compareTo` of Java: NaN is the largest.
    fn wins(max: bool, value: &Datum, current: &Datum) -> bool {
        value.cmp(current) == if max { Ordering::Greater } else { Ordering::Less }
    }

    /// The extreme of the map. Flink looks at values that were taken back more often than they were seen, too.
    fn of_map(max: bool, counts: &Counts) -> Option<Datum> {
        let found = if max { counts.last_key_value() } else { counts.first_key_value() };
        found.map(|(key, _)| key.clone())
    }
}

impl<N: Namespace> Function<N> for ExtremeWithRetract<N> {
    fn create(&self, fields: &mut [Datum]) {
        Members { extreme: Datum::Null, size: 0 }.put(fields);
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        let value = args[0];
        if value.is_null() {
            return Ok(());
        }
        let mut members = Members::of(fields);
        let mut changed = members.size == 0 || Self::wins(self.max, value, &members.extreme);
        if changed {
            members.extreme = value.clone();
        }
        self.counts.check_key(value)?;
        let counts = self.counts.entry_mut(at);
        let count = counts.get(value).copied().unwrap_or(0) + 1;
        if count == 0 {
            counts.remove(value);
        } else {
            counts.insert(value.clone(), count);
        }
        if count == 1 {
            members.size += 1;
            changed = true;
        }
        if changed {
            members.put(fields);
        }
        Ok(())
    }

    fn retract(&mut self, fields: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        let value = args[0];
        if value.is_null() {
            return Ok(());
        }
        self.counts.check_key(value)?;
        let counts = self.counts.entry_mut(at);
        let count = counts.get(value).copied().unwrap_or(0) - 1;
        if count != 0 {
            counts.insert(value.clone(), count);
            return Ok(());
        }
        counts.remove(value);
        let mut members = Members::of(fields);
        members.size -= 1;
        if members.size == 0 {
            members.extreme = Datum::Null;
        } else if *value == members.extreme {
            match Self::of_map(self.max, counts) {
                Some(next) => members.extreme = next,
                None => members.size = 0,
            }
        }
        members.put(fields);
        Ok(())
    }

    fn merge(&mut self, fields: &mut [Datum], at: &Scope<N>, other: &[Datum], from: &Scope<N>) -> RunResult<()> {
        let (mut members, theirs) = (Members::of(fields), Members::of(other));
        let wins = theirs.size > 0 && Self::wins(self.max, &theirs.extreme, &members.extreme);
        if members.size == 0 || wins {
            members.extreme = theirs.extreme;
        }
        let merged: Vec<(Datum, i64)> =
            self.counts.get(from).into_iter().flatten().map(|(key, count)| (key.clone(), *count)).collect();
        let mut lost = false;
        if !merged.is_empty() {
            for (key, _) in &merged {
                self.counts.check_key(key)?;
            }
            let counts = self.counts.entry_mut(at);
            for (key, theirs) in merged {
                let ours = counts.get(&key).copied().unwrap_or(0);
                let count = ours + theirs;
                if count <= 0 && ours > 0 {
                    members.size -= 1;
                    lost |= key == members.extreme;
                } else if count > 0 && ours <= 0 {
                    members.size += 1;
                }
                if count == 0 {
                    counts.remove(&key);
                } else {
                    counts.insert(key, count);
                }
            }
            if lost {
                match Self::of_map(self.max, counts) {
                    Some(next) => members.extreme = next,
                    None => members = Members { extreme: Datum::Null, size: 0 },
                }
            }
        }
        members.put(fields);
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        let members = Members::of(fields);
        Ok(if members.size > 0 { members.extreme } else { Datum::Null })
    }

    fn export(&mut self, fields: &mut [Datum], at: &Scope<N>) {
        let members = Members::of(fields);
        let counts = self.counts.remove(at).unwrap_or_default();
        let counts = counts.into_iter().map(|(key, count)| (key, Datum::Int(count))).collect();
        fields[0] = Datum::Row(Row::new(vec![members.extreme, Datum::Int(members.size), Datum::Map(counts)]));
    }

    fn import(&mut self, fields: &[Datum], at: &Scope<N>) -> RunResult<()> {
        let Datum::Row(row) = &fields[0] else {
            return Err(RunError::internal("an accumulator came without its map"));
        };
        if let Some(Datum::Map(entries)) = row.get(2) {
            *self.counts.entry_mut(at) =
                entries.iter().map(|(key, count)| (key.clone(), count.as_int().unwrap_or(0))).collect();
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
