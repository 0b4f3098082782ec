//! Markdown for a comment on a pull request: the verdict, the jobs, each finding with its clauses, what becomes of columns, and the
//! plans. Never longer than GitHub lets a comment be: the worst stays, and what is left out is counted.

use std::fmt::Write as _;

use super::concise::summary;
use super::excerpt::MaskedTexts;
use super::format::JobPlans;
use super::human::Style;
use super::lint::LintReport;
use super::listing::{self, Item, JobItems, Kind, Listing, Severity};
use super::markdown_text::{clipped, code, fenced, link, sentence};
use super::model::{ErrorItem, Job, Note, Place, Report};
use super::plan_diff::unified;
use crate::diff::change::Fate;
use crate::diff::matching::Side;
use crate::rules::lint::Level;
use crate::rules::verdict::Verdict;
use crate::source::SourceMap;
use crate::terminal::visible;

/// The longest comment that GitHub takes, in characters. Bytes are counted, which are never fewer.
const LIMIT: usize = 65_536;
/// What is kept for the words about what is left out.
const RESERVE: usize = 512;
/// No kind of part but findings takes more than this.
const SHARE: usize = LIMIT / 4;
/// Longer clauses and lines are cut.
const CLAUSE_LINES: usize = 12;
const LINE: usize = 200;
const PLAN_LINES: usize = 200;

/// Writes the report of a check.
pub(super) fn render_check(report: &Report, sources: &SourceMap, plans: &[JobPlans<'_>], style: Style) -> String {
    let writer = Writer { texts: MaskedTexts::new(sources), style };
    let listing = listing::of_check(report);
    let mut comment = writer.head(&listing, &format!("keepstate: {}", report.verdict));
    // The worst job first; those of one verdict in the order of the report.
    let mut order: Vec<usize> = (0..report.jobs.len()).collect();
    order.sort_by_key(|n| std::cmp::Reverse(report.jobs[*n].verdict));
    writer.table(&listing, &order, &mut comment);
    for n in order {
        let (job, items) = (&report.jobs[n], &listing.jobs[n]);
        let heading = format!("### {}: {}\n\n{}\n\n", code(&job.name), job.verdict, sides(job));
        let section = comment.section(heading);
        writer.findings(items, section, &mut comment);
        writer.sinks(job, section, &mut comment);
        writer.columns(job, section, &mut comment);
        writer.rest(items, section, &mut comment);
        if let Some(plans) = plans.get(n).filter(|_| writer.shows_plans(items)) {
            comment.part(section, What::Plan, plan(job, plans));
        }
    }
    writer.notes(&listing, &mut comment);
    comment.finish()
}

/// Writes the report of a lint.
pub(super) fn render_lint(report: &LintReport, sources: &SourceMap, style: Style) -> String {
    let writer = Writer { texts: MaskedTexts::new(sources), style };
    let listing = listing::of_lint(report);
    let mut comment = writer.head(&listing, "keepstate lint");
    let mut order: Vec<usize> = (0..report.jobs.len()).collect();
    order.sort_by_key(|n| std::cmp::Reverse(report.jobs[*n].findings.iter().map(|f| f.level).max()));
    writer.table(&listing, &order, &mut comment);
    for job in order.into_iter().map(|n| &listing.jobs[n]) {
        let section = comment.section(format!("### {} ({})\n\n", code(job.name), code(job.file.unwrap_or_default())));
        writer.findings(job, section, &mut comment);
        writer.rest(job, section, &mut comment);
    }
    comment.finish()
}

struct Writer<'a> {
    texts: MaskedTexts<'a>,
    style: Style,
}

