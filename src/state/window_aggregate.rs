//! `WindowAggregate` and `GlobalWindowAggregate`: one accumulator row per key and slice, or per key and session window
//! (`SlicingWindowOperator`, `UnslicingWindowOperator`).

use super::accumulators::{AccumulatorLayout, AggregateUse};
use super::types::StateType;
use super::{StateContext, StateEntry, StateKind, Stateful};
use crate::exec::Column;
use crate::exec::window_aggregate::{GlobalWindowAggregate, WindowAggregate};
use crate::logical::rel::{AggCall, WindowKind};

impl WindowAggregate {
    /// The accumulator row of `calls`, over the columns they read. HOP counts rows, to drop windows that are empty
    /// (`SliceSharedWindowAggProcessor`).
    fn layout(&self, calls: &[AggCall], input: &[Column]) -> AccumulatorLayout {
        let hop = matches!(self.window.kind, WindowKind::Hop { .. });
        let usage = AggregateUse { retracts: self.retracts, counts_rows: self.retracts || hop, keeps_time: false };
        AccumulatorLayout::of(calls, input, usage)
    }

    /// The accumulator row, over the columns of the aggregate's input.
    pub fn accumulators(&self, input: &[Column]) -> AccumulatorLayout {
        self.layout(&self.calls, input)
    }

    fn state(&self, context: &StateContext<'_>, layout: &AccumulatorLayout) -> Vec<StateEntry> {
        let session = matches!(self.window.kind, WindowKind::Session { .. });
        let namespace = if session { StateType::Window } else { StateType::bigint() };
        let keyed = context.keyed(self.keys.iter().copied(), namespace);
        let mut out = vec![keyed.value("window-aggs", layout.row.clone())];
        if session {
            let unnamed = context.keyed(self.keys.iter().copied(), StateType::Void);
            out.push(unnamed.map("session-window-mapping", StateType::Window, StateType::Window));
        }
        out.extend(layout.view_entries(&keyed));
        out.push(watermark());
        out.extend(keyed.timers("window-timers"));
        out
    }
}

impl GlobalWindowAggregate {
    /// The accumulator row, over the columns of the local aggregate's input.
    pub fn accumulators(&self, local_input: &[Column]) -> AccumulatorLayout {
        self.aggregate.layout(&self.local_calls, local_input)
    }
}

/// The operator's watermark: rows of a window that it passed are late, also after a restore.
pub(super) fn watermark() -> StateEntry {
    StateEntry {
        name: "watermark".to_owned(),
        compiled_name: None,
        kind: StateKind::Operator,
        key: None,
        namespace: StateType::Void,
        value: StateType::bigint(),
        ttl: None,
        input: 0,
    }
}

impl Stateful for WindowAggregate {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        self.state(context, &self.accumulators(context.input))
    }

    fn layout(&self, context: &StateContext<'_>) -> Option<AccumulatorLayout> {
        Some(self.accumulators(context.input))
    }
}

impl Stateful for GlobalWindowAggregate {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let layout = self.accumulators(context.local_input());
        self.aggregate.state(context, &layout)
    }

    fn layout(&self, context: &StateContext<'_>) -> Option<AccumulatorLayout> {
        Some(self.accumulators(context.local_input()))
    }
}
