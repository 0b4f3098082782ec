//! `MiniBatchAssigner`: marks that close bundles of rows. Stateless.

use super::{ExecNode, TextContext};

/// Sends a mark every `interval`.
#[derive(Debug, Clone)]
pub struct MiniBatchAssigner {
    /// Milliseconds.
    pub interval: i64,
    /// Marks follow the watermark, not the clock.
    pub rowtime: bool,
}

impl ExecNode for MiniBatchAssigner {
    fn kind(&self) -> &'static str {
        "MiniBatchAssigner"
    }

    fn attributes(&self, _context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let mode = if self.rowtime { "RowTime" } else { "ProcTime" };
        vec![("interval", format!("{}ms", self.interval)), ("mode", mode.to_owned())]
    }
}
