//! Either report as one list of findings, for the formats of editors and CI services.
//!
//! Those know severities, places and names of rules, and nothing of verdicts or levels; what both kinds of reports say is brought into
//! these words here, once.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::lint::{LintFinding, LintReport};
use super::model::{ErrorItem, Finding, Job, Note, Place, Report, Suppressed, Tool};
use super::{human, lint_human};
use crate::diff::matching::Side;
use crate::rules::lint::Level;
use crate::rules::verdict::{Consequence, Verdict};
use crate::target::Target;

/// The kind of report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Check,
    Lint,
}

impl Kind {
    /// The command that made it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Check => "check",
            Kind::Lint => "lint",
        }
    }
}

/// How grave a finding is, in the words that services share. From mild to grave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// Compatible, or worth knowing.
    Note,
    /// Some columns start from nothing.
    Minor,
    /// Nothing decides it, or state and results get worse.
    Major,
    /// The job does not start, or rows are lost.
    Critical,
    /// The job runs and silently gives wrong results.
    Blocker,
}

/// Where services show something: a file of the checkout, and the place in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor<'a> {
    pub file: &'a str,
    /// None if it concerns the file as a whole, or stands in a text that is not checked out.
    pub place: Option<&'a Place>,
}

/// Where a place is shown. That of another revision (`REV:path`) is shown at `file`, or at the file of that path, since its lines are
/// not those of the checkout.
pub(super) fn anchor<'a>(at: Option<&'a Place>, file: Option<&'a str>) -> Option<Anchor<'a>> {
    let Some(place) = at else { return file.map(|file| Anchor { file: checked_out(file), place: None }) };
    match revision_path(&place.file) {
        Some(path) => Some(Anchor { file: file.map_or(path, checked_out), place: None }),
        None => Some(Anchor { file: &place.file, place: Some(place) }),
    }
}

fn checked_out(file: &str) -> &str {
    revision_path(file).unwrap_or(file)
}

/// The path of `REV:path`. A single letter before the colon is a drive, and no revision has spaces.
fn revision_path(name: &str) -> Option<&str> {
    let (revision, path) = name.split_once(':')?;
    let is_revision = revision.len() > 1 && !revision.contains(|c: char| c.is_whitespace() || c.is_control());
    (is_revision && !path.is_empty() && !path.starts_with(['/', '\\', ':'])).then_some(path)
}

/// All that a report says.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    pub kind: Kind,
    pub tool: &'a Tool,
    pub target: Target,
    pub exit_code: u8,
    /// The verdict of a check.
    pub verdict: Option<Verdict>,
    pub jobs: Vec<JobItems<'a>>,
    /// What concerns no single job.
    pub notes: &'a [Note],
    pub errors: &'a [ErrorItem],
}

/// A job with its findings.
#[derive(Debug)]
pub(super) struct JobItems<'a> {
    pub name: &'a str,
    /// Its file: the new one, if there is one.
    pub file: Option<&'a str>,
    pub items: Vec<Item<'a>>,
    pub notes: &'a [Note],
}

/// A finding.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub rule: &'a str,
    /// The verdict or the level.
    pub word: &'static str,
    pub severity: Severity,
    /// Whether it makes the run fail.
    pub fails: bool,
    pub message: &'a str,
    pub help: &'a str,
    pub url: Option<&'a str>,
    /// Where it is shown: in the new text if it has a place there.
    pub at: Option<&'a Place>,
    /// That place is in the old text.
    pub gone: bool,
    /// Where it was before, if it is shown in the new text.
    pub before: Option<&'a Place>,
    /// The side, if any, that shows only what stands around it.
    pub beside: Option<Side>,
    /// What belongs to it elsewhere.
    pub related: Vec<(Cow<'a, str>, &'a Place)>,
    pub fingerprint: &'a str,
    pub suppressed: Option<&'a Suppressed>,
    /// Why it is believed.
    pub basis: String,
    /// What happens to which state.
    pub state: Option<String>,
    /// What else the report says of it.
    pub properties: Vec<(&'static str, Value)>,
}

impl<'a> Item<'a> {
    /// What belongs to it, where it was before first.
    pub fn elsewhere(&self) -> impl Iterator<Item = (&str, &'a Place)> {
        let before = self.before.map(|place| ("before", place));
        before.into_iter().chain(self.related.iter().map(|(message, place)| (&**message, *place)))
    }

    /// True for what is shown only when all is asked for: what is safe, and what was accepted.
    pub fn is_quiet(&self) -> bool {
        self.suppressed.is_some() || self.severity == Severity::Note && self.word == Verdict::Compatible.name()
    }
}

impl<'a> Listing<'a> {
    /// All findings with their jobs, the gravest first; those of one gravity in the order of the report.
    pub fn worst_first(&self) -> Vec<(&JobItems<'a>, &Item<'a>)> {
        let mut items: Vec<_> =
            self.jobs.iter().flat_map(|job| job.items.iter().map(move |item| (job, item))).collect();
        items.sort_by_key(|(_, item)| std::cmp::Reverse(item.severity));
        items
    }
}

