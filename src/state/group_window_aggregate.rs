//! `GroupWindowAggregate`: one accumulator row per key and open window (`WindowOperator`, `MergingWindowSet`), and what the
//! triggers of early and late firing remember.

use super::accumulators::{AccumulatorLayout, AggregateUse, extreme_type};
use super::types::{RowType, StateType};
use super::{Keyed, StateContext, StateEntry, StateKind, Stateful};
use crate::exec::group_window_aggregate::GroupWindowAggregate;
use crate::exec::{Column, NodeId, Operator, Plan};
use crate::logical::rel::WindowKind;

impl GroupWindowAggregate {
    /// The accumulator row, over the columns of the aggregate's input.
    pub fn accumulators(&self, input: &[Column]) -> AccumulatorLayout {
        let usage = AggregateUse { retracts: self.retracts, counts_rows: self.retracts, keeps_time: false };
        AccumulatorLayout::of(&self.calls, input, usage)
    }

    /// The results sent last, kept to send updates of them.
    fn results(&self) -> RowType {
        RowType::new(self.calls.iter().map(|c| {
            let ty = c.ty.clone().materialized().with_nullable(true);
            (&*c.name, if matches!(&*c.function, "MAX" | "MIN") { extreme_type(ty) } else { ty })
        }))
    }
}

/// The state of a periodic late trigger, which Flink registers with the first late row: the only one that a plan's entries do not
/// list. None if early firing shares it.
pub fn late_firing(plan: &Plan, id: NodeId) -> Option<StateEntry> {
    let Operator::GroupWindowAggregate(node) = &plan.node(id).op else { return None };
    let late = node.emit.late.filter(|d| *d > 0 && node.emit.early != Some(*d))?;
    let keyed = StateContext::of(plan, id).keyed(node.keys.iter().copied(), StateType::Window);
    Some(periodic(&keyed, late))
}

/// What `ProcessingTimeTriggers.AfterFirstElementPeriodic` remembers.
fn periodic(keyed: &Keyed, delay: i64) -> StateEntry {
    keyed.entry(format!("processingTime-every-{delay}"), StateKind::Reducing, StateType::bigint())
}

impl Stateful for GroupWindowAggregate {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.keys.iter().copied(), StateType::Window);
        let layout = self.accumulators(context.input);
        let mut out = vec![keyed.value("window-aggs", layout.row.clone())];
        if self.emit.produces_updates() {
            out.push(keyed.value("previous-aggs", self.results()));
        }
        if matches!(self.window, WindowKind::Session { .. }) {
            let unnamed = context.keyed(self.keys.iter().copied(), StateType::Void);
            out.push(unnamed.map("session-window-mapping", StateType::Window, StateType::Window));
        }
        if let Some(early) = self.emit.early.filter(|d| *d > 0) {
            out.push(periodic(&keyed, early));
        }
        // `EventTimeTriggers.AfterEndOfWindowEarlyAndLate`.
        if self.emit.late.is_some_and(|d| d > 0) {
            out.push(keyed.value("eventTime-afterEOW", StateType::boolean()));
        }
        out.extend(layout.view_entries(&keyed));
        out.extend(keyed.timers("window-timers"));
        out
    }

    fn layout(&self, context: &StateContext<'_>) -> Option<AccumulatorLayout> {
        Some(self.accumulators(context.input))
    }
}
