//! `keepstate lsp`.

use std::io::{self, BufReader};

use super::Outcome;

pub(super) fn run() -> Outcome {
    let exit = crate::lsp::serve(BufReader::new(io::stdin()), io::stdout().lock());
    Outcome { text: String::new(), exit }
}
