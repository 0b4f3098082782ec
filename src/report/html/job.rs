//! The sections of the jobs: verdict, sinks, findings, columns, plans, notes.

use std::cell::Cell;
use std::fmt::Write as _;

use super::finding::finding;
use super::graph::graphs;
use super::operators::{Shown, operators};
use super::page::{badge, notes};
use super::text::{code, counted, line};
use crate::diff::change::Fate;
use crate::report::excerpt::MaskedTexts;
use crate::report::format::JobPlans;
use crate::report::human::Style;
use crate::report::listing::{Item, JobItems, Listing};
use crate::report::model::{Column, Job};
use crate::rules::lint::Level;
use crate::rules::verdict::Verdict;

/// With more jobs than these, only those with findings are shown in full.
const FEW_JOBS: usize = 20;
/// The plans of a page take no more than this, in bytes, unless those of one job do; those of the worst jobs come first.
const PLANS: usize = 4 << 20;

/// What is said of the jobs of a report.
pub(super) struct Jobs<'a> {
    texts: MaskedTexts<'a>,
    listing: &'a Listing<'a>,
    style: Style,
    checked: &'a [Job],
    plans: &'a [JobPlans<'a>],
    left: Cell<usize>,
}

/// The word for a job of a lint.
pub(super) fn verdict_of_level(level: Option<Level>) -> &'static str {
    level.map_or("compatible", Level::name)
}

