//! `WindowJoin`: a join of the rows of one window. Keeps rows until the window has passed.

use super::join::{condition, side_keys};
use super::window_spec::WindowSpec;
use super::{ExecNode, TextContext};
use crate::logical::join::{JoinKey, JoinType};
use crate::logical::rex::{Origins, Rex};

/// Joins rows of both sides that are in the same window.
#[derive(Debug, Clone)]
pub struct WindowJoin {
    /// What becomes of rows without a partner.
    pub join_type: JoinType,
    /// The windows of the left and of the right side.
    pub windows: [WindowSpec; 2],
    /// Conjuncts over both rows side by side, without the equalities of window bounds.
    pub conditions: Vec<Rex>,
    /// The equalities among them, by whose columns rows are exchanged and kept.
    pub keys: Vec<JoinKey>,
    /// Where the condition is written.
    pub condition_origins: Origins,
}

impl WindowJoin {
    /// The join keys of one side, as columns of its row.
    pub fn side_keys(&self, side: usize) -> Vec<usize> {
        side_keys(&self.keys, side)
    }
}

impl ExecNode for WindowJoin {
    fn kind(&self) -> &'static str {
        "WindowJoin"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let window = |side: usize| {
            let input = &context.plan.node(context.node.inputs[side]).columns;
            self.windows[side].text(&TextContext { plan: context.plan, node: context.node, input })
        };
        vec![
            ("leftWindow", window(0)),
            ("rightWindow", window(1)),
            ("joinType", self.join_type.name().to_owned()),
            ("where", condition(&self.conditions, context)),
            ("select", context.output_names()),
        ]
    }
}
