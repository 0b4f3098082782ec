//! `keepstate rehearse OLD NEW --data T=rows.csv --split-at N`, and the rehearsal of `keepstate check --data`.

use super::Outcome;
use super::args::{PlainFormat, Reading, RehearseArgs, RowArgs};
use super::data::{self, Progress};
use super::settings::{Problems, Settings};
use crate::check::{Checked, Options, PlanPair, check, failed};
use crate::exec::{Plan, Purpose};
use crate::execution::{Execution, row_error};
use crate::rehearsal::{Exempt, JobRehearsal, RehearsalReport, Rows, Setting, Side, Split, rehearse, render_human};
use crate::report::human::{self, Style};
use crate::report::json;
use crate::report::model::{ErrorCode, ErrorItem, Job};
use crate::rows::Arrivals;
use crate::source::SourceMap;

pub(super) fn run(args: &RehearseArgs, style: Style) -> Outcome {
    let (report, sources) = match checked(&args.old, &args.new, &args.reading) {
        Err(Problems { errors, sources }) => {
            let target = args.reading.target.unwrap_or_default();
            let verdict = failed(target, Vec::new()).verdict;
            (RehearsalReport::new(target, verdict, Vec::new(), errors), sources)
        }
        Ok(checked) => {
            let (jobs, errors) = rehearse_jobs(&checked, &args.rows, args.split_at, style);
            let errors = if checked.report.errors.is_empty() { errors } else { checked.report.errors.clone() };
            (RehearsalReport::new(checked.report.target, checked.report.verdict, jobs, errors), checked.sources)
        }
    };
    let text = match args.format {
        PlainFormat::Json => json::render(&report),
        PlainFormat::Human => render_human(&report, style) + &human::render_errors(&report.errors, &sources, style),
    };
    Outcome { text, exit: report.exit_code }
}

fn checked(old: &str, new: &str, reading: &Reading) -> Result<Checked, Problems> {
    let settings = Settings::new(reading, Options { purpose: Purpose::Collect, ..Options::default() }, None);
    let (options, scripts) = settings.read(&[old, new])?;
    let mut sides = scripts.into_iter();
    match (sides.next(), sides.next()) {
        (Some(old), Some(new)) => Ok(check(old, new, &options)),
        _ => Err(Problems::default()),
    }
}

/// Rehearses every job that both sides have.
pub(super) fn rehearse_jobs(
    checked: &Checked,
    args: &RowArgs,
    split: Option<Split>,
    style: Style,
) -> (Vec<JobRehearsal>, Vec<ErrorItem>) {
    let (mut jobs, mut errors) = (Vec::new(), Vec::new());
    if !checked.report.errors.is_empty() {
        return (jobs, errors);
    }
    if args.data.iter().any(|d| d.table.is_none()) {
        let error = ErrorItem::new(
            ErrorCode::Config,
            "a rehearsal goes over the rows more than once, and stdin can be read once",
        );
        return (jobs, vec![error.help("give the rows as files: --data TABLE=FILE")]);
    }
    let plans = checked.plans.iter().flat_map(|pair| [&pair.old, &pair.new]).flatten();
    let plans: Vec<&Plan> = plans.map(|p| &**p).collect();
    if let Some(error) = data::unknown_table(args, &plans) {
        return (jobs, vec![error]);
    }
    for (job, pair) in checked.report.jobs.iter().zip(&checked.plans) {
        let PlanPair { old: Some(old), new: Some(new), .. } = pair else { continue };
        match rehearse_job(job, old, new, Exempt::of(pair), args, split, &checked.sources, style) {
            Ok(rehearsed) => jobs.push(rehearsed),
            Err(error) => errors.push(*error),
        }
    }
    if jobs.is_empty() && errors.is_empty() {
        let error = ErrorItem::new(ErrorCode::Config, "no job is on both sides, so nothing can be restored");
        errors.push(error.help("name two versions of one script"));
    }
    (jobs, errors)
}

#[expect(clippy::too_many_arguments, reason = "the parts of one comparison, passed once")]
fn rehearse_job(
    job: &Job,
    old: &Plan,
    new: &Plan,
    exempt: Option<Exempt>,
    args: &RowArgs,
    split: Option<Split>,
    sources: &SourceMap,
    style: Style,
) -> Result<JobRehearsal, Box<ErrorItem>> {
    let (old_columns, new_columns) = (stored_columns(old), stored_columns(new));
    let old_rows = read(old, args, &new_columns, sources, style)?;
    let new_rows = read(new, args, &old_columns, sources, style)?;
    let half = Split::Rows(old_rows.len() as u64 / 2);
    let setting = Setting { split: split.unwrap_or(half), clock: args.clock(), end: args.end().into() };
    let (before, after) = (Side { plan: old, rows: &old_rows }, Side { plan: new, rows: &new_rows });
    let seen = rehearse(&before, &after, job, setting, sources)?;
    let zone = crate::execution::session(new)?.zone;
    Ok(JobRehearsal::new(job, seen, new, &zone, new_rows.len() as u64, exempt))
}

fn stored_columns(plan: &Plan) -> Vec<String> {
    let tables = plan.nodes.iter().filter_map(|n| match &n.op {
        crate::exec::Operator::TableSourceScan(scan) => Some(&scan.table),
        _ => None,
    });
    tables.flat_map(|t| t.columns.iter().map(|c| c.name.clone())).collect()
}

/// All rows of one side. A rehearsal goes over them several times.
fn read(
    plan: &Plan,
    args: &RowArgs,
    others: &[String],
    sources: &SourceMap,
    style: Style,
) -> Result<Rows, Box<ErrorItem>> {
    let execution = Execution::new(plan, args.clock(), sources)?;
    let progress = Progress::new(style);
    let mut rows = data::open(&execution, args, others, &progress)?;
    let mut out = Vec::new();
    while let Some(row) = rows.next_row().map_err(|e| row_error(&e))? {
        out.push(row);
    }
    progress.end();
    Ok(out)
}
