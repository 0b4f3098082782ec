//! The page as a whole: what it may load, the headline, what stood in the way, the jobs.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::excerpt::{excerpt, where_it_is};
use super::job::{Jobs, verdict_of_level};
use super::text::{code, counted, line, sentence};
use crate::eval::base64;
use crate::report::concise::summary;
use crate::report::excerpt::MaskedTexts;
use crate::report::format::JobPlans;
use crate::report::human::Style;
use crate::report::lint::LintReport;
use crate::report::listing::{self, Item, JobItems, Kind, Listing};
use crate::report::model::{ErrorItem, Note, Report};
use crate::rules::lint::Level;
use crate::rules::verdict::Verdict;
use crate::source::SourceMap;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub(super) fn check(report: &Report, sources: &SourceMap, plans: &[JobPlans<'_>], style: Style) -> String {
    let listing = listing::of_check(report);
    // The worst job first; those of one verdict in the order of the report.
    let mut order: Vec<usize> = (0..report.jobs.len()).collect();
    order.sort_by_key(|n| std::cmp::Reverse(report.jobs[*n].verdict));
    let verdicts: Vec<&'static str> = report.jobs.iter().map(|job| job.verdict.name()).collect();
    let jobs = Jobs::new(MaskedTexts::new(sources), &listing, style).of_check(&report.jobs, plans);
    page(&listing, &verdicts, &order, &jobs)
}

pub(super) fn lint(report: &LintReport, sources: &SourceMap, style: Style) -> String {
    let listing = listing::of_lint(report);
    let worst = |n: &usize| report.jobs[*n].findings.iter().filter(|f| f.suppressed.is_none()).map(|f| f.level).max();
    let mut order: Vec<usize> = (0..report.jobs.len()).collect();
    order.sort_by_key(|n| std::cmp::Reverse(worst(n)));
    let verdicts: Vec<&'static str> = (0..order.len()).map(|n| verdict_of_level(worst(&n))).collect();
    let jobs = Jobs::new(MaskedTexts::new(sources), &listing, style);
    page(&listing, &verdicts, &order, &jobs)
}

fn page(listing: &Listing<'_>, verdicts: &[&'static str], order: &[usize], jobs: &Jobs<'_>) -> String {
    // Readers of HTML take every line end for one character, and the hashes are of what they read.
    let (css, script) = (STYLE.replace('\r', ""), SCRIPT.replace('\r', ""));
    let title = match listing.verdict {
        Some(verdict) => format!("keepstate: {verdict}"),
        None => "keepstate lint".to_owned(),
    };
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; \
         base-uri 'none'; form-action 'none'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta name=\"referrer\" content=\"no-referrer\"/>\n<meta name=\"generator\" content=\"keepstate {}\"/>\n\
         <title>{title}</title>\n<style>{css}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n",
        hash(&css),
        hash(&script),
        line(listing.tool.version),
    );
    head(listing, verdicts, &mut out);
    if order.len() > 1 {
        nav(listing, verdicts, order, &mut out);
    }
    out.push_str("<main id=\"main\" tabindex=\"-1\">\n");
    if !listing.errors.is_empty() {
        errors(listing.errors, jobs.texts(), &mut out);
    }
    jobs.sections(order, &mut out);
    if !listing.notes.is_empty() && !jobs.is_quiet() {
        out.push_str("<section aria-labelledby=\"notes\">\n<h2 id=\"notes\">Notes</h2>\n");
        notes(listing.notes, &mut out);
        out.push_str("</section>\n");
    }
    let _ = write!(
        out,
        "</main>\n<footer><p>Written by {} {}, for the engine {}.</p></footer>\n<script>{script}</script>\n</body>\n</html>\n",
        line(listing.tool.name),
        line(listing.tool.version),
        listing.target.name(),
    );
    out
}

/// A hash as a content security policy names it.
fn hash(text: &str) -> String {
    base64::encode(&Sha256::digest(text.as_bytes()))
}

/// A verdict or level with its sign: it is never told by its colour alone.
pub(super) fn badge(word: &str) -> String {
    let sign = match word {
        "compatible" => "✓",
        "partially-compatible" => "◐",
        "incompatible" | "error" => "✕",
        "warning" => "!",
        "info" => "i",
        _ => "?",
    };
    format!("<span class=\"badge {word}\"><span aria-hidden=\"true\">{sign}</span> {word}</span>")
}

/// The words of a kind of report, the worst first.
fn words(kind: Kind) -> Vec<&'static str> {
    match kind {
        Kind::Check => Verdict::ALL.iter().rev().map(|v| v.name()).collect(),
        Kind::Lint => [Level::Error, Level::Warning, Level::Info].map(Level::name).to_vec(),
    }
}

