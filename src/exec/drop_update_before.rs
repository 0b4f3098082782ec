//! `DropUpdateBefore`: drops `-U` rows that nothing above needs. Stateless.

use super::{ExecNode, TextContext};

/// Lets through everything but `-U`.
#[derive(Debug, Clone)]
pub struct DropUpdateBefore;

impl ExecNode for DropUpdateBefore {
    fn kind(&self) -> &'static str {
        "DropUpdateBefore"
    }

    fn attributes(&self, _: &TextContext<'_>) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}
