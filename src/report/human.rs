//! For people: a verdict, then each finding with the clauses of both sides, what happens to the state and what to do.

use std::fmt;
use std::fmt::Write as _;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode};

use super::excerpt::{Excerpt, MaskedTexts};
use super::model::{ErrorItem, Finding, Job, Note, Place, Report};

use super::witness::write_differences;
use crate::diff::change::Fate;
use crate::diff::matching::Side;
use crate::rules::judge::NOT_PLANNED;
use crate::rules::verdict::{Consequence, Verdict};
use crate::source::SourceMap;
use crate::terminal::visible;

/// How to print.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// With terminal colours.
    pub color: bool,
    /// Only the verdicts and errors.
    pub quiet: bool,
    /// Compatible findings, all columns and notes too.
    pub verbose: bool,
}

/// The width of the text.
const WIDTH: usize = 110;

/// Writes a report.
pub fn render(report: &Report, sources: &SourceMap, style: Style) -> String {
    let printer = Printer::new(sources, style);
    let mut out = String::new();
    for job in &report.jobs {
        // What is said of one job is set apart from the next one.
        if out.lines().count() > 1 && !style.quiet && !out.ends_with("\n\n") && !printer.is_plain(job) {
            out.push('\n');
        }
        printer.job(job, &mut out);
    }
    if !style.quiet {
        printer.notes(&report.notes, &mut out);
        summary(report, &mut out);
    }
    printer.errors(&report.errors, &mut out);
    out
}

/// Counts the verdicts where there are several jobs.
fn summary(report: &Report, out: &mut String) {
    if report.jobs.len() < 2 {
        return;
    }
    let words = [Verdict::Incompatible, Verdict::Unknown, Verdict::PartiallyCompatible, Verdict::Compatible]
        .map(|verdict| (report.jobs.iter().filter(|j| j.verdict == verdict).count(), verdict.name()));
    let words: Vec<String> = words.iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}")).collect();
    let _ = writeln!(out, "\n{} jobs: {}", report.jobs.len(), words.join(", "));
}

/// Writes errors alone.
pub fn render_errors(errors: &[ErrorItem], sources: &SourceMap, style: Style) -> String {
    let mut out = String::new();
    Printer::new(sources, style).errors(errors, &mut out);
    out
}

