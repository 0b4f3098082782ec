//! Reports as diagnostics of one document.

use super::places::{Before, View};
use super::protocol::{Diagnostic, Related, Severity};
use super::text::Lines;
use crate::report::human;
use crate::report::lint::{LintFinding, LintReport};
use crate::report::lint_human;
use crate::report::model::{ErrorCode, ErrorItem, Finding, Job, Note, Place, Report};
use crate::rules::judge::NOT_PLANNED;
use crate::rules::verdict::Verdict;
use crate::suppress::{Level, Policy};
use crate::syntax::ast::Script;
use crate::terminal::visible;

/// Something that a rule found, at its place in the document.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its bytes in the document.
    pub bytes: std::ops::Range<usize>,
    /// The rule.
    pub rule: String,
    /// The verdict, or the level of a lint.
    pub word: &'static str,
    /// What is there.
    pub message: String,
    /// What becomes of the state.
    pub state: Option<String>,
    /// What to do.
    pub help: String,
    /// Why it is believed.
    pub basis: String,
    /// Where the rule comes from.
    pub url: Option<String>,
    /// What stood there before.
    pub before: Option<Before>,
    /// True if a comment at the place can accept it.
    pub acceptable: bool,
    /// Why it was accepted, if it was.
    pub accepted: Option<String>,
    /// The job that it is about, or the jobs.
    pub job: String,
}

/// What is said of a document.
#[derive(Debug, Default)]
pub struct Said {
    /// What to show.
    pub diagnostics: Vec<Diagnostic>,
    /// What of it comes from rules.
    pub findings: Vec<Found>,
}

impl Said {
    /// Takes over what else is said.
    pub fn add(&mut self, more: Said) {
        self.diagnostics.extend(more.diagnostics);
        self.findings.extend(more.findings);
    }

    /// What several jobs say alike is said once.
    pub fn merge_jobs(&mut self) {
        let mut kept: Vec<Diagnostic> = Vec::new();
        for diagnostic in self.diagnostics.drain(..) {
            let same = |k: &&mut Diagnostic| {
                (k.range, &k.code, &k.message) == (diagnostic.range, &diagnostic.code, &diagnostic.message)
            };
            match kept.iter_mut().find(same) {
                Some(first) => first.jobs.extend(diagnostic.jobs),
                None => kept.push(diagnostic),
            }
        }
        self.diagnostics = kept;
        let mut findings: Vec<Found> = Vec::new();
        for found in self.findings.drain(..) {
            let same = |f: &&mut Found| f.bytes == found.bytes && f.rule == found.rule && f.message == found.message;
            match findings.iter_mut().find(same) {
                Some(first) => first.job = format!("{}, {}", first.job, found.job),
                None => findings.push(found),
            }
        }
        self.findings = findings;
    }
}

/// Where a document begins to be a job: the line on which its first INSERT or SELECT begins.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    start: usize,
    end: usize,
}

impl Head {
    /// The head of a script.
    pub fn of(script: &Script, lines: &Lines<'_>) -> Head {
        let runs = script.statements.iter().find(|s| s.kind.runs());
        let start = runs.or(script.statements.first()).map_or(0, |s| s.span.start as usize);
        let line = lines.rest_of_line(start);
        Head { start: line.start, end: line.end }
    }

    fn bytes(self) -> std::ops::Range<usize> {
        self.start..self.end
    }
}

/// What a check says of the document with the job.
pub fn of_check(view: &View<'_>, report: &Report, policy: &Policy, head: Head) -> Said {
    let mut said = of_errors(view, &report.errors, head);
    let has_errors = !said.diagnostics.is_empty();
    for job in &report.jobs {
        // That nothing can be said for errors which are shown already is no news.
        for finding in job.findings.iter().filter(|f| !(has_errors && f.rule == NOT_PLANNED)) {
            let own = finding.new.as_ref().and_then(|place| view.own(place));
            let elsewhere = finding.new.as_ref().filter(|_| own.is_none());
            said.add(of_finding(view, job, finding, policy, own, head, elsewhere));
        }
        said.diagnostics.extend(job.notes.iter().filter_map(|note| of_note(view, note)));
    }
    said
}

