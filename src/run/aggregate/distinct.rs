//! DISTINCT: each value reaches the functions once (Flink's `DistinctAggCodeGen`).

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::view::View;
use super::{Call, Scope, with_args};
use crate::eval::{Datum, Row};
use crate::run::error::RunResult;
use crate::run::store::{Entries, Namespace, StateTable};
use crate::state::accumulators::DistinctView;

/// For each value what the calls know of it.
type Seen = HashMap<Datum, Datum, FxBuildHasher>;

/// The values seen by the calls that share a view. For each value there is one count per call where rows are taken back, else
/// one bit per call, 64 in a long; one long alone stands without an array.
pub(super) struct Distinct<N> {
    /// The calls, in the order of their counts or bits.
    calls: Vec<usize>,
    seen: View<N, Seen>,
    /// A map state takes no NULL as key; it has a state of its own.
    null: View<N, Datum>,
    counts: bool,
    /// How many longs a value has.
    longs: usize,
}

/// The longs of a value.
struct Longs(Vec<i64>);

impl Longs {
    fn of(value: &Datum, longs: usize) -> Longs {
        match value {
            Datum::Int(one) => Longs(vec![*one]),
            Datum::Array(many) => Longs(many.iter().map(|d| d.as_int().unwrap_or(0)).collect()),
            _ => Longs(vec![0; longs]),
        }
    }

    fn into_datum(self) -> Datum {
        match self.0.as_slice() {
            [one] => Datum::Int(*one),
            many => Datum::Array(many.iter().map(|i| Datum::Int(*i)).collect()),
        }
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|i| *i == 0)
    }

    /// Sets the bit of a call; true if it was not set.
    fn set(&mut self, call: usize) -> bool {
        let (long, bit) = (&mut self.0[call / 64], 1 << (call % 64));
        let new = *long & bit == 0;
        *long |= bit;
        new
    }

    fn has(&self, call: usize) -> bool {
        self.0[call / 64] & (1 << (call % 64)) != 0
    }
}

/// The value or values of a key as arguments.
fn with_key<R>(key: &Datum, args: usize, then: impl FnOnce(&[&Datum]) -> R) -> R {
    match key {
        Datum::Row(row) if args > 1 => then(&row.iter().collect::<Vec<_>>()),
        one => then(&[one]),
    }
}

impl<N: Namespace> Distinct<N> {
    /// The view number `number`.
    pub fn build(
        number: usize,
        view: &DistinctView,
        retracts: bool,
        mut entries: Option<&mut Entries>,
    ) -> RunResult<Distinct<N>> {
        let name = format!("distinctAcc_{number}");
        let seen = View::build(&name, entries.as_deref_mut())?;
        let null = View::build(&format!("{name}_null_state"), entries)?;
        let longs = if retracts { view.calls.len() } else { view.calls.len().div_ceil(64) };
        Ok(Distinct { calls: view.calls.clone(), seen, null, counts: retracts, longs })
    }

    /// Adds a row.
    pub fn accumulate(
        &mut self,
        calls: &mut [Call<N>],
        acc: &mut [Datum],
        row: &[Datum],
        at: &Scope<N>,
    ) -> RunResult<()> {
        self.change(calls, acc, row, at, 1)
    }

    /// Takes a row back.
    pub fn retract(&mut self, calls: &mut [Call<N>], acc: &mut [Datum], row: &[Datum], at: &Scope<N>) -> RunResult<()> {
        self.change(calls, acc, row, at, -1)
    }

    fn change(
        &mut self,
        calls: &mut [Call<N>],
        acc: &mut [Datum],
        row: &[Datum],
        at: &Scope<N>,
        by: i64,
    ) -> RunResult<()> {
        if !self.calls.iter().any(|i| calls[*i].takes(row)) {
            return Ok(());
        }
        let args = &calls[self.calls[0]].args;
        let key = match args.as_slice() {
            [one] => one.of(row).clone(),
            many => Datum::Row(many.iter().map(|a| a.of(row).clone()).collect::<Row>()),
        };
        if self.longs == 1 {
            return self.change_one(calls, acc, row, at, key, by);
        }
        let mut longs = Longs::of(self.value(&key, at).unwrap_or(&Datum::Null), self.longs);
        for (place, i) in self.calls.iter().enumerate() {
            let call = &mut calls[*i];
            if !call.takes(row) {
                continue;
            }
            let reaches = if self.counts {
                longs.0[place] += by;
                longs.0[place] == if by > 0 { 1 } else { 0 }
            } else {
                longs.set(place)
            };
            if reaches {
                let (function, fields) = (&mut call.function, &mut acc[call.fields.clone()]);
                with_args(&call.args, row, |args| match by {
                    1 => function.accumulate(fields, args, at),
                    _ => function.retract(fields, args, at),
                })?;
            }
        }
        self.put(key, longs, at)
    }

