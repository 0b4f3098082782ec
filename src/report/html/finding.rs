//! One finding: what changes, the clauses of both sides, what happens to the state, what to do, and why it is believed.

use std::fmt::Write as _;

use super::excerpt::{excerpt, where_it_is};
use super::page::badge;
use super::text::{code, line, link, sentence};
use crate::diff::matching::Side;
use crate::report::excerpt::MaskedTexts;
use crate::report::listing::Item;
use crate::report::model::{Finding, Place, SuppressedBy};
use crate::rules::rows::Rows;
use crate::rules::verdict::{Consequence, Verdict};

/// Writes a finding. `detail` is what only a check knows of it.
pub(super) fn finding(
    texts: &MaskedTexts<'_>,
    item: &Item<'_>,
    detail: Option<&Finding>,
    anchor: &str,
    out: &mut String,
) {
    let _ = write!(
        out,
        "<article class=\"finding {}\" id=\"{anchor}\" tabindex=\"-1\">\n<h4>{} <span>{}</span></h4>\n",
        item.word,
        badge(item.word),
        sentence(item.message),
    );
    if let Some(accepted) = item.suppressed {
        let until = accepted.until.as_ref().map(|until| format!(" (until {})", line(until))).unwrap_or_default();
        let by = match accepted.by {
            SuppressedBy::Comment => "a comment in the script",
            SuppressedBy::Configuration => "the configuration",
        };
        let _ = writeln!(out, "<p>Suppressed by {by}: {}{until}</p>", sentence(&accepted.reason));
    }
    clauses(texts, item, out);
    out.push_str("<dl>\n");
    if let Some(witness) = detail.and_then(|f| f.witness.as_ref()) {
        entry("rows", &line(&witness.headline()), out);
    }
    if let Some(state) = &item.state {
        entry("state", &sentence(state), out);
    }
    entry("help", &sentence(item.help), out);
    if let Some(finding) = detail {
        let operator = finding.operator.as_ref().map(|o| format!("{} at {}", code(&o.kind), code(&o.path)));
        operator.into_iter().for_each(|words| entry("operator", &words, out));
        entry("consequence", consequence(finding), out);
        entry("basis", finding.basis.name(), out);
        documented(finding, out);
    } else {
        entry("basis", &line(&item.basis), out);
    }
    let source = item.url.map(|url| format!(", {}", link("source", url))).unwrap_or_default();
    entry("rule", &format!("{}{source}", code(item.rule)), out);
    entry("fingerprint", &code(item.fingerprint), out);
    out.push_str("</dl>\n");
    for (message, at) in &item.related {
        let _ = writeln!(
            out,
            "<details><summary>also: {} ({})</summary>\n{}</details>",
            sentence(message),
            where_it_is(at),
            excerpt(texts, at, "here")
        );
    }
    out.push_str("</article>\n");
}

fn entry(name: &str, words: &str, out: &mut String) {
    let _ = writeln!(out, "<dt>{name}</dt><dd>{words}</dd>");
}

/// Both sides, the old one first. A side that only shows what stands around the change says so.
fn clauses(texts: &MaskedTexts<'_>, item: &Item<'_>, out: &mut String) {
    let label = |side: Side, word: &'static str| if item.beside == Some(side) { "beside this" } else { word };
    let mut sides: Vec<(&Place, &str)> = Vec::new();
    sides.extend(item.before.map(|at| (at, label(Side::Old, "before"))));
    sides.extend(item.at.map(|at| match (item.gone, item.before) {
        (true, _) => (at, "before"),
        (false, Some(_)) => (at, label(Side::New, "after")),
        (false, None) => (at, label(Side::New, "here")),
    }));
    if sides.is_empty() {
        return;
    }
    out.push_str("<div class=\"clauses\">\n");
    for (at, label) in sides {
        out.push_str(&excerpt(texts, at, label));
    }
    out.push_str("</div>\n");
}

fn consequence(finding: &Finding) -> &'static str {
    match (finding.verdict, finding.consequence) {
        (Verdict::Unknown, _) => "not known: nothing written decides it",
        (_, Consequence::None) => "none: the state is carried over",
        (_, Consequence::StartsEmpty) => "what is new starts empty at the restore",
        (_, Consequence::FailsToRestore) => "the job does not start from this state",
        (_, Consequence::WrongResults) => "the job runs and silently gives wrong results",
        (_, Consequence::Undetermined) => "the job fails to start, or starts and gives wrong results",
    }
}

/// The rows of the documents that decide it, in the words of the list of rows.
fn documented(finding: &Finding, out: &mut String) {
    if finding.documented.is_empty() {
        return;
    }
    let mut list = "<ul>".to_owned();
    for id in &finding.documented {
        let row = Rows::embedded().iter().find(|row| row.id == *id);
        let name = code(id);
        let name = finding.url.as_deref().map_or_else(|| name.clone(), |url| link(&name, url));
        let words = row.map(|row| format!(": {} ({})", sentence(&row.change), line(&row.verdict))).unwrap_or_default();
        let _ = write!(list, "<li>{name}{words}</li>");
    }
    entry("documented", &format!("{list}</ul>"), out);
}
