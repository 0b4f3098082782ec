//! The library's entry: two texts in, a report out. No files, no clock, no printing.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diff::change::{Change, ChangeKind, JobDiff, MatchStatus};
use crate::engine::Engine;
use crate::exec::{NodeId, Plan, Purpose};
use crate::plan_error::{PlanError, PlanErrorKind};
use crate::planning::{self, JobPlan, PlannedScript};
use crate::report::fingerprint::{Numbered, fingerprint};
use crate::report::model::{
    Carried, Column, ErrorCode, ErrorItem, Finding, Job, Note, Operator, OperatorEntry, Place, Related, Report,
    SCHEMA_VERSION, SinkVerdict, Tool,
};
use crate::report::secrets::Redactor;
use crate::rules::RuleBook;
use crate::rules::judge::{self, judge};
use crate::rules::verdict::{Basis, Consequence, Verdict};
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::ast::Script;
use crate::target::Target;

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

/// From which verdict on a run fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailOn {
    /// Anything but compatible.
    PartiallyCompatible,
    /// Unknown and incompatible.
    #[default]
    Unknown,
    /// Only incompatible.
    Incompatible,
    /// Nothing.
    Never,
}

impl FailOn {
    /// True if a verdict makes the run fail.
    pub fn fails(self, verdict: Verdict) -> bool {
        match self {
            FailOn::PartiallyCompatible => verdict >= Verdict::PartiallyCompatible,
            FailOn::Unknown => verdict >= Verdict::Unknown,
            FailOn::Incompatible => verdict >= Verdict::Incompatible,
            FailOn::Never => false,
        }
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
}

/// The plans of one job.
#[derive(Debug, Clone)]
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
}

/// Compares two scripts.
pub fn check(old: Text, new: Text, options: &Options) -> Checked {
    let mut sources = SourceMap::new();
    let schema: Vec<FileId> = options.schema.iter().map(|t| sources.add(t.name.clone(), Arc::clone(&t.text))).collect();
    let names = (old.name.clone(), new.name.clone());
    let old = sources.add(old.name, old.text);
    let new = sources.add(new.name, new.text);

    let mut errors = Vec::new();
    let schema: Vec<Script> = schema.iter().map(|f| planning::parse(&sources, *f, &options.defines)).collect();
    for script in &schema {
        syntax_errors(&sources, script, &mut errors);
    }
    let old = side(&sources, &schema, old, options, &mut errors);
    let new = side(&sources, &schema, new, options, &mut errors);

    let mut checker = Checker { sources: &sources, options, names, numbered: Numbered::default(), plans: Vec::new() };
    let jobs = checker.jobs(&old, &new, &errors);
    let plans = std::mem::take(&mut checker.plans);
    let mut report = finish(options, jobs, errors);
    redact(&mut report, &Redactor::of(sources.files().iter().map(|f| &*f.text), &options.defines));
    Checked { report, sources, plans }
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
        errors,
    }
}

fn finish(options: &Options, jobs: Vec<Job>, errors: Vec<ErrorItem>) -> Report {
    let verdict = match jobs.as_slice() {
        [] if !errors.is_empty() => Verdict::Unknown,
        jobs => Verdict::worst(jobs.iter().map(|j| j.verdict)),
    };
    let exit_code = match (errors.is_empty(), options.fail_on.fails(verdict)) {
        (false, _) => 2,
        (true, fails) => u8::from(fails),
    };
    Report { verdict, exit_code, jobs, errors, ..failed(options.target, Vec::new()) }
}

/// One side of a comparison, or one script by itself.
pub(crate) struct Side {
    pub(crate) planned: PlannedScript,
    /// Notes of the parser, and those of the planner.
    pub(crate) notes: Vec<Note>,
    /// Where it failed, if it did; the place may be unknown.
    failed: Option<Option<Span>>,
}

impl Side {
    /// The name of a job: that of the script, with the sinks where the script has several jobs.
    pub(crate) fn job_name(&self, file: &str, plan: Option<&JobPlan>, single: bool) -> String {
        let base = self.planned.name.clone().unwrap_or_else(|| stem(file).to_owned());
        match plan {
            Some(plan) if !single && !plan.sinks.is_empty() => format!("{base}/{}", plan.sinks.join("+")),
            _ => base,
        }
    }
}