fn head(listing: &Listing<'_>, verdicts: &[&'static str], out: &mut String) {
    let (what, headline) = match listing.verdict {
        Some(verdict) => ("keepstate check", format!("Verdict: {}", badge(verdict.name()))),
        None => ("keepstate lint", "What will hurt later".to_owned()),
    };
    let status = match listing.exit_code {
        0 => "this run passes".to_owned(),
        code => format!("this run fails with exit status {code}"),
    };
    let _ = write!(
        out,
        "<header>\n<p class=\"brand\">{what} <span class=\"quiet\">for {}</span></p>\n<h1>{headline}</h1>\n<p>{}; {status}.</p>\n",
        listing.target.name(),
        sentence(&summary(listing)),
    );
    if verdicts.len() > 1 {
        out.push_str("<ul class=\"counts\" aria-label=\"Jobs by verdict\">");
        let mut seen = words(listing.kind);
        seen.extend(verdicts.iter().filter(|v| !words(listing.kind).contains(v)).take(1));
        for word in seen {
            match verdicts.iter().filter(|v| **v == word).count() {
                0 => {}
                n => {
                    let _ = write!(out, "<li>{} {}</li>", counted(n, "job", "jobs"), badge(word));
                }
            }
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</header>\n");
}

/// The list of jobs to jump to.
fn nav(listing: &Listing<'_>, verdicts: &[&'static str], order: &[usize], out: &mut String) {
    let words = words(listing.kind);
    let heads: Vec<String> = words.iter().map(|word| format!("<th scope=\"col\" class=\"n\">{word}</th>")).collect();
    let _ = write!(
        out,
        "<nav aria-labelledby=\"jobs\">\n<h2 id=\"jobs\">Jobs</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-labelledby=\"jobs\"><table>\n<thead><tr><th scope=\"col\">job</th><th scope=\"col\">verdict</th><th scope=\"col\">file</th>{}\
         <th scope=\"col\" class=\"n\">suppressed</th></tr></thead>\n<tbody>\n",
        heads.concat(),
    );
    for n in order {
        let job = &listing.jobs[*n];
        let count = |is: &dyn Fn(&Item<'_>) -> bool| match job.items.iter().filter(|item| is(item)).count() {
            0 => "<td class=\"n\"></td>".to_owned(),
            n => format!("<td class=\"n\">{n}</td>"),
        };
        let counts: Vec<String> =
            words.iter().map(|word| count(&|item| item.word == *word && item.suppressed.is_none())).collect();
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>{}{}</tr>",
            name(listing, job, *n),
            badge(verdicts[*n]),
            job.file.map(code).unwrap_or_default(),
            counts.concat(),
            count(&|item| item.suppressed.is_some()),
        );
    }
    out.push_str("</tbody>\n</table></div>\n</nav>\n");
}

/// The name of a job, with a link if the page says more of it.
fn name(listing: &Listing<'_>, job: &JobItems<'_>, n: usize) -> String {
    if Jobs::has_section(listing, job) {
        format!("<a href=\"#{}\">{}</a>", Jobs::anchor(n), code(job.name))
    } else {
        code(job.name)
    }
}

fn errors(errors: &[ErrorItem], texts: &MaskedTexts<'_>, out: &mut String) {
    out.push_str("<section aria-labelledby=\"errors\">\n<h2 id=\"errors\">What stood in the way</h2>\n");
    for error in errors {
        let _ = writeln!(
            out,
            "<article class=\"finding error\">\n<h3><span class=\"badge error\"><span aria-hidden=\"true\">✕</span> {} error</span> {}</h3>",
            error.code.name(),
            sentence(&error.message)
        );
        if let Some(at) = &error.at {
            let label = if error.label.is_empty() { "here".to_owned() } else { line(&error.label) };
            out.push_str(&excerpt(texts, at, &label));
        }
        if let Some(help) = &error.help {
            let _ = writeln!(out, "<p>{}</p>", sentence(help));
        }
        out.push_str("</article>\n");
    }
    out.push_str("</section>\n");
}

/// A list of notes.
pub(super) fn notes(notes: &[Note], out: &mut String) {
    out.push_str("<ul class=\"notes\">\n");
    for note in notes {
        let at = note.at.as_ref().map(|at| format!(" ({})", where_it_is(at))).unwrap_or_default();
        let _ = writeln!(out, "<li>{}{at}</li>", sentence(&note.message));
    }
    out.push_str("</ul>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both stand in the page as they are, and the page is also read as XML.
    #[test]
    fn style_and_script_are_plain() {
        for text in [STYLE, SCRIPT] {
            assert!(!text.contains(['<', '&']) && text.is_ascii());
        }
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    }

    #[test]
    fn hashes_are_those_of_policies() {
        assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}
