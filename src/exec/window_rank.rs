//! `WindowRank`: Window Top-N. State: the rows of every open window that can still be among the first N, per partition key.

use super::rank::Ranking;
use super::window_spec::WindowSpec;
use super::{ExecNode, TextContext};

/// A Top-N per window.
#[derive(Debug, Clone)]
pub struct WindowRank {
    /// The window of its input.
    pub window: WindowSpec,
    /// The ranking.
    pub ranking: Ranking,
}

impl ExecNode for WindowRank {
    fn kind(&self) -> &'static str {
        "WindowRank"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let mut out = vec![("window", self.window.text(context))];
        out.extend(self.ranking.attributes(context));
        out
    }
}
