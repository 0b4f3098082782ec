//! `Match`: the rows that wait for their time, the matches that have begun, and the buffer of rows that they share
//! (`CepOperator`, `SharedBuffer`).

use super::types::StateType;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::match_recognize::Match;

fn class(name: &'static str, parts: impl Into<Vec<StateType>>) -> StateType {
    StateType::Class(name, parts.into())
}

impl Stateful for Match {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        let keyed = context.keyed(self.pattern.partition.iter().copied(), StateType::Void);
        let row: StateType = context.input_row().into();
        let event = || class("EventId", []);
        let node = || class("NodeId", [event()]);
        let version = || class("DeweyNumber", []);
        let lockable = |of: StateType| class("LockableType", [of]);
        let edge = class("SharedBufferEdge", [node(), version()]);
        let mut out = vec![
            keyed.value("nfaStateName", class("NFAState", [version(), node(), event()])),
            keyed.map("eventQueuesStateName", StateType::bigint(), row.clone().list()),
            keyed.map("sharedBuffer-events", event(), lockable(row)),
            keyed.map("sharedBuffer-entries-with-lockable-edges", node(), lockable(class("SharedBufferNode", [edge]))),
            keyed.map("sharedBuffer-events-count", StateType::bigint(), StateType::int()),
        ];
        out.extend(keyed.timers("watermark-callbacks"));
        out
    }
}
