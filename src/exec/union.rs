//! `Union`: UNION ALL. Stateless.

use super::{ExecNode, TextContext};

/// Merges streams of the same row type.
#[derive(Debug, Clone)]
pub struct Union;

impl ExecNode for Union {
    fn kind(&self) -> &'static str {
        "Union"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        vec![("all", "true".to_owned()), ("union", context.output_names())]
    }
}
