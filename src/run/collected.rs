//! Who sees `-U` when a bare SELECT is collected.
//!
//! `EXPLAIN` plans a bare SELECT without a sink that asks for old rows. When it runs, its rows are collected, and the collecting
//! sink takes whatever changes there are (Flink's `CollectDynamicSink`): operators below send `-U`, too.

use std::borrow::Cow;

use crate::exec::{NodeId, Operator, Plan};

/// The plan as it runs.
pub fn collected(plan: &Plan) -> Cow<'_, Plan> {
    let bare: Vec<NodeId> = plan
        .sinks
        .iter()
        .copied()
        .filter(|id| matches!(&plan.node(*id).op, Operator::Sink(sink) if sink.table.is_none()))
        .filter(|id| plan.node(*id).changelog.has_updates())
        .collect();
    if bare.is_empty() {
        return Cow::Borrowed(plan);
    }
    let mut plan = plan.clone();
    for sink in bare {
        let mut open = vec![sink];
        while let Some(id) = open.pop() {
            let node = &mut plan.nodes[id.index()];
            if !node.changelog.has_updates() || matches!(node.op, Operator::TableSourceScan(_)) {
                continue;
            }
            node.changelog.update_before = true;
            if lets_through(&node.op) {
                open.extend(&node.inputs);
            }
        }
    }
    Cow::Owned(plan)
}

/// Operators that send the changes of their input. The others make changes of their own, and ask for what they need.
fn lets_through(op: &Operator) -> bool {
    matches!(
        op,
        Operator::Sink(_)
            | Operator::Calc(_)
            | Operator::Exchange(_)
            | Operator::Union(_)
            | Operator::Expand(_)
            | Operator::WatermarkAssigner(_)
            | Operator::MiniBatchAssigner(_)
            | Operator::DropUpdateBefore(_)
    )
}