    /// As [`Distinct::change`] where a value has one long, which is nearly always so: it is looked up once and changed in place.
    fn change_one(
        &mut self,
        calls: &mut [Call<N>],
        acc: &mut [Datum],
        row: &[Datum],
        at: &Scope<N>,
        key: Datum,
        by: i64,
    ) -> RunResult<()> {
        let before = if key.is_null() {
            self.null.get(at).and_then(Datum::as_int).unwrap_or(0)
        } else {
            self.seen.check_key(&key)?;
            self.seen.entry_mut(at).get(&key).and_then(Datum::as_int).unwrap_or(0)
        };
        // With counts there is one call, which takes the row.
        let (after, reached) = if self.counts {
            (before + by, i64::from(before + by == i64::from(by > 0)))
        } else {
            let takes = |(place, i): (usize, &usize)| i64::from(calls[*i].takes(row)) << place;
            let after = before | self.calls.iter().enumerate().map(takes).fold(0, |bits, bit| bits | bit);
            (after, after & !before)
        };
        if after != before {
            match (key.is_null(), after) {
                (true, 0) => {
                    self.null.remove(at);
                }
                (true, _) => *self.null.entry_mut(at) = Datum::Int(after),
                (false, 0) => {
                    self.seen.entry_mut(at).remove(&key);
                }
                (false, _) => {
                    self.seen.entry_mut(at).insert(key, Datum::Int(after));
                }
            }
        }
        for (_, i) in self.calls.iter().enumerate().filter(|(place, _)| reached & (1 << place) != 0) {
            let call = &mut calls[*i];
            let (function, fields) = (&mut call.function, &mut acc[call.fields.clone()]);
            with_args(&call.args, row, |args| match by {
                1 => function.accumulate(fields, args, at),
                _ => function.retract(fields, args, at),
            })?;
        }
        Ok(())
    }

    /// Adds the values of another accumulator.
    pub fn merge(&mut self, calls: &mut [Call<N>], acc: &mut [Datum], at: &Scope<N>, from: &Scope<N>) -> RunResult<()> {
        let seen = self.seen.get(from).into_iter().flatten().map(|(key, value)| (key.clone(), value.clone()));
        let mut theirs: Vec<(Datum, Datum)> = seen.collect();
        // The order of a hash map must not show in the results.
        theirs.sort_unstable();
        theirs.extend(self.null.get(from).map(|value| (Datum::Null, value.clone())));
        for (key, value) in theirs {
            let value = Longs::of(&value, self.longs);
            let mut longs = Longs::of(self.value(&key, at).unwrap_or(&Datum::Null), self.longs);
            for (place, i) in self.calls.iter().enumerate() {
                let call = &mut calls[*i];
                let (adds, takes) = if self.counts {
                    let before = longs.0[place];
                    longs.0[place] += value.0[place];
                    (before <= 0 && longs.0[place] > 0, before > 0 && longs.0[place] <= 0)
                } else {
                    (value.has(place) && longs.set(place), false)
                };
                let (function, fields) = (&mut call.function, &mut acc[call.fields.clone()]);
                if adds {
                    with_key(&key, call.args.len(), |args| function.accumulate(fields, args, at))?;
                } else if takes {
                    with_key(&key, call.args.len(), |args| function.retract(fields, args, at))?;
                }
            }
            self.put(key, longs, at)?;
        }
        Ok(())
    }

    fn value(&self, key: &Datum, at: &Scope<N>) -> Option<&Datum> {
        if key.is_null() { self.null.get(at) } else { self.seen.get(at)?.get(key) }
    }

    fn put(&mut self, key: Datum, longs: Longs, at: &Scope<N>) -> RunResult<()> {
        if longs.is_empty() {
            if key.is_null() {
                self.null.remove(at);
            } else if let Some(seen) = self.seen.get_mut(at) {
                seen.remove(&key);
            }
            return Ok(());
        }
        let value = longs.into_datum();
        if key.is_null() {
            self.null.check(&value)?;
            *self.null.entry_mut(at) = value;
        } else {
            self.seen.check_key(&key)?;
            self.seen.check(&value)?;
            self.seen.entry_mut(at).insert(key, value);
        }
        Ok(())
    }

    /// Takes all values out, as one map.
    pub fn export(&mut self, at: &Scope<N>) -> Datum {
        let mut entries: Vec<(Datum, Datum)> = self.seen.remove(at).unwrap_or_default().into_iter().collect();
        entries.sort_unstable();
        entries.extend(self.null.remove(at).map(|value| (Datum::Null, value)));
        Datum::Map(entries.into())
    }

    /// Puts values back.
    pub fn import(&mut self, values: &Datum, at: &Scope<N>) {
        let Datum::Map(entries) = values else { return };
        for (key, value) in entries.iter() {
            if key.is_null() {
                *self.null.entry_mut(at) = value.clone();
            } else {
                self.seen.entry_mut(at).insert(key.clone(), value.clone());
            }
        }
    }

    /// Forgets all values.
    pub fn clear(&mut self, at: &Scope<N>) {
        self.seen.remove(at);
        self.null.remove(at);
    }

    /// The states.
    pub fn tables<'a>(&'a mut self, out: &mut Vec<&'a mut dyn StateTable>) {
        self.seen.table(out);
        self.null.table(out);
    }
}