/// What a check of a job says of a document that only declares.
pub fn of_ddl(view: &View<'_>, report: &Report, policy: &Policy) -> Said {
    let mut said = Said::default();
    let here = |place: &Option<Place>| place.as_ref().is_some_and(|place| view.own(place).is_some());
    let nowhere = Head { start: 0, end: 0 };
    for error in report.errors.iter().filter(|e| here(&e.at)) {
        said.add(of_errors(view, std::slice::from_ref(error), nowhere));
    }
    for job in &report.jobs {
        for finding in job.findings.iter().filter(|f| here(&f.new)) {
            let own = finding.new.as_ref().and_then(|place| view.own(place));
            let mut found = of_finding(view, job, finding, policy, own, nowhere, None);
            found.diagnostics.iter_mut().for_each(|d| d.jobs.push(visible(&job.name).into_owned()));
            said.add(found);
        }
        said.diagnostics.extend(job.notes.iter().filter_map(|note| of_note(view, note)));
    }
    said
}

fn of_finding(
    view: &View<'_>,
    job: &Job,
    finding: &Finding,
    policy: &Policy,
    own: Option<std::ops::Range<usize>>,
    head: Head,
    elsewhere: Option<&Place>,
) -> Said {
    let found = Found {
        acceptable: own.is_some() && finding.rule != NOT_PLANNED,
        bytes: own.unwrap_or(head.bytes()),
        rule: finding.rule.clone(),
        word: finding.verdict.name(),
        message: visible(&finding.message).into_owned(),
        state: human::state_sentence(finding),
        help: visible(&finding.help).into_owned(),
        basis: human::basis(finding),
        url: finding.url.clone(),
        before: finding.old.as_ref().map(|place| view.before(place)),
        accepted: finding.suppressed.as_ref().map(|s| s.reason.clone()),
        job: job.name.clone(),
    };
    let severity = match (finding.verdict, policy.levels.get(&finding.rule)) {
        _ if found.accepted.is_some() => Severity::Hint,
        (_, Some(Level::Error)) | (Verdict::Incompatible, None) => Severity::Error,
        (Verdict::Compatible, _) => Severity::Hint,
        (Verdict::Incompatible | Verdict::Unknown | Verdict::PartiallyCompatible, _) => Severity::Warning,
    };
    let mut diagnostic = found.diagnostic(view, severity);
    if let Some(place) = elsewhere
        && let Some(location) = view.location(place)
    {
        diagnostic.related.push(Related { location, message: "this is what changed".to_owned() });
    }
    for related in &finding.related {
        let message = visible(&related.message).into_owned();
        let place = related.new.as_ref().or(related.old.as_ref());
        if let Some(location) = place.and_then(|place| view.location(place)) {
            diagnostic.related.push(Related { location, message });
        }
    }
    Said { diagnostics: vec![diagnostic], findings: vec![found] }
}

impl Found {
    fn diagnostic(&self, view: &View<'_>, severity: Severity) -> Diagnostic {
        let mut message = self.message.clone();
        match &self.accepted {
            Some(reason) => message.push_str(&format!("\naccepted: {}", visible(reason))),
            None => {
                if let Some(state) = &self.state {
                    message.push_str(&format!("\nstate: {}", visible(state)));
                }
                message.push_str(&format!("\nhelp: {}", self.help));
            }
        }
        let range = view.range(self.bytes.clone());
        let mut diagnostic = Diagnostic::new(range, severity, message);
        diagnostic.code = Some(self.rule.clone());
        diagnostic.href.clone_from(&self.url);
        if let Some(before) = &self.before {
            // Where the old text cannot be shown, its words stand in the message, at the clause itself.
            let own = || super::protocol::Location { uri: view.uri.to_owned(), range };
            let location = before.location.clone().unwrap_or_else(own);
            let words = before.excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
            let message = format!("before, in {}: {}", visible(&before.name), visible(&words));
            diagnostic.related.push(Related { location, message });
        }
        diagnostic
    }
}