/// Plans one script; what goes wrong is added to `errors`.
pub(crate) fn side(
    sources: &SourceMap,
    schema: &[Script],
    file: FileId,
    options: &Options,
    errors: &mut Vec<ErrorItem>,
) -> Side {
    let script = planning::parse(sources, file, &options.defines);
    syntax_errors(sources, &script, errors);
    let mut scripts: Vec<&Script> = schema.iter().collect();
    scripts.push(&script);
    let planned = planning::plan(sources, &scripts, options.target, options.purpose);
    let mut failed = script.errors.first().map(|e| Some(e.span));
    for error in &planned.errors {
        failed.get_or_insert(error.span);
        errors.push(plan_error(sources, error));
    }
    if planned.jobs.is_empty() && failed.is_none() {
        errors.push(no_job(&sources.file(file).name));
        failed = Some(None);
    }
    let mut notes: Vec<Note> = script
        .placeholders
        .iter()
        .map(|p| Note {
            message: format!("`{}` is not defined; it is taken as one unknown value", p.name),
            at: Some(Place::of(sources, p.span)),
        })
        .collect();
    notes.extend(
        planned.notes.iter().map(|n| Note { message: n.message.clone(), at: n.span.map(|s| Place::of(sources, s)) }),
    );
    Side { planned, notes, failed }
}

/// A script in which nothing runs.
pub(crate) fn no_job(name: &str) -> ErrorItem {
    ErrorItem::new(ErrorCode::Plan, format!("{name} has no INSERT and no SELECT, so there is no job"))
        .help("name the script that holds the query; pass files with DDL only as --schema")
}

/// The syntax errors of a script, for the report.
pub(crate) fn syntax_errors(sources: &SourceMap, script: &Script, errors: &mut Vec<ErrorItem>) {
    errors.extend(script.errors.iter().map(|e| ErrorItem {
        code: ErrorCode::Parse,
        message: e.message.clone(),
        help: e.help.clone(),
        at: Some(Place::of(sources, e.span)),
        label: e.label.clone(),
    }));
}

/// A planning error, for the report.
pub(crate) fn plan_error(sources: &SourceMap, error: &PlanError) -> ErrorItem {
    ErrorItem {
        code: match error.kind {
            PlanErrorKind::Rejected => ErrorCode::Plan,
            PlanErrorKind::Unsupported => ErrorCode::Unsupported,
        },
        message: error.message.clone(),
        help: error.help.clone(),
        at: error.span.map(|s| Place::of(sources, s)),
        label: error.label.clone(),
    }
}

struct Checker<'a> {
    sources: &'a SourceMap,
    options: &'a Options,
    names: (String, String),
    numbered: Numbered,
    plans: Vec<PlanPair>,
}

