//! The rows of one side of a join, told apart as well as their keys allow (Flink's `JoinRecordStateViews` and
//! `OuterJoinRecordStateViews`).

use crate::eval::Row;
use crate::exec::join::InputSpec;
use crate::run::build::Build;
use crate::run::error::RunResult;
use crate::run::store::{KeyId, KeyedState, MapState, StateTable};

/// The rows of one side; `Counted` ones know how many partners they have.
pub enum Records {
    /// By their values, with how often each is there.
    Any(MapState<Row, i32>),
    /// The same.
    CountedAny(MapState<Row, (i32, i32)>),
    /// By their unique key, which these columns hold.
    Keyed(Vec<usize>, MapState<Row, Row>),
    /// The same.
    CountedKeyed(Vec<usize>, MapState<Row, (Row, i32)>),
    /// At most one per join key.
    One(KeyedState<(), Row>),
    /// The same.
    CountedOne(KeyedState<(), (Row, i32)>),
}

/// A row of the other side that fits.
pub struct Partner {
    /// The row.
    pub row: Row,
    /// How many partners it has, if that is counted.
    pub partners: i32,
}

impl Records {
    /// Takes the entry `name` of the operator.
    pub fn build(build: &mut Build<'_>, name: &str, spec: &InputSpec, counted: bool) -> RunResult<Records> {
        let entries = &mut build.entries;
        Ok(match (spec, counted) {
            (InputSpec::NoUniqueKey, false) => Records::Any(entries.map(name)?),
            (InputSpec::NoUniqueKey, true) => Records::CountedAny(entries.map(name)?),
            (InputSpec::HasUniqueKey(key), false) => Records::Keyed(key.clone(), entries.map(name)?),
            (InputSpec::HasUniqueKey(key), true) => Records::CountedKeyed(key.clone(), entries.map(name)?),
            (InputSpec::JoinKeyContainsUniqueKey(_), false) => Records::One(entries.keyed(name)?),
            (InputSpec::JoinKeyContainsUniqueKey(_), true) => Records::CountedOne(entries.keyed(name)?),
        })
    }

    /// True if it knows how many partners a row has.
    pub fn is_counted(&self) -> bool {
        matches!(self, Records::CountedAny(_) | Records::CountedKeyed(..) | Records::CountedOne(_))
    }

    /// The rows of a key for which `fits` holds, in Flink's order; a row that is there twice comes twice.
    pub fn partners(&self, key: KeyId, mut fits: impl FnMut(&Row) -> RunResult<bool>) -> RunResult<Vec<Partner>> {
        let mut out = Vec::new();
        let mut offer = |row: &Row, times: i32, partners: i32| -> RunResult<()> {
            if times > 0 && fits(row)? {
                out.extend((0..times).map(|_| Partner { row: row.clone(), partners }));
            }
            Ok(())
        };
        match self {
            Records::Any(rows) => rows.iter(key).try_for_each(|(row, n)| offer(row, *n, 0))?,
            Records::CountedAny(rows) => {
                rows.iter(key).try_for_each(|(row, (n, partners))| offer(row, *n, *partners))?;
            }
            Records::Keyed(_, rows) => rows.iter(key).try_for_each(|(_, row)| offer(row, 1, 0))?,
            Records::CountedKeyed(_, rows) => {
                rows.iter(key).try_for_each(|(_, (row, partners))| offer(row, 1, *partners))?;
            }
            Records::One(row) => row.get(key, ()).map_or(Ok(()), |row| offer(row, 1, 0))?,
            Records::CountedOne(row) => row.get(key, ()).map_or(Ok(()), |(row, partners)| offer(row, 1, *partners))?,
        }
        Ok(out)
    }

    /// Keeps a row that has so many partners (`addRecord`).
    pub fn add(&mut self, key: KeyId, row: Row, partners: i32) -> RunResult<()> {
        match self {
            Records::Any(rows) => rows.update(key, row, || 0, |n| *n += 1),
            Records::CountedAny(rows) => rows.update(key, row, || (0, 0), |(n, of)| (*n, *of) = (*n + 1, partners)),
            Records::Keyed(columns, rows) => rows.put(key, row.project(columns), row),
            Records::CountedKeyed(columns, rows) => rows.put(key, row.project(columns), (row, partners)),
            Records::One(kept) => kept.put(key, (), row),
            Records::CountedOne(kept) => kept.put(key, (), (row, partners)),
        }
    }

    /// Says how many partners a row has now (`updateNumOfAssociations`).
    pub fn set_partners(&mut self, key: KeyId, row: &Row, partners: i32) -> RunResult<()> {
        match self {
            Records::CountedAny(rows) => rows.update(key, row.clone(), || (1, 0), |(_, of)| *of = partners),
            Records::CountedKeyed(columns, rows) => rows.put(key, row.project(columns), (row.clone(), partners)),
            Records::CountedOne(kept) => kept.put(key, (), (row.clone(), partners)),
            Records::Any(_) | Records::Keyed(..) | Records::One(_) => Ok(()),
        }
    }

    /// Forgets a row (`retractRecord`): of several equal ones, one.
    pub fn retract(&mut self, key: KeyId, row: &Row) {
        match self {
            Records::Any(rows) => rows.reduce(key, row, |n| {
                *n -= 1;
                *n > 0
            }),
            Records::CountedAny(rows) => rows.reduce(key, row, |(n, _)| {
                *n -= 1;
                *n > 0
            }),
            Records::Keyed(columns, rows) => rows.reduce(key, &row.project(columns), |_| false),
            Records::CountedKeyed(columns, rows) => rows.reduce(key, &row.project(columns), |_| false),
            Records::One(kept) => drop(kept.remove(key, ())),
            Records::CountedOne(kept) => drop(kept.remove(key, ())),
        }
    }

    /// For savepoints.
    pub fn table(&mut self) -> &mut dyn StateTable {
        match self {
            Records::Any(state) => state.table(),
            Records::CountedAny(state) => state.table(),
            Records::Keyed(_, state) => state.table(),
            Records::CountedKeyed(_, state) => state.table(),
            Records::One(state) => state,
            Records::CountedOne(state) => state,
        }
    }
}
