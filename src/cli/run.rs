//! `keepstate run FILE --data T=rows.csv`.

use std::io::{self, Write};
use std::path::Path;

use super::Outcome;
use super::ahead::Ahead;
use super::args::{End, RunArgs, RunFormat};
use super::data::{self, Progress};
use super::input::read_file;
use super::output::Output;
use super::plan::{Planned, read_and_plan};
use crate::exec::{Plan, Purpose};
use crate::execution::{Execution, SAVEPOINT_LARGEST, Savepoint, notes, sink_columns};
use crate::report::human::{self, Style};
use crate::report::model::{ErrorCode, ErrorItem};
use crate::rows::{Arrivals, Interleave, Printer, RowFormat};
use crate::run::{Emitted, EndOfInput};
use crate::source::SourceMap;

pub(super) fn run(args: &RunArgs, style: Style) -> Outcome {
    if let Some(error) = contradiction(args) {
        eprint(&human::render_errors(&[error], &SourceMap::new(), style));
        return Outcome { text: String::new(), exit: 2 };
    }
    let Planned { script, mut errors, sources, secrets, .. } =
        read_and_plan(&args.file, &args.reading, Purpose::Collect);
    if errors.is_empty() {
        let plans: Vec<&Plan> = script.jobs.iter().map(|j| &*j.plan).collect();
        let mut printed = Ok(());
        if plans.len() > 1 && (args.savepoint.is_some() || args.restore.is_some()) {
            let error = ErrorItem::new(ErrorCode::Config, "the script has several jobs, and a savepoint is of one");
            errors.push(error.help("put each job into a script of its own"));
        }
        errors.extend(data::unknown_table(&args.rows, &plans));
        let sinks: Vec<&str> = plans.iter().flat_map(|p| p.sinks.iter().map(|s| p.sink_name(*s))).collect();
        if sinks.len() > 1 && args.format == RunFormat::Csv {
            let shown =
                if sinks.len() > 5 { format!("{} and others", sinks[..5].join(", ")) } else { sinks.join(", ") };
            let error =
                ErrorItem::new(ErrorCode::Config, format!("the script writes to {shown}, and CSV holds one sink"));
            errors.push(error.help("use --format jsonl, where each row names its sink"));
        }
        let several = sinks.len() > 1;
        for plan in plans.into_iter().filter(|_| errors.is_empty()) {
            match execute(plan, several, args, &sources, style) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => printed = printed.and(Err(error)),
                Err(error) => {
                    errors.push(*error);
                    break;
                }
            }
        }
        match printed {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Outcome::ok(String::new()),
            Err(error) => errors.push(ErrorItem::new(ErrorCode::Io, format!("the rows cannot be written: {error}"))),
            Ok(()) => {}
        }
    }
    if errors.is_empty() {
        return Outcome::ok(String::new());
    }
    crate::check::redact_errors(&mut errors, &secrets);
    // Rows go to stdout, so what went wrong goes beside them.
    eprint(&human::render_errors(&errors, &sources, style));
    Outcome { text: String::new(), exit: 2 }
}

/// Options that contradict each other.
fn contradiction(args: &RunArgs) -> Option<ErrorItem> {
    if args.file == "-" && args.rows.data.iter().any(|d| d.table.is_none()) {
        let error = ErrorItem::new(ErrorCode::Config, "stdin is to be the script and its rows, but can be read once");
        return Some(error.help("give the script or the rows as a file"));
    }
    if args.savepoint.is_some() && args.rows.end_of_input == Some(End::Fire) {
        let error =
            ErrorItem::new(ErrorCode::Config, "a savepoint is taken of a stream that goes on, so nothing can be fired");
        return Some(error.help("leave out --savepoint, or --end-of-input fire"));
    }
    if args.restore.is_some() && args.rows.clock.is_some() {
        let error =
            ErrorItem::new(ErrorCode::Config, "processing time goes on from the savepoint, so it cannot be set");
        return Some(error.help("leave out --clock"));
    }
    None
}

