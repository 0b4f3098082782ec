//! `TableSourceScan`: rows of a table as they come in. What arrives has every stored column of the table, in its order.

use super::build::{Build, Runnable};
use super::change::Change;
use super::error::RunResult;
use super::task::{Output, Task};
use super::watermark::WatermarkGenerator;
use crate::catalog::TableColumnKind;
use crate::eval::{Evaluator, compile};
use crate::exec::table_source_scan::TableSourceScan;

struct ScanTask {
    /// For each output column its place among the stored columns of the table.
    fields: Vec<usize>,
    identity: bool,
    filters: Vec<Evaluator>,
    watermark: Option<WatermarkGenerator>,
}

impl Runnable for TableSourceScan {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let stored: Vec<usize> = (0..self.table.columns.len())
            .filter(|i| !matches!(self.table.columns[*i].kind, TableColumnKind::Computed(_)))
            .collect();
        let fields: Vec<usize> = self.fields.iter().filter_map(|f| stored.iter().position(|s| s == f)).collect();
        let identity = fields.len() == stored.len() && fields.iter().enumerate().all(|(i, f)| i == *f);
        let watermark = match &self.watermark {
            Some(strategy) => Some(WatermarkGenerator::new(compile(strategy, build.session)?, build, i64::MIN)),
            None => None,
        };
        Ok(Box::new(ScanTask { fields, identity, filters: build.compile(&self.filters)?, watermark }))
    }
}

impl Task for ScanTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let row = if self.identity { change.row } else { change.row.project(&self.fields) };
        for filter in &self.filters {
            if filter.test(&row, out.now)? != Some(true) {
                return Ok(());
            }
        }
        match &mut self.watermark {
            Some(generator) => {
                let watermark = generator.after_row(&row, out.now)?;
                out.send(change.kind, row);
                watermark.into_iter().for_each(|watermark| out.advance(watermark));
                Ok(())
            }
            None => {
                out.send(change.kind, row);
                Ok(())
            }
        }
    }

    fn resume(&mut self, watermark: i64) {
        if let Some(generator) = &mut self.watermark {
            generator.resume(watermark);
        }
    }

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        if let Some(generator) = &mut self.watermark {
            generator.after_clock(out);
        }
        Ok(())
    }
}