impl<'a> Jobs<'a> {
    pub fn new(texts: MaskedTexts<'a>, listing: &'a Listing<'a>, style: Style) -> Jobs<'a> {
        Jobs { texts, listing, style, checked: &[], plans: &[], left: Cell::new(PLANS) }
    }

    /// Adds what only a check knows.
    pub fn of_check(self, checked: &'a [Job], plans: &'a [JobPlans<'a>]) -> Jobs<'a> {
        Jobs { checked, plans, ..self }
    }

    pub fn texts(&self) -> &MaskedTexts<'a> {
        &self.texts
    }

    pub fn is_quiet(&self) -> bool {
        self.style.quiet
    }

    /// The name that links to a job lead to.
    pub fn anchor(n: usize) -> String {
        format!("job-{}", n + 1)
    }

    /// True if the page has more of a job than its line in the list.
    pub fn has_section(listing: &Listing<'_>, job: &JobItems<'_>) -> bool {
        listing.jobs.len() <= FEW_JOBS || !job.items.is_empty() || !job.notes.is_empty()
    }

    /// The jobs in this order.
    pub fn sections(&self, order: &[usize], out: &mut String) {
        let mut plain = 0;
        for n in order {
            match &self.listing.jobs[*n] {
                job if Self::has_section(self.listing, job) => self.section(*n, job, out),
                _ => plain += 1,
            }
        }
        if plain > 0 {
            let _ = writeln!(
                out,
                "<p>{} not shown in detail: nothing was found in {}.</p>",
                counted(plain, "job is", "jobs are"),
                if plain == 1 { "it" } else { "them" },
            );
        }
    }

    fn section(&self, n: usize, items: &JobItems<'_>, out: &mut String) {
        let (anchor, checked) = (Self::anchor(n), self.checked.get(n));
        let _ = write!(
            out,
            "<section class=\"job\" id=\"{anchor}\" tabindex=\"-1\" aria-labelledby=\"{anchor}-name\">\n<h2 id=\"{anchor}-name\">{}{}</h2>\n",
            code(items.name),
            checked.map(|job| format!(" {}", badge(job.verdict.name()))).unwrap_or_default(),
        );
        match checked {
            Some(job) => sides(job, out),
            None => {
                let _ = writeln!(out, "<p>{}</p>", items.file.map(code).unwrap_or_default());
            }
        }
        if self.style.quiet {
            out.push_str("</section>\n");
            return;
        }
        checked.into_iter().for_each(|job| sinks(job, out));
        self.findings(&anchor, items, checked, out);
        if let Some(job) = checked {
            columns(job, out);
            self.plans(n, &anchor, job, out);
            if let Some(witness) = &job.witness {
                let _ = writeln!(out, "<h3>Rehearsal</h3>\n<p>{}</p>", line(&witness.headline()));
            }
        }
        if !items.notes.is_empty() {
            out.push_str("<h3>Notes</h3>\n");
            notes(items.notes, out);
        }
        out.push_str("</section>\n");
    }

    fn findings(&self, anchor: &str, items: &JobItems<'_>, checked: Option<&Job>, out: &mut String) {
        out.push_str("<h3>Findings</h3>\n");
        if items.items.is_empty() {
            let words = if checked.is_some() { "No change of state was found." } else { "Nothing was found." };
            let _ = writeln!(out, "<p>{words}</p>");
            return;
        }
        let one = |n: usize, out: &mut String| {
            let detail = checked.and_then(|job| job.findings.get(n));
            finding(&self.texts, &items.items[n], detail, &format!("{anchor}-finding-{}", n + 1), out);
        };
        let those = |is: &dyn Fn(&Item<'_>) -> bool| {
            (0..items.items.len()).filter(|n| is(&items.items[*n])).collect::<Vec<usize>>()
        };
        those(&|item| !item.is_quiet()).into_iter().for_each(|n| one(n, out));
        let folded = [
            (those(&|item| item.is_quiet() && item.suppressed.is_none()), "compatible change", "compatible changes"),
            (those(&|item| item.suppressed.is_some()), "suppressed finding", "suppressed findings"),
        ];
        for (numbers, word, words) in folded.into_iter().filter(|(numbers, ..)| !numbers.is_empty()) {
            let open = if self.style.verbose { " open=\"\"" } else { "" };
            let _ = writeln!(out, "<details{open}><summary>{}</summary>", counted(numbers.len(), word, words));
            numbers.into_iter().for_each(|n| one(n, out));
            out.push_str("</details>\n");
        }
    }

    /// Both plans as drawings, with what is known of their operators; if the plans are not known or there are too many, the operators
    /// with state.
    fn plans(&self, n: usize, anchor: &str, job: &Job, out: &mut String) {
        let plans = self.plans.get(n).filter(|plans| plans.old.is_some() || plans.new.is_some());
        let wanted = self.checked.len() <= FEW_JOBS || !job.findings.is_empty();
        if plans.is_none() && job.operators.is_empty() {
            return;
        }
        out.push_str("<h3>Plans</h3>\n");
        let mut drawn = String::new();
        if let Some(plans) = plans.filter(|_| wanted) {
            let operators = operators(job, Some(plans), anchor);
            let _ = write!(
                drawn,
                "<div class=\"plans\">\n<p class=\"hint\">Rows flow upwards, to the sinks. Choose an operator for its state and attributes. {}</p>\n",
                LEGEND
            );
            graphs(&operators, plans, anchor, &mut drawn);
            drawn.push_str("<noscript><p>All operators follow here.</p></noscript>\n<div class=\"operators\">\n");
            operators.iter().for_each(|operator| operator.panel(&mut drawn));
            drawn.push_str("</div>\n</div>\n");
        }
        let left = self.left.get();
        match drawn.len() {
            // The first one is drawn however large it is: no other check would show it.
            size if size > 0 && (size <= left || left == PLANS) => {
                self.left.set(left.saturating_sub(size));
                out.push_str(&drawn);
            }
            _ => {
                let why = match (plans.is_some(), drawn.is_empty()) {
                    (false, _) => "of many jobs, only the plans of those with findings are kept",
                    (true, true) => "of many jobs, only the plans of those with findings are drawn",
                    (true, false) => "the plans of the worse jobs above take all the room",
                };
                let _ = writeln!(out, "<p>The plans are not drawn: {why}. A check of this job alone shows them.</p>");
                let stateful: Vec<Shown<'_>> =
                    operators(job, None, anchor).into_iter().filter(Shown::has_state).collect();
                if !stateful.is_empty() {
                    let count = counted(stateful.len(), "operator with state", "operators with state");
                    let _ = writeln!(out, "<details><summary>{count}</summary>");
                    stateful.iter().for_each(|operator| operator.panel(out));
                    out.push_str("</details>\n");
                }
            }
        }
    }
}

/// What the signs in the drawings mean.
const LEGEND: &str = "<span class=\"legend\"><span class=\"key changed\">≠ changed</span> <span class=\"key added\">+ added</span> \
<span class=\"key removed\">− removed</span> <span class=\"key state\">a number beside a drum: entries of state</span></span>";

fn sides(job: &Job, out: &mut String) {
    let words = match (&job.old, &job.new) {
        (Some(old), Some(new)) => format!("{} → {}", code(old), code(new)),
        (Some(old), None) => format!("{}, gone", code(old)),
        (None, Some(new)) => format!("{}, new", code(new)),
        (None, None) => return,
    };
    let _ = writeln!(out, "<p>{words}</p>");
}

fn sinks(job: &Job, out: &mut String) {
    // That of a single one is the job's.
    if job.sinks.len() < 2 {
        return;
    }
    out.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Sinks\"><table>\n<caption>Sinks</caption>\n<thead><tr>\
         <th scope=\"col\">sink</th><th scope=\"col\">verdict on its rows</th></tr></thead>\n<tbody>\n",
    );
    for sink in &job.sinks {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
            code(&sink.name),
            badge(sink.verdict.name())
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
}

/// What becomes of the columns; those that are kept are folded away.
fn columns(job: &Job, out: &mut String) {
    if job.columns.is_empty() {
        return;
    }
    out.push_str("<h3>Columns after the restore</h3>\n");
    let (kept, other): (Vec<&Column>, Vec<&Column>) = job.columns.iter().partition(|c| c.fate == Fate::Kept);
    if !other.is_empty() {
        column_table(&other, out);
    }
    if !kept.is_empty() {
        let _ = writeln!(out, "<details><summary>{} kept</summary>", counted(kept.len(), "column is", "columns are"));
        column_table(&kept, out);
        out.push_str("</details>\n");
    }
}

fn column_table(columns: &[&Column], out: &mut String) {
    out.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Columns\"><table>\n<thead><tr><th scope=\"col\">sink</th>\
         <th scope=\"col\">column</th><th scope=\"col\">after the restore</th></tr></thead>\n<tbody>\n",
    );
    for column in columns {
        let (sign, word, class) = match column.fate {
            Fate::Kept => ("✓", "kept", Verdict::Compatible),
            Fate::FromZero => ("○", "from zero", Verdict::PartiallyCompatible),
            Fate::Lost => ("✕", "lost", Verdict::Incompatible),
            Fate::Undetermined => ("?", "undetermined", Verdict::Unknown),
        };
        let _ = writeln!(
            out,
            "<tr><td>{}</td><th scope=\"row\">{}</th><td><span class=\"badge {class}\"><span aria-hidden=\"true\">{sign}</span> \
             {word}</span></td></tr>",
            code(&column.sink),
            code(&column.name),
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
}
