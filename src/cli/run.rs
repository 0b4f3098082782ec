//! `keepstate run FILE --data T=rows.csv`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

use super::Outcome;
use super::args::RunArgs;
use super::plan::{Planned, read_and_plan};
use crate::exec::Plan;
use crate::execution::{Execution, row_error, sink_columns};
use crate::report::human::{self, Style};
use crate::report::model::{ErrorCode, ErrorItem};
use crate::rows::{CsvReader, Interleave, JsonReader, Printer, RowFormat, RowReader, Source, StdinReader};
use crate::run::{Clock, InputTable};

pub(super) fn run(args: &RunArgs, style: Style) -> Outcome {
    let Planned { script, mut errors, sources, secrets } = read_and_plan(&args.file, &args.reading);
    if errors.is_empty() {
        let plans: Vec<&Plan> = script.jobs.iter().map(|j| &j.plan).collect();
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let mut printed = Ok(());
        if plans.is_empty() {
            let error = ErrorItem::new(ErrorCode::Config, format!("{} has no INSERT and no query to run", args.file));
            errors.push(error.help("add a SELECT"));
        }
        for plan in plans {
            match execute(plan, args, &sources, &mut out, style) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => printed = printed.and(Err(error)),
                Err(error) => {
                    errors.push(*error);
                    break;
                }
            }
        }
        match printed.and_then(|()| out.flush()) {
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

fn eprint(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Runs one job. The inner result is that of writing.
fn execute(
    plan: &Plan,
    args: &RunArgs,
    sources: &crate::source::SourceMap,
    out: &mut dyn Write,
    style: Style,
) -> Result<io::Result<()>, Box<ErrorItem>> {
    let clock = Clock { start: args.clock, tick: args.tick };
    let mut execution = Execution::new(plan, clock, sources)?;
    let progress = Progress::new(style);
    let mut rows = open(&execution, args, &progress)?;
    let zone = execution.session.zone.clone();
    let format = args.format.into();
    let names: Vec<String> = plan.sinks.iter().map(|s| plan.sink_name(*s).to_owned()).collect();
    let several = names.len() > 1;
    if several && format == RowFormat::Csv {
        let error = ErrorItem::new(
            ErrorCode::Config,
            format!("the job writes to {}, and CSV holds one sink", names.join(", ")),
        );
        return Err(Box::new(error.help("use --format jsonl, where each row names its sink")));
    }
    let mut printers: Vec<Printer> = plan
        .sinks
        .iter()
        .zip(&names)
        .map(|(sink, name)| {
            Printer::new(format, sink_columns(plan, *sink), zone.clone(), several.then(|| name.clone()))
        })
        .collect();
    // Tables of several sinks stand one below the other, so all but the first wait.
    let mut waiting: Vec<Vec<u8>> = vec![Vec::new(); printers.len()];
    let stacked = several && format == RowFormat::Table;
    let mut written = Ok(());
    execution.run(&mut rows, args.end_of_input.into(), sources, &mut |(sink, change)| {
        if written.is_ok() {
            let to: &mut dyn Write = if stacked && sink > 0 { &mut waiting[sink] } else { out };
            written = printers[sink].change(&change, to);
        }
    })?;
    progress.end();
    for (printer, text) in printers.iter_mut().zip(&waiting) {
        written = written.and_then(|()| out.write_all(text)).and_then(|()| printer.end(out));
    }
    Ok(written)
}

/// Opens the rows of all tables of a plan.
fn open(execution: &Execution<'_>, args: &RunArgs, progress: &Progress) -> Result<Interleave, Box<ErrorItem>> {
    let tables = execution.job.tables();
    let config = |message: String, help: String| Box::new(ErrorItem::new(ErrorCode::Config, message).help(help));
    if args.data.iter().any(|d| d.table.is_none()) {
        if args.data.len() > 1 {
            return Err(config("stdin holds the rows of all tables".to_owned(), "give --data - alone".to_owned()));
        }
        let schemas = tables.iter().map(|t| execution.schema(t)).collect();
        return Ok(Interleave::Stdin(StdinReader::new(Box::new(BufReader::new(io::stdin())), schemas)));
    }
    let read: Vec<&str> = tables.iter().map(|t| &*t.table.path.name).collect();
    for data in &args.data {
        let name = data.table.as_deref().unwrap_or_default();
        if place(tables, name).is_none() {
            let what =
                if read.is_empty() { "it reads no table".to_owned() } else { format!("it reads {}", read.join(", ")) };
            return Err(config(format!("the query reads no table `{name}`"), what));
        }
    }
    for table in tables {
        let name = &table.table.path.name;
        if !args.data.iter().any(|d| d.table.as_deref().and_then(|n| place(tables, n)) == place(tables, name)) {
            return Err(config(format!("the table `{name}` has no rows"), format!("add --data {name}=FILE")));
        }
    }
    let mut opened = Vec::new();
    for data in &args.data {
        let Some(place) = place(tables, data.table.as_deref().unwrap_or_default()) else { continue };
        let rows = open_file(&data.file, execution, &tables[place], args, progress)?;
        opened.push(Source { table: place, rows, event_time: execution.event_time(&tables[place]) });
    }
    Ok(Interleave::files(opened))
}

/// A table by its name, or by its full name.
fn place(tables: &[InputTable], name: &str) -> Option<usize> {
    tables.iter().position(|t| *t.table.path.name == *name || t.table.path.to_string() == name)
}

fn open_file(
    file: &str,
    execution: &Execution<'_>,
    table: &InputTable,
    args: &RunArgs,
    progress: &Progress,
) -> Result<Box<dyn RowReader>, Box<ErrorItem>> {
    let unreadable = |e: io::Error| {
        Box::new(
            ErrorItem::new(ErrorCode::Io, format!("{file} cannot be read: {e}"))
                .help("check the path; it is taken from the current directory"),
        )
    };
    let schema = execution.schema(table);
    let opened = File::open(file).map_err(unreadable)?;
    let length = opened.metadata().map_err(unreadable)?.len();
    let input = BufReader::with_capacity(1 << 16, progress.watch(opened, length));
    match file.rsplit('.').next() {
        Some("csv") => {
            let reader = CsvReader::open(input, file, schema, &table.read, args.null.clone());
            Ok(Box::new(reader.map_err(|e| row_error(&e))?))
        }
        Some("jsonl" | "ndjson" | "json") => Ok(Box::new(JsonReader::new(input, file, schema))),
        _ => {
            let error = ErrorItem::new(ErrorCode::Config, format!("the form of {file} cannot be told from its name"));
            Err(Box::new(error.help("name it .csv (with a header line) or .jsonl (one JSON object per line)")))
        }
    }
}

/// A bar on stderr for input that takes a while, if someone is there to look at it.
struct Progress(Option<ProgressBar>);

/// Inputs below this many bytes are done before a bar could be read.
const LONG: u64 = 16 << 20;

impl Progress {
    fn new(style: Style) -> Progress {
        // Rows that scroll by on the same terminal leave no room for a bar.
        let shown = io::stderr().is_terminal() && !io::stdout().is_terminal() && !style.quiet;
        Progress(shown.then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        }))
    }

    fn watch(&self, file: File, length: u64) -> Box<dyn io::Read> {
        match &self.0 {
            Some(bar) if length >= LONG => {
                bar.inc_length(length);
                Box::new(bar.wrap_read(file))
            }
            _ => Box::new(file),
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
