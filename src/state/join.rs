//! `Join`: the rows of both sides, told apart as well as their keys allow (`StreamingJoinOperator`, `JoinRecordStateViews`,
//! `OuterJoinRecordStateViews`). A side that is sent out without a partner also counts how many it has.

use super::types::StateType;
use super::{Keyed, StateContext, StateEntry, Stateful, row_of};
use crate::exec::join::{InputSpec, Join};

impl Stateful for Join {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.side_keys(0), StateType::Void);
        let side = |side: usize, name: &str, compiled: &'static str| {
            // What the other side's rows may be padded with is what this one is sent out without.
            let counts = self.join_type.counts_partners(side);
            let columns = context.plan.input_columns(context.id, side);
            let entry = entry(&keyed, name, &self.inputs[side], columns, counts).of_input(side);
            entry.compiled(compiled).with_ttl(context.ttl_of(side))
        };
        vec![side(0, "left-records", "leftState"), side(1, "right-records", "rightState")]
    }
}

fn entry(keyed: &Keyed, name: &str, spec: &InputSpec, columns: &[crate::exec::Column], counts: bool) -> StateEntry {
    let row: StateType = row_of(columns).into();
    let counted = |value: StateType| if counts { StateType::Tuple(vec![value, StateType::int()]) } else { value };
    match spec {
        InputSpec::NoUniqueKey => keyed.map(name, row, counted(StateType::int())),
        InputSpec::HasUniqueKey(key) => keyed.map(name, row_of(key.iter().map(|c| &columns[*c])), counted(row)),
        InputSpec::JoinKeyContainsUniqueKey(_) => keyed.value(name, counted(row)),
    }
}
