//! `lint` for people: each job with its findings, the clause, the state and what to do.

use std::fmt::Write as _;

use miette::Severity;

use super::human::{Piece, Printer, Style, paint};
use super::lint::{LintFinding, LintJob, LintReport};
use crate::rules::lint::Level;
use crate::source::SourceMap;
use crate::terminal::visible;

/// Writes a report.
pub fn render(report: &LintReport, sources: &SourceMap, style: Style) -> String {
    let printer = Printer::new(sources, style);
    let mut out = String::new();
    for job in &report.jobs {
        if !out.is_empty() && !style.quiet {
            out.push('\n');
        }
        write_job(&printer, job, style, &mut out);
    }
    printer.errors(&report.errors, &mut out);
    out
}

fn write_job(printer: &Printer<'_>, job: &LintJob, style: Style, out: &mut String) {
    let open = || job.findings.iter().filter(|f| f.suppressed.is_none());
    let worst = open().map(|f| f.level).max();
    let (count, color) = match (open().count(), worst) {
        (0, _) => ("nothing found".to_owned(), "1;32"),
        (1, level) => ("1 finding".to_owned(), color_of(level)),
        (n, level) => (format!("{n} findings"), color_of(level)),
    };
    let _ = writeln!(out, "{}: {} ({})", paint(&count, color, style), visible(&job.name), visible(&job.file));
    if style.quiet {
        return;
    }
    for finding in job.findings.iter().filter(|f| style.verbose || f.suppressed.is_none()) {
        out.push('\n');
        write_finding(printer, finding, style, out);
    }
    let hidden = job.findings.len() - open().count();
    if hidden > 0 && !style.verbose {
        let findings = if hidden == 1 { "finding is" } else { "findings are" };
        let _ = writeln!(out, "\n{hidden} {findings} suppressed; -v shows them");
    }
    printer.notes(&job.notes, out);
}

fn write_finding(printer: &Printer<'_>, finding: &LintFinding, style: Style, out: &mut String) {
    let severity = match finding.level {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Info => Severity::Advice,
    };
    let mark = if finding.suppressed.is_some() { " (suppressed)" } else { "" };
    let code = format!("{} {}{mark}", finding.level, finding.rule);
    let mut piece = Piece::new(finding.message.clone(), severity).code(code);
    if let Some(at) = &finding.at {
        piece = piece.excerpt(printer, at, "here");
    }
    printer.piece(piece, out);
    if let Some(suppressed) = &finding.suppressed {
        printer.footer("suppressed", &suppressed.reason, out);
    }
    if let Some(state) = state(finding) {
        printer.footer("state", &state, out);
    }
    if style.verbose {
        printer.footer("operator", &format!("{} ({})", finding.operator.path, finding.operator.id), out);
        for place in &finding.used_at {
            printer.footer("used at", &format!("{}:{}:{}", place.file, place.start.line, place.start.column), out);
        }
    }
    printer.footer("help", &finding.help, out);
    let url = finding.url.as_ref().map(|url| format!(" <{url}>")).unwrap_or_default();
    printer.footer("basis", &format!("{}{url}", finding.basis.name()), out);
}

/// The state that a finding is about.
pub fn state(finding: &LintFinding) -> Option<String> {
    let mut state: Vec<String> = finding.state.iter().map(|s| format!("`{s}`")).collect();
    let last = state.pop()?;
    let names = if state.is_empty() { last } else { format!("{} and {last}", state.join(", ")) };
    Some(format!("{names} of {}", finding.operator.kind))
}

fn color_of(level: Option<Level>) -> &'static str {
    match level {
        Some(Level::Error) => "1;31",
        Some(Level::Warning) => "1;33",
        Some(Level::Info) | None => "1;36",
    }
}
