//! Pages of the rule book, and the commands that show things.

use crate::rules::RuleBook;
use crate::rules::judge;
use crate::target::Target;

/// Shows what a rule says. Takes the rule.
pub const EXPLAIN: &str = "keepstate.explain";
/// Opens the page that a rule comes from. Takes the rule.
pub const OPEN_SOURCE: &str = "keepstate.openSource";
/// Shows the old side. Takes its address and the range in it.
pub const SHOW_OLD: &str = "keepstate.showOld";

/// All commands.
pub const COMMANDS: [&str; 3] = [EXPLAIN, OPEN_SOURCE, SHOW_OLD];

/// A rule, as a page in Markdown.
pub fn page(name: &str) -> Option<String> {
    let book = RuleBook::embedded();
    if let Some(rule) = book.get(name) {
        let facts = [
            ("verdict", rule.verdict.name().to_owned()),
            ("basis", rule.basis.name().to_owned()),
            ("documented", rule.documented.join(", ")),
            ("targets", targets(&rule.targets)),
            ("source", format!("<{}> ({})", rule.source.url, rule.source.date)),
        ];
        return Some(sheet(&rule.id, &facts, &rule.body));
    }
    if let Some(rule) = book.lint(name) {
        let facts = [
            ("level", rule.level.name().to_owned()),
            ("basis", rule.basis.name().to_owned()),
            ("targets", targets(&rule.targets)),
            ("source", format!("<{}> ({})", rule.source.url, rule.source.date)),
        ];
        return Some(sheet(&rule.id, &facts, &rule.body));
    }
    judge::built_in(name).map(|text| sheet(name, &[("verdict", "unknown".to_owned())], text))
}

/// The page that a rule comes from.
pub fn source(name: &str) -> Option<&'static str> {
    let book = RuleBook::embedded();
    let change = book.get(name).map(|rule| rule.source.url.as_str());
    change.or_else(|| book.lint(name).map(|rule| rule.source.url.as_str()))
}

fn targets(targets: &[Target]) -> String {
    targets.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ")
}

fn sheet(id: &str, facts: &[(&str, String)], body: &str) -> String {
    let mut out = format!("# {id}\n\n");
    for (label, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        out.push_str(&format!("- {label}: {value}\n"));
    }
    out.push('\n');
    out.push_str(body.trim_end());
    out.push('\n');
    out
}
