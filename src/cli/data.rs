//! Rows from files and from stdin, for the commands that execute.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

use super::args::RowArgs;
use crate::exec::{Node, Operator, Plan};
use crate::execution::{Execution, row_error};
use crate::nearest::nearest;
use crate::report::human::Style;
use crate::report::model::{ErrorCode, ErrorItem};
use crate::rows::{CsvReader, Interleave, JsonReader, RowReader, Source, StdinReader};
use crate::run::InputTable;

/// The error of rows for a table that none of the scripts declares.
pub(super) fn unknown_table(args: &RowArgs, plans: &[&Plan]) -> Option<ErrorItem> {
    for table in args.data.iter().filter_map(|d| d.table.as_deref()) {
        let name = table.rsplit('.').next().unwrap_or(table);
        let declared = || plans.iter().flat_map(|p| p.tables.iter()).map(|t| &**t);
        // Without any DDL tables are inferred from what reads them.
        let read = || plans.iter().flat_map(|p| p.nodes.iter()).filter_map(scanned);
        if !declared().chain(read()).any(|known| known == name) {
            let help = match nearest(name, declared()) {
                Some(near) => format!("did you mean --data {near}=...?"),
                None => "name a table that the query reads".to_owned(),
            };
            return Some(ErrorItem::new(ErrorCode::Config, format!("the script has no table `{table}`")).help(help));
        }
    }
    None
}

fn scanned(node: &Node) -> Option<&str> {
    match &node.op {
        Operator::TableSourceScan(scan) => Some(&scan.table.path.name),
        _ => None,
    }
}

/// Opens the rows of all tables of a plan. Columns named in `others`, which only the other side of a comparison has, are skipped.
pub(super) fn open(
    execution: &Execution<'_>,
    args: &RowArgs,
    others: &[String],
    progress: &Progress,
) -> Result<Interleave, Box<ErrorItem>> {
    let tables = execution.job.tables();
    let config = |message: String, help: String| Box::new(ErrorItem::new(ErrorCode::Config, message).help(help));
    if args.data.iter().any(|d| d.table.is_none()) {
        if args.data.len() > 1 {
            return Err(config("stdin holds the rows of all tables".to_owned(), "give --data - alone".to_owned()));
        }
        let schemas = tables.iter().map(|t| execution.schema(t).ignoring(others)).collect();
        return Ok(Interleave::Stdin(StdinReader::new(Box::new(BufReader::new(io::stdin())), schemas)));
    }
    for table in tables {
        let name = &table.table.path.name;
        if !args.data.iter().any(|d| d.table.as_deref().and_then(|n| place(tables, n)) == place(tables, name)) {
            let others = args.data.iter().filter_map(|d| d.table.as_deref()).filter(|n| place(tables, n).is_none());
            let help = match nearest(name, others) {
                Some(slip) => format!("did you mean --data {name}=FILE, not {slip}=FILE?"),
                None => format!("add --data {name}=FILE"),
            };
            return Err(config(format!("the table `{name}` has no rows"), help));
        }
    }
    // Rows of other tables are passed over: Flink does not read a table that the plan does without.
    let mut opened = Vec::new();
    for data in &args.data {
        let Some(place) = place(tables, data.table.as_deref().unwrap_or_default()) else { continue };
        let rows = open_file(&data.file, execution, &tables[place], args, others, progress)?;
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
    args: &RowArgs,
    others: &[String],
    progress: &Progress,
) -> Result<Box<dyn RowReader + Send>, Box<ErrorItem>> {
    let schema = execution.schema(table).ignoring(others);
    let opened = File::open(file).map_err(|e| unreadable(file, &e))?;
    let length = opened.metadata().map_err(|e| unreadable(file, &e))?.len();
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

pub(super) fn unreadable(file: &str, error: &io::Error) -> Box<ErrorItem> {
    let item = ErrorItem::new(ErrorCode::Io, format!("{file} cannot be read: {error}"));
    Box::new(item.help("check the path; it is taken from the current directory"))
}

/// A bar on stderr for input that takes a while, if someone is there to look at it.
pub(super) struct Progress(Option<ProgressBar>);

/// Inputs below this many bytes are done before a bar could be read.
const LONG: u64 = 16 << 20;

impl Progress {
    pub(super) fn new(style: Style) -> Progress {
        // Rows that scroll by on the same terminal leave no room for a bar.
        let shown = io::stderr().is_terminal() && !io::stdout().is_terminal() && !style.quiet;
        Progress(shown.then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        }))
    }

    fn watch(&self, file: File, length: u64) -> Box<dyn io::Read + Send> {
        match &self.0 {
            Some(bar) if length >= LONG => {
                bar.inc_length(length);
                Box::new(bar.wrap_read(file))
            }
            _ => Box::new(file),
        }
    }

    pub(super) fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
