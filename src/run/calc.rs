//! `Calc`: computes expressions for the rows for which all conditions hold.

use super::build::{Build, Runnable};
use super::change::Change;
use super::error::RunResult;
use super::task::{Output, Task};
use crate::eval::{Datum, Evaluator};
use crate::exec::calc::Calc;

struct CalcTask {
    conditions: Vec<Evaluator>,
    exprs: Vec<Evaluator>,
    /// The output is the input.
    identity: bool,
    /// The columns of the input that are the output, if nothing is computed.
    columns: Option<Vec<usize>>,
    /// The values of a row before they are one; empty in between.
    values: Vec<Datum>,
}

impl Runnable for Calc {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let identity = self.exprs.len() == build.input.len()
            && self.exprs.iter().enumerate().all(|(i, e)| e.as_input() == Some(i));
        let columns = self.exprs.iter().map(|e| e.as_input()).collect();
        let (conditions, exprs) = (build.compile(&self.conditions)?, build.compile(&self.exprs)?);
        Ok(Box::new(CalcTask { conditions, exprs, identity, columns, values: Vec::new() }))
    }
}

impl Task for CalcTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        for condition in &self.conditions {
            if condition.test(&change.row, out.now)? != Some(true) {
                return Ok(());
            }
        }
        if self.identity {
            out.change(change);
            return Ok(());
        }
        if let Some(columns) = &self.columns {
            out.send(change.kind, change.row.project(columns));
            return Ok(());
        }
        for expr in &self.exprs {
            self.values.push(expr.eval(&change.row, out.now)?);
        }
        out.send(change.kind, self.values.drain(..).collect());
        Ok(())
    }
}
