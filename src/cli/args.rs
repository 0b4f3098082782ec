//! Arguments and what they mean.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum, ValueHint};

use super::documents::{Destination, contradiction};
use super::values::{Destinations, target};
use crate::engine::Engine;
use crate::project::settings::Asked;
use crate::rehearsal::Split;
use crate::report::format::Format;
use crate::report::human::Style;
use crate::rules::verdict::FailOn;
use crate::run::Clock;
use crate::target::Target;

/// Will this Flink SQL job keep its state after this change?
#[derive(Debug, Parser)]
#[command(name = "keepstate", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "Exit status: 0 nothing at or above --fail-on, 1 findings at or above it, 2 could not check.")]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, clap::Args)]
struct Output {
    /// When to use colours; NO_COLOR and CLICOLOR_FORCE are heeded under `auto`
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    /// Print verdicts and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print compatible findings, all columns, and the state under plans too
    #[arg(short, long, global = true)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl Args {
    /// How to print.
    pub fn style(&self) -> Style {
        let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        let color = match self.output.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if set("NO_COLOR") => false,
            Color::Auto if std::env::var_os("CLICOLOR_FORCE").is_some_and(|v| v != "0" && !v.is_empty()) => true,
            Color::Auto => std::io::stdout().is_terminal(),
        };
        Style { color, quiet: self.output.quiet, verbose: self.output.verbose }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare two scripts, or all with a revision or with what is deployed: do the jobs keep their state?
    Check(Box<CheckArgs>),
    /// Record the plans of the scripts as what is deployed now, for `check --lock`
    Lock(LockArgs),
    /// Print the plan of a script; with -v also the state that each operator keeps
    Plan(PlanArgs),
    /// Print what differs between two plans, without a verdict
    Diff(DiffArgs),
    /// List the statements of scripts and their syntax errors
    Parse(ParseArgs),
    /// Say what in scripts will hurt later: state without end, nondeterminism, lost rows
    Lint(LintArgs),
    /// Execute a script over sample rows and print the changelog
    Run(RunArgs),
    /// Restore the new script from a savepoint of the old one over sample rows, and compare with a fresh run
    Rehearse(RehearseArgs),
    /// List the rules
    Rules(RulesArgs),
    /// Explain a rule
    Explain(ExplainArgs),
    /// Print the JSON schema of what keepstate writes
    Schema(SchemaArgs),
    /// Check scripts while they are edited: a server of the Language Server Protocol on stdin and stdout
    Lsp(LspArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(ManArgs),
}

impl Command {
    /// Where the report goes, and in which formats.
    pub fn destinations(&self) -> Vec<Destination> {
        let format = match self {
            Command::Check(args) => return args.formats.destinations.clone(),
            Command::Lint(args) => return args.formats.destinations.clone(),
            Command::Parse(args) => args.format.into(),
            Command::Rehearse(args) => args.format.into(),
            Command::Plan(PlanArgs { format: PlanFormat::Json, .. }) => Format::Json,
            Command::Rules(RulesArgs { format: RulesFormat::Json, .. }) => Format::Json,
            Command::Rules(_) => Format::Human,
            Command::Lock(_)
            | Command::Plan(_)
            | Command::Diff(_)
            | Command::Run(_)
            | Command::Explain(_)
            | Command::Lsp(_)
            | Command::Schema(_)
            | Command::Completions(_)
            | Command::Man(_) => Format::Human,
        };
        vec![Destination::stdout(format)]
    }

    /// What is wrong with arguments that are right one by one.
    pub fn contradiction(&self) -> Option<clap::Error> {
        let why = contradiction(&self.destinations())?;
        Some(<Args as clap::CommandFactory>::command().error(clap::error::ErrorKind::ArgumentConflict, why))
    }
}

/// The formats of a report and where they go.
#[derive(Debug, clap::Args)]
pub struct Formats {
    /// The form of the report: human, concise, json, sarif, github, gitlab, junit, markdown or html. With a PATH it is written
    /// to that file; may be given several times, once without [default: human]
    #[arg(long = "format", value_name = "FORMAT[=PATH]", value_parser = Destinations, hide_possible_values = true)]
    pub destinations: Vec<Destination>,
}

/// The formats of what is no report of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum PlainFormat {
    #[default]
    Human,
    Json,
}

