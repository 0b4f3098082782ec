//! Columns whose values never repeat (Flink's `FlinkRelMdUniqueKeys`). A watermark assigner hides the keys of its source.

use crate::logical::rel::{Rank, RankType, Rel, RelOp};

/// The unique keys of `rel`'s rows, each a set of columns.
pub fn unique_keys(rel: &Rel) -> Vec<Vec<usize>> {
    match &rel.op {
        RelOp::Scan(scan) => {
            let Some(key) = &scan.table.primary_key else { return Vec::new() };
            let places = key.columns.iter().map(|c| scan.fields.iter().position(|f| f == c));
            places.collect::<Option<Vec<_>>>().into_iter().collect()
        }
        RelOp::Filter(_) | RelOp::Over(_) => unique_keys(rel.input()),
        RelOp::Project(exprs) => {
            let place = |c: &usize| exprs.iter().position(|e| e.as_input() == Some(*c));
            unique_keys(rel.input()).iter().filter_map(|key| key.iter().map(place).collect()).collect()
        }
        RelOp::Aggregate(aggregate) => vec![(0..aggregate.keys.len()).collect()],
        RelOp::GroupWindow(window) if window.properties => {
            let first = window.keys.len() + window.calls.len();
            [first, first + 1].iter().map(|bound| (0..window.keys.len()).chain([*bound]).collect()).collect()
        }
        RelOp::WindowAggregate(aggregate) => {
            let first = aggregate.keys.len() + aggregate.calls.len();
            [first, first + 1].iter().map(|bound| (0..aggregate.keys.len()).chain([*bound]).collect()).collect()
        }
        RelOp::Rank(rank) => rank_keys(rel, rank),
        _ => Vec::new(),
    }
}

/// One row per partition for a single rank; else the number is unique within its partition.
fn rank_keys(rel: &Rel, rank: &Rank) -> Vec<Vec<usize>> {
    let mut keys = unique_keys(rel.input());
    if rank.rank_type == RankType::RowNumber {
        if rank.start == 1 && rank.end == 1 {
            keys.push(rank.partition.clone());
        } else if rank.output_number {
            keys.push(rank.partition.iter().copied().chain([rel.columns.len() - 1]).collect());
        }
    }
    keys
}

/// True if no two rows have the same values in `columns`.
pub fn are_unique(rel: &Rel, columns: &[usize]) -> bool {
    unique_keys(rel).iter().any(|key| key.iter().all(|c| columns.contains(c)))
}
