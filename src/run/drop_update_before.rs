//! `DropUpdateBefore`: drops `-U`.

use super::build::{Build, Runnable};
use super::change::{Change, RowKind};
use super::error::RunResult;
use super::task::{Output, Task};
use crate::exec::drop_update_before::DropUpdateBefore;

struct DropTask;

impl Runnable for DropUpdateBefore {
    fn task(&self, _: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        Ok(Box::new(DropTask))
    }
}

impl Task for DropTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        if change.kind != RowKind::UpdateBefore {
            out.change(change);
        }
        Ok(())
    }
}
