//! The first row of each partition, if rows never get worse (`FastTop1Function`).

use super::Order;
use super::output::Ranked;
use crate::eval::Row;
use crate::run::build::Build;
use crate::run::change::{Change, RowKind};
use crate::run::error::RunResult;
use crate::run::store::{KeyedState, Keys};
use crate::run::task::{Output, States, Task};

/// The task.
pub(super) struct TopOne {
    keys: Keys,
    order: Order,
    ranked: Ranked,
    first: KeyedState<(), Row>,
}

impl TopOne {
    /// Takes its entry from `build`.
    pub fn build(partition: &[usize], order: Order, ranked: Ranked, build: &mut Build<'_>) -> RunResult<TopOne> {
        Ok(TopOne { keys: Keys::of(partition), order, ranked, first: build.entries.keyed("Top1-Rank-State")? })
    }
}

impl Task for TopOne {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let key = self.keys.of_row(&change.row);
        let row = change.row;
        match self.first.get(key, ()) {
            None => self.ranked.send(RowKind::Insert, &row, 1, out),
            Some(first) if crate::run::order::comes_before(&self.order.columns, &self.order.keys, &row, first) => {
                self.ranked.replace(first, &row, 1, out);
            }
            Some(_) => return Ok(()),
        }
        self.first.put(key, (), row)
    }

    fn states(&mut self) -> Option<States<'_>> {
        Some(States { keys: &mut self.keys, tables: vec![&mut self.first] })
    }
}
