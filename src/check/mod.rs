//! The library's entry: texts in, a report out. No files, no clock, no printing.

mod many;
mod pair;
mod side;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::connectors::Connectors;
use crate::engine::Engine;
use crate::exec::{Plan, Purpose};
use crate::report::format::{self, Format, JobPlans};
use crate::report::human::Style;
use crate::report::model::{ErrorItem, Finding, Job, Report, SCHEMA_VERSION, Tool};
use crate::report::secrets::Redactor;
use crate::rules::verdict::{FailOn, Verdict};
use crate::source::SourceMap;
use crate::suppress::{Level, Policy};
use crate::target::Target;

pub use many::{Batch, check_all};
pub(crate) use pair::{add, not_redeclared};
pub(crate) use side::{no_job, plan_error, side, syntax_errors};

/// A text with its name.
#[derive(Debug, Clone)]
pub struct Text {
    /// The name shown to people.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
}

impl Text {
    /// A text with its name.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Text {
        Text { name: name.into(), text: text.into() }
    }
}

/// How to check.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The engine whose behaviour is predicted.
    pub target: Target,
    /// More DDL, for both sides.
    pub schema: Vec<Text>,
    /// Values of `${name}`.
    pub defines: BTreeMap<String, String>,
    /// From which verdict on the run fails.
    pub fail_on: FailOn,
    /// The engine versions that wrote the state and are to read it, if they are known.
    pub engines: Option<(Engine, Engine)>,
    /// What the plans are for: a rehearsal collects the rows of bare SELECTs.
    pub purpose: Purpose,
    /// What is known of connectors.
    pub connectors: Connectors,
    /// What the project has decided about rules and findings.
    pub policy: Arc<Policy>,
}

/// One script before and after a change, each with the DDL that was beside it then.
#[derive(Debug, Clone, Default)]
pub struct Pair {
    /// The script that runs; none if it is new.
    pub old: Option<Text>,
    /// The script to deploy; none if it is gone.
    pub new: Option<Text>,
    /// More DDL of the old side.
    pub old_schema: Vec<Text>,
    /// More DDL of the new side.
    pub new_schema: Vec<Text>,
    /// DDL that was found beside the old script, the nearest last: what the script or a nearer file declares itself is theirs.
    pub old_beside: Vec<Text>,
    /// The same of the new script.
    pub new_beside: Vec<Text>,
    /// What to do with a script that only declares.
    pub ddl_only: DdlOnly,
}

/// What a script without INSERT and SELECT is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DdlOnly {
    /// A mistake: somebody named it as a job.
    #[default]
    Error,
    /// No job: it was found among others.
    NoJob,
}

/// A report with the texts that its places point into.
#[derive(Debug)]
pub struct Checked {
    /// What was found.
    pub report: Report,
    /// The texts.
    pub sources: SourceMap,
    /// For each job of the report the plans behind it.
    pub plans: Vec<PlanPair>,
    /// Which entries of the policy's allow-list were made use of.
    pub used_entries: Vec<bool>,
}

impl Checked {
    /// A report that says only why nothing could be checked.
    pub fn failed(target: Target, errors: Vec<ErrorItem>) -> Checked {
        let report = failed(target, errors);
        Checked { report, sources: SourceMap::new(), plans: Vec::new(), used_entries: Vec::new() }
    }

    /// Writes the report in a format.
    pub fn render(&self, format: Format, style: Style) -> String {
        let plans: Vec<JobPlans<'_>> = self.plans.iter().map(PlanPair::shown).collect();
        format::render(format, &self.report, &self.sources, &plans, style)
    }
}

/// The plans of one job.
#[derive(Debug, Clone, Default)]
pub struct PlanPair {
    /// That of the old script; none if it does not have the job.
    pub old: Option<Arc<Plan>>,
    /// That of the new script; none if it does not have the job.
    pub new: Option<Arc<Plan>>,
    /// Filters changed that the new job asks to leave out of account.
    pub ignores_filters: bool,
    /// The watermark of a source is another one, so other rows are late.
    pub late_rows_differ: bool,
    /// A filter reads what starts from zero, so rows may be missing at first although their values go on.
    pub filters_by_new: bool,
    /// What must not be printed of them.
    pub secrets: Arc<Redactor>,
}

impl PlanPair {
    /// What reports show of them.
    fn shown(&self) -> JobPlans<'_> {
        JobPlans { old: self.old.as_deref(), new: self.new.as_deref(), secrets: &self.secrets }
    }
}

/// Compares two scripts.
pub fn check(old: Text, new: Text, options: &Options) -> Checked {
    let schema = || options.schema.clone();
    let pair = Pair { old: Some(old), new: Some(new), old_schema: schema(), new_schema: schema(), ..Pair::default() };
    let mut checked = pair::check_pair(pair, options);
    checked.report.notes.extend(crate::suppress::entry_notes(&options.policy, &checked.used_entries));
    checked
}

/// Compares the two sides of one script. What is to be said of the policy as a whole is left to the caller, who knows of all pairs.
pub fn check_pair(pair: Pair, options: &Options) -> Checked {
    pair::check_pair(pair, options)
}

/// A report that says only why nothing could be checked.
pub fn failed(target: Target, errors: Vec<ErrorItem>) -> Report {
    Report {
        schema_version: SCHEMA_VERSION,
        tool: Tool::default(),
        target,
        verdict: Verdict::Unknown,
        exit_code: 2,
        jobs: Vec::new(),
        notes: Vec::new(),
        errors,
    }
}

/// A report of jobs and errors, with its verdict and exit status.
fn finish(options: &Options, mut jobs: Vec<Job>, errors: Vec<ErrorItem>) -> Report {
    let verdict = match jobs.as_slice() {
        [] if !errors.is_empty() => Verdict::Unknown,
        jobs => Verdict::worst(jobs.iter().map(|j| j.verdict)),
    };
    for finding in jobs.iter_mut().flat_map(|job| &mut job.findings) {
        finding.fails = fails(options, finding);
    }
    let exit_code = match (errors.is_empty(), jobs.iter().flat_map(|job| &job.findings).any(|f| f.fails)) {
        (false, _) => 2,
        (true, fails) => u8::from(fails),
    };
    Report { verdict, exit_code, jobs, errors, ..failed(options.target, Vec::new()) }
}

/// True if a finding makes the run fail: by its verdict, unless the project lets its rule count otherwise.
fn fails(options: &Options, finding: &Finding) -> bool {
    finding.suppressed.is_none()
        && match options.policy.levels.get(&finding.rule) {
            Some(Level::Error) => true,
            Some(Level::Warn | Level::Off) => false,
            None => options.fail_on.fails(finding.verdict),
        }
}

/// Strikes secrets from everything that was put into words.
fn redact(report: &mut Report, redactor: &Redactor) {
    for job in &mut report.jobs {
        for finding in &mut job.findings {
            redactor.clean(&mut finding.message);
            redactor.clean(&mut finding.help);
            finding.related.iter_mut().for_each(|r| redactor.clean(&mut r.message));
        }
        job.notes.iter_mut().for_each(|n| redactor.clean(&mut n.message));
    }
    redact_errors(&mut report.errors, redactor);
}

/// Strikes secrets from the words of errors.
pub(crate) fn redact_errors(errors: &mut [ErrorItem], redactor: &Redactor) {
    for error in errors {
        redactor.clean(&mut error.message);
        redactor.clean(&mut error.label);
        error.help.iter_mut().for_each(|h| redactor.clean(h));
    }
}
