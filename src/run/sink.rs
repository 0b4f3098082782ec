//! `Sink`: what leaves the job, after the checks that Flink makes (`ConstraintEnforcer`).

use super::build::{Build, Runnable};
use super::change::Change;
use super::error::{RunError, RunResult};
use super::task::{Output, States, Task};
use super::upsert_materializer::UpsertMaterializer;
use crate::exec::sink::Sink;

struct SinkTask {
    /// The columns that must not be NULL, with the names that messages give them.
    not_null: Vec<(usize, String)>,
    /// `table.exec.sink.not-null-enforcer` is `DROP`.
    drops: bool,
    materializer: Option<UpsertMaterializer>,
}

impl Runnable for Sink {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let target = |i: usize| {
            self.table.as_ref().and_then(|t| t.column_index(self.target_columns.get(i)?).map(|c| &t.columns[c]))
        };
        let not_null = build
            .node
            .columns
            .iter()
            .enumerate()
            .filter(|(i, column)| !target(*i).map_or(column.ty.nullable, |c| c.ty.nullable))
            .map(|(i, column)| (i, target(i).map_or(column.name.to_string(), |c| c.name.clone())))
            .collect();
        let drops = build.option("table.exec.sink.not-null-enforcer").is_some_and(|v| v.eq_ignore_ascii_case("drop"));
        let materializer = self.upsert_materialize.then(|| UpsertMaterializer::build(self, build)).transpose()?;
        Ok(Box::new(SinkTask { not_null, drops, materializer }))
    }
}

impl Task for SinkTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        match self.not_null.iter().find(|(i, _)| change.row[*i].is_null()) {
            None => match &mut self.materializer {
                Some(materializer) => return materializer.take(change, out),
                None => out.change(change),
            },
            Some(_) if self.drops => {}
            Some((_, name)) => {
                return Err(RunError::job(format!(
                    "Column '{name}' is NOT NULL, however, a null value is being written into it. You can set job \
                     configuration 'table.exec.sink.not-null-enforcer'='DROP' to suppress this exception and drop such \
                     records silently."
                )));
            }
        }
        Ok(())
    }

    fn states(&mut self) -> Option<States<'_>> {
        self.materializer.as_mut().map(UpsertMaterializer::states)
    }
}
