//! `OverAggregate`: accumulators per key, and the rows that wait for their time or may still leave the frame
//! (the functions of `org.apache.flink.table.runtime.operators.over`).

use super::accumulators::{AccumulatorLayout, AggregateUse};
use super::types::{RowType, StateType};
use super::{Keyed, StateContext, StateEntry, Stateful};
use crate::exec::Column;
use crate::exec::over_aggregate::OverAggregate;
use crate::syntax::ast::FrameUnits;

impl OverAggregate {
    /// The accumulator row, over the columns of the aggregate's input. Rows leave a bounded frame, so it takes them back.
    pub fn accumulators(&self, input: &[Column]) -> AccumulatorLayout {
        let bounded = self.frame.preceding.is_some();
        let usage = AggregateUse { retracts: bounded, counts_rows: bounded, keeps_time: true };
        AccumulatorLayout::of(&self.calls, input, usage)
    }

    fn sort_key(&self, context: &StateContext<'_>) -> RowType {
        context.row_of(self.order.iter().map(|k| k.column))
    }

    /// Ordered by no time attribute, which Flink 2.2 takes.
    fn is_non_time(&self, context: &StateContext<'_>) -> bool {
        self.order.iter().filter_map(|k| context.input.get(k.column)).any(|c| !c.ty.is_rowtime() && !c.ty.is_proctime())
    }

    /// `NonTimeRangeUnboundedPrecedingFunction`, `NonTimeRowsUnboundedPrecedingFunction`: every row is kept in order.
    fn non_time(&self, context: &StateContext<'_>, keyed: &Keyed, layout: &AccumulatorLayout) -> Vec<StateEntry> {
        let key: StateType = self.sort_key(context).into();
        let position = match self.frame.units {
            FrameUnits::Range => key.clone(),
            FrameUnits::Rows => RowType::new([("id", crate::catalog::types::TypeKind::BigInt.nullable())]).into(),
        };
        let sorted = StateType::Tuple(vec![key, StateType::bigint().list()]).list();
        vec![
            keyed.value("idState", StateType::bigint()),
            keyed.value("sortedListState", sorted),
            keyed.map("valueMapState", StateType::bigint(), context.input_row()),
            keyed.map("accMapState", position, layout.row.clone()),
        ]
    }
}

impl Stateful for OverAggregate {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.partition.iter().copied(), StateType::Void);
        let layout = self.accumulators(context.input);
        let ttl = context.ttl();
        let long = StateType::bigint;
        let mut out: Vec<StateEntry>;
        if self.is_non_time(context) {
            out = self.non_time(context, &keyed, &layout);
            out.extend(layout.view_entries(&keyed));
            out = out.into_iter().map(|e| e.with_ttl(ttl)).collect();
        } else {
            out = vec![keyed.value("accState", layout.row.clone())];
            out.extend(layout.view_entries(&keyed));
            let rows = keyed.map("inputState", long(), StateType::from(context.input_row()).list());
            // With a time to live, these functions set timers of their own (`KeyedProcessFunctionWithCleanupState`).
            let cleanup = |name: &str| ttl.map(|_| keyed.value(format!("{name}OverCleanupTime"), long()));
            match (self.proctime, self.frame.preceding.map(|_| self.frame.units)) {
                // `ProcTimeUnboundedPrecedingFunction`
                (true, None) => out = out.into_iter().map(|e| e.with_ttl(ttl)).collect(),
                // `ProcTimeRowsBoundedPrecedingFunction`
                (true, Some(FrameUnits::Rows)) => {
                    out.push(rows);
                    out.extend(["processedCountState", "smallestTSState"].map(|n| keyed.value(n, long())));
                    out.extend(cleanup("ProcTimeBoundedRows"));
                }
                // `ProcTimeRangeBoundedPrecedingFunction`
                (true, Some(FrameUnits::Range)) => {
                    out.extend([rows, keyed.value("cleanupTsState", long())]);
                }
                // `RowTimeRowsUnboundedPrecedingFunction`, `RowTimeRangeUnboundedPrecedingFunction`
                (false, None) => {
                    out.push(rows);
                    out.extend(cleanup("RowTimeUnbounded"));
                }
                // `RowTimeRowsBoundedPrecedingFunction`
                (false, Some(FrameUnits::Rows)) => {
                    out.push(rows);
                    out.extend(["processedCountState", "lastTriggeringTsState"].map(|n| keyed.value(n, long())));
                    out.extend(cleanup("RowTimeBoundedRows"));
                }
                // `RowTimeRangeBoundedPrecedingFunction`
                (false, Some(FrameUnits::Range)) => {
                    out.push(rows);
                    out.extend(["lastTriggeringTsState", "cleanupTsState"].map(|n| keyed.value(n, long())));
                }
            }
        }
        out.extend(keyed.user_timers());
        out
    }

    fn layout(&self, context: &StateContext<'_>) -> Option<AccumulatorLayout> {
        Some(self.accumulators(context.input))
    }
}
