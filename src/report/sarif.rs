//! SARIF 2.1.0, the OASIS format of static analysis results, as code scanning services read it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::json;
use super::listing::{Item, JobItems, Listing, Severity, anchor};
use super::model::{ErrorItem, Note, Place, SuppressedBy};
use crate::rules::RuleBook;
use crate::rules::judge;
use crate::terminal::visible;

/// The URI of the schema.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes a report.
pub(super) fn render(listing: &Listing<'_>) -> String {
    let mut rules = Rules::default();
    let suppressions = listing.jobs.iter().flat_map(|j| &j.items).any(|item| item.suppressed.is_some());
    let mut results = Vec::new();
    for job in &listing.jobs {
        results.extend(job.items.iter().map(|item| result(item, job, &mut rules, suppressions)));
    }
    let notes = listing.notes.iter().chain(listing.jobs.iter().flat_map(|job| job.notes)).map(note);
    let notifications: Vec<Value> = listing.errors.iter().map(error).chain(notes).collect();
    let run = json!({
        "tool": { "driver": {
            "name": listing.tool.name,
            "version": listing.tool.version,
            "semanticVersion": listing.tool.version,
            "rules": rules.descriptors,
        } },
        // A check and a lint of one commit stand side by side.
        "automationDetails": { "id": format!("keepstate/{}/", listing.kind.name()) },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            "%SRCROOT%": { "description": { "text": "The directory that keepstate was started in." } },
        },
        "invocations": [{
            "executionSuccessful": listing.exit_code != 2,
            "exitCode": listing.exit_code,
            "toolExecutionNotifications": notifications,
        }],
        "results": results,
        "properties": { "target": listing.target, "verdict": listing.verdict },
    });
    json::render(&json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] }))
}

/// The rules that the results speak of, numbered.
#[derive(Default)]
struct Rules {
    numbers: BTreeMap<String, usize>,
    descriptors: Vec<Value>,
}

impl Rules {
    fn number(&mut self, item: &Item<'_>) -> usize {
        if let Some(number) = self.numbers.get(item.rule) {
            return *number;
        }
        let number = self.descriptors.len();
        self.numbers.insert(item.rule.to_owned(), number);
        self.descriptors.push(descriptor(item));
        number
    }
}

/// A rule as the rule book has it.
fn descriptor(item: &Item<'_>) -> Value {
    let book = RuleBook::embedded();
    let level = level(item.severity);
    let base = |title: &str, prose: &str, body: &str, url: Option<&str>| {
        let mut rule = json!({
            "id": item.rule,
            "shortDescription": { "text": title },
            "fullDescription": { "text": plain(prose) },
            "help": { "text": plain(prose), "markdown": body },
            "defaultConfiguration": { "level": level },
            "properties": { "tags": ["flink", "sql", "state"] },
        });
        if let Some(url) = url {
            rule["helpUri"] = json!(url);
        }
        rule
    };
    if let Some(rule) = book.get(item.rule) {
        return base(&rule.title, rule.prose(), &rule.body, Some(&rule.source.url));
    }
    if let Some(rule) = book.lint(item.rule) {
        return base(&rule.title, rule.prose(), &rule.body, Some(&rule.source.url));
    }
    let words = judge::built_in(item.rule).unwrap_or(item.rule);
    let title = words.split(". ").next().unwrap_or(words).trim_end_matches('.');
    base(title, words, words, item.url)
}

/// Prose of a rule file without its heading, in one line for each paragraph.
fn plain(prose: &str) -> String {
    let paragraphs = prose.split("\n\n").filter(|p| !p.starts_with('#'));
    let text = paragraphs.map(|p| p.replace('\n', " ")).collect::<Vec<_>>().join("\n\n");
    if text.is_empty() { prose.trim_start_matches(['#', ' ']).to_owned() } else { text }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Minor | Severity::Major => "warning",
        Severity::Critical | Severity::Blocker => "error",
    }
}

