//! Operators that let everything through.

use super::build::{Build, Runnable};
use super::change::Change;
use super::error::RunResult;
use super::task::{Output, Task};

/// Lets everything through.
pub struct Pass;

impl Runnable for Pass {
    fn task(&self, _: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        Ok(Box::new(Pass))
    }
}

impl Task for Pass {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        out.change(change);
        Ok(())
    }
}