fn eprint(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Runs one job, whose rows name their sink if the script has `several`. The inner result is that of writing.
fn execute(
    plan: &Plan,
    several: bool,
    args: &RunArgs,
    sources: &SourceMap,
    style: Style,
) -> Result<io::Result<()>, Box<ErrorItem>> {
    let mut execution = Execution::new(plan, args.rows.clock(), sources)?;
    if !style.quiet {
        notes(plan).iter().for_each(|note| eprint(&format!("note: {note}\n")));
    }
    let progress = Progress::new(style);
    if let Some(file) = &args.savepoint {
        let folder = Path::new(file).parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if Path::new(file).is_dir() || !folder.is_dir() {
            let error = ErrorItem::new(ErrorCode::Io, format!("{file} cannot be written"));
            return Err(Box::new(error.help("name a file in a folder that exists")));
        }
    }
    if let Some(file) = &args.restore {
        let text = read_file(file, SAVEPOINT_LARGEST).map_err(|e| data::unreadable(file, &e))?;
        if text.len() as u64 > SAVEPOINT_LARGEST {
            let message =
                format!("{file} is larger than {} MiB, the most that a savepoint has", SAVEPOINT_LARGEST >> 20);
            let error = ErrorItem::new(ErrorCode::Io, message);
            return Err(Box::new(error.help("take it again with `keepstate run --savepoint`")));
        }
        let text = String::from_utf8(text).map_err(|_| {
            let error = ErrorItem::new(ErrorCode::Io, format!("{file} is not a savepoint: it is not UTF-8"));
            Box::new(error.help("take it again with `keepstate run --savepoint`"))
        })?;
        Savepoint::from_text(file, &text)?.restore(file, &mut execution)?;
    }
    // A savepoint is taken of a stream that goes on.
    let end = if args.savepoint.is_some() { EndOfInput::Hold } else { args.rows.end().into() };
    let mut rows = arrivals(data::open(&execution, &args.rows, &[], &progress)?)?;
    let zone = execution.session.zone.clone();
    let format = args.format.into();
    let names: Vec<String> = plan.sinks.iter().map(|s| plan.sink_name(*s).to_owned()).collect();
    let printers: Vec<Printer> = plan
        .sinks
        .iter()
        .zip(&names)
        .map(|(sink, name)| {
            Printer::new(format, sink_columns(plan, *sink), zone.clone(), several.then(|| name.clone()))
        })
        .collect();
    let stacked = names.len() > 1 && format == RowFormat::Table;
    let output = Output::new(printers, stacked);
    let work = |emit: &mut dyn FnMut(Emitted)| {
        execution.run(&mut *rows, end, sources, emit)?;
        progress.end();
        if let Some(file) = &args.savepoint {
            let text = Savepoint::of(&mut execution).to_text();
            if text.len() as u64 > SAVEPOINT_LARGEST {
                let message =
                    format!("the state takes more than {} MiB, which no savepoint holds", SAVEPOINT_LARGEST >> 20);
                let error = ErrorItem::new(ErrorCode::Run, message);
                return Err(Box::new(error.help("run fewer rows")));
            }
            let unwritable =
                |e: io::Error| Box::new(ErrorItem::new(ErrorCode::Io, format!("{file} cannot be written: {e}")));
            std::fs::write(file, text).map_err(unwritable)?;
        }
        Ok(())
    };
    let (output, worked) = output.print(work).map_err(|e| no_thread(&e))?;
    let written = output.end(worked.is_ok());
    worked.map(|()| written)
}

/// Rows of files are read ahead. Those of stdin are not: its next row may be long in coming, and the job must be free to end.
fn arrivals(rows: Interleave) -> Result<Box<dyn Arrivals>, Box<ErrorItem>> {
    Ok(match rows {
        Interleave::Files { .. } => Box::new(Ahead::start(rows).map_err(|e| no_thread(&e))?),
        Interleave::Stdin(_) => Box::new(rows),
    })
}

fn no_thread(error: &io::Error) -> Box<ErrorItem> {
    Box::new(ErrorItem::new(ErrorCode::Io, format!("no thread could be started: {error}")))
}
