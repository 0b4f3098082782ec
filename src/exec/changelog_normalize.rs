//! `ChangelogNormalize`: keeps the last row per key of an upsert source, so that complete changes can be sent.

use super::{ExecNode, TextContext};

/// Turns an upsert stream into a complete changelog.
#[derive(Debug, Clone)]
pub struct ChangelogNormalize {
    /// The key: input columns.
    pub keys: Vec<usize>,
}

impl ExecNode for ChangelogNormalize {
    fn kind(&self) -> &'static str {
        "ChangelogNormalize"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        vec![("key", context.names(&self.keys))]
    }
}