impl Checker<'_> {
    fn jobs(&mut self, old: &Side, new: &Side, errors: &[ErrorItem]) -> Vec<Job> {
        if old.failed.is_some() || new.failed.is_some() || !errors.is_empty() {
            self.plans.push(PlanPair {
                old: None,
                new: None,
                ignores_filters: false,
                late_rows_differ: false,
                filters_by_new: false,
            });
            return vec![self.not_planned(old, new, errors)];
        }
        let (olds, news) = (&old.planned.jobs, &new.planned.jobs);
        let single = olds.len() == 1 && news.len() == 1;
        let mut jobs = Vec::new();
        let mut free: Vec<&JobPlan> = olds.iter().collect();
        for plan in news {
            let same = free.iter().position(|o| single || o.sinks == plan.sinks);
            jobs.push(match same {
                Some(at) => self.pair(free.remove(at), plan, old, new, single),
                None => self.lone(plan, new, false),
            });
        }
        jobs.extend(free.into_iter().map(|plan| self.lone(plan, old, true)));
        jobs
    }

    fn pair(&mut self, old: &JobPlan, new: &JobPlan, old_side: &Side, new_side: &Side, single: bool) -> Job {
        let name = new_side.job_name(&self.names.1, Some(new), single);
        let mut diff = planning::diff(self.sources, old, new);
        let engines = self.options.engines.as_ref();
        diff.changes.extend(engines.and_then(|(old, new)| Change::of_engines(old, new)));
        let ignored = |kind: &ChangeKind| matches!(kind, ChangeKind::Filter { ignored: true, .. });
        let watermark = |kind: &ChangeKind| matches!(kind, ChangeKind::Source { watermark: true, .. });
        let any = |is: &dyn Fn(&ChangeKind) -> bool| {
            diff.changes.iter().any(|c| is(&c.kind) || c.echoes.iter().any(|echo| is(&echo.kind)))
        };
        self.plans.push(PlanPair {
            old: Some(Arc::clone(&old.plan)),
            new: Some(Arc::clone(&new.plan)),
            filters_by_new: diff.filters_by_new,
            ignores_filters: any(&ignored),
            late_rows_differ: any(&watermark),
        });
        let judged = judge(RuleBook::embedded(), self.options.target, &diff);
        let operators = operators(old, new, &diff, &judged);
        let findings = judged.findings.iter().map(|f| self.finding(&name, f)).collect();
        let mut notes = new_side.notes.clone();
        for note in &old_side.notes {
            if !notes.iter().any(|n| n.message == note.message) {
                notes.push(note.clone());
            }
        }
        Job {
            old: Some(self.names.0.clone()),
            new: Some(self.names.1.clone()),
            verdict: judged.verdict,
            findings,
            operators,
            sinks: sink_verdicts(old, new, &diff, &judged.findings),
            columns: judged.columns.into_iter().map(|c| Column { sink: c.sink, name: c.name, fate: c.fate }).collect(),
            notes,
            witness: None,
            name,
        }
    }

    /// A job without a partner: nothing is restored into a new one, and nothing of an old one is left.
    fn lone(&mut self, plan: &JobPlan, side: &Side, gone: bool) -> Job {
        let own = Some(Arc::clone(&plan.plan));
        let (old_plan, new_plan) = if gone { (own, None) } else { (None, own) };
        self.plans.push(PlanPair {
            old: old_plan,
            new: new_plan,
            ignores_filters: false,
            late_rows_differ: false,
            filters_by_new: false,
        });
        let file = if gone { self.names.0.clone() } else { self.names.1.clone() };
        let (old, new, message) = if gone {
            (Some(file.clone()), None, "the new script does not have this job; its state is not used")
        } else {
            (None, Some(file.clone()), "the old script does not have this job; it starts without state")
        };
        Job {
            name: side.job_name(&file, Some(plan), false),
            old,
            new,
            verdict: Verdict::Compatible,
            findings: Vec::new(),
            operators: Vec::new(),
            columns: Vec::new(),
            sinks: Vec::new(),
            notes: vec![Note { message: message.to_owned(), at: None }],
            witness: None,
        }
    }

    fn not_planned(&mut self, old: &Side, new: &Side, errors: &[ErrorItem]) -> Job {
        let name = new.job_name(&self.names.1, None, true);
        let which = match (old.failed.is_some(), new.failed.is_some()) {
            (true, false) => "the old script",
            (false, true) => "the new script",
            (true, true) => "neither script",
            (false, false) => "a schema file",
        };
        let verb = match which {
            "neither script" => "can be planned",
            "a schema file" => "cannot be read",
            _ => "cannot be planned",
        };
        // What cannot be planned yet is no mistake of the script's.
        let only_unsupported = errors.iter().all(|e| e.code == ErrorCode::Unsupported);
        let help = if only_unsupported {
            "keepstate does not plan the clause that is marked yet, so the verdict is unknown: try the change on a copy of the \
             job and its state"
        } else {
            "correct the errors that are listed, then check again"
        };
        let mut notes = old.notes.clone();
        notes.extend(new.notes.iter().cloned());
        let finding = judge::Finding {
            rule: judge::NOT_PLANNED.to_owned(),
            documented: Vec::new(),
            verdict: Verdict::Unknown,
            basis: Basis::Undocumented,
            consequence: Consequence::Undetermined,
            message: format!("{which} {verb}, so nothing can be said of the state"),
            help: help.to_owned(),
            url: None,
            operator: None,
            old: old.failed.flatten(),
            new: new.failed.flatten(),
            beside: None,
            chain: Vec::new(),
            related: Vec::new(),
            args: Vec::new(),
            columns: None,
            touched: Vec::new(),
        };
        Job {
            findings: vec![self.finding(&name, &finding)],
            name,
            old: Some(self.names.0.clone()),
            new: Some(self.names.1.clone()),
            verdict: Verdict::Unknown,
            operators: Vec::new(),
            columns: Vec::new(),
            sinks: Vec::new(),
            notes,
            witness: None,
        }
    }

    fn finding(&mut self, job: &str, f: &judge::Finding) -> Finding {
        let place = |span: Option<Span>| span.map(|s| Place::of(self.sources, s));
        let path = f.operator.as_ref().map_or("", |o| o.path.as_str());
        Finding {
            rule: f.rule.clone(),
            documented: f.documented.clone(),
            verdict: f.verdict,
            basis: f.basis,
            consequence: f.consequence,
            message: f.message.clone(),
            help: f.help.clone(),
            url: f.url.clone(),
            operator: f.operator.as_ref().map(|o| Operator {
                kind: o.kind.to_owned(),
                path: o.path.clone(),
                old_id: o.old.map(number),
                new_id: o.new.map(number),
            }),
            state: f.operator.as_ref().map(|o| o.state.clone()).unwrap_or_default(),
            old: place(f.old),
            new: place(f.new),
            beside: f.beside,
            related: f
                .related
                .iter()
                .map(|r| Related { message: r.message.clone(), old: place(r.old), new: place(r.new), beside: r.beside })
                .collect(),
            fingerprint: self.numbered.next(fingerprint(&f.rule, job, path, &f.args)),
            suppressed: None,
            witness: None,
        }
    }
}

