//! `Expand`: each row once per grouping set.

use super::build::{Build, Runnable};
use super::change::Change;
use super::error::RunResult;
use super::task::{Output, Task};
use crate::eval::{Evaluator, Row};
use crate::exec::expand::Expand;

struct ExpandTask {
    projects: Vec<Vec<Evaluator>>,
}

impl Runnable for Expand {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let projects = self.projects.iter().map(|p| build.compile(p)).collect::<RunResult<_>>()?;
        Ok(Box::new(ExpandTask { projects }))
    }
}

impl Task for ExpandTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        for project in &self.projects {
            let row = project.iter().map(|e| e.eval(&change.row, out.now)).collect::<Result<Row, _>>()?;
            out.send(change.kind, row);
        }
        Ok(())
    }
}
