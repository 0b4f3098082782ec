//! ORDER BY and LIMIT (Flink's `StreamPhysicalLimitRule`, `StreamPhysicalSortLimitRule`, `StreamPhysicalTemporalSortRule`).

use super::over::consumes_inserts;
use super::rank::strategy;
use super::{Lowering, Tree, exchange, exec_columns, pass_through};
use crate::catalog::types::TimeAttribute;
use crate::exec::Operator;
use crate::exec::changelog::ChangelogMode;
use crate::exec::limit::Limit;
use crate::exec::sort_limit::SortLimit;
use crate::exec::temporal_sort::TemporalSort;
use crate::logical::rel::{Rel, RelColumn, Sort};
use crate::logical::rex::Origins;
use crate::plan_error::{PlanError, PlanResult};

impl Lowering<'_> {
    pub(super) fn sort(&self, sort: Sort, input: Rel, columns: Vec<RelColumn>, origins: Origins) -> PlanResult<Tree> {
        let at = origins.first().unwrap_or_default();
        let Sort { keys, offset, fetch, range_origins } = sort;
        let columns = exec_columns(columns);
        let Some(fetch) = fetch else {
            if offset > 0 {
                return Err(PlanError::rejected(
                    at,
                    "FETCH is missed, which on streaming table is not supported currently",
                )
                .label("OFFSET without LIMIT")
                .help("add LIMIT n")
                .into());
            }
            let first = keys.first().map(|k| (k.descending, input.columns[k.column].ty.time_attribute()));
            let Some((false, time @ (TimeAttribute::Rowtime | TimeAttribute::Proctime))) = first else {
                return Err(PlanError::rejected(at, "sort on a non-time-attribute field is not supported")
                    .label("a stream can only be sorted by its time, ascending")
                    .help("order by the time attribute first, or add LIMIT n")
                    .into());
            };
            let input = self.lower(input)?;
            if !input.changelog.is_insert_only() {
                return Err(consumes_inserts("TemporalSort", &input, at).into());
            }
            let op = TemporalSort { order: keys, proctime: time == TimeAttribute::Proctime };
            return Ok(pass_through(Operator::TemporalSort(op), exchange(input, Vec::new()), columns, origins));
        };
        let input = self.lower(input)?;
        if keys.is_empty() {
            let inserts = input.changelog.is_insert_only();
            let op = Operator::Limit(Limit { offset, fetch, range_origins });
            let mut tree = pass_through(op, exchange(input, Vec::new()), columns, origins);
            tree.changelog = if inserts { ChangelogMode::INSERT } else { ChangelogMode::UPSERT };
            return Ok(tree);
        }
        let strategy = strategy(&input, &[], &keys);
        let op = Operator::SortLimit(SortLimit { order: keys, offset, fetch, strategy, range_origins });
        let mut tree = pass_through(op, exchange(input, Vec::new()), columns, origins);
        tree.changelog = ChangelogMode::UPSERT;
        tree.monotonic.fill(None);
        Ok(tree)
    }
}
