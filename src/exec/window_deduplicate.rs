//! `WindowDeduplicate`: the first or last row per key and window. State: one row per key and open window.

use super::rank::Ranking;
use super::window_spec::WindowSpec;
use super::{ExecNode, TextContext};

/// A window rank of range 1..1 by event time.
#[derive(Debug, Clone)]
pub struct WindowDeduplicate {
    /// The window of its input.
    pub window: WindowSpec,
    /// The ranking it comes from.
    pub ranking: Ranking,
}

impl ExecNode for WindowDeduplicate {
    fn kind(&self) -> &'static str {
        "WindowDeduplicate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let order = &self.ranking.order[0];
        vec![
            ("window", self.window.text(context)),
            ("keep", if order.descending { "LastRow" } else { "FirstRow" }.to_owned()),
            ("partitionKeys", context.names(&self.ranking.partition)),
            ("orderKey", context.name(order.column).to_owned()),
            ("order", "ROWTIME".to_owned()),
        ]
    }
}
