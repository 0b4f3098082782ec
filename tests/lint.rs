//! The lint rules: well formed, each example true, and what they say of the queries of `tests/plan` and `examples/`.
//!
//! Rules are read from the files, so that writing one needs no build.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use keepstate::check::{Options, Text};
use keepstate::lint::{Linted, lint, lint_by};
use keepstate::observe;
use keepstate::report::lint::LintFinding;
use keepstate::report::model::ErrorCode;
use keepstate::rules::lint::LintRule;
use keepstate::rules::{RuleBook, template};
use keepstate::target::Target;

fn files(directory: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

fn book() -> &'static RuleBook {
    static BOOK: OnceLock<RuleBook> = OnceLock::new();
    BOOK.get_or_init(|| {
        let mut paths = Vec::new();
        files(Path::new("rules/lint"), &mut paths);
        let texts: Vec<(String, String)> = paths
            .iter()
            .map(|p| {
                let name = p.strip_prefix("rules").unwrap().to_string_lossy().replace('\\', "/");
                (name, std::fs::read_to_string(p).unwrap())
            })
            .collect();
        RuleBook::parse(texts.iter().map(|(name, text)| (name.as_str(), text.as_str())))
            .unwrap_or_else(|errors| panic!("{}", errors.join("\n")))
    })
}

fn linted(name: &str, sql: &str, target: Target) -> Linted {
    lint_by(book(), [Text::new(name, sql)], &Options { target, ..Options::default() })
}

fn findings(linted: &Linted) -> Vec<&LintFinding> {
    linted.report.jobs.iter().flat_map(|j| &j.findings).collect()
}

fn rules_of(linted: &Linted) -> Vec<String> {
    let mut rules: Vec<String> = findings(linted).iter().map(|f| f.rule.clone()).collect();
    rules.sort();
    rules
}