impl Writer<'_> {
    /// The headline, and what stood in the way.
    fn head(&self, listing: &Listing<'_>, title: &str) -> Comment {
        let mut comment = Comment::default();
        let top = comment.section(format!("## {title}\n\n{}\n\n", sentence(&summary(listing))));
        comment.keep(top);
        if !listing.errors.is_empty() {
            let section = comment.section("### What stood in the way\n\n".to_owned());
            for error in listing.errors {
                comment.part(section, What::Error, self.error(error));
            }
        }
        comment
    }

    fn error(&self, error: &ErrorItem) -> String {
        let at = error.at.as_ref().map(|at| format!(" at {}", place(at))).unwrap_or_default();
        let help = error.help.as_ref().map(|help| format!("; {}", sentence(help))).unwrap_or_default();
        let mut text = format!("- **{} error**{at}: {}{help}\n", error.code.name(), sentence(&error.message));
        if let Some(at) = &error.at {
            let _ = write!(text, "\n{}\n", fenced("sql", &self.clause(at, "")));
        }
        text
    }

    /// A row for each job.
    fn table(&self, listing: &Listing<'_>, order: &[usize], comment: &mut Comment) {
        if order.is_empty() {
            return;
        }
        let words: Vec<&str> = match listing.kind {
            Kind::Check => Verdict::ALL.iter().rev().map(|v| v.name()).collect(),
            Kind::Lint => [Level::Error, Level::Warning, Level::Info].map(Level::name).to_vec(),
        };
        let rule = format!("|---|---|{}---:|\n", "---:|".repeat(words.len()));
        let head = format!("| job | file | {} | suppressed |\n{rule}", words.join(" | "));
        let section = comment.section(head);
        for job in order.iter().map(|n| &listing.jobs[*n]) {
            let count = |is: &dyn Fn(&Item<'_>) -> bool| match job.items.iter().filter(|item| is(item)).count() {
                0 => String::new(),
                n => n.to_string(),
            };
            let counts: Vec<String> =
                words.iter().map(|word| count(&|item| item.word == *word && item.suppressed.is_none())).collect();
            let suppressed = count(&|item| item.suppressed.is_some());
            let file = job.file.map(code).unwrap_or_default();
            let row = format!("| {} | {file} | {} | {suppressed} |\n", code(job.name), counts.join(" | "));
            comment.part(section, What::Row, row);
        }
    }

    fn shows(&self, item: &Item<'_>) -> bool {
        !self.style.quiet && item.suppressed.is_none() && (self.style.verbose || !item.is_quiet())
    }

    fn shows_plans(&self, job: &JobItems<'_>) -> bool {
        job.items.iter().any(|item| self.shows(item))
    }

    fn findings(&self, job: &JobItems<'_>, section: usize, comment: &mut Comment) {
        for item in job.items.iter().filter(|item| self.shows(item)) {
            comment.part(section, What::Finding(item.severity), self.finding(item));
        }
    }

    fn finding(&self, item: &Item<'_>) -> String {
        let mut text = format!("#### {}: {}\n\n", item.word, sentence(item.message));
        let at: Vec<String> = item.before.into_iter().chain(item.at).map(place).collect();
        let mut about = vec![code(item.rule), sentence(&item.basis)];
        about.extend(item.url.and_then(|url| link("source", url)));
        let _ = writeln!(text, "{}{}{}\n", at.join(" → "), if at.is_empty() { "" } else { " · " }, about.join(" · "));
        let clause = self.clauses(item);
        if !clause.is_empty() {
            let _ = writeln!(text, "{}", fenced("diff", &clause));
        }
        if let Some(state) = &item.state {
            let _ = writeln!(text, "- state: {}", sentence(state));
        }
        let _ = writeln!(text, "- help: {}", sentence(item.help));
        for (message, at) in &item.related {
            let _ = writeln!(text, "- also: {} ({})", sentence(message), place(at));
        }
        text.push('\n');
        text
    }

    /// The lines of both sides; a side that only shows what stands around the change is no change.
    fn clauses(&self, item: &Item<'_>) -> String {
        let sign = |side: Side, sign: &'static str| if item.beside == Some(side) { " " } else { sign };
        let mut text = String::new();
        if let Some(before) = item.before {
            text.push_str(&self.clause(before, sign(Side::Old, "-")));
        }
        if let Some(at) = item.at {
            let sign = if item.gone { sign(Side::Old, "-") } else { sign(Side::New, "+") };
            text.push_str(&self.clause(at, if item.before.is_none() && !item.gone { " " } else { sign }));
        }
        text
    }

    /// The lines of a place, each behind a sign.
    fn clause(&self, at: &Place, sign: &str) -> String {
        let text = self.texts.text(at);
        let lines: Vec<&str> = text.get(self.texts.lines(at)).unwrap_or_default().lines().collect();
        let mut out = String::new();
        for line in lines.iter().take(CLAUSE_LINES) {
            let _ = writeln!(out, "{sign}{}", clipped(line, LINE));
        }
        if lines.len() > CLAUSE_LINES {
            let _ = writeln!(out, "{sign}… {} more lines", lines.len() - CLAUSE_LINES);
        }
        out
    }

    fn sinks(&self, job: &Job, section: usize, comment: &mut Comment) {
        if job.sinks.len() < 2 || self.style.quiet {
            return;
        }
        let mut text = "| sink | verdict |\n|---|---|\n".to_owned();
        for sink in &job.sinks {
            let _ = writeln!(text, "| {} | {} |", code(&sink.name), sink.verdict);
        }
        text.push('\n');
        comment.part(section, What::Table, text);
    }

    fn columns(&self, job: &Job, section: usize, comment: &mut Comment) {
        let some = job.columns.iter().any(|c| c.fate != Fate::Kept);
        if job.columns.is_empty() || self.style.quiet || !(some || self.style.verbose) {
            return;
        }
        let mut text = "| column | after the restore |\n|---|---|\n".to_owned();
        for column in &job.columns {
            let fate = match column.fate {
                Fate::Kept => "kept",
                Fate::FromZero => "from zero",
                Fate::Lost => "lost",
                Fate::Undetermined => "undetermined",
            };
            let _ = writeln!(text, "| {} | {fate} |", code(&format!("{}.{}", column.sink, column.name)));
        }
        text.push('\n');
        comment.part(section, What::Table, text);
    }

    /// What was accepted, and what should be known of the job.
    fn rest(&self, job: &JobItems<'_>, section: usize, comment: &mut Comment) {
        if self.style.quiet {
            return;
        }
        let mut text = String::new();
        for (item, accepted) in job.items.iter().filter_map(|item| Some((item, item.suppressed?))) {
            let until =
                accepted.until.as_ref().map(|until| format!(" (until {})", sentence(until))).unwrap_or_default();
            let (rule, message) = (code(item.rule), sentence(item.message));
            let _ = writeln!(text, "- suppressed: {rule}: {message}; {}{until}", sentence(&accepted.reason));
        }
        text.extend(job.notes.iter().map(note));
        if !text.is_empty() {
            text.push('\n');
            comment.part(section, What::Note, text);
        }
    }

    fn notes(&self, listing: &Listing<'_>, comment: &mut Comment) {
        if listing.notes.is_empty() || self.style.quiet {
            return;
        }
        let section = comment.section("### Notes\n\n".to_owned());
        for one in listing.notes {
            comment.part(section, What::Note, note(one));
        }
    }
}

