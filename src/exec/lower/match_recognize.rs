//! MATCH_RECOGNIZE (Flink's `StreamPhysicalMatchRule`).

use super::over::producer;
use super::{Lowering, Tree, exchange, exec_columns};
use crate::exec::Operator;
use crate::exec::changelog::ChangelogMode;
use crate::exec::match_recognize::Match;
use crate::logical::pattern;
use crate::logical::rel::{Rel, RelColumn};
use crate::logical::rex::Origins;
use crate::plan_error::{PlanError, PlanResult};

impl Lowering<'_> {
    pub(super) fn match_recognize(
        &self,
        pattern: pattern::Match,
        input: Rel,
        columns: Vec<RelColumn>,
        origins: Origins,
    ) -> PlanResult<Tree> {
        let time = &pattern.order[0];
        // What was a time attribute when the query was read may have lost it in a join below.
        let at = time.origins.first().or(origins.first()).unwrap_or_default();
        let ty = &input.columns[time.column].ty;
        if !ty.is_rowtime() && !ty.is_proctime() && !ty.is_unknown() {
            let message = "You must specify either rowtime or proctime for order by as the first one";
            return Err(PlanError::rejected(at, message)
                .label(format!("this is {ty}, not a time attribute"))
                .help("bound the time between the rows of the join below, or match before joining")
                .into());
        }
        let proctime = ty.is_proctime();
        let input = self.lower(input)?;
        if !input.changelog.is_insert_only() {
            let message = format!(
                "Match Recognize doesn't support consuming update and delete changes which is produced by {}",
                producer(&input)
            );
            return Err(PlanError::rejected(origins.first().unwrap_or_default(), message)
                .label("this needs rows that are only inserted")
                .help("read an append-only source here, or aggregate over windows first")
                .into());
        }
        let input = exchange(input, pattern.partition.clone());
        let columns = exec_columns(columns);
        Ok(Tree {
            op: Operator::Match(Match { pattern, proctime }),
            inputs: vec![input],
            changelog: ChangelogMode::INSERT,
            upsert_keys: Vec::new(),
            monotonic: vec![None; columns.len()],
            columns,
            origins,
        })
    }
}