/// Why something could not be checked. What stands elsewhere is said at the head, and points there.
pub fn of_errors(view: &View<'_>, errors: &[ErrorItem], head: Head) -> Said {
    let mut said = Said::default();
    for error in errors {
        let own = error.at.as_ref().and_then(|place| view.own(place));
        let elsewhere = error.at.as_ref().filter(|_| own.is_none());
        let old = elsewhere.is_some_and(|place| view.sides.old_file_of(&place.file).is_some());
        // What stands on the old side is not to be mended here, and what cannot be planned yet is no mistake.
        let severity = match error.code {
            ErrorCode::Unsupported => Severity::Warning,
            _ if old => Severity::Warning,
            _ => Severity::Error,
        };
        let mut message = visible(&error.message).into_owned();
        if let Some(place) = elsewhere {
            message = format!("{}:{}: {message}", visible(&place.file), place.start.line);
        }
        if let Some(help) = &error.help {
            message.push_str(&format!("\nhelp: {}", visible(help)));
        }
        let mut diagnostic = Diagnostic::new(view.range(own.unwrap_or(head.bytes())), severity, message);
        diagnostic.code = Some(error.code.name().to_owned());
        if let Some(location) = elsewhere.and_then(|place| view.location(place)) {
            diagnostic.related.push(Related { location, message: "here".to_owned() });
        }
        said.diagnostics.push(diagnostic);
    }
    said
}

/// A note that has a place in the document. Of comments that allow nothing any more, editors show that they may go.
fn of_note(view: &View<'_>, note: &Note) -> Option<Diagnostic> {
    let bytes = view.own(note.at.as_ref()?)?;
    let text = &view.text[bytes.clone()];
    let comment = text.starts_with("--") || text.starts_with("/*") || text.starts_with("//");
    let severity = if comment { Severity::Hint } else { Severity::Information };
    let mut diagnostic = Diagnostic::new(view.range(bytes), severity, visible(&note.message).into_owned());
    diagnostic.code = Some("note".to_owned());
    diagnostic.unnecessary = comment;
    Some(diagnostic)
}

/// What a lint says of the document. Its errors are those of the check, which says them.
pub fn of_lint(view: &View<'_>, report: &LintReport) -> Said {
    let mut said = Said::default();
    for job in &report.jobs {
        for finding in &job.findings {
            said.add(of_lint_finding(view, &job.name, finding));
        }
        // Those about comments that accept what is not there; the others are the check's.
        let comments = job.notes.iter().filter_map(|note| of_note(view, note)).filter(|d| d.unnecessary);
        said.diagnostics.extend(comments);
    }
    said
}

fn of_lint_finding(view: &View<'_>, job: &str, finding: &LintFinding) -> Said {
    let places = finding.at.iter().chain(&finding.used_at);
    // What stands in a file with DDL is said where the document uses it.
    let Some(bytes) = places.filter_map(|place| view.own(place)).next() else { return Said::default() };
    let found = Found {
        bytes,
        rule: finding.rule.clone(),
        word: finding.level.name(),
        message: visible(&finding.message).into_owned(),
        state: lint_human::state(finding),
        help: visible(&finding.help).into_owned(),
        basis: finding.basis.name().to_owned(),
        url: finding.url.clone(),
        before: None,
        acceptable: true,
        accepted: finding.suppressed.as_ref().map(|s| s.reason.clone()),
        job: job.to_owned(),
    };
    let severity = if found.accepted.is_some() { Severity::Hint } else { Severity::Information };
    Said { diagnostics: vec![found.diagnostic(view, severity)], findings: vec![found] }
}
