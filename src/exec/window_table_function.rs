//! `WindowTableFunction`: appends the window columns. Stateless for aligned windows; SESSION keeps its open windows per key.

use super::window_spec::WindowSpec;
use super::{ExecNode, TextContext};

/// Appends window_start, window_end and window_time.
#[derive(Debug, Clone)]
pub struct WindowTableFunction {
    /// The window.
    pub window: WindowSpec,
    /// SESSION windows that are not merged into an aggregate keep state per partition key.
    pub keyed: bool,
}

impl ExecNode for WindowTableFunction {
    fn kind(&self) -> &'static str {
        "WindowTableFunction"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        vec![("window", self.window.text(context))]
    }
}
