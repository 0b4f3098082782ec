//! What stands behind a place in a document: the operator, what it keeps, and what was found there.

use serde_json::{Value, json};

use super::analysis::{Analysis, Clause};
use super::diagnostics::Found;
use super::protocol::Client;
use super::text::{Lines, Position};
use crate::report::markdown_text::{code, fenced, link, sentence};
use crate::report::model::Carried;
use crate::state;

/// The longest list of what an operator keeps, in bytes.
const LONG: usize = 4000;

/// The hover at a position, if there is something to say.
pub fn at(analysis: &Analysis, position: Position, client: &Client) -> Option<Value> {
    let lines = Lines::new(&analysis.text);
    let offset = lines.offset(position, client.encoding);
    let findings: Vec<&Found> = analysis.findings.iter().filter(|f| covers(&f.bytes, offset)).collect();
    let (place, clauses) = nearest(&analysis.clauses, offset);
    let mut parts: Vec<String> = findings.iter().map(|f| finding(f, client)).collect();
    parts.extend(clauses.iter().map(|c| clause(c, client)));
    if parts.is_empty() {
        return None;
    }
    let range = place.or_else(|| findings.first().map(|f| f.bytes.clone()))?;
    let (kind, rule) = if client.markdown { ("markdown", "\n\n---\n\n") } else { ("plaintext", "\n\n") };
    let range = lines.range(range, client.encoding);
    Some(json!({ "contents": { "kind": kind, "value": parts.join(rule) }, "range": range }))
}

/// True if a place holds a byte, or ends there.
pub fn covers(place: &std::ops::Range<usize>, offset: usize) -> bool {
    place.start <= offset && offset <= place.end
}

/// The operators whose place around a byte is the smallest: of those that keep something if there is one, else of any.
fn nearest(clauses: &[Clause], offset: usize) -> (Option<std::ops::Range<usize>>, Vec<&Clause>) {
    for keeps in [true, false] {
        let here = clauses.iter().filter(|c| c.keeps == keeps);
        let here = here.flat_map(|c| c.places.iter().filter(|p| covers(p, offset)).map(move |p| (p.clone(), c)));
        let here: Vec<_> = here.collect();
        if let Some(smallest) = here.iter().map(|(place, _)| place.clone()).min_by_key(|p| p.len()) {
            let found = here.iter().filter(|(place, _)| *place == smallest).map(|(_, clause)| *clause);
            let found = found.take(4).collect();
            return (Some(smallest), found);
        }
    }
    (None, Vec::new())
}

fn finding(found: &Found, client: &Client) -> String {
    let state = found.state.as_ref().map(|s| format!("state: {s}"));
    let accepted = found.accepted.as_ref().map(|reason| format!("accepted: {reason}"));
    let help = format!("help: {}", found.help);
    let basis = format!("basis: {}", found.basis);
    let job = format!("job: {}", found.job);
    let lines = [state, accepted, Some(help), Some(job)];
    if !client.markdown {
        let mut out = format!("{} {}: {}", found.word, found.rule, found.message);
        let before = found.before.as_ref().map(|b| format!("before, in {}: {}", b.name, b.excerpt));
        for line in lines.into_iter().chain([before, Some(basis)]).flatten() {
            out.push_str(&format!("\n{line}"));
        }
        return out;
    }
    let mut out = format!("**{}** {}: {}\n\n", found.word, code(&found.rule), sentence(&found.message));
    for line in lines.into_iter().flatten() {
        out.push_str(&format!("- {}\n", sentence(&line)));
    }
    let source = found.url.as_deref().and_then(|url| link("source", url)).map(|l| format!(" ({l})"));
    out.push_str(&format!("- {}{}\n", sentence(&basis), source.unwrap_or_default()));
    if let Some(before) = &found.before {
        out.push_str(&format!("\nbefore, in {}:\n\n{}", code(&before.name), fenced("sql", &before.excerpt)));
    }
    out
}

fn clause(clause: &Clause, client: &Client) -> String {
    let Clause { plan, id, carried, .. } = clause;
    let kind = plan.node(*id).op.kind();
    let fate = match carried {
        Some(Carried::All) => " Its state is carried over.",
        Some(Carried::Part) => " Its state is carried over in part.",
        Some(Carried::None) => " Its state is not carried over, or nothing tells.",
        None => "",
    };
    let Some(mut text) = state::text::of_operator(plan, *id) else {
        return if client.markdown { format!("**{kind}** keeps no state.") } else { format!("{kind} keeps no state.") };
    };
    if text.len() > LONG {
        let end = (0..=LONG).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...\n");
    }
    if client.markdown {
        return format!("**{kind}** keeps state.{fate}\n\n{}", fenced("text", &text));
    }
    format!("{kind} keeps state.{fate}\n{text}")
}
