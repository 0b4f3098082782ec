//! The command line. The only module that knows clap; one file per command.

mod ahead;
mod args;
mod check;
mod data;
mod diff;
mod explain;
mod input;
mod lint;
mod output;
mod parse;
mod plan;
mod rehearse;
mod rules;
mod run;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::report::human::{self, Style};
use crate::report::model::{ErrorCode, ErrorItem};
use crate::source::SourceMap;
use args::{Args, Command, Format};

/// Stack of the thread that does the work: enough for queries nested as deep as the parser lets through.
const STACK: usize = 256 << 20;

/// What a command has to say.
struct Outcome {
    /// The text for stdout.
    text: String,
    /// The exit status.
    exit: u8,
}

impl Outcome {
    fn ok(text: String) -> Outcome {
        Outcome { text, exit: 0 }
    }
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let args = Args::parse();
    let style = args.style();
    let format = args.command.format();
    let work =
        std::thread::Builder::new().name("keepstate".to_owned()).stack_size(STACK).spawn(move || run(args, style));
    let outcome = match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => broken("keepstate made a mistake and had to stop", format, style),
        Err(error) => broken(&format!("no thread could be started: {error}"), format, style),
    };
    print(&outcome)
}

fn run(args: Args, style: Style) -> Outcome {
    match args.command {
        Command::Check(args) => check::run(&args, style),
        Command::Plan(args) => plan::run(&args, style),
        Command::Diff(args) => diff::run(&args, style),
        Command::Parse(args) => parse::run(&args, style),
        Command::Rehearse(args) => rehearse::run(&args, style),
        Command::Lint(args) => lint::run(&args, style),
        Command::Run(args) => run::run(&args, style),
        Command::Rules(args) => rules::run(&args, style),
        Command::Explain(args) => explain::run(&args, style),
    }
}

/// Says that the work stopped, in the format that was asked for.
fn broken(message: &str, format: Format, style: Style) -> Outcome {
    let error = ErrorItem::new(ErrorCode::Internal, message)
        .help("report it, with the scripts if you may share them; the reason is on stderr");
    failure(vec![error], format, style)
}

/// A run that could not do its work for reasons outside of the scripts.
fn failure(errors: Vec<ErrorItem>, format: Format, style: Style) -> Outcome {
    let text = match format {
        Format::Json => crate::report::json::render(&crate::check::failed(Default::default(), errors)),
        Format::Human => human::render_errors(&errors, &SourceMap::new(), style),
    };
    Outcome { text, exit: 2 }
}

/// Writes to stdout. A reader that has gone away, as in `| head`, is no error.
fn print(outcome: &Outcome) -> ExitCode {
    let mut out = io::stdout().lock();
    let written = out.write_all(outcome.text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "keepstate: cannot write: {error}");
            ExitCode::from(2)
        }
        _ => ExitCode::from(outcome.exit),
    }
}