fn result(item: &Item<'_>, job: &JobItems<'_>, rules: &mut Rules, suppressions: bool) -> Value {
    let shown = anchor(item.at, job.file);
    let location = shown.map(|at| match at.place {
        Some(place) => physical(place),
        None => json!({ "physicalLocation": { "artifactLocation": artifact(at.file) } }),
    });
    // What is shown elsewhere, since it is of another revision, is related.
    let away = item.at.filter(|_| shown.is_some_and(|at| at.place.is_none())).map(|place| ("before", place));
    let related = away.into_iter().chain(item.elsewhere()).enumerate().map(|(n, (message, place))| {
        let mut location = physical(place);
        location["id"] = json!(n + 1);
        location["message"] = text(message);
        location
    });
    let properties: serde_json::Map<String, Value> =
        item.properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let mut result = json!({
        "ruleId": item.rule,
        "ruleIndex": rules.number(item),
        "level": level(item.severity),
        "kind": "fail",
        "message": text(&format!("{}\n{}", item.message, item.help)),
        "locations": location.into_iter().collect::<Vec<_>>(),
        "relatedLocations": related.collect::<Vec<_>>(),
        "partialFingerprints": { "keepstate/v1": item.fingerprint },
        "properties": properties,
    });
    if suppressions {
        let accepted = item.suppressed.map(|accepted| {
            let kind = match accepted.by {
                SuppressedBy::Comment => "inSource",
                SuppressedBy::Configuration => "external",
            };
            let mut entry = json!({ "kind": kind, "status": "accepted", "justification": accepted.reason });
            if let Some(until) = &accepted.until {
                entry["properties"] = json!({ "until": until });
            }
            entry
        });
        // Where some results are suppressed, an empty list says that this one is not.
        result["suppressions"] = json!(accepted.into_iter().collect::<Vec<_>>());
    }
    result
}

fn error(error: &ErrorItem) -> Value {
    let words = match &error.help {
        Some(help) => format!("{}\n{help}", error.message),
        None => error.message.clone(),
    };
    json!({
        "level": "error",
        "descriptor": { "id": error.code.name() },
        "message": text(&words),
        "locations": error.at.iter().map(physical).collect::<Vec<_>>(),
    })
}

fn note(note: &Note) -> Value {
    json!({
        "level": "note",
        "message": text(&note.message),
        "locations": note.at.iter().map(physical).collect::<Vec<_>>(),
    })
}

fn text(words: &str) -> Value {
    json!({ "text": visible(words) })
}

fn physical(place: &Place) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": artifact(&place.file),
        "region": {
            "startLine": place.start.line,
            "startColumn": place.start.column,
            "endLine": place.end.line,
            "endColumn": place.end.column,
        },
    } })
}

/// Where a file is: below the root of the sources, or anywhere if its path is absolute.
fn artifact(file: &str) -> Value {
    let path = file.replace('\\', "/");
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with('/') || drive {
        let root = if drive { "file:///" } else { "file://" };
        // The colon of a drive stays.
        let (head, rest) = path.split_at(if drive { 2 } else { 0 });
        return json!({ "uri": format!("{root}{head}{}", percent(rest)) });
    }
    let path = path.strip_prefix("./").unwrap_or(&path);
    json!({ "uri": percent(path), "uriBaseId": "%SRCROOT%" })
}

/// A path as part of a URI.
fn percent(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_become_uris() {
        let uri = |file: &str| artifact(file)["uri"].as_str().unwrap().to_owned();
        assert_eq!(uri("./jobs\\größe 1%.sql"), "jobs/gr%C3%B6%C3%9Fe%201%25.sql");
        assert_eq!(uri("/srv/a b.sql"), "file:///srv/a%20b.sql");
        assert_eq!(uri("C:\\jobs\\a.sql"), "file:///C:/jobs/a.sql");
        assert_eq!(uri("main:a.sql"), "main%3Aa.sql");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
        assert_eq!(artifact("a.sql")["uriBaseId"], "%SRCROOT%");
        assert!(artifact("/a.sql").get("uriBaseId").is_none());
    }
}