#[test]
fn examples_are_true() {
    let mut wrong = Vec::new();
    for rule in book().lints() {
        for example in rule.examples().unwrap_or_else(|e| panic!("{e}")) {
            if let Some(problem) = problem(rule, &example.sql, &example.expect) {
                wrong.push(format!("{}, `{}`: {problem}", rule.id, example.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} examples are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn problem(rule: &LintRule, sql: &str, expect: &keepstate::rules::lint::LintExpect) -> Option<String> {
    let found = linted("example.sql", sql, expect.target.unwrap_or(rule.targets[0]));
    if let Some(error) = found.report.errors.first() {
        return Some(format!("cannot be planned: {}", error.message));
    }
    let mut expected = expect.rules.clone();
    expected.sort();
    if rules_of(&found) != expected {
        let told: Vec<String> = findings(&found).iter().map(|f| format!("{}: {}", f.rule, f.message)).collect();
        return Some(format!("expected {expected:?}, found:\n  {}", told.join("\n  ")));
    }
    let own: Vec<&LintFinding> = findings(&found).into_iter().filter(|f| f.rule == rule.id).collect();
    for finding in &own {
        let Some(place) = &finding.at else { return Some("the finding has no place".to_owned()) };
        let text = found.sources.text(place.span).split_whitespace().collect::<Vec<_>>().join(" ");
        if expect.at.as_ref().is_some_and(|at| *at != text) {
            return Some(format!("points at {text:?}"));
        }
        if finding.message.contains(['?', '{', '}']) || finding.help.contains(['?', '{', '}']) {
            return Some(format!("a word is missing: {} / {}", finding.message, finding.help));
        }
    }
    (expect.at.is_some() && own.is_empty()).then(|| "`at` is given, but this rule finds nothing".to_owned())
}

#[test]
fn every_rule_has_an_example_that_fires_and_one_that_does_not() {
    for rule in book().lints() {
        let examples = rule.examples().unwrap();
        let fires = |fires: bool| examples.iter().any(|e| e.expect.rules.contains(&rule.id) == fires);
        assert!(fires(true) && fires(false), "{} needs an example that fires and a near miss", rule.id);
        assert!(!rule.prose().is_empty(), "{} has no prose", rule.id);
        assert!(rule.body.starts_with(&format!("# {}\n", rule.title)), "{}: the heading is not the title", rule.id);
        for text in [&rule.title, &rule.message, &rule.help] {
            assert!(!text.trim().ends_with('.') && !text.contains('\n'), "{}: {text:?} is not one line", rule.id);
        }
        for example in &examples {
            for id in &example.expect.rules {
                assert!(book().lint(id).is_some(), "{} expects an unknown rule {id}", rule.id);
            }
        }
    }
}

#[test]
fn rules_ask_only_for_facts_that_exist() {
    for rule in book().lints() {
        for pattern in &rule.patterns {
            let kinds = pattern.words("observation");
            assert_eq!(kinds.len(), 1, "{}: each alternative names one kind of observation", rule.id);
            let known =
                observe::facts_of(kinds[0]).unwrap_or_else(|| panic!("{}: no observation `{}`", rule.id, kinds[0]));
            for name in pattern.names() {
                assert!(known.contains(&name), "{}: there is no fact `{name}`", rule.id);
            }
        }
    }
}

/// A kind of observation that no rule asks for would be work for nothing.
#[test]
fn every_kind_of_observation_has_a_rule() {
    let asked: BTreeSet<&str> =
        book().lints().iter().flat_map(|r| r.patterns.iter().flat_map(|p| p.words("observation"))).collect();
    for kind in observe::kinds() {
        assert!(asked.contains(kind.name()), "no rule speaks of `{}`", kind.name());
    }
}

#[test]
fn templates_name_something() {
    for rule in book().lints() {
        for text in [&rule.message, &rule.help] {
            assert!(template::names(text).iter().all(|n| !n.is_empty()), "{}: {text}", rule.id);
        }
    }
}

/// What is found in every query that `tests/plan` has and in the examples. Each is linted for all engines; none may panic. Read the
/// list when it changes: what should not be there is a false alarm.
#[test]
fn the_corpus_is_linted() {
    #[derive(serde::Deserialize)]
    struct Case {
        id: String,
        ddl: Vec<String>,
        #[serde(default)]
        config: BTreeMap<String, String>,
        sql: String,
    }
    let mut scripts: Vec<(String, String)> = Vec::new();
    for line in include_str!("plan/cases.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let mut text = String::new();
        for (option, value) in &case.config {
            let _ = writeln!(text, "SET '{option}' = '{value}';");
        }
        for statement in case.ddl.iter().chain([&case.sql]) {
            let _ = writeln!(text, "{};", statement.trim_end().trim_end_matches(';'));
        }
        scripts.push((case.id, text));
    }
    let mut paths = Vec::new();
    files(Path::new("examples"), &mut paths);
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "sql")) {
        scripts.push((path.display().to_string(), std::fs::read_to_string(path).unwrap()));
    }
    let (mut counts, mut lines) = (BTreeMap::<String, usize>::new(), String::new());
    let (mut clean, mut unplanned) = (0, 0);
    for (name, text) in &scripts {
        for target in [Target::Vvr, Target::Flink22] {
            linted(name, text, target);
        }
        let found = linted(name, text, Target::Flink120);
        for error in &found.report.errors {
            assert_ne!(error.code, ErrorCode::Internal, "{name}: {}", error.message);
        }
        let rules = rules_of(&found);
        match (rules.is_empty(), found.report.errors.is_empty()) {
            (true, true) => clean += 1,
            (true, false) => unplanned += 1,
            (false, _) => {
                let _ = writeln!(lines, "{name}: {}", rules.join(", "));
                rules.into_iter().for_each(|r| *counts.entry(r).or_default() += 1);
            }
        }
    }
    let mut text = format!("{} scripts: {clean} without findings, {unplanned} that do not plan\n\n", scripts.len());
    for (rule, count) in &counts {
        let _ = writeln!(text, "{count:5} {rule}");
    }
    insta::assert_snapshot!(format!("{text}\n{lines}"));
}

/// The rules in the binary are those in the files.
#[test]
fn the_report_is_whole() {
    let sql = "SET 'table.exec.state.ttl' = '0';
        CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'kafka', 'properties.sasl.password' = 'hunter2');
        SELECT k, SUM(v) AS s FROM t GROUP BY k;";
    let linted = lint([Text::new("one.sql", sql), Text::new("two.sql", "SELECT 1;")], &Options::default());
    let report = serde_json::to_value(&linted.report).unwrap();
    assert_eq!(report["exit_code"], 1);
    let names: Vec<&str> = report["jobs"].as_array().unwrap().iter().map(|j| j["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["one", "two"]);
    let finding = &report["jobs"][0]["findings"][0];
    let fields: Vec<&str> = finding.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "rule",
        "level",
        "basis",
        "message",
        "help",
        "url",
        "operator",
        "state",
        "at",
        "used_at",
        "fingerprint",
        "suppressed",
    ];
    let (fields, expected): (BTreeSet<&str>, BTreeSet<&str>) = (fields.into_iter().collect(), expected.into());
    assert_eq!(fields, expected);
    assert_eq!(finding["operator"]["kind"], "GroupAggregate");
    assert_eq!(finding["state"], serde_json::json!(["accState"]));
    assert_eq!(finding["at"]["file"], "one.sql");
    assert_eq!(finding["rule"], "group-aggregate-grows");
    assert!(finding["suppressed"].is_null() && !report.to_string().contains("hunter2"));
}

/// A script that does not plan is an error, and the others are still looked at.
#[test]
fn what_does_not_plan_is_an_error() {
    let texts = [Text::new("bad.sql", "SELECT nothing FROM"), Text::new("good.sql", "SELECT 1;")];
    let linted = lint(texts, &Options::default());
    assert_eq!((linted.report.exit_code, linted.report.jobs.len()), (2, 1));
    assert_eq!(linted.report.errors[0].code, ErrorCode::Parse);
}