/// A text in a colour of the terminal (SGR parameters), if colours are wanted.
pub fn paint(text: &str, sgr: &str, style: Style) -> String {
    if style.color { format!("\u{1b}[{sgr}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Writes the parts that all reports are made of.
pub(super) struct Printer<'a> {
    texts: MaskedTexts<'a>,
    style: Style,
    handler: GraphicalReportHandler,
}

impl<'a> Printer<'a> {
    pub(super) fn new(sources: &'a SourceMap, style: Style) -> Self {
        let theme = if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler =
            GraphicalReportHandler::new_themed(theme).with_links(false).with_width(WIDTH).with_context_lines(1);
        Printer { texts: MaskedTexts::new(sources), style, handler }
    }

    fn job(&self, job: &Job, out: &mut String) {
        let verdict = paint(job.verdict.name(), color_of(job.verdict), self.style);
        let sides = match (&job.old, &job.new) {
            (Some(old), Some(new)) => format!("{old} -> {new}"),
            (Some(old), None) => format!("{old}, gone"),
            (None, Some(new)) => format!("{new}, new"),
            (None, None) => String::new(),
        };
        let _ = writeln!(out, "{verdict}: {} ({})", visible(&job.name), visible(&sides));
        if self.style.quiet {
            return;
        }
        let shown = |f: &&Finding| self.shown(f);
        for finding in job.findings.iter().filter(shown) {
            out.push('\n');
            self.finding(finding, out);
        }
        self.sinks(job, out);
        self.columns(job, out);
        if let Some(witness) = &job.witness {
            let _ = writeln!(out, "\n{}", witness.headline());
            // Beside a finding they are shown there.
            if !job.findings.iter().any(|f| shown(&f) && f.witness.is_some()) {
                write_differences(&witness.differences, out);
            }
        }
        self.notes(&job.notes, out);
        let hidden = |suppressed: bool| {
            job.findings.iter().filter(|f| !shown(f) && f.suppressed.is_some() == suppressed).count()
        };
        for (count, what) in [(hidden(false), "compatible"), (hidden(true), "suppressed")] {
            if count > 0 {
                let changes = if count == 1 { "change is" } else { "changes are" };
                let _ = writeln!(out, "\n{count} {changes} {what}; -v shows them");
            }
        }
    }

    /// True for findings that are printed.
    fn shown(&self, finding: &Finding) -> bool {
        self.style.verbose || (finding.verdict > Verdict::Compatible && finding.suppressed.is_none())
    }

    /// True if a job takes one line.
    fn is_plain(&self, job: &Job) -> bool {
        job.findings.is_empty() && job.notes.is_empty() && job.witness.is_none() && !self.style.verbose
    }

    fn finding(&self, finding: &Finding, out: &mut String) {
        let severity = match finding.verdict {
            Verdict::Incompatible => Severity::Error,
            Verdict::Unknown | Verdict::PartiallyCompatible => Severity::Warning,
            Verdict::Compatible => Severity::Advice,
        };
        let mark = if finding.suppressed.is_some() { " (suppressed)" } else { "" };
        let code = format!("{} {}{mark}", finding.verdict.name(), finding.rule);
        let mut main = Piece::new(finding.message.clone(), severity).code(code);
        if finding.rule == NOT_PLANNED {
            // The errors, which follow, show the places.
            self.piece(main, out);
            self.footer("help", &finding.help, out);
            return;
        }
        match (&finding.new, &finding.old) {
            (Some(new), old) => {
                main = main.excerpt(self, new, label(finding.beside, Side::New));
                self.piece(main, out);
                if let Some(old) = old {
                    let label = label(finding.beside, Side::Old);
                    self.piece(Piece::new("before:", Severity::Advice).excerpt(self, old, label), out);
                }
            }
            (None, Some(old)) => self.piece(main.excerpt(self, old, "was here"), out),
            (None, None) => self.piece(main, out),
        }
        if let Some(witness) = finding.witness.as_ref().filter(|w| !w.differences.is_empty()) {
            write_differences(&witness.differences, out);
        }
        for related in &finding.related {
            let mut piece = Piece::new(format!("also: {}", related.message), Severity::Advice);
            // What is gone is shown where it was.
            let gone = related.old.as_ref().filter(|_| related.beside == Some(Side::New));
            if let Some(place) = gone {
                piece = piece.excerpt(self, place, "was here");
            } else if let Some(place) = related.new.as_ref().or(related.old.as_ref())
                // What the finding itself points at has just been shown.
                && ![&finding.new, &finding.old].into_iter().flatten().any(|shown| shown.span == place.span)
            {
                piece = piece.excerpt(self, place, "here");
            }
            self.piece(piece, out);
        }
        if let Some(suppressed) = &finding.suppressed {
            let until = suppressed.until.as_ref().map(|d| format!(" (until {d})")).unwrap_or_default();
            self.footer("suppressed", &format!("{}{until}", suppressed.reason), out);
        }
        if let Some(state) = state_sentence(finding) {
            self.footer("state", &state, out);
        }
        self.footer("help", &finding.help, out);
        let mut why = basis(finding);
        if let Some(url) = &finding.url {
            let _ = write!(why, " <{url}>");
        }
        self.footer("basis", &why, out);
    }

    /// The verdict on each sink of a job with several, if they are not all the same.
    fn sinks(&self, job: &Job, out: &mut String) {
        let differ = job.sinks.iter().any(|s| s.verdict != job.verdict);
        if job.sinks.len() < 2 || !(differ || self.style.verbose) {
            return;
        }
        let width = job.sinks.iter().map(|s| s.name.chars().count()).max().unwrap_or(0);
        let _ = writeln!(out, "\nsinks of the job:");
        for sink in &job.sinks {
            let verdict = paint(sink.verdict.name(), color_of(sink.verdict), self.style);
            let _ = writeln!(out, "  {:width$}  {verdict}", visible(&sink.name));
        }
    }

    fn columns(&self, job: &Job, out: &mut String) {
        let partial = job.verdict == Verdict::PartiallyCompatible;
        if job.columns.is_empty() || !(partial || self.style.verbose) {
            return;
        }
        let width = job.columns.iter().map(|c| c.sink.chars().count() + c.name.chars().count() + 1).max().unwrap_or(0);
        let _ = writeln!(out, "\ncolumns after the restore:");
        for column in &job.columns {
            let name = visible(&format!("{}.{}", column.sink, column.name)).into_owned();
            let (fate, color) = match column.fate {
                Fate::Kept => ("kept", "32"),
                Fate::FromZero => ("from zero", "33"),
                Fate::Lost => ("lost", "31"),
                Fate::Undetermined => ("undetermined", "31"),
            };
            let _ = writeln!(out, "  {name:width$}  {}", paint(fate, color, self.style));
        }
    }

    pub(super) fn notes(&self, notes: &[Note], out: &mut String) {
        for note in notes {
            let place = note.at.as_ref().map(|p| format!(" ({}:{}:{})", p.file, p.start.line, p.start.column));
            let text = format!("{}{}", note.message, place.unwrap_or_default());
            if !out.is_empty() {
                out.push('\n');
            }
            let _ = writeln!(out, "{} {}", paint("note:", "36", self.style), visible(&text));
        }
    }

    pub(super) fn errors(&self, errors: &[ErrorItem], out: &mut String) {
        for error in errors {
            if !out.is_empty() {
                out.push('\n');
            }
            let mut piece =
                Piece::new(error.message.clone(), Severity::Error).code(format!("error {}", error.code.name()));
            if let Some(place) = &error.at {
                piece = piece.excerpt(self, place, if error.label.is_empty() { "here" } else { &error.label });
            }
            self.piece(piece, out);
            if let Some(help) = &error.help {
                self.footer("help", help, out);
            }
        }
    }

    pub(super) fn piece(&self, piece: Piece, out: &mut String) {
        let mut text = String::new();
        if self.handler.render_report(&mut text, &piece).is_err() {
            // The excerpt could not be drawn, a place outside of its text for instance; the message still matters.
            text = format!("  {}\n", piece.message);
        }
        for line in text.lines().filter(|l| !l.trim().is_empty()) {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }

    pub(super) fn footer(&self, label: &str, text: &str, out: &mut String) {
        let _ = writeln!(out, "  {} {}", paint(&format!("{label}:"), "36", self.style), visible(text));
    }
}

/// Words at the clause of one side.
fn label(beside: Option<Side>, side: Side) -> &'static str {
    match side {
        _ if beside == Some(side) => "beside this",
        Side::New => "now",
        Side::Old => "was",
    }
}

/// Why a finding is believed.
pub fn basis(finding: &Finding) -> String {
    let rows = finding.documented.iter().map(String::as_str);
    std::iter::once(finding.basis.name()).chain(rows).collect::<Vec<_>>().join(", ")
}

/// What happens to the state of the finding's operator, for findings about an operator that keeps some.
pub fn state_sentence(finding: &Finding) -> Option<String> {
    let sentence = match finding.verdict {
        Verdict::Unknown => "may fit or not: nothing written decides it",
        _ => finding.consequence.sentence(),
    };
    match (&finding.operator, finding.state.as_slice()) {
        (Some(operator), [_, ..]) => {
            let names: Vec<String> = finding.state.iter().map(|s| format!("`{s}`")).collect();
            Some(format!("{} of {} {sentence}", names.join(", "), operator.kind))
        }
        (Some(operator), []) if finding.verdict > Verdict::Compatible => {
            Some(format!("that of {} {sentence}", operator.kind))
        }
        (None, _) if finding.consequence != Consequence::None => Some(format!("that of the job {sentence}")),
        _ => None,
    }
}

fn color_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Compatible => "1;32",
        Verdict::PartiallyCompatible => "1;33",
        Verdict::Unknown => "1;35",
        Verdict::Incompatible => "1;31",
    }
}

/// One message with at most one excerpt.
#[derive(Debug)]
pub(super) struct Piece {
    message: String,
    severity: Severity,
    code: Option<String>,
    source: Option<Excerpt>,
    label: Option<LabeledSpan>,
}

impl Piece {
    pub(super) fn new(message: impl Into<String>, severity: Severity) -> Piece {
        let message = visible(&message.into()).into_owned();
        Piece { message, severity, code: None, source: None, label: None }
    }

    pub(super) fn code(mut self, code: String) -> Piece {
        self.code = Some(code);
        self
    }

    pub(super) fn excerpt(mut self, printer: &Printer<'_>, place: &Place, label: &str) -> Piece {
        let excerpt = Excerpt::new(printer.texts.file(place), &printer.texts.text(place), place);
        self.label =
            Some(LabeledSpan::new(Some(visible(label).into_owned()), excerpt.label.start, excerpt.label.len()));
        self.source = Some(excerpt);
        self
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Piece {}

impl Diagnostic for Piece {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.as_ref().map(|c| Box::new(c) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|s| s as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.label.clone().map(|l| Box::new(std::iter::once(l)) as Box<dyn Iterator<Item = LabeledSpan>>)
    }
}
