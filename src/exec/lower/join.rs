//! Joins: whether the condition bounds the time between rows decides the operator (Flink's `StreamPhysicalIntervalJoinRule`
//! and `StreamPhysicalJoinRule`).

use super::over::consumes_inserts;
use super::{Lowering, Tree, exchange, exec_columns};
use crate::catalog::types::TimeAttribute;
use crate::exec::interval_join::IntervalJoin;
use crate::exec::join::{self as exec, InputSpec, side_keys};
use crate::exec::window_join::WindowJoin;
use crate::exec::window_spec::{WindowAttachment, WindowSpec};
use crate::exec::{ChangelogMode, Operator};
use crate::logical::join::{AsOf, Join, JoinKey, JoinType, join_columns};
use crate::logical::rel::{Aggregate, Rel, RelColumn, RelOp};
use crate::logical::rewrite::window_columns::{WindowColumns, joined_windows};
use crate::logical::rex::{Origins, Rex};
use crate::logical::time_bounds::{Interval, TimeBounds, time_bounds};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;

impl Lowering<'_> {
    pub(super) fn join(&self, join: Join, inputs: Vec<Rel>, origins: Origins) -> PlanResult<Tree> {
        let at = origins.first().unwrap_or_default();
        let Ok([left, right]) = <[Rel; 2]>::try_from(inputs) else { unreachable!("a join has two inputs") };
        self.check_options(&[&left, &right], at)?;
        let mut join = join;
        match join.as_of.take() {
            Some(AsOf::Valid { time, from }) => return self.temporal_join(join, (time, from), [left, right], origins),
            Some(AsOf::LookedUp(options)) => return self.lookup_join(join, options, [left, right], origins),
            None => {}
        }
        if !join.join_type.keeps_right() && has_lookup(&left) {
            return Err(PlanError::unsupported(at, "IN or EXISTS above a lookup join").into());
        }
        if let Some(windows) = windows_of(&join, &left, &right) {
            return self.window_join(join, windows, [left, right], origins);
        }
        let keys = join.keys(left.columns.len());
        let Join { join_type, conditions, condition_origins, ttl, .. } = join;
        let bounds = match join_type.keeps_right() {
            true => time_bounds(&conditions, &left.columns, &right.columns),
            false => TimeBounds::None,
        };
        match bounds {
            TimeBounds::Unknown(span) => {
                Err(PlanError::unsupported(span, "a time bound other than a time and an interval").into())
            }
            TimeBounds::Interval(interval) => {
                check_times(&interval, &left, &right, at)?;
                let inputs = [self.lower(left)?, self.lower(right)?];
                if let Some(updating) = inputs.iter().find(|i| !i.changelog.is_insert_only()) {
                    return Err(consumes_inserts("IntervalJoin", updating, at).into());
                }
                // Equal times are a bound, no key.
                let keys: Vec<JoinKey> = keys
                    .into_iter()
                    .filter(|k| (k.left, k.right) != (interval.left_time, interval.right_time))
                    .collect();
                let op = IntervalJoin { join_type, interval, conditions, keys: keys.clone(), condition_origins };
                Ok(joined(Operator::IntervalJoin(op), join_type, &keys, inputs, ChangelogMode::INSERT, origins))
            }
            TimeBounds::None => {
                let inputs = [self.lower(left)?, self.lower(right)?];
                let spec = |side: usize| InputSpec::of(&inputs[side].upsert_keys, &side_keys(&keys, side));
                let specs = [spec(0), spec(1)];
                let (a, b) = (inputs[0].changelog, inputs[1].changelog);
                // A row that was sent alone is taken back when its first partner comes.
                let changelog = match join_type {
                    JoinType::Inner | JoinType::Semi => a.union(b),
                    _ => ChangelogMode::ALL,
                };
                let mini_batch = self.options.mini_batch_enabled();
                let keys_of_op = keys.clone();
                let op = exec::Join {
                    join_type,
                    conditions,
                    keys: keys_of_op,
                    inputs: specs,
                    mini_batch,
                    condition_origins,
                    ttl,
                };
                Ok(joined(Operator::Join(op), join_type, &keys, inputs, changelog, origins))
            }
        }
    }

    /// Flink's `StreamPhysicalWindowJoinRule`.
    fn window_join(&self, join: Join, windows: Windows, inputs: [Rel; 2], origins: Origins) -> PlanResult<Tree> {
        let at = origins.first().unwrap_or_default();
        if windows.specs[0].proctime {
            return Err(PlanError::rejected(at, "Processing time Window Join is not supported yet.")
                .label("a join of windows in processing time")
                .help("use windows in event time")
                .into());
        }
        let width = inputs[0].columns.len();
        let [left, right] = inputs;
        let inputs = [self.lower(left)?, self.lower(right)?];
        if let Some(updating) = inputs.iter().find(|i| !i.changelog.is_insert_only()) {
            return Err(consumes_inserts("WindowJoin", updating, at).into());
        }
        let Join { join_type, conditions, condition_origins, .. } = join;
        let is_bound = |c: &Rex| JoinKey::of(c, width).is_some_and(|k| windows.bounds.contains(&(k.left, k.right)));
        let conditions: Vec<Rex> = conditions.into_iter().filter(|c| !is_bound(c)).collect();
        let keys: Vec<JoinKey> = conditions.iter().filter_map(|c| JoinKey::of(c, width)).collect();
        let op = WindowJoin { join_type, windows: windows.specs, conditions, keys: keys.clone(), condition_origins };
        Ok(joined(Operator::WindowJoin(op), join_type, &keys, inputs, ChangelogMode::INSERT, origins))
    }

    /// Options under which Flink plans other operators.
    fn check_options(&self, inputs: &[&Rel], at: Span) -> PlanResult<()> {
        if !inputs.iter().any(|i| has_join(i)) {
            return Ok(());
        }
        let on = [
            ("table.optimizer.join-reorder-enabled", self.options.join_reorder()),
            ("table.optimizer.multi-join.enabled", self.options.multi_join()),
        ];
        match on.iter().find(|(_, on)| *on) {
            Some((key, _)) => Err(PlanError::unsupported(at, format_args!("joins of joins with `{key}`")).into()),
            None => Ok(()),
        }
    }
}

