//! A line for each finding, `file:line:col: verdict rule message`, and one that sums up: for logs, editors and `grep`.

use std::fmt::Write as _;

use super::human::Style;
use super::listing::{Item, Kind, Listing};
use super::model::Place;
use crate::rules::lint::Level;
use crate::rules::verdict::Verdict;
use crate::terminal::visible_line;

/// Writes a report. Compatible and accepted findings are listed only in a verbose style, errors always.
pub(super) fn render(listing: &Listing<'_>, style: Style) -> String {
    let mut out = String::new();
    for job in &listing.jobs {
        for item in job.items.iter().filter(|item| !style.quiet && (style.verbose || !item.is_quiet())) {
            let suppressed = if item.suppressed.is_some() { " (suppressed)" } else { "" };
            let text = format!("{} {} {}{suppressed}", item.word, item.rule, item.message);
            let _ = writeln!(out, "{}: {}", place(item.at, job.file), visible_line(&text));
        }
        for note in job.notes.iter().filter(|_| !style.quiet) {
            let _ = writeln!(out, "{}: note {}", place(note.at.as_ref(), job.file), visible_line(&note.message));
        }
    }
    for note in listing.notes.iter().filter(|_| !style.quiet) {
        let at = note.at.as_ref().map(|at| format!("{}: ", place(Some(at), None))).unwrap_or_default();
        let _ = writeln!(out, "{at}note {}", visible_line(&note.message));
    }
    for error in listing.errors {
        let text = format!("error {} {}", error.code.name(), error.message);
        let _ = match &error.at {
            Some(at) => writeln!(out, "{}: {}", place(Some(at), None), visible_line(&text)),
            None => writeln!(out, "{}", visible_line(&text)),
        };
    }
    let _ = writeln!(out, "{}", summary(listing));
    out
}

/// `file:line:col`, or the file alone.
fn place(at: Option<&Place>, file: Option<&str>) -> String {
    match at {
        Some(at) => format!("{}:{}:{}", visible_line(&at.file), at.start.line, at.start.column),
        None => visible_line(file.unwrap_or("keepstate")).into_owned(),
    }
}

/// The verdict, and how many findings of each kind there are.
pub(super) fn summary(listing: &Listing<'_>) -> String {
    let items = || listing.jobs.iter().flat_map(|job| &job.items);
    let words: Vec<&str> = match listing.kind {
        Kind::Check => Verdict::ALL.iter().rev().map(|v| v.name()).collect(),
        Kind::Lint => [Level::Error, Level::Warning, Level::Info].map(Level::name).to_vec(),
    };
    let count = |is: &dyn Fn(&Item<'_>) -> bool| items().filter(|item| is(item)).count();
    let mut parts: Vec<String> = Vec::new();
    for word in words {
        match count(&|item| item.word == word && item.suppressed.is_none()) {
            0 => {}
            n => parts.push(format!("{n} {word}")),
        }
    }
    let suppressed = match count(&|item| item.suppressed.is_some()) {
        0 => String::new(),
        n => format!("{n} suppressed"),
    };
    let errors = number(listing.errors.len(), "error that stands in the way", "errors that stand in the way");
    let jobs = number(listing.jobs.len(), "job", "jobs");
    let found = match (parts.is_empty(), listing.kind) {
        (false, _) => parts.join(", "),
        (true, Kind::Check) => "no change of state".to_owned(),
        (true, Kind::Lint) => "nothing found".to_owned(),
    };
    let mut text = match listing.verdict {
        Some(verdict) => format!("{verdict}: {found}"),
        None => found,
    };
    if listing.jobs.is_empty() && !listing.errors.is_empty() {
        text = listing.verdict.map_or("nothing checked".to_owned(), |v| format!("{v}: nothing checked"));
    } else {
        let _ = write!(text, " in {jobs}");
    }
    let rest = [suppressed, if listing.errors.is_empty() { String::new() } else { errors }];
    for part in rest.iter().filter(|part| !part.is_empty()) {
        let _ = write!(text, "; {part}");
    }
    text
}

fn number(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
