//! `keepstate explain RULE`.

use std::fmt::Write as _;

use super::args::ExplainArgs;
use super::{Outcome, refuse};
use crate::report::human::{Style, paint};
use crate::report::model::{ErrorCode, ErrorItem};
use crate::rules::RuleBook;
use crate::rules::file::{Rule, RuleSource};
use crate::rules::judge;
use crate::rules::lint::LintRule;
use crate::target::Target;

pub(super) fn run(args: &ExplainArgs, style: Style) -> Outcome {
    let book = RuleBook::embedded();
    if let Some(text) = built_in(&args.rule) {
        return Outcome::ok(text);
    }
    if let Some(rule) = book.lint(&args.rule) {
        return Outcome::ok(lint_page(rule, style));
    }
    let found = book.find(&args.rule);
    if found.is_empty() {
        let error = ErrorItem::new(ErrorCode::Config, format!("there is no rule `{}`", args.rule));
        let help = match book.suggest(&args.rule) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "`keepstate rules` lists them".to_owned(),
        };
        return refuse(error.help(help), style);
    }
    Outcome::ok(found.iter().map(|rule| page(rule, style)).collect::<Vec<_>>().join("\n"))
}

/// What is found without a rule file, in lines as the rule files have them.
fn built_in(name: &str) -> Option<String> {
    let text = judge::built_in(name)?;
    let mut out = format!("{name}: unknown\n\n");
    let mut width = 0;
    for word in text.split(' ') {
        if width + word.len() > 120 {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += word.len();
    }
    out.push('\n');
    Some(out)
}

fn page(rule: &Rule, style: Style) -> String {
    let class = if rule.inferred.is_empty() { "" } else { ", or inferred where only its class is covered" };
    let lines = [
        ("verdict", rule.verdict.name().to_owned()),
        ("basis", format!("{}{class}", rule.basis.name())),
        ("documented", rule.documented.join(", ")),
        ("overrides", rule.overrides.join(", ")),
        ("targets", targets(&rule.targets)),
        ("source", source(&rule.source)),
    ];
    sheet(&rule.id, &lines, &rule.body, style)
}

fn lint_page(rule: &LintRule, style: Style) -> String {
    let lines = [
        ("level", rule.level.name().to_owned()),
        ("basis", rule.basis.name().to_owned()),
        ("overrides", rule.overrides.join(", ")),
        ("targets", targets(&rule.targets)),
        ("source", source(&rule.source)),
    ];
    sheet(&rule.id, &lines, &rule.body, style)
}

fn targets(targets: &[Target]) -> String {
    targets.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ")
}

fn source(source: &RuleSource) -> String {
    format!("{} ({})", source.url, source.date)
}

fn sheet(id: &str, lines: &[(&str, String)], body: &str, style: Style) -> String {
    let mut out = format!("{}\n", paint(id, "1", style));
    for (label, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(out, "  {:11} {value}", format!("{label}:"));
    }
    let _ = writeln!(out, "\n{body}");
    out
}
