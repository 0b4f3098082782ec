//! Top-N and deduplication, per window or not (Flink's `StreamPhysicalRankRule`, `...DeduplicateRule`, `...WindowRankRule`).

use super::over::consumes_inserts;
use super::{Lowering, Tree, Trend, exchange, exec_columns, pass_through};
use crate::catalog::types::TimeAttribute;
use crate::exec::changelog::ChangelogMode;
use crate::exec::deduplicate::Deduplicate;
use crate::exec::rank::{Rank, RankStrategy, Ranking};
use crate::exec::window_deduplicate::WindowDeduplicate;
use crate::exec::window_rank::WindowRank;
use crate::exec::window_spec::{WindowAttachment, WindowSpec};
use crate::exec::{Operator, Target};
use crate::logical::rel::{self, RankEnd, RankType, Rel, RelColumn, SortKey};
use crate::logical::rewrite::window_columns::window_columns;
use crate::logical::rex::Origins;
use crate::plan_error::{PlanError, PlanResult};

impl Lowering<'_> {
    pub(super) fn rank(
        &self,
        rank: rel::Rank,
        input: Rel,
        columns: Vec<RelColumn>,
        origins: Origins,
    ) -> PlanResult<Tree> {
        let at = origins.first().unwrap_or_default();
        let window = window_columns(&input).filter(|w| w.bounded_by(&rank.partition));
        let window = window.map(|w| {
            let start = rank.partition.iter().copied().find(|c| w.start.contains(c)).unwrap_or_default();
            let end = rank.partition.iter().copied().find(|c| w.end.contains(c)).unwrap_or_default();
            let spec = WindowSpec {
                kind: w.tvf.kind,
                offset: w.tvf.offset,
                partition: w.partition.iter().filter_map(|p| p.first().copied()).collect(),
                attachment: WindowAttachment::Bounds { start, end },
                proctime: w.proctime,
                origins: w.tvf.written.clone(),
            };
            let plain: Vec<usize> = rank.partition.iter().copied().filter(|c| !w.is_window_column(*c)).collect();
            (spec, plain)
        });
        let order_time = match rank.order.as_slice() {
            [one] => input.columns[one.column].ty.time_attribute(),
            _ => TimeAttribute::None,
        };
        let first_only = rank.is_first() && rank.rank_type == RankType::RowNumber;
        let mut partition = match &window {
            Some((_, plain)) => plain.clone(),
            None => rank.partition.clone(),
        };
        partition.sort_unstable();
        partition.dedup();
        let ranking = Ranking {
            rank_type: rank.rank_type,
            partition: partition.clone(),
            written_partition: rank.partition,
            partition_origins: rank.partition_origins,
            order: rank.order,
            start: rank.start,
            end: rank.end,
            range_origins: rank.range_origins,
            output_number: rank.output_number,
        };
        let width = input.columns.len();
        let input = self.lower(input)?;
        let columns = exec_columns(columns);
        let range_at = ranking.range_origins.first().unwrap_or(at);
        // Flink does not move the column's place when it drops the columns before it.
        if let RankEnd::Column(column) = ranking.end
            && column >= width
        {
            return Err(PlanError::rejected(range_at, "Rank end index can't greater than input field count.")
                .label("Flink looks for this column at a place that is no more")
                .help("select it before all columns that are not used")
                .into());
        }

        if let Some((spec, _)) = window {
            if ranking.rank_type != RankType::RowNumber {
                let name = ranking.rank_type.name();
                return Err(PlanError::rejected(
                    at,
                    format!("{name}() is not supported on Window Top-N currently, only ROW_NUMBER() is supported"),
                )
                .label("here")
                .help("use ROW_NUMBER()")
                .into());
            }
            if let RankEnd::Column(column) = ranking.end {
                let name = &input.columns[column].name;
                let message = format!("Rank strategy rankEnd={name} is not supported on window rank currently.");
                return Err(PlanError::rejected(range_at, message)
                    .label("the last rank is a column")
                    .help("compare the rank with a number")
                    .into());
            }
            if spec.proctime {
                return Err(PlanError::rejected(at, "processing-time Window Top-N is not supported yet")
                    .label("the window below runs on processing time")
                    .help("use an event-time window")
                    .into());
            }
            if !input.changelog.is_insert_only() {
                return Err(consumes_inserts("WindowRank", &input, at).into());
            }
            let deduplicates = first_only && order_time == TimeAttribute::Rowtime;
            let exchanged = exchange(input, partition);
            let op = if deduplicates {
                Operator::WindowDeduplicate(WindowDeduplicate { window: spec, ranking })
            } else {
                Operator::WindowRank(WindowRank { window: spec, ranking })
            };
            let mut tree = pass_through(op, exchanged, columns, origins);
            tree.monotonic.fill(None);
            return Ok(tree);
        }

        if first_only && order_time != TimeAttribute::None {
            if !input.changelog.is_insert_only() {
                return Err(consumes_inserts("Deduplicate", &input, at).into());
            }
            let proctime = order_time == TimeAttribute::Proctime;
            let keeps_last = ranking.order[0].descending;
            let insert_only =
                !keeps_last && (proctime || (self.target == Target::Flink22 && !self.options.mini_batch_enabled()));
            let exchanged = exchange(input, partition.clone());
            let mut tree =
                pass_through(Operator::Deduplicate(Deduplicate { ranking, proctime }), exchanged, columns, origins);
            tree.changelog = if insert_only { ChangelogMode::INSERT } else { ChangelogMode::UPSERT };
            tree.monotonic.fill(None);
            for key in &partition {
                tree.monotonic[*key] = Some(Trend::Constant);
            }
            tree.upsert_keys = vec![partition];
            return Ok(tree);
        }

        if ranking.rank_type != RankType::RowNumber {
            let name = ranking.rank_type.name();
            return Err(PlanError::rejected(at, format!("{name}() on a streaming table is not supported currently"))
                .label("here")
                .help("use ROW_NUMBER()")
                .into());
        }
        let strategy = strategy(&input, &ranking.partition, &ranking.order);
        let number = ranking.output_number.then_some(columns.len() - 1);
        // Of the first row of each partition Flink knows no key but the partition's.
        let mut keys: Vec<Vec<usize>> = if first_only { vec![partition.clone()] } else { input.upsert_keys.clone() };
        if let Some(number) = number {
            keys.push(partition.iter().copied().chain([number]).collect());
        }
        let exchanged = exchange(input, partition);
        let mut tree = pass_through(Operator::Rank(Rank { ranking, strategy }), exchanged, columns, origins);
        tree.changelog = ChangelogMode::UPSERT;
        tree.upsert_keys = keys;
        tree.monotonic.fill(None);
        Ok(tree)
    }
}

/// Flink's `RankProcessStrategy.analyzeRankProcessStrategies`.
pub(super) fn strategy(input: &Tree, partition: &[usize], order: &[SortKey]) -> RankStrategy {
    if input.changelog.is_insert_only() {
        return RankStrategy::AppendFast;
    }
    let moves_up = |k: &SortKey| match input.monotonic[k.column] {
        Some(Trend::Constant) => true,
        Some(Trend::Rises) => k.descending,
        Some(Trend::Falls) => !k.descending,
        None => false,
    };
    let key = input.upsert_keys.iter().find(|key| partition.iter().all(|p| key.contains(p)));
    match key {
        Some(key) if order.iter().all(moves_up) => RankStrategy::UpdateFast(key.clone()),
        _ => RankStrategy::Retract,
    }
}
