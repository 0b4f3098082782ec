//! `LookupJoin`: what an external table has for a row is not known here.

use super::build::{Build, Runnable};
use super::error::{RunError, RunResult};
use super::task::Task;
use crate::exec::lookup_join::LookupJoin;

impl Runnable for LookupJoin {
    fn task(&self, _: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        Err(RunError::unsupported(format!("a lookup in `{}`", self.table.path.name)))
    }
}