impl From<PlainFormat> for Format {
    fn from(format: PlainFormat) -> Format {
        match format {
            PlainFormat::Human => Format::Human,
            PlainFormat::Json => Format::Json,
        }
    }
}

/// The formats of plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum PlanFormat {
    /// The notation of Flink's EXPLAIN
    #[default]
    Tree,
    Json,
    /// A graph for Markdown
    Mermaid,
    /// A graph for Graphviz
    Dot,
}

/// The formats of the list of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum RulesFormat {
    #[default]
    Human,
    Json,
    /// The index of all rules and documented rows, as in docs/rules.md
    Markdown,
}

/// How scripts are read and planned.
#[derive(Debug, clap::Args)]
pub struct Reading {
    /// The engine: vvr, flink-1.20 or flink-2.2 [default: vvr]
    #[arg(long, value_name = "ENGINE", value_parser = target(), hide_possible_values = true)]
    pub target: Option<Target>,
    /// A file with more DDL; may be given several times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub schema: Vec<String>,
    /// The value of `${name}` in scripts; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = define)]
    pub define: Vec<(String, String)>,
    /// The configuration; if not given, the nearest keepstate.toml above each script
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<String>,
}

impl Reading {
    /// The values of placeholders; the last definition of a name counts.
    pub fn defines(&self) -> BTreeMap<String, String> {
        self.define.iter().cloned().collect()
    }
}

impl From<&Reading> for Asked {
    fn from(reading: &Reading) -> Asked {
        Asked {
            target: reading.target,
            schema: reading.schema.clone(),
            defines: reading.defines(),
            config: reading.config.as_ref().map(Into::into),
        }
    }
}

fn define(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("write it as name=value".to_owned()),
    }
}

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// OLD and NEW: two scripts (`-` is stdin, `REV:path` a file of a git revision) or two directories; with --base or --lock the
    /// scripts and directories to look at, all if there is none
    #[arg(value_name = "OLD NEW | PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<String>,
    /// Compare the work tree with a git revision: all scripts that differ, or whose DDL does
    #[arg(long, value_name = "REV", conflicts_with = "lock")]
    pub base: Option<String>,
    /// With --base: compare this revision instead of the work tree
    #[arg(long, value_name = "REV", requires = "base")]
    pub head: Option<String>,
    /// Compare with what `keepstate lock` has recorded as deployed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub lock: Option<String>,
    /// The path of the script that comes over stdin (`-`): it is compared with --base, or with HEAD
    #[arg(long, value_name = "PATH", conflicts_with_all = ["head", "lock"], value_hint = ValueHint::FilePath)]
    pub stdin_path: Option<String>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub formats: Formats,
    /// The mildest verdict that makes the exit status 1
    ///
    /// [default: unknown]
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOnArg>,
    /// The engine version that wrote the state, such as vvr-8.0.11-flink-1.17; with --new-engine
    #[arg(long, value_name = "VERSION", requires = "new_engine")]
    pub old_engine: Option<Engine>,
    /// The engine version that is to read it
    #[arg(long, value_name = "VERSION", requires = "old_engine")]
    pub new_engine: Option<Engine>,
    /// With --data, where the rehearsal takes its savepoint: after so many rows, or where the watermark first passes a timestamp
    #[arg(long, value_name = "N|TIMESTAMP", allow_hyphen_values = true, value_parser = split, requires = "data")]
    pub split_at: Option<Split>,
    #[command(flatten)]
    pub rows: RowArgs,
}

