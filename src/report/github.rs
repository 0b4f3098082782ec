//! Workflow commands of GitHub Actions: each finding is an annotation at its clause.
//!
//! GitHub's runner reads lines `::error file=a.sql,line=1::message` from the log, and shows ten annotations of each level for a step;
//! so the worst come first, and a line says if there are more. The escapes are those of the runner's toolkit.

use std::fmt::Write as _;

use super::concise::summary;
use super::human::Style;
use super::listing::{Anchor, Item, Listing, Severity, anchor};
use super::model::Place;
use crate::terminal::visible;

/// How many annotations of a level GitHub shows for a step.
const SHOWN: usize = 10;

/// Writes a report. Compatible and accepted findings are annotations only in a verbose style.
pub(super) fn render(listing: &Listing<'_>, style: Style) -> String {
    let mut out = String::new();
    let mut counts = [("error", 0), ("warning", 0), ("notice", 0)];
    let mut write = |level: &'static str, title: &str, at: Option<Anchor<'_>>, text: &str| {
        counts.iter_mut().filter(|(name, _)| *name == level).for_each(|(_, n)| *n += 1);
        let mut properties: Vec<(&str, String)> = Vec::new();
        if let Some(at) = at {
            properties.push(("file", path(at.file)));
        }
        if let Some(Place { start, end, .. }) = at.and_then(|at| at.place) {
            properties.push(("line", start.line.to_string()));
            properties.push(("endLine", end.line.to_string()));
            // Columns of different lines are no range.
            if start.line == end.line {
                properties.push(("col", start.column.to_string()));
                properties.push(("endColumn", end.column.to_string()));
            }
        }
        properties.push(("title", title.to_owned()));
        let properties: Vec<String> =
            properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
        let _ = writeln!(out, "::{level} {}::{}", properties.join(","), data(text));
    };
    for error in listing.errors {
        let help = error.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
        let title = format!("keepstate: {} error", error.code.name());
        write("error", &title, anchor(error.at.as_ref(), None), &format!("{}{help}", error.message));
    }
    for (job, item) in listing.worst_first() {
        if style.quiet || !style.verbose && item.is_quiet() {
            continue;
        }
        let url = item.url.map(|url| format!("\n{url}")).unwrap_or_default();
        let text = format!("{}\nhelp: {}{url}", item.message, item.help);
        let title = format!("{} {}: {}", job.name, item.word, item.rule);
        write(level(item), &title, anchor(item.at, job.file), &text);
    }
    for (level, count) in counts {
        if count > SHOWN {
            let _ = writeln!(
                out,
                "GitHub shows {SHOWN} of {count} annotations of level {level}, the worst; all are in this log"
            );
        }
    }
    let _ = writeln!(out, "{}", one_line(&format!("keepstate: {}", summary(listing))));
    out
}

fn level(item: &Item<'_>) -> &'static str {
    match item.severity {
        // Accepted ones do not stand in the way.
        _ if item.suppressed.is_some() => "notice",
        Severity::Critical | Severity::Blocker => "error",
        Severity::Minor | Severity::Major => "warning",
        Severity::Note => "notice",
    }
}

/// A path as GitHub writes those of a repository.
fn path(file: &str) -> String {
    let path = file.replace('\\', "/");
    path.strip_prefix("./").unwrap_or(&path).to_owned()
}

/// A line of the log that is not a command, whatever it says.
fn one_line(text: &str) -> String {
    visible(text).replace(['\n', '\r'], " ")
}

/// The text of a command.
fn data(text: &str) -> String {
    visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_runner_reads_is_escaped() {
        assert_eq!(data("100%\na::b"), "100%25%0Aa::b");
        assert_eq!(property("a:b,c%\n::error::x"), "a%3Ab%2Cc%25%0A%3A%3Aerror%3A%3Ax");
        assert_eq!(path(".\\jobs\\a.sql"), "jobs/a.sql");
    }
}
