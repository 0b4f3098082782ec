//! Columns whose values never repeat (Flink's `FlinkRelMdUniqueKeys`). A watermark assigner hides the keys of its source until the tree is
//! rewritten into Flink's own operators.

use crate::logical::join::{AsOf, Join, JoinKey};
use crate::logical::rel::{Rank, RankType, Rel, RelOp};

/// What a watermark assigner does to the keys of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Assigners {
    Hide,
    LetThrough,
}

/// The unique keys of `rel`'s rows, each a set of columns, as the steps after the choice of ranks know them: watermarks hide none.
pub fn unique_keys_after_ranks(rel: &Rel) -> Vec<Vec<usize>> {
    keys_of(rel, Assigners::LetThrough)
}

fn keys_of(rel: &Rel, assigners: Assigners) -> Vec<Vec<usize>> {
    match &rel.op {
        RelOp::Watermark(_) if assigners == Assigners::LetThrough => keys_of(rel.input(), assigners),
        RelOp::Scan(scan) => {
            let Some(key) = &scan.table.primary_key else { return Vec::new() };
            let places = key.columns.iter().map(|c| scan.fields.iter().position(|f| f == c));
            places.collect::<Option<Vec<_>>>().into_iter().collect()
        }
        RelOp::Filter(_) | RelOp::Over(_) => keys_of(rel.input(), assigners),
        RelOp::Project(exprs) => {
            let place = |c: &usize| exprs.iter().position(|e| e.as_input() == Some(*c));
            keys_of(rel.input(), assigners).iter().filter_map(|key| key.iter().map(place).collect()).collect()
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
        RelOp::Rank(rank) => rank_keys(rel, rank, assigners),
        // Of a table that is looked up Flink only asks whether a row is found at most once.
        RelOp::Join(join) if matches!(join.as_of, Some(AsOf::LookedUp(_))) => {
            let pairs = join.keys(rel.inputs[0].columns.len());
            let once = keys_of(&rel.inputs[1], assigners)
                .iter()
                .any(|k| k.iter().all(|c| pairs.iter().any(|p| p.right == *c)));
            if once { keys_of(&rel.inputs[0], assigners) } else { Vec::new() }
        }
        RelOp::Join(join) => {
            let keys = [keys_of(&rel.inputs[0], assigners), keys_of(&rel.inputs[1], assigners)];
            join_keys(join, rel.inputs[0].columns.len(), &keys)
        }
        _ => Vec::new(),
    }
}

/// One row per partition for a single rank, whose other keys Flink forgets; else the number is unique within its partition.
fn rank_keys(rel: &Rel, rank: &Rank, assigners: Assigners) -> Vec<Vec<usize>> {
    let numbers = rank.rank_type == RankType::RowNumber;
    if numbers && rank.is_first() {
        return vec![rank.partition.clone()];
    }
    let mut keys = keys_of(rel.input(), assigners);
    if numbers && rank.output_number {
        keys.push(rank.partition.iter().copied().chain([rel.columns.len() - 1]).collect());
    }
    keys
}

/// A key of each side together; and those of one side alone if its rows meet at most one of the other side
/// (Flink's `FlinkRelMdUniqueKeys.getJoinUniqueKeys`).
fn join_keys(join: &Join, width: usize, [left, right]: &[Vec<Vec<usize>>; 2]) -> Vec<Vec<usize>> {
    if !join.join_type.keeps_right() {
        return left.clone();
    }
    let pairs = join.keys(width);
    let shifted = |key: &Vec<usize>| key.iter().map(|c| c + width).collect::<Vec<_>>();
    let mut keys: Vec<Vec<usize>> = Vec::new();
    for l in left {
        keys.extend(right.iter().map(|r| l.iter().copied().chain(shifted(r)).collect()));
    }
    let within =
        |key: &Vec<usize>, of: &dyn Fn(&JoinKey) -> usize| key.iter().all(|c| pairs.iter().any(|p| of(p) == *c));
    if right.iter().any(|key| within(key, &|p| p.right)) && !join.join_type.pads_left() {
        keys.extend(left.iter().cloned());
    }
    if left.iter().any(|key| within(key, &|p| p.left)) && !join.join_type.pads_right() {
        keys.extend(right.iter().map(shifted));
    }
    keys
}

/// True if no two rows have the same values in `columns`, as the steps up to the choice of ranks know it.
pub fn are_unique(rel: &Rel, columns: &[usize]) -> bool {
    keys_of(rel, Assigners::Hide).iter().any(|key| key.iter().all(|c| columns.contains(c)))
}