#[derive(Debug, clap::Args)]
pub struct LockArgs {
    /// The scripts and directories to record; what the lock holds of others stays. All scripts if there is none
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<String>,
    #[command(flatten)]
    pub reading: Reading,
    /// The file to write, in the directory that the scripts are below; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = crate::lock::FILE_NAME, value_hint = ValueHint::FilePath)]
    pub output: String,
    /// Write nothing; exit with 1 if the lock is not up to date
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FailOnArg {
    PartiallyCompatible,
    Unknown,
    Incompatible,
    Never,
}

impl From<FailOnArg> for FailOn {
    fn from(arg: FailOnArg) -> FailOn {
        match arg {
            FailOnArg::PartiallyCompatible => FailOn::PartiallyCompatible,
            FailOnArg::Unknown => FailOn::Unknown,
            FailOnArg::Incompatible => FailOn::Incompatible,
            FailOnArg::Never => FailOn::Never,
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    /// The script; `-` is stdin
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: String,
    #[command(flatten)]
    pub reading: Reading,
    /// The form of the plan
    #[arg(long, value_enum, default_value_t)]
    pub format: PlanFormat,
}

#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// The script that runs today; `-` is stdin
    #[arg(value_hint = ValueHint::FilePath)]
    pub old: String,
    /// The script to deploy; `-` is stdin
    #[arg(value_hint = ValueHint::FilePath)]
    pub new: String,
    #[command(flatten)]
    pub reading: Reading,
    /// The two plans beside each other, instead of one list of lines
    #[arg(long)]
    pub side_by_side: bool,
    /// How wide the two are together, in characters [default: that of the terminal, or 160]
    #[arg(long, value_name = "N", requires = "side_by_side")]
    pub width: Option<usize>,
}

#[derive(Debug, clap::Args)]
pub struct ParseArgs {
    /// The scripts; `-` is stdin
    #[arg(required = true, value_hint = ValueHint::AnyPath)]
    pub files: Vec<String>,
    /// The value of `${name}` in scripts; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = define)]
    pub define: Vec<(String, String)>,
    /// The form of the list
    #[arg(long, value_enum, default_value_t)]
    pub format: PlainFormat,
}

#[derive(Debug, clap::Args)]
pub struct LintArgs {
    /// The scripts, or directories of them; `-` is stdin
    #[arg(required = true, value_hint = ValueHint::AnyPath)]
    pub files: Vec<String>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub formats: Formats,
}

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// The script; `-` is stdin
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: String,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub rows: RowArgs,
    /// The form of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: RunFormat,
    /// Write the state at the end of the rows to a file; the stream goes on, so nothing is fired (--end-of-input hold)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub savepoint: Option<String>,
    /// Start from the state in a file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub restore: Option<String>,
}

/// The rows to execute over, and the clock.
#[derive(Debug, clap::Args)]
pub struct RowArgs {
    /// The rows of a table, .csv or .jsonl; may be given several times. `-`: lines {"table": "...", "row": {...}} from stdin
    #[arg(long, value_name = "TABLE=FILE", value_parser = data)]
    pub data: Vec<Data>,
    /// What happens when the rows are at an end [default: fire]
    #[arg(long, value_enum, value_name = "MODE")]
    pub end_of_input: Option<End>,
    /// Processing time at the first row, in UTC [default: 1970-01-01 00:00:00]
    #[arg(long, value_name = "TIMESTAMP", value_parser = timestamp)]
    pub clock: Option<i64>,
    /// How long each row takes in processing time
    #[arg(long, value_name = "DURATION", default_value = "1 ms", allow_hyphen_values = true, value_parser = duration)]
    pub tick: i64,
    /// The text of NULL in CSV; an empty cell without quotes if not given
    #[arg(long, value_name = "TEXT")]
    pub null: Option<String>,
}

impl RowArgs {
    /// What happens when the rows are at an end.
    pub fn end(&self) -> End {
        self.end_of_input.unwrap_or_default()
    }

