//! `ProcTimeUnboundedPrecedingFunction`: `UNBOUNDED PRECEDING` in processing time, ROWS and RANGE alike.

use super::accumulators::Accumulators;
use crate::eval::Datum;
use crate::exec::over_aggregate::OverAggregate;
use crate::run::build::Build;
use crate::run::change::Change;
use crate::run::error::RunResult;
use crate::run::store::Keys;
use crate::run::task::{Output, States, Task};

pub(super) struct Function {
    keys: Keys,
    accumulators: Accumulators,
}

impl Function {
    pub fn build(over: &OverAggregate, build: &mut Build<'_>) -> RunResult<Function> {
        Ok(Function { keys: Keys::of(over.partition.clone()), accumulators: Accumulators::build(over, build)? })
    }
}

impl Task for Function {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let key = self.keys.of_row(&change.row);
        self.accumulators.of(key, |accumulator| {
            accumulator.add(&change.row)?;
            accumulator.send(&change.row, out)
        })
    }

    fn empty_accumulator(&self) -> Option<Vec<Datum>> {
        Some(self.accumulators.empty())
    }

    fn states(&mut self) -> Option<States<'_>> {
        Some(States { keys: &mut self.keys, tables: self.accumulators.tables() })
    }
}
