//! `WindowTableFunction` of SESSION: the rows of every open window, as they get their window only when it is complete
//! (`UnalignedWindowTableFunctionOperator`).

use super::types::StateType;
use super::{StateContext, StateEntry, Stateful};
use crate::exec::window_table_function::WindowTableFunction;

impl Stateful for WindowTableFunction {
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry> {
        if !self.keyed {
            return Vec::new();
        }
        let key = || self.window.partition.iter().copied();
        let plain = context.keyed(key(), StateType::Void);
        let windowed = context.keyed(key(), StateType::Window);
        let mut out = vec![
            windowed.map("session-window-tvf-acc", StateType::bigint(), context.input_row()),
            plain.value("session-window-tvf-counter", StateType::bigint()),
            plain.map("session-window-mapping", StateType::Window, StateType::Window),
        ];
        out.extend(windowed.timers("session-window-tvf-timers"));
        out
    }
}