fn note(note: &Note) -> String {
    let at = note.at.as_ref().map(|at| format!(" ({})", place(at))).unwrap_or_default();
    format!("- note: {}{at}\n", sentence(&note.message))
}

fn place(at: &Place) -> String {
    code(&format!("{}:{}:{}", at.file, at.start.line, at.start.column))
}

fn sides(job: &Job) -> String {
    match (&job.old, &job.new) {
        (Some(old), Some(new)) => format!("{} → {}", code(old), code(new)),
        (Some(old), None) => format!("{}, gone", code(old)),
        (None, Some(new)) => format!("{}, new", code(new)),
        (None, None) => String::new(),
    }
}

/// What differs between the plans, folded away; nothing if nothing differs.
fn plan(job: &Job, plans: &JobPlans<'_>) -> String {
    let tree = |plan: Option<&crate::exec::Plan>| plan.map(crate::exec::Plan::tree_text).unwrap_or_default();
    let names = (job.old.as_deref().unwrap_or("none"), job.new.as_deref().unwrap_or("none"));
    let mut diff = unified((names.0, &tree(plans.old)), (names.1, &tree(plans.new)), Style::default());
    if diff.is_empty() {
        return diff;
    }
    plans.secrets.clean(&mut diff);
    let diff = visible(&diff);
    let lines: Vec<&str> = diff.lines().collect();
    let mut shown: Vec<String> = lines.iter().take(PLAN_LINES).map(|line| clipped(line, 2 * LINE)).collect();
    if lines.len() > PLAN_LINES {
        shown.push(format!("… {} more lines", lines.len() - PLAN_LINES));
    }
    format!(
        "<details><summary>What differs between the plans</summary>\n\n{}\n</details>\n\n",
        fenced("diff", &shown.join("\n"))
    )
}