/// The operator over both inputs, each exchanged by its keys.
pub(super) fn joined(
    op: Operator,
    join_type: JoinType,
    keys: &[JoinKey],
    inputs: [Tree; 2],
    changelog: ChangelogMode,
    origins: Origins,
) -> Tree {
    let rel_columns = |tree: &Tree| {
        tree.columns.iter().map(|c| RelColumn::new(c.name.clone(), c.ty.clone())).collect::<Vec<RelColumn>>()
    };
    let columns = join_columns(&rel_columns(&inputs[0]), &rel_columns(&inputs[1]), join_type);
    let width = inputs[0].columns.len();
    let upsert_keys = upsert_keys(join_type, keys, width, &inputs);
    let inputs = inputs.into_iter().enumerate().map(|(side, i)| exchange(i, side_keys(keys, side))).collect();
    Tree {
        op,
        inputs,
        monotonic: vec![None; columns.len()],
        columns: exec_columns(columns),
        changelog,
        upsert_keys,
        origins,
    }
}

/// Flink's `FlinkRelMdUpsertKeys.getJoinUpsertKeys`: only keys that hold the join keys survive the exchange.
fn upsert_keys(join_type: JoinType, keys: &[JoinKey], width: usize, inputs: &[Tree; 2]) -> Vec<Vec<usize>> {
    let own = |side: usize| -> Vec<Vec<usize>> {
        let join_keys = side_keys(keys, side);
        inputs[side].upsert_keys.iter().filter(|key| join_keys.iter().all(|k| key.contains(k))).cloned().collect()
    };
    let unique = |side: usize| {
        let join_keys = side_keys(keys, side);
        inputs[side].upsert_keys.iter().any(|key| key.iter().all(|c| join_keys.contains(c)))
    };
    let (left, right) = (own(0), own(1));
    if !join_type.keeps_right() {
        return left;
    }
    let shifted = |key: &Vec<usize>| key.iter().map(|c| c + width).collect::<Vec<usize>>();
    let mut out: Vec<Vec<usize>> = Vec::new();
    for l in &left {
        out.extend(right.iter().map(|r| l.iter().copied().chain(shifted(r)).collect()));
    }
    if unique(1) && !join_type.pads_left() {
        out.extend(left.iter().cloned());
    }
    if unique(0) && !join_type.pads_right() {
        out.extend(right.iter().map(shifted));
    }
    out
}