/// The number of an operator in reports: operators count from 1 in print order.
fn number(id: NodeId) -> u32 {
    id.0 + 1
}

/// The verdict on each sink: the worst of the findings about operators whose results reach it, and about the job.
fn sink_verdicts(old: &JobPlan, new: &JobPlan, diff: &JobDiff, findings: &[judge::Finding]) -> Vec<SinkVerdict> {
    let gone = |id: &&NodeId| diff.operators.iter().any(|pair| pair.old == Some(**id) && pair.new.is_none());
    let names = new.plan.sinks.iter().map(|id| new.plan.sink_name(*id));
    let names = names.chain(old.plan.sinks.iter().filter(gone).map(|id| old.plan.sink_name(*id)));
    let mut sinks: Vec<SinkVerdict> = Vec::new();
    for name in names {
        if sinks.iter().any(|s| s.name == name) {
            continue;
        }
        let reaches = |f: &&judge::Finding| f.operator.as_ref().is_none_or(|o| o.sinks.iter().any(|s| s == name));
        let verdict = Verdict::worst(findings.iter().filter(reaches).map(|f| f.verdict));
        sinks.push(SinkVerdict { name: name.to_owned(), verdict });
    }
    sinks
}

fn operators(old: &JobPlan, new: &JobPlan, diff: &JobDiff, judged: &judge::Judgement) -> Vec<OperatorEntry> {
    diff.operators
        .iter()
        .map(|pair| {
            let about = judged.findings.iter().flat_map(|f| &f.touched);
            let about =
                about.filter(|(old, new, _)| (*old, *new) == (pair.old, pair.new)).map(|(.., verdict)| *verdict);
            let whole_job = judged.findings.iter().filter(|f| f.operator.is_none()).map(|f| f.verdict);
            let worst = Verdict::worst(about.chain(whole_job));
            let carried = match (pair.status, worst) {
                (MatchStatus::Added | MatchStatus::Removed, _) => Carried::None,
                (_, Verdict::Compatible) => Carried::All,
                (_, Verdict::PartiallyCompatible) => Carried::Part,
                (_, Verdict::Unknown | Verdict::Incompatible) => Carried::None,
            };
            let (kind, mut state) = match (pair.new, pair.old) {
                (Some(id), _) => new.operator(id),
                (None, Some(id)) => old.operator(id),
                (None, None) => Default::default(),
            };
            for entry in &mut state {
                entry.carried = carried;
            }
            OperatorEntry {
                old_id: pair.old.map(number),
                new_id: pair.new.map(number),
                kind,
                status: pair.status,
                state,
            }
        })
        .collect()
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

/// The name of a file without its directory and ending.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\', ':']).next().unwrap_or(file);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name.trim_matches(['<', '>']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_named_after_its_file() {
        assert_eq!(stem("jobs/orders_top.sql"), "orders_top");
        assert_eq!(stem("<stdin>"), "stdin");
        assert_eq!(stem("HEAD~1:jobs/a.b.sql"), "a.b");
        assert_eq!(stem(".sql"), ".sql");
    }

    #[test]
    fn runs_fail_from_a_verdict_on() {
        assert!(FailOn::default().fails(Verdict::Unknown));
        assert!(!FailOn::default().fails(Verdict::PartiallyCompatible));
        assert!(!FailOn::Never.fails(Verdict::Incompatible));
    }
}
