//! Time attributes that were cast to ordinary values, where a time attribute would have made another operator.

use super::Observer;
use super::observation::ObservationKind;
use super::trace::{Traced, trace};
use crate::catalog::functions::operators as op;
use crate::catalog::types::{TimeAttribute, TypeKind};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rel::{RankType, RelColumn};
use crate::logical::rex::{Origins, Rex, RexKind};
use crate::logical::time_bounds::{TimeBounds, time_bounds};

impl Observer<'_> {
    /// An operator that would be another one if a column that it reads were still the time attribute that it was.
    pub(super) fn time_attributes(&mut self, id: NodeId) {
        let plan = self.plan;
        let node = plan.node(id);
        match &node.op {
            // The first row by a time attribute is a Deduplicate.
            Operator::Rank(r) => {
                let ranking = &r.ranking;
                let first = ranking.is_first() && ranking.rank_type == RankType::RowNumber;
                let below = node.inputs[0];
                if let ([key], true, true) =
                    (ranking.order.as_slice(), first, plan.node(below).changelog.is_insert_only())
                    && let Some((lost, _)) = lost(plan, below, key.column)
                {
                    self.lost("rank", id, below, key.column, &lost.origins.clone());
                }
            }
            // Only since Flink 2.2 there is an OVER that is ordered by anything else.
            Operator::OverAggregate(o) => {
                let below = node.inputs[0];
                if let [key] = o.order.as_slice()
                    && let Some((lost, _)) = lost(plan, below, key.column)
                {
                    self.lost("over-aggregate", id, below, key.column, &lost.origins.clone());
                }
            }
            // With its times, the condition would bound them: an IntervalJoin. The planner makes ordinary values of the times that a
            // regular join reads, so it is the bounds that tell, not the casts.
            Operator::Join(j) if j.join_type.keeps_right() => {
                let [left, right] = node.inputs.as_slice() else { return };
                let (l, r) = (with_times(plan, *left), with_times(plan, *right));
                if matches!(time_bounds(&j.conditions, &l, &r), TimeBounds::Interval(_)) {
                    let is_time = |c: &RelColumn| c.ty.time_attribute() != TimeAttribute::None;
                    let column = |side: NodeId, columns: &[RelColumn]| {
                        let column = columns.iter().position(is_time)?;
                        written_cast(lost(plan, side, column)?.0).then_some((side, column))
                    };
                    let cast = column(*left, &l).or_else(|| column(*right, &r));
                    let (side, column) = match cast {
                        Some(cast) => cast,
                        None => (*left, l.iter().position(is_time).unwrap_or_default()),
                    };
                    self.lost("join", id, side, column, &j.condition_origins.clone());
                }
            }
            _ => {}
        }
    }

    fn lost(&mut self, family: &'static str, id: NodeId, below: NodeId, column: usize, at: &Origins) {
        let args = vec![("column", self.names(below, [column]))];
        self.add(ObservationKind::LostTimeAttribute { family }, id, args, at);
    }
}

/// The expression by which a column is a time as an ordinary value, all of its milliseconds kept, and which time that was.
fn lost(plan: &Plan, below: NodeId, column: usize) -> Option<(&Rex, TimeAttribute)> {
    let traced = trace(plan, below, column);
    let [Traced::Computed { rex, .. }] = traced.as_slice() else { return None };
    let is_clock = |rex: &Rex| rex.as_call(op::PROCTIME_MATERIALIZE.name).is_some();
    if is_clock(rex) {
        return Some((*rex, TimeAttribute::Proctime));
    }
    let RexKind::Cast { operand, is_try: false } = &rex.kind else { return None };
    let keeps = matches!(rex.ty.kind, TypeKind::Timestamp(p, ..) | TypeKind::TimestampLtz(p, ..) if p >= 3);
    let time = match operand {
        operand if operand.ty.is_rowtime() => TimeAttribute::Rowtime,
        operand if operand.ty.is_proctime() || is_clock(operand) => TimeAttribute::Proctime,
        _ => return None,
    };
    keeps.then_some((*rex, time))
}

/// True for a cast that is written, not made by the planner: it has a place of its own.
fn written_cast(rex: &Rex) -> bool {
    match &rex.kind {
        RexKind::Cast { operand, .. } => {
            rex.origins.first().is_some() && rex.origins.first() != operand.origins.first()
        }
        _ => false,
    }
}

/// The columns of a row, with those that are lost times as the times that they were.
fn with_times(plan: &Plan, id: NodeId) -> Vec<RelColumn> {
    let columns = plan.node(id).columns.iter().enumerate();
    columns
        .map(|(i, c)| {
            let ty = c.ty.clone();
            let ty = match lost(plan, id, i) {
                Some((_, time)) => ty.with_time_attribute(time),
                None => ty,
            };
            RelColumn { name: c.name.clone(), ty }
        })
        .collect()
}
