//! GitLab's Code Quality report: a JSON array of what a merge request widget shows.

use serde::Serialize;

use super::json;
use super::listing::{Listing, Severity, anchor};
use super::model::{ErrorItem, Place};
use crate::report::fingerprint::{Numbered, fingerprint};

#[derive(Serialize)]
struct Entry {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
    end: u32,
}

/// Writes a report. Accepted findings are left out, since the format cannot mark them.
pub(super) fn render(listing: &Listing<'_>) -> String {
    // Reports of several runs end up in one list, so the command is part of the name.
    let mut numbered = Numbered::default();
    let mut name = |parts: [&str; 3]| numbered.next(fingerprint(parts[0], parts[1], parts[2], &[]));
    let mut entries: Vec<Entry> = Vec::new();
    for error in listing.errors {
        let file = error.at.as_ref().map_or("", |at| at.file.as_str());
        entries.push(Entry {
            description: with_help(error),
            check_name: format!("keepstate-{}-error", error.code.name()),
            fingerprint: name([error.code.name(), file, &error.message]),
            severity: "blocker",
            location: location(error.at.as_ref(), None),
        });
    }
    for (job, item) in listing.worst_first() {
        if item.suppressed.is_some() {
            continue;
        }
        entries.push(Entry {
            description: format!("{}: {}; {}", item.word, item.message, item.help),
            check_name: item.rule.to_owned(),
            fingerprint: name([listing.kind.name(), job.name, item.fingerprint]),
            severity: match item.severity {
                Severity::Note => "info",
                Severity::Minor => "minor",
                Severity::Major => "major",
                Severity::Critical => "critical",
                Severity::Blocker => "blocker",
            },
            location: location(item.at, job.file),
        });
    }
    json::render(&entries)
}

fn with_help(error: &ErrorItem) -> String {
    match &error.help {
        Some(help) => format!("{}; {help}", error.message),
        None => error.message.clone(),
    }
}

/// A place as GitLab needs it: every entry has a path and a line.
fn location(at: Option<&Place>, file: Option<&str>) -> Location {
    let at = anchor(at, file);
    let path = at.map_or("keepstate", |at| at.file).replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path).to_owned();
    let lines = at
        .and_then(|at| at.place)
        .map_or(Lines { begin: 1, end: 1 }, |at| Lines { begin: at.start.line, end: at.end.line });
    Location { path, lines }
}
