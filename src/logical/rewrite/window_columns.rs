//! Which columns of a row are the bounds of a window (Flink's `FlinkRelMdWindowProperties`).

use crate::logical::join::Join;
use crate::logical::rel::{Rel, RelOp, WindowTvf};

/// The window columns of a row.
#[derive(Debug, Clone)]
pub struct WindowColumns<'a> {
    /// The window function they come from.
    pub tvf: &'a WindowTvf,
    /// The type of its time attribute.
    pub proctime: bool,
    /// Columns that are window_start.
    pub start: Vec<usize>,
    /// Columns that are window_end.
    pub end: Vec<usize>,
    /// Columns that are window_time.
    pub time: Vec<usize>,
    /// Columns that are PARTITION BY keys of a SESSION window, in its order; empty where one of them is gone.
    pub partition: Vec<Vec<usize>>,
}

impl WindowColumns<'_> {
    /// True if column `i` belongs to the window.
    pub fn is_window_column(&self, i: usize) -> bool {
        self.start.contains(&i) || self.end.contains(&i) || self.time.contains(&i)
    }

    /// True if the columns hold both bounds.
    pub fn bounded_by(&self, columns: &[usize]) -> bool {
        columns.iter().any(|c| self.start.contains(c)) && columns.iter().any(|c| self.end.contains(c))
    }
}

/// The window columns of `rel`'s output, if it still has a start or an end.
pub fn window_columns(rel: &Rel) -> Option<WindowColumns<'_>> {
    match &rel.op {
        RelOp::WindowTvf(tvf) => {
            let width = rel.input().columns.len();
            Some(WindowColumns {
                tvf,
                proctime: rel.input().columns[tvf.time].ty.is_proctime(),
                start: vec![width],
                end: vec![width + 1],
                time: vec![width + 2],
                partition: tvf.partition.iter().map(|p| vec![*p]).collect(),
            })
        }
        RelOp::Filter(_) | RelOp::Rank(_) | RelOp::Correlate(_) => window_columns(rel.input()),
        RelOp::Project(exprs) => {
            let below = window_columns(rel.input())?;
            let above = |list: &[usize]| {
                (0..exprs.len()).filter(|i| exprs[*i].as_input().is_some_and(|c| list.contains(&c))).collect()
            };
            Some(WindowColumns {
                start: above(&below.start),
                end: above(&below.end),
                time: above(&below.time),
                partition: below.partition.iter().map(|p| above(p)).collect(),
                ..below
            })
        }
        RelOp::Expand(expand) => {
            let below = window_columns(rel.input())?;
            let above = |list: &[usize]| {
                (0..rel.columns.len())
                    .filter(|i| expand.projects.iter().all(|p| p[*i].as_input().is_some_and(|c| list.contains(&c))))
                    .collect()
            };
            Some(WindowColumns {
                start: above(&below.start),
                end: above(&below.end),
                time: above(&below.time),
                partition: below.partition.iter().map(|p| above(p)).collect(),
                ..below
            })
        }
        RelOp::Aggregate(aggregate) => {
            let below = window_columns(rel.input())?;
            if !below.bounded_by(&aggregate.keys) {
                return None;
            }
            let above =
                |list: &[usize]| (0..aggregate.keys.len()).filter(|i| list.contains(&aggregate.keys[*i])).collect();
            Some(WindowColumns {
                start: above(&below.start),
                end: above(&below.end),
                time: above(&below.time),
                partition: below.partition.iter().map(|p| above(p)).collect(),
                ..below
            })
        }
        RelOp::WindowAggregate(aggregate) => {
            let first = aggregate.keys.len() + aggregate.calls.len();
            Some(WindowColumns {
                tvf: &aggregate.tvf,
                proctime: aggregate.proctime,
                start: vec![first],
                end: vec![first + 1],
                time: if aggregate.window_time { vec![first + 2] } else { Vec::new() },
                partition: aggregate
                    .tvf
                    .partition
                    .iter()
                    .map(|p| (0..aggregate.keys.len()).filter(|k| aggregate.keys[*k] == *p).collect())
                    .collect(),
            })
        }
        RelOp::Join(join) if join.as_of.is_none() => {
            let (left, right) = joined_windows(join, &rel.inputs[0], &rel.inputs[1])?;
            if !join.join_type.keeps_right() {
                return Some(left);
            }
            let width = rel.inputs[0].columns.len();
            let both = |l: &[usize], r: &[usize]| l.iter().copied().chain(r.iter().map(|i| i + width)).collect();
            Some(WindowColumns {
                start: both(&left.start, &right.start),
                end: both(&left.end, &right.end),
                time: both(&left.time, &right.time),
                ..left
            })
        }
        RelOp::Union => {
            // Flink keeps window properties through a union only if all inputs agree; its streaming planner then cannot use them.
            None
        }
        _ => None,
    }
}

/// The windows of both sides, if the join asks for equal windows of one kind: then it is a window join
/// (Flink's `WindowJoinUtil.satisfyWindowJoin`).
pub fn joined_windows<'a>(
    join: &Join,
    left: &'a Rel,
    right: &'a Rel,
) -> Option<(WindowColumns<'a>, WindowColumns<'a>)> {
    let (l, r) = (window_columns(left)?, window_columns(right)?);
    let keys = join.keys(left.columns.len());
    let equal = |a: &[usize], b: &[usize]| keys.iter().any(|k| a.contains(&k.left) && b.contains(&k.right));
    let same = (l.tvf.kind, l.tvf.offset, l.proctime) == (r.tvf.kind, r.tvf.offset, r.proctime)
        && l.tvf.partition.len() == r.tvf.partition.len();
    (same && equal(&l.start, &r.start) && equal(&l.end, &r.end)).then_some((l, r))
}
