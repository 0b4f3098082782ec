//! The rows that wait for their time or may still leave the frame (`inputState`), by key and time.

use super::rows_by_time::RowsByTime;
use crate::eval::Row;
use crate::run::build::Build;
use crate::run::error::{RunError, RunResult};
use crate::run::store::{KeyId, KeyedState, StateTable};
use crate::state::types::{RowType, StateType};

/// `inputState`. Flink walks through a hash map where this is in order; sums of floating point numbers and lists can show that, when
/// rows of several moments leave a RANGE at once.
pub(super) struct InputRows {
    state: KeyedState<(), RowsByTime>,
    row: StateType,
}

impl InputRows {
    pub fn build(build: &mut Build<'_>) -> RunResult<InputRows> {
        let state: KeyedState<(), RowsByTime> = build.entries.keyed("inputState")?;
        match row_type(state.declared()).cloned() {
            Some(row) => Ok(InputRows { state, row: StateType::Row(row) }),
            None => {
                Err(RunError::internal(format!("`inputState` is not a map of lists of rows: {}", state.declared())))
            }
        }
    }

    /// Keeps a row; true if it is the first one of its key and time.
    pub fn add(&mut self, key: KeyId, time: i64, row: Row) -> RunResult<bool> {
        self.state.check(&row, &self.row)?;
        Ok(self.state.entry_mut(key, (), RowsByTime::default).push(time, row))
    }

    /// The rows of a key.
    pub fn of(&mut self, key: KeyId) -> Option<&mut RowsByTime> {
        self.state.get_mut(key, ())
    }

    /// Forgets that a key had rows, if it has none left, as Flink's maps in state do.
    pub fn forget_empty(&mut self, key: KeyId) {
        if self.state.get(key, ()).is_some_and(RowsByTime::is_empty) {
            self.state.remove(key, ());
        }
    }

    /// Forgets the rows of a key.
    pub fn clear(&mut self, key: KeyId) {
        self.state.remove(key, ());
    }

    pub fn table(&mut self) -> &mut dyn StateTable {
        &mut self.state
    }
}

fn row_type(map: &StateType) -> Option<&RowType> {
    match map {
        StateType::Map(_, list) => match list.as_ref() {
            StateType::List(row) => match row.as_ref() {
                StateType::Row(row) => Some(row),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
