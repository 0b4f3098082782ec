//! OVER: one ascending time attribute (Flink's `StreamExecOverAggregate` checks).

use super::{Lowering, Tree, exchange, exec_columns, pass_through};
use crate::catalog::types::TimeAttribute;
use crate::exec::over_aggregate::OverAggregate;
use crate::exec::{Operator, Target};
use crate::logical::rel::{Over, Rel, RelColumn};
use crate::logical::rex::Origins;
use crate::plan_error::{PlanError, PlanResult};

impl Lowering<'_> {
    pub(super) fn over_aggregate(
        &self,
        over: Over,
        input: Rel,
        columns: Vec<RelColumn>,
        origins: Origins,
    ) -> PlanResult<Tree> {
        let at = over.order.first().and_then(|k| k.origins.first()).or(origins.first()).unwrap_or_default();
        let [order] = over.order.as_slice() else {
            return Err(PlanError::rejected(at, "the window can only be ordered by a single time column")
                .label(if over.order.is_empty() { "no ORDER BY" } else { "more than one column" })
                .help("ORDER BY the event-time or processing-time column")
                .into());
        };
        if order.descending {
            return Err(PlanError::rejected(at, "the window can only be ordered in ASCENDING mode")
                .label("descending")
                .help("order ascending; a Top-N also needs a filter `rn <= N` on the number, and nothing but AND around it")
                .into());
        }
        let ty = &input.columns[order.column].ty;
        let time = ty.time_attribute();
        if time == TimeAttribute::None && !ty.is_unknown() && self.target != Target::Flink22 {
            return Err(PlanError::rejected(
                at,
                "OVER windows' ordering in stream mode must be defined on a time attribute",
            )
            .label(format!("this is {ty}, not a time attribute"))
            .help("order by a column with a WATERMARK, or by PROCTIME()")
            .into());
        }
        self.check_arguments(&over.calls, &input.columns)?;
        let input = self.lower(input)?;
        if !input.changelog.is_insert_only() {
            return Err(consumes_inserts("OverAggregate", &input, at).into());
        }
        let written_partition = over.partition.clone();
        let mut partition = over.partition;
        partition.sort_unstable();
        partition.dedup();
        let exchanged = exchange(input, partition.clone());
        let op = Operator::OverAggregate(OverAggregate {
            partition,
            written_partition,
            partition_origins: over.partition_origins,
            order: over.order,
            frame: over.frame,
            calls: over.calls,
            written: over.written,
            proctime: time == TimeAttribute::Proctime,
        });
        Ok(pass_through(op, exchanged, exec_columns(columns), origins))
    }
}

/// Flink's refusal of updates, naming what sends them.
pub(super) fn consumes_inserts(node: &str, input: &Tree, at: crate::source::Span) -> PlanError {
    let producer = producer(input);
    PlanError::rejected(
        at,
        format!("{node} doesn't support consuming update and delete changes which is produced by {producer}"),
    )
    .label("this needs rows that are only inserted")
    .help("read an append-only source here, or aggregate over windows first")
}

/// The operator that brings updates into a stream.
pub(super) fn producer(tree: &Tree) -> String {
    let below = tree.inputs.iter().find(|i| !i.changelog.is_insert_only());
    match below {
        Some(input) => producer(input),
        None => match &tree.op {
            Operator::TableSourceScan(scan) => format!("source table `{}`", scan.table.path.name),
            op => op.kind().to_owned(),
        },
    }
}