/// A window join: its windows, and the columns with their bounds.
struct Windows {
    specs: [WindowSpec; 2],
    /// Pairs of columns that hold one bound, left and right.
    bounds: Vec<(usize, usize)>,
}

fn windows_of(join: &Join, left: &Rel, right: &Rel) -> Option<Windows> {
    let (l, r) = joined_windows(join, left, right)?;
    let keys = join.keys(left.columns.len());
    let pairs = |a: &[usize], b: &[usize]| -> Vec<(usize, usize)> {
        let equal = keys.iter().filter(|k| a.contains(&k.left) && b.contains(&k.right));
        equal.map(|k| (k.left, k.right)).collect()
    };
    let (starts, ends) = (pairs(&l.start, &r.start), pairs(&l.end, &r.end));
    let spec = |w: &WindowColumns<'_>, start: usize, end: usize| WindowSpec {
        kind: w.tvf.kind,
        offset: w.tvf.offset,
        partition: w.partition.iter().filter_map(|p| p.first().copied()).collect(),
        attachment: WindowAttachment::Bounds { start, end },
        proctime: w.proctime,
        origins: w.tvf.written.clone(),
    };
    let (start, end) = (*starts.first()?, *ends.first()?);
    let specs = [spec(&l, start.0, end.0), spec(&r, start.1, end.1)];
    Some(Windows { specs, bounds: starts.into_iter().chain(ends).collect() })
}

/// What Flink asks of the times of an interval join.
fn check_times(interval: &Interval, left: &Rel, right: &Rel, at: Span) -> PlanResult<()> {
    let (a, b) = (&left.columns[interval.left_time].ty, &right.columns[interval.right_time].ty);
    if interval.event_time && !a.same_kind(b) {
        return Err(PlanError::rejected(
            at,
            format!("Interval join with rowtime attribute requires same rowtime types, but the types are {a} and {b}"),
        )
        .label("the times have different types")
        .help("declare both times with the same type")
        .into());
    }
    let rowtime = |rel: &Rel| rel.columns.iter().any(|c| c.ty.time_attribute() == TimeAttribute::Rowtime);
    if !interval.event_time && (rowtime(left) || rowtime(right)) {
        return Err(PlanError::rejected(
            at,
            "Interval join with proctime attribute requires no event-time attributes are in the join inputs",
        )
        .label("a processing-time join of rows with event time")
        .help("do not select the event-time columns, or cast them to TIMESTAMP below the join")
        .into());
    }
    Ok(())
}

/// Flink plans a join with distinct rows there.
fn has_lookup(rel: &Rel) -> bool {
    matches!(&rel.op, RelOp::Join(join) if matches!(join.as_of, Some(AsOf::LookedUp(_))))
        || rel.inputs.iter().any(has_lookup)
}

fn has_join(rel: &Rel) -> bool {
    matches!(rel.op, RelOp::Join(_)) || rel.inputs.iter().any(has_join)
}

/// True if Flink may aggregate each side before it joins them (`FlinkAggregateJoinTransposeRule`): all columns that the join
/// compares are grouped by, as with no condition at all.
pub(super) fn goes_below_join(aggregate: &Aggregate, input: &Rel) -> bool {
    let mut rel = input;
    let mut keys: Vec<usize> = aggregate.keys.clone();
    while let RelOp::Project(exprs) = &rel.op {
        keys = keys.iter().filter_map(|k| exprs[*k].as_input()).collect();
        rel = rel.input();
    }
    let RelOp::Join(join) = &rel.op else { return false };
    // Flink's rule leaves joins with versions alone.
    if join.as_of.is_some() {
        return false;
    }
    let mut all = join.join_type.keeps_right();
    for c in &join.conditions {
        c.visit(&mut |r| all &= r.as_input().is_none_or(|i| keys.contains(&i)));
    }
    all
}