/// The report of a check as a list.
pub(super) fn of_check(report: &Report) -> Listing<'_> {
    let jobs = report.jobs.iter().map(|job| JobItems {
        name: &job.name,
        file: job.new.as_deref().or(job.old.as_deref()),
        items: job.findings.iter().map(|f| of_finding(f, job)).collect(),
        notes: &job.notes,
    });
    Listing {
        kind: Kind::Check,
        tool: &report.tool,
        target: report.target,
        exit_code: report.exit_code,
        verdict: Some(report.verdict),
        jobs: jobs.collect(),
        notes: &report.notes,
        errors: &report.errors,
    }
}

fn of_finding<'a>(f: &'a Finding, job: &'a Job) -> Item<'a> {
    let severity = match (f.verdict, f.consequence) {
        (Verdict::Compatible, _) => Severity::Note,
        (Verdict::PartiallyCompatible, _) => Severity::Minor,
        (Verdict::Unknown, _) => Severity::Major,
        (Verdict::Incompatible, Consequence::WrongResults) => Severity::Blocker,
        (Verdict::Incompatible, _) => Severity::Critical,
    };
    let before = f.old.as_ref().filter(|_| f.new.is_some());
    let mut related = Vec::new();
    for more in &f.related {
        let message = more.message.as_str();
        match (&more.new, &more.old) {
            (Some(new), Some(old)) => {
                related.push((Cow::Borrowed(message), new));
                related.push((Cow::Owned(format!("before: {message}")), old));
            }
            (Some(place), None) | (None, Some(place)) => related.push((Cow::Borrowed(message), place)),
            (None, None) => {}
        }
    }
    let mut properties = vec![
        ("job", json!(job.name)),
        ("verdict", json!(f.verdict)),
        ("basis", json!(f.basis)),
        ("consequence", json!(f.consequence)),
        ("documented", json!(f.documented)),
        ("help", json!(f.help)),
    ];
    if let Some(operator) = &f.operator {
        properties.push(("operator", json!(operator)));
        properties.push(("state", json!(f.state)));
    }
    Item {
        rule: &f.rule,
        word: f.verdict.name(),
        severity,
        fails: f.fails,
        message: &f.message,
        help: &f.help,
        url: f.url.as_deref(),
        at: f.new.as_ref().or(f.old.as_ref()),
        gone: f.new.is_none(),
        before,
        beside: f.beside,
        related,
        basis: human::basis(f),
        state: human::state_sentence(f),
        fingerprint: &f.fingerprint,
        suppressed: f.suppressed.as_ref(),
        properties,
    }
}

/// The report of a lint as a list.
pub(super) fn of_lint(report: &LintReport) -> Listing<'_> {
    let jobs = report.jobs.iter().map(|job| JobItems {
        name: &job.name,
        file: Some(&job.file),
        items: job.findings.iter().map(|f| of_lint_finding(f, &job.name)).collect(),
        notes: &job.notes,
    });
    Listing {
        kind: Kind::Lint,
        tool: &report.tool,
        target: report.target,
        exit_code: report.exit_code,
        verdict: None,
        jobs: jobs.collect(),
        notes: &[],
        errors: &report.errors,
    }
}

fn of_lint_finding<'a>(f: &'a LintFinding, job: &'a str) -> Item<'a> {
    Item {
        rule: &f.rule,
        word: f.level.name(),
        severity: match f.level {
            Level::Info => Severity::Note,
            Level::Warning => Severity::Major,
            Level::Error => Severity::Critical,
        },
        fails: f.suppressed.is_none(),
        message: &f.message,
        help: &f.help,
        url: f.url.as_deref(),
        at: f.at.as_ref(),
        gone: false,
        before: None,
        beside: None,
        basis: f.basis.name().to_owned(),
        state: lint_human::state(f),
        related: f.used_at.iter().map(|place| (Cow::Borrowed("used here"), place)).collect(),
        fingerprint: &f.fingerprint,
        suppressed: f.suppressed.as_ref(),
        properties: vec![
            ("job", json!(job)),
            ("level", json!(f.level)),
            ("basis", json!(f.basis)),
            ("help", json!(f.help)),
            ("operator", json!(f.operator)),
            ("state", json!(f.state)),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_told_from_drives() {
        assert_eq!(revision_path("HEAD~1:jobs/a.sql"), Some("jobs/a.sql"));
        assert_eq!(revision_path("origin/main:a.sql"), Some("a.sql"));
        for name in ["jobs/a.sql", "C:\\a.sql", "C:a.sql", "<stdin>", "ab:/x", "a b:c", "main:"] {
            assert_eq!(revision_path(name), None, "{name}");
        }
    }
}
