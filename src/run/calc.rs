//! `Calc`: computes expressions for the rows for which all conditions hold.

use super::build::{Build, Runnable};
use super::change::Change;
use super::error::RunResult;
use super::task::{Output, Task};
use crate::eval::{Datum, Evaluator, Row};
use crate::exec::calc::Calc;

struct CalcTask {
    conditions: Vec<Evaluator>,
    exprs: Vec<Evaluator>,
    /// The output is the input.
    identity: bool,
}

impl Runnable for Calc {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let identity = self.exprs.len() == build.input.len()
            && self.exprs.iter().enumerate().all(|(i, e)| e.as_input() == Some(i));
        let (conditions, exprs) = (build.compile(&self.conditions)?, build.compile(&self.exprs)?);
        Ok(Box::new(CalcTask { conditions, exprs, identity }))
    }
}

impl Task for CalcTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        for condition in &self.conditions {
            if !matches!(condition.eval(&change.row, out.now)?, Datum::Boolean(true)) {
                return Ok(());
            }
        }
        if self.identity {
            out.change(change);
            return Ok(());
        }
        let mut values = Vec::with_capacity(self.exprs.len());
        for expr in &self.exprs {
            values.push(expr.eval(&change.row, out.now)?);
        }
        out.send(change.kind, Row::new(values));
        Ok(())
    }
}
