//! `keepstate completions SHELL`.

use clap::CommandFactory;

use super::Outcome;
use super::args::{Args, CompletionsArgs};

pub(super) fn run(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "keepstate", &mut script);
    Outcome::ok(String::from_utf8_lossy(&script).into_owned())
}
