//! `keepstate completions SHELL`.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::Outcome;
use super::args::{Args, CompletionsArgs};

pub(super) fn run(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    let mut command = Args::command();
    clap_complete::generate(args.shell, &mut command, "keepstate", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    Outcome::ok(if args.shell == Shell::Bash { without_placeholders(&script, &command) } else { script })
}

/// For bash, clap puts what stands for a path, such as `[PATH]...`, among the words to choose from. Nobody would choose it.
fn without_placeholders(script: &str, command: &Command) -> String {
    let positionals = command.get_subcommands().flat_map(Command::get_positionals);
    let placeholders: Vec<String> = positionals.map(|arg| format!(" {arg}")).collect();
    let mut clean = String::with_capacity(script.len());
    for line in script.split_inclusive('\n') {
        if line.trim_start().starts_with("opts=") {
            clean.push_str(&placeholders.iter().fold(line.to_owned(), |line, word| line.replace(word, "")));
        } else {
            clean.push_str(line);
        }
    }
    clean
}
