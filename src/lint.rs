//! The library's other entry: scripts in, what will hurt later out. No files, no clock, no printing.

use std::sync::Arc;

use crate::check::{DdlOnly, Options, Text, redact_errors, side, syntax_errors};
use crate::observe::observe;
use crate::planning;
use crate::report::fingerprint::{Numbered, fingerprint};
use crate::report::lint::{LintFinding, LintJob, LintOperator, LintReport};
use crate::report::model::{ErrorItem, Place, SCHEMA_VERSION, Tool};
use crate::report::secrets::Redactor;
use crate::rules::RuleBook;
use crate::rules::lint::{self, lint as judge};
use crate::source::SourceMap;
use crate::syntax::ast::Script;
use crate::target::Target;

/// A report with the texts that its places point into.
#[derive(Debug)]
pub struct Linted {
    /// What was found.
    pub report: LintReport,
    /// The texts.
    pub sources: SourceMap,
}

/// Looks at scripts, one after the other; each is planned by itself. Of the options, `fail_on` and `purpose` play no part.
pub fn lint(texts: impl IntoIterator<Item = Text>, options: &Options) -> Linted {
    lint_by(RuleBook::embedded(), texts, options)
}

/// The same by other rules than those that come with keepstate.
pub fn lint_by(book: &RuleBook, texts: impl IntoIterator<Item = Text>, options: &Options) -> Linted {
    let mut sources = SourceMap::new();
    let schema: Vec<_> = options.schema.iter().map(|t| sources.add(t.name.clone(), Arc::clone(&t.text))).collect();
    let mut errors = Vec::new();
    let schema: Vec<Script> = schema.iter().map(|f| planning::parse(&sources, *f, &options.defines)).collect();
    for script in &schema {
        syntax_errors(&sources, script, &mut errors);
    }
    let mut numbered = Numbered::default();
    let mut jobs = Vec::new();
    for text in texts {
        let name = text.name.clone();
        let file = sources.add(text.name, text.text);
        let script = planning::parse(&sources, file, &options.defines);
        let planned = side(&sources, &schema, file, script, options, DdlOnly::Error, &mut errors);
        let single = planned.planned.jobs.len() == 1;
        let mut notes = planned.notes.clone();
        for plan in &planned.planned.jobs {
            let job = planned.job_name(&name, Some(plan), single);
            let observations = observe(&sources, &plan.plan);
            let found = judge(book, options.target, &observations);
            let findings = found.iter().map(|f| finding(&sources, &mut numbered, &job, f)).collect();
            // Notes are about the script, so they stand once.
            jobs.push(LintJob { name: job, file: name.clone(), findings, notes: std::mem::take(&mut notes) });
        }
    }
    let mut report = LintReport { jobs, errors, ..failed(options.target, Vec::new()) };
    report.exit_code = match (report.errors.is_empty(), report.jobs.iter().all(|j| j.findings.is_empty())) {
        (false, _) => 2,
        (true, clean) => u8::from(!clean),
    };
    redact(&mut report, &Redactor::of(sources.files().iter().map(|f| &*f.text), &options.defines));
    Linted { report, sources }
}

/// A report that says only why nothing could be looked at.
pub fn failed(target: Target, errors: Vec<ErrorItem>) -> LintReport {
    LintReport { schema_version: SCHEMA_VERSION, tool: Tool::default(), target, exit_code: 2, jobs: Vec::new(), errors }
}

fn finding(sources: &SourceMap, numbered: &mut Numbered, job: &str, found: &lint::LintFinding<'_>) -> LintFinding {
    let lint::LintFinding { rule, message, help, observation } = found;
    let operator = &observation.operator;
    let args: Vec<(String, String)> =
        observation.args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    LintFinding {
        rule: rule.id.clone(),
        level: rule.level,
        basis: rule.basis,
        message: message.clone(),
        help: help.clone(),
        url: Some(rule.source.url.clone()),
        operator: LintOperator { kind: operator.kind.to_owned(), path: operator.path.clone(), id: operator.id.shown() },
        state: operator.state.clone(),
        at: observation.at.map(|span| Place::of(sources, span)),
        used_at: observation.chain.iter().map(|span| Place::of(sources, *span)).collect(),
        fingerprint: numbered.next(fingerprint(&rule.id, job, &operator.path, &args)),
        suppressed: None,
    }
}

/// Strikes secrets from everything that was put into words.
fn redact(report: &mut LintReport, redactor: &Redactor) {
    for job in &mut report.jobs {
        for finding in &mut job.findings {
            redactor.clean(&mut finding.message);
            redactor.clean(&mut finding.help);
        }
        job.notes.iter_mut().for_each(|n| redactor.clean(&mut n.message));
    }
    redact_errors(&mut report.errors, redactor);
}
