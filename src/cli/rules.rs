//! `keepstate rules`.

use std::fmt::Write as _;

use serde::Serialize;

use super::Outcome;
use super::args::{RulesArgs, RulesFormat};
use crate::report::human::{Style, paint};
use crate::report::{json, rule_index};
use crate::rules::RuleBook;
use crate::rules::file::Rule;
use crate::rules::lint::{Level, LintRule};
use crate::rules::rows::Rows;
use crate::rules::verdict::{Basis, Consequence, Verdict};
use crate::target::Target;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    rules: Vec<Entry<'a>>,
    lints: Vec<LintEntry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    title: &'a str,
    page: &'a str,
    targets: &'a [Target],
    verdict: Verdict,
    basis: Basis,
    consequence: Consequence,
    documented: &'a [String],
    overrides: &'a [String],
    url: &'a str,
}

#[derive(Serialize)]
struct LintEntry<'a> {
    id: &'a str,
    title: &'a str,
    page: &'a str,
    targets: &'a [Target],
    level: Level,
    basis: Basis,
    overrides: &'a [String],
    url: &'a str,
}

pub(super) fn run(args: &RulesArgs, style: Style) -> Outcome {
    let rules: Vec<&Rule> = RuleBook::embedded()
        .rules()
        .iter()
        .filter(|r| args.target.is_none_or(|target| r.targets.contains(&target)))
        .collect();
    let lints: Vec<&LintRule> = RuleBook::embedded()
        .lints()
        .iter()
        .filter(|r| args.target.is_none_or(|target| r.targets.contains(&target)))
        .collect();
    Outcome::ok(match args.format {
        RulesFormat::Human => list(&rules, &lints, style),
        RulesFormat::Markdown => rule_index::render(RuleBook::embedded(), Rows::embedded()),
        RulesFormat::Json => json::render(&Document {
            schema_version: 1,
            rules: rules
                .iter()
                .map(|r| Entry {
                    id: &r.id,
                    title: &r.title,
                    page: &r.page,
                    targets: &r.targets,
                    verdict: r.verdict,
                    basis: r.basis,
                    consequence: r.consequence,
                    documented: &r.documented,
                    overrides: &r.overrides,
                    url: &r.source.url,
                })
                .collect(),
            lints: lints
                .iter()
                .map(|r| LintEntry {
                    id: &r.id,
                    title: &r.title,
                    page: &r.page,
                    targets: &r.targets,
                    level: r.level,
                    basis: r.basis,
                    overrides: &r.overrides,
                    url: &r.source.url,
                })
                .collect(),
        }),
    })
}

fn list(rules: &[&Rule], lints: &[&LintRule], style: Style) -> String {
    let ids = rules.iter().map(|r| &r.id).chain(lints.iter().map(|r| &r.id));
    let width = ids.map(String::len).max().unwrap_or(0);
    let mut out = String::new();
    let mut page = "";
    for rule in rules {
        if rule.page != page {
            page = &rule.page;
            let space = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{space}{}", paint(page, "1", style));
        }
        let mark = match rule.basis {
            Basis::Documented if rule.inferred.is_empty() => "",
            Basis::Documented => "in part inferred",
            basis => basis.name(),
        };
        let rows = rule.documented.join(", ");
        let note = [rows.as_str(), mark].iter().filter(|s| !s.is_empty()).copied().collect::<Vec<_>>().join("; ");
        let _ = writeln!(out, "  {:width$}  {:20}  {note}", rule.id, rule.verdict.name());
    }
    if rules.is_empty() {
        out.push_str("there are no rules about changes for this engine yet\n");
    }
    page = "";
    for rule in lints {
        if rule.page != page {
            page = &rule.page;
            let _ = writeln!(out, "\n{}", paint(&format!("lint: {page}"), "1", style));
        }
        let _ = writeln!(out, "  {:width$}  {:20}  {}", rule.id, rule.level.name(), rule.basis.name());
    }
    out
}
