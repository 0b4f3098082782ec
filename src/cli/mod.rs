//! The command line. The only module that knows clap; one file per command.

mod ahead;
mod args;
mod check;
mod completions;
mod data;
mod diff;
mod documents;
mod explain;
mod lint;
mod lock;
mod lsp;
mod man;
mod output;
mod pairs;
mod parse;
mod plan;
mod rehearse;
mod rules;
mod run;
mod schema;
mod values;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::project::{files, input, settings};
use crate::report::format::render;
use crate::report::human::{self, Style};
use crate::report::model::{ErrorCode, ErrorItem};
use crate::source::SourceMap;
use args::{Args, Command};
use documents::{Destination, Documents};

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
    if let Some(error) = args.command.contradiction() {
        error.exit();
    }
    let destinations = args.command.destinations();
    let work =
        std::thread::Builder::new().name("keepstate".to_owned()).stack_size(STACK).spawn(move || run(args, style));
    let outcome = match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => broken("keepstate made a mistake and had to stop", &destinations, style),
        Err(error) => broken(&format!("no thread could be started: {error}"), &destinations, style),
    };
    print(&outcome)
}

fn run(args: Args, style: Style) -> Outcome {
    match args.command {
        Command::Check(args) => check::run(&args, style),
        Command::Lock(args) => lock::run(&args, style),
        Command::Plan(args) => plan::run(&args, style),
        Command::Diff(args) => diff::run(&args, style),
        Command::Parse(args) => parse::run(&args, style),
        Command::Rehearse(args) => rehearse::run(&args, style),
        Command::Lint(args) => lint::run(&args, style),
        Command::Run(args) => run::run(&args, style),
        Command::Rules(args) => rules::run(&args, style),
        Command::Explain(args) => explain::run(&args, style),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args, style),
        Command::Lsp(_) => lsp::run(),
    }
}

/// Says that the work stopped, in the formats that were asked for.
fn broken(message: &str, destinations: &[Destination], style: Style) -> Outcome {
    let error = ErrorItem::new(ErrorCode::Internal, message)
        .help("report it, with the scripts if you may share them; the reason is on stderr");
    failure(vec![error], destinations, style)
}

/// A run that could not do its work for reasons outside of the scripts.
fn failure(mut errors: Vec<ErrorItem>, destinations: &[Destination], style: Style) -> Outcome {
    let (documents, unwritable) = Documents::open(destinations);
    errors.extend(unwritable);
    let report = crate::check::failed(Default::default(), errors);
    documents.finish(report.exit_code, |format| render(format, &report, &SourceMap::new(), &[], style))
}

/// The same for people, on stdout.
fn refuse(error: ErrorItem, style: Style) -> Outcome {
    Outcome { text: human::render_errors(&[error], &SourceMap::new(), style), exit: 2 }
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
