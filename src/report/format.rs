//! The formats of reports, and the one place that knows which module writes which.

use std::str::FromStr;

use super::human::{self, Style};
use super::lint::LintReport;
use super::listing::{self, Listing};
use super::model::Report;
use super::secrets::Redactor;
use super::{concise, github, gitlab, html, json, junit, lint_human, markdown, sarif};
use crate::exec::Plan;
use crate::nearest::nearest;
use crate::source::SourceMap;

/// A format of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For people at a terminal.
    #[default]
    Human,
    /// A line for each finding.
    Concise,
    /// The report as data.
    Json,
    /// The OASIS format of static analysis results.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// GitLab's Code Quality report.
    Gitlab,
    /// Test results as CI services show them.
    Junit,
    /// A comment on a pull request.
    Markdown,
    /// A page for reviewers.
    Html,
}

impl Format {
    /// All formats, in the order of the documentation.
    pub const ALL: [Format; 9] = [
        Format::Human,
        Format::Concise,
        Format::Json,
        Format::Sarif,
        Format::Github,
        Format::Gitlab,
        Format::Junit,
        Format::Markdown,
        Format::Html,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Human => "human",
            Format::Concise => "concise",
            Format::Json => "json",
            Format::Sarif => "sarif",
            Format::Github => "github",
            Format::Gitlab => "gitlab",
            Format::Junit => "junit",
            Format::Markdown => "markdown",
            Format::Html => "html",
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        let names = || Format::ALL.into_iter().map(Format::name);
        Format::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| match nearest(text, names()) {
            Some(name) => format!("there is no format `{text}`; did you mean `{name}`?"),
            None => format!("there is no format `{text}`; there are {}", names().collect::<Vec<_>>().join(", ")),
        })
    }
}

/// The plans of one job.
#[derive(Debug, Clone, Copy)]
pub struct JobPlans<'a> {
    /// That of the old script.
    pub old: Option<&'a Plan>,
    /// That of the new script.
    pub new: Option<&'a Plan>,
    /// Strikes secrets from what is printed of them.
    pub secrets: &'a Redactor,
}

/// Writes the report of a check. `plans` are those of its jobs, in their order, as far as they are known. Formats other than that for
/// people heed of the style only how much is wanted.
pub fn render(format: Format, report: &Report, sources: &SourceMap, plans: &[JobPlans<'_>], style: Style) -> String {
    match format {
        Format::Markdown => markdown::render_check(report, sources, plans, style),
        Format::Html => html::render_check(report, sources, plans, style),
        Format::Human => human::render(report, sources, style),
        Format::Json => json::render(report),
        other => render_listing(other, &listing::of_check(report), style),
    }
}

/// Writes the report of a lint.
pub fn render_lint(format: Format, report: &LintReport, sources: &SourceMap, style: Style) -> String {
    match format {
        Format::Markdown => markdown::render_lint(report, sources, style),
        Format::Html => html::render_lint(report, sources, style),
        Format::Human => lint_human::render(report, sources, style),
        Format::Json => json::render(report),
        other => render_listing(other, &listing::of_lint(report), style),
    }
}

/// Formats that are the same for both kinds of reports.
fn render_listing(format: Format, listing: &Listing<'_>, style: Style) -> String {
    match format {
        Format::Concise => concise::render(listing, style),
        Format::Sarif => sarif::render(listing),
        Format::Github => github::render(listing, style),
        Format::Gitlab => gitlab::render(listing),
        Format::Junit => junit::render(listing),
        // These have a form of their own for each kind of report.
        Format::Human | Format::Json | Format::Markdown | Format::Html => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_name() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert_eq!("jsn".parse::<Format>(), Err("there is no format `jsn`; did you mean `json`?".to_owned()));
        assert!("yaml".parse::<Format>().is_err_and(|why| why.contains("human, concise, json, sarif")));
    }
}
