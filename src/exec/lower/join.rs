//! Joins: whether the condition bounds the time between rows decides the operator (Flink's `StreamPhysicalIntervalJoinRule`
//! and `StreamPhysicalJoinRule`).

use super::over::consumes_inserts;
use super::{Lowering, Tree};
use crate::catalog::types::TimeAttribute;
use crate::logical::join::Join;
use crate::logical::rel::{Rel, RelColumn};
use crate::logical::rewrite::window_columns::window_columns;
use crate::logical::rex::Origins;
use crate::logical::time_bounds::{Interval, TimeBounds, time_bounds};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;

impl Lowering<'_> {
    pub(super) fn join(
        &self,
        join: Join,
        inputs: Vec<Rel>,
        _columns: Vec<RelColumn>,
        origins: Origins,
    ) -> PlanResult<Tree> {
        let at = origins.first().unwrap_or_default();
        let Ok([left, right]) = <[Rel; 2]>::try_from(inputs) else { unreachable!("a join has two inputs") };
        if joins_windows(&join, &left, &right) {
            return Err(PlanError::unsupported(at, "a window join").into());
        }
        match time_bounds(&join.conditions, &left.columns, &right.columns) {
            TimeBounds::Unknown(span) => {
                Err(PlanError::unsupported(span, "a time bound other than a time and an interval").into())
            }
            TimeBounds::Interval(interval) => {
                check_times(&interval, &left, &right, at)?;
                for input in [self.lower(left)?, self.lower(right)?] {
                    if !input.changelog.is_insert_only() {
                        return Err(consumes_inserts("IntervalJoin", &input, at).into());
                    }
                }
                Err(PlanError::unsupported(at, "an interval join").into())
            }
            TimeBounds::None => {
                self.lower(left)?;
                self.lower(right)?;
                Err(PlanError::unsupported(at, "a join").into())
            }
        }
    }
}

/// Both bounds of a window are among what has to be equal.
fn joins_windows(join: &Join, left: &Rel, right: &Rel) -> bool {
    let (Some(l), Some(r)) = (window_columns(left), window_columns(right)) else { return false };
    let keys = join.keys(left.columns.len());
    let equal = |a: &[usize], b: &[usize]| keys.iter().any(|k| a.contains(&k.left) && b.contains(&k.right));
    equal(&l.start, &r.start) && equal(&l.end, &r.end)
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
