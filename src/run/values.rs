//! `Values`: constant rows, sent before anything else.

use super::build::{Build, Runnable};
use super::change::{Change, MAX_WATERMARK};
use super::error::RunResult;
use super::task::{Output, Task};
use crate::eval::Row;
use crate::exec::values::Values;

struct ValuesTask {
    /// What is still to be sent.
    rows: Vec<Row>,
    ended: bool,
}

impl Runnable for Values {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let constants =
            |row: &Vec<_>| build.compile(row)?.iter().map(|e| Ok(e.eval(&[], 0)?)).collect::<RunResult<Row>>();
        Ok(Box::new(ValuesTask { rows: self.rows.iter().map(constants).collect::<RunResult<_>>()?, ended: false }))
    }
}

impl Task for ValuesTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        out.change(change);
        Ok(())
    }

    /// The clock starts before the first row of any source.
    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        for row in std::mem::take(&mut self.rows) {
            out.change(Change::insert(row));
        }
        if !std::mem::replace(&mut self.ended, true) {
            out.advance(MAX_WATERMARK);
        }
        Ok(())
    }
}