    /// Processing time.
    pub fn clock(&self) -> Clock {
        Clock { start: self.clock.unwrap_or(0), tick: self.tick }
    }
}

#[derive(Debug, clap::Args)]
pub struct RehearseArgs {
    /// The script that runs today; `-` is stdin
    #[arg(value_hint = ValueHint::FilePath)]
    pub old: String,
    /// The script to deploy; `-` is stdin
    #[arg(value_hint = ValueHint::FilePath)]
    pub new: String,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub rows: RowArgs,
    /// Where the savepoint is taken: after so many rows, or where the watermark first passes a timestamp; half of the rows if
    /// not given
    #[arg(long, value_name = "N|TIMESTAMP", allow_hyphen_values = true, value_parser = split)]
    pub split_at: Option<Split>,
    /// The form of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: PlainFormat,
}

fn split(text: &str) -> Result<Split, String> {
    match text.parse() {
        Ok(rows) => Ok(Split::Rows(rows)),
        Err(_) => timestamp(text).map(Split::Watermark).map_err(|_| "write a number of rows or a timestamp".to_owned()),
    }
}

/// Where the rows of a table are.
#[derive(Debug, Clone)]
pub struct Data {
    /// The table; none if stdin holds the rows of all tables.
    pub table: Option<String>,
    /// The file.
    pub file: String,
}

fn data(text: &str) -> Result<Data, String> {
    match text.split_once('=') {
        _ if text == "-" => Ok(Data { table: None, file: "-".to_owned() }),
        Some((table, file)) if !table.is_empty() && !file.is_empty() => {
            Ok(Data { table: Some(table.to_owned()), file: file.to_owned() })
        }
        _ => Err("write it as TABLE=FILE, or - for stdin".to_owned()),
    }
}

fn timestamp(text: &str) -> Result<i64, String> {
    let millis = crate::logical::translate::datetime::parse_iso_timestamp(text.trim_end_matches('Z'));
    millis.map(|(millis, ..)| millis).ok_or_else(|| "write it as yyyy-MM-dd HH:mm:ss".to_owned())
}

fn duration(text: &str) -> Result<i64, String> {
    crate::catalog::options::parse_duration(text).ok_or_else(|| "write it as `1 s` or `200 ms`".to_owned())
}

/// The forms of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum RunFormat {
    /// Columns side by side, as Flink's client prints them
    #[default]
    Table,
    Csv,
    /// One JSON object per change
    Jsonl,
}

impl From<RunFormat> for crate::rows::RowFormat {
    fn from(format: RunFormat) -> Self {
        match format {
            RunFormat::Table => Self::Table,
            RunFormat::Csv => Self::Csv,
            RunFormat::Jsonl => Self::Jsonl,
        }
    }
}

/// What happens when the rows are at an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum End {
    /// The input was bounded: everything that waits for event time is due
    #[default]
    Fire,
    /// The stream goes on: open windows stay open
    Hold,
}

impl From<End> for crate::run::EndOfInput {
    fn from(end: End) -> Self {
        match end {
            End::Fire => Self::Fire,
            End::Hold => Self::Hold,
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct RulesArgs {
    /// Only rules of this engine
    #[arg(long, value_name = "ENGINE", value_parser = target(), hide_possible_values = true)]
    pub target: Option<Target>,
    /// The form of the list
    #[arg(long, value_enum, default_value_t)]
    pub format: RulesFormat,
}

#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    /// The document
    #[arg(value_enum)]
    pub document: SchemaOf,
}

/// The documents that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// The report of `check --format json`
    Report,
    /// `keepstate.toml`
    Config,
    /// `keepstate.lock`
    Lock,
}

#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell, whose start file is to read them
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// The directory for the page of the program and of each command; made if it is not there
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

/// Options are the editor's to give, in `initializationOptions`.
#[derive(Debug, clap::Args)]
pub struct LspArgs {
    /// Speak over stdin and stdout, as always; editors may say so
    #[arg(long)]
    pub stdio: bool,
}

#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// A rule, or a row of the documents such as WTN-09
    pub rule: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_well_formed() {
        <Args as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn a_definition_needs_a_name() {
        assert_eq!(define(" a =b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(define("=b").is_err() && define("a").is_err());
    }
}