/// A kind of part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Error,
    Row,
    Finding(Severity),
    Table,
    Note,
    Plan,
}

impl What {
    /// What is kept first when not all fits.
    fn rank(self) -> u8 {
        match self {
            What::Error => 0,
            What::Row => 1,
            What::Finding(Severity::Blocker) => 2,
            What::Finding(Severity::Critical) => 3,
            What::Finding(Severity::Major) => 4,
            What::Finding(Severity::Minor) => 5,
            What::Table => 6,
            What::Finding(Severity::Note) => 7,
            What::Note => 8,
            What::Plan => 9,
        }
    }

    fn name(self) -> (&'static str, &'static str) {
        match self {
            What::Error => ("error", "errors"),
            What::Row => ("row of the table of jobs", "rows of the table of jobs"),
            What::Finding(_) => ("finding", "findings"),
            What::Table => ("table of sinks or columns", "tables of sinks or columns"),
            What::Note => ("list of notes", "lists of notes"),
            What::Plan => ("plan", "plans"),
        }
    }
}

/// A comment in parts, from which those that fit are taken.
#[derive(Default)]
struct Comment {
    /// Each with whether it is shown without parts.
    sections: Vec<(String, bool)>,
    parts: Vec<(usize, What, String)>,
}

impl Comment {
    /// A heading, shown if a part below it is.
    fn section(&mut self, heading: String) -> usize {
        self.sections.push((heading, false));
        self.sections.len() - 1
    }

    /// Shows a section whatever is below it.
    fn keep(&mut self, section: usize) {
        self.sections[section].1 = true;
    }

    fn part(&mut self, section: usize, what: What, text: String) {
        if !text.is_empty() {
            self.parts.push((section, what, text));
        }
    }

    fn finish(self) -> String {
        let Comment { sections, parts } = self;
        let mut shown: Vec<bool> = sections.iter().map(|(_, keep)| *keep).collect();
        let mut left = LIMIT - RESERVE;
        left -= sections.iter().filter(|(_, keep)| *keep).map(|(text, _)| text.len()).sum::<usize>().min(left);
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|n| parts[*n].1.rank());
        let mut taken = vec![false; parts.len()];
        let mut shares = [0usize; 10];
        for n in order {
            let (section, what, text) = &parts[n];
            // A blank line stands behind each section.
            let heading = if shown[*section] { 0 } else { sections[*section].0.len() + 1 };
            let cost = text.len() + heading;
            let share = &mut shares[usize::from(what.rank())];
            let limited = !matches!(what, What::Finding(_)) && *share + cost > SHARE;
            if cost <= left && !limited {
                (taken[n], shown[*section]) = (true, true);
                left -= cost;
                *share += cost;
            }
        }
        let mut out = String::new();
        for (n, (heading, _)) in sections.iter().enumerate().filter(|(n, _)| shown[*n]) {
            out.push_str(heading);
            let own = parts.iter().zip(&taken).filter(|((section, ..), taken)| *section == n && **taken);
            own.for_each(|((.., text), _)| out.push_str(text));
            if !out.ends_with("\n\n") {
                out.push('\n');
            }
        }
        let mut missing: Vec<((&str, &str), usize)> = Vec::new();
        for ((_, what, _), _) in parts.iter().zip(&taken).filter(|(_, taken)| !**taken) {
            match missing.iter_mut().find(|(name, _)| *name == what.name()) {
                Some((_, count)) => *count += 1,
                None => missing.push((what.name(), 1)),
            }
        }
        if !missing.is_empty() {
            let words: Vec<String> = missing
                .iter()
                .map(|((one, many), count)| format!("{count} {}", if *count == 1 { one } else { many }))
                .collect();
            let _ = writeln!(
                out,
                "Left out, since a comment holds {LIMIT} characters: {}. `--format human -v` shows everything.",
                words.join(", ")
            );
        }
        let end = out.trim_end().len();
        out.truncate(end);
        out.push('\n');
        out
    }
}
