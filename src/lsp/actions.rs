//! What can be done about a finding: accept it, read its rule, look at the old side.

use serde_json::{Value, json};

use super::analysis::Analysis;
use super::diagnostics::Found;
use super::explain::{EXPLAIN, OPEN_SOURCE, SHOW_OLD};
use super::hover::covers;
use super::protocol::{Client, Location};
use super::text::{Lines, Position, Range};
use crate::planning;
use crate::source::SourceMap;

/// The reason that is to be written over.
const REASON: &str = "TODO: why is this safe?";

/// The actions for a piece of a document.
pub fn at(analysis: &Analysis, uri: &str, range: Range, only: Option<&[String]>, client: &Client) -> Value {
    let wanted = |kind: &str| only.is_none_or(|only| only.iter().any(|o| o.is_empty() || kind == o));
    if !wanted("quickfix") {
        return json!([]);
    }
    let lines = Lines::new(&analysis.text);
    let here = |f: &&Found| lines.range(f.bytes.clone(), client.encoding).meets(range);
    let mut actions = Vec::new();
    for found in analysis.findings.iter().filter(here) {
        if client.literal_actions && found.acceptable && found.accepted.is_none() {
            actions.extend(accept(analysis, &lines, found, uri, client));
        }
        let Found { rule, .. } = found;
        if client.shows && client.virtual_texts {
            actions.push(command(client, format!("Explain {rule}"), EXPLAIN, json!([rule])));
        }
        if let Some(Location { uri, range }) = found.before.as_ref().and_then(|b| b.location.as_ref())
            && client.shows
        {
            actions.push(command(client, "Show what stood here before".to_owned(), SHOW_OLD, json!([uri, range])));
        }
        if client.shows && super::explain::source(rule).is_some() {
            actions.push(command(client, format!("Open the page that {rule} comes from"), OPEN_SOURCE, json!([rule])));
        }
    }
    actions.dedup();
    Value::Array(actions)
}

fn command(client: &Client, title: String, command: &str, arguments: Value) -> Value {
    let call = json!({ "title": title, "command": command, "arguments": arguments });
    if client.literal_actions { json!({ "title": title, "kind": "quickfix", "command": call }) } else { call }
}

/// The comment above a clause that accepts what was found there. The reason is left to people.
fn accept(analysis: &Analysis, lines: &Lines<'_>, found: &Found, uri: &str, client: &Client) -> Option<Value> {
    let text: &str = &analysis.text;
    // Only `\n` ends a comment.
    let line_start = text[..found.bytes.start].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[line_start..];
    let indentation = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let comment = format!("-- keepstate: allow {} reason=\"{REASON}\"", found.rule);
    let inserted = format!("{indentation}{comment}{end}");
    // In the middle of a text in quotes it would be no comment.
    let edited = format!("{}{inserted}{}", &text[..line_start], &text[line_start..]);
    let mut sources = SourceMap::new();
    let file = sources.add("", edited);
    let script = planning::parse(&sources, file, &Default::default());
    let start = (line_start + indentation.len()) as u32;
    script.comments.iter().find(|c| c.span.start == start)?;
    let at: Position = lines.position(line_start, client.encoding);
    let edit = json!({ "range": Range { start: at, end: at }, "newText": inserted });
    Some(json!({
        "title": format!("Accept {} here, with a reason", found.rule),
        "kind": "quickfix",
        "edit": { "changes": { uri: [edit] } },
    }))
}

/// What stood before at a position, where it can be shown.
pub fn old_places(analysis: &Analysis, position: Position, client: &Client) -> Vec<Location> {
    let offset = Lines::new(&analysis.text).offset(position, client.encoding);
    let here = analysis.findings.iter().filter(|f| covers(&f.bytes, offset));
    let mut places: Vec<Location> = Vec::new();
    for place in here.filter_map(|f| f.before.as_ref()?.location.clone()) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}
