//! `Exchange`: sends rows to the subtask that owns their key. Stateless.

use super::{ExecNode, TextContext};

/// Redistributes rows.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Hash keys; empty sends everything to one subtask.
    pub keys: Vec<usize>,
}

impl ExecNode for Exchange {
    fn kind(&self) -> &'static str {
        "Exchange"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let distribution =
            if self.keys.is_empty() { "single".to_owned() } else { format!("hash[{}]", context.names(&self.keys)) };
        vec![("distribution", distribution)]
    }
}
