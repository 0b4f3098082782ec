//! The library's other entry: scripts in, what will hurt later out. No files, no clock, no printing.

use std::sync::Arc;

use crate::check::{Batch, Options, Pair, Text, add, not_redeclared, redact_errors, side, syntax_errors};
use crate::observe::observe;
use crate::planning;
use crate::report::fingerprint::{Numbered, fingerprint};
use crate::report::lint::{LintFinding, LintJob, LintOperator, LintReport};
use crate::report::model::{ErrorItem, Place, SCHEMA_VERSION, Tool};
use crate::report::secrets::Redactor;
use crate::rules::RuleBook;
use crate::rules::lint::{self, lint as judge};
use crate::source::{FileId, SourceMap, Span};
use crate::suppress::{self, Allowances, Book};
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
    let options = Arc::new(options.clone());
    let batch = texts.into_iter().map(|text| Batch {
        pair: Pair { new: Some(text), new_schema: options.schema.clone(), ..Pair::default() },
        options: Arc::clone(&options),
    });
    lint_all(book, options.target, batch)
}

/// Looks at the new sides of pairs.
pub fn lint_all(book: &RuleBook, target: Target, batch: impl IntoIterator<Item = Batch>) -> Linted {
    let mut linting = Linting {
        sources: SourceMap::new(),
        numbered: Numbered::default(),
        report: LintReport { exit_code: 0, ..failed(target, Vec::new()) },
    };
    for Batch { pair, options } in batch {
        linting.script(book, pair, &options);
    }
    let Linting { sources, mut report, .. } = linting;
    if !report.errors.is_empty() {
        report.exit_code = 2;
    }
    Linted { report, sources }
}

struct Linting {
    sources: SourceMap,
    numbered: Numbered,
    report: LintReport,
}

impl Linting {
    fn script(&mut self, book: &RuleBook, pair: Pair, options: &Options) {
        let Some(text) = pair.new else { return };
        let schema: Vec<FileId> = pair.new_schema.iter().map(|t| add(&mut self.sources, t)).collect();
        let beside: Vec<FileId> = pair.new_beside.iter().map(|t| add(&mut self.sources, t)).collect();
        let name = text.name.clone();
        let file = self.sources.add(text.name, text.text);
        let sources = &self.sources;
        let parse = |file: &FileId| planning::parse(sources, *file, &options.defines);
        let (mut errors, mut comment_errors) = (Vec::new(), Vec::new());
        let mut ddl: Vec<Script> = schema.iter().map(parse).collect();
        for script in &ddl {
            syntax_errors(sources, script, &mut errors);
        }
        let script = parse(&file);
        ddl.extend(not_redeclared(beside.iter().map(parse).collect(), &script));
        let planned = side(sources, &ddl, file, script, options, pair.ddl_only, &mut errors);
        let scripts = std::iter::once(&planned.script).chain(&ddl);
        let mut allowances = Allowances::read(sources, scripts, &options.policy, Book::Lints, &mut comment_errors);
        let single = planned.planned.jobs.len() == 1;
        let mut notes = planned.notes.clone();
        let first = self.report.jobs.len();
        for plan in &planned.planned.jobs {
            let job = planned.job_name(&name, Some(plan), single);
            let observations = observe(sources, &plan.plan);
            let found = judge(book, options.target, &observations);
            let one = |f: &lint::LintFinding<'_>| finding(sources, &mut self.numbered, &mut allowances, &job, f);
            let findings: Vec<LintFinding> = found.iter().map(one).collect();
            let counts = |f: &LintFinding| {
                f.suppressed.is_none() && options.policy.levels.get(&f.rule) != Some(&suppress::Level::Warn)
            };
            self.report.exit_code = self.report.exit_code.max(u8::from(findings.iter().any(counts)));
            // Notes are about the script, so they stand once.
            self.report.jobs.push(LintJob {
                name: job,
                file: name.clone(),
                findings,
                notes: std::mem::take(&mut notes),
            });
        }
        if let Some(job) = self.report.jobs.get_mut(first) {
            job.notes.extend(allowances.notes());
        }
        errors.extend(comment_errors);
        let texts = schema.iter().chain(&beside).chain([&file]).map(|f| &*sources.file(*f).text);
        redact(&mut self.report.jobs[first..], &mut errors, &Redactor::of(texts, &options.defines));
        self.report.errors.extend(errors);
    }
}

/// A report that says only why nothing could be looked at.
pub fn failed(target: Target, errors: Vec<ErrorItem>) -> LintReport {
    LintReport { schema_version: SCHEMA_VERSION, tool: Tool::default(), target, exit_code: 2, jobs: Vec::new(), errors }
}

fn finding(
    sources: &SourceMap,
    numbered: &mut Numbered,
    allowances: &mut Allowances<'_>,
    job: &str,
    found: &lint::LintFinding<'_>,
) -> LintFinding {
    let lint::LintFinding { rule, message, help, observation } = found;
    let operator = &observation.operator;
    let args: Vec<(String, String)> =
        observation.args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let fingerprint = numbered.next(fingerprint(&rule.id, job, &operator.path, &args));
    let clauses: Vec<Span> = observation.at.into_iter().chain(observation.chain.iter().copied()).collect();
    let suppressed = allowances.suppress(&rule.id, &fingerprint, job, &clauses);
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
        fingerprint,
        suppressed,
    }
}

/// Strikes secrets from everything that was put into words.
fn redact(jobs: &mut [LintJob], errors: &mut [ErrorItem], redactor: &Redactor) {
    for job in jobs {
        for finding in &mut job.findings {
            redactor.clean(&mut finding.message);
            redactor.clean(&mut finding.help);
        }
        job.notes.iter_mut().for_each(|n| redactor.clean(&mut n.message));
    }
    redact_errors(errors, redactor);
}
