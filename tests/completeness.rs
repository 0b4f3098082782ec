//! Nothing is forgotten: every exec node is held against Flink, and every difference that `diff` can state is judged or known not to be.
//!
//! What is missing is listed with its reason; a line that is no longer true fails.

use std::collections::{BTreeMap, BTreeSet};

use keepstate::diff::change::Fact;
use keepstate::exec::{Operator, Purpose, plan_script_for};
use keepstate::rules::{RuleBook, vocabulary};
use keepstate::source::SourceMap;
use keepstate::target::Target;
use serde_json::Value;

/// Exec nodes that no measured plan has.
const NO_PLAN: &[(&str, &str)] = &[];

/// Exec nodes with state of which no measured savepoint tells.
const NO_STATE: &[(&str, &str)] = &[];

/// Exec nodes that no measured run goes through.
const NO_RUN: &[(&str, &str)] = &[("LookupJoin", "what an external table answers is in no sample rows")];

/// Differences that no rule of `vvr` speaks of, so that they are unknown.
const NO_RULE: &[(&str, &str)] = &[
    ("join key_order", "no page says whether the order of a join's keys counts"),
    ("join sides", "no page speaks of changing places between the sides"),
    ("join unique_keys", "no page speaks of what tells the rows of a side apart"),
    ("operator-removed", "no page speaks of an operator that goes without anything in its place"),
    ("rank-type", "ranks other than ROW_NUMBER do not plan"),
];

fn lines(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().map(|line| serde_json::from_str(line).expect("a case a line"))
}

/// What is missing, against the list that says why.
fn compare(what: &str, missing: &BTreeSet<String>, listed: &[(&str, &str)]) {
    let listed: BTreeSet<String> = listed.iter().map(|(name, _)| (*name).to_owned()).collect();
    let unlisted: Vec<&String> = missing.difference(&listed).collect();
    let stale: Vec<&String> = listed.difference(missing).collect();
    assert!(unlisted.is_empty() && stale.is_empty(), "{what}: not listed {unlisted:?}; no longer missing {stale:?}");
}

fn missing(there: &BTreeSet<String>, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let names = Operator::NAMES.iter().filter(|name| wanted(name) && !there.contains(**name));
    names.map(|name| (*name).to_owned()).collect()
}

#[test]
fn every_exec_node_is_in_a_measured_plan() {
    let mut there = BTreeSet::new();
    for case in lines(include_str!("plan/cases.jsonl")) {
        let kinds = case["kinds"].as_array().cloned().unwrap_or_default();
        there.extend(kinds.iter().filter_map(|k| k.as_str().map(str::to_owned)));
    }
    compare("plans", &missing(&there, |_| true), NO_PLAN);
}

#[test]
fn every_stateful_exec_node_is_in_a_measured_savepoint() {
    let mut there = BTreeSet::new();
    for text in [include_str!("state/matrix.jsonl"), include_str!("state/shapes.jsonl")] {
        for case in lines(text) {
            for operators in ["both", "1.20.5", "2.2.1"].iter().filter_map(|version| case[*version].as_array()) {
                there.extend(operators.iter().filter_map(|o| o[0].as_str().map(str::to_owned)));
            }
        }
    }
    // The savepoint names what keeps the state of a sink.
    if there.contains("SinkMaterializer") {
        there.insert("Sink".to_owned());
    }
    // These keep nothing, whatever they read.
    let stateless = [
        "TableSourceScan",
        "WatermarkAssigner",
        "Calc",
        "Expand",
        "Correlate",
        "Exchange",
        "Union",
        "Values",
        "LocalWindowAggregate",
        "LocalGroupAggregate",
        "MiniBatchAssigner",
        "DropUpdateBefore",
    ];
    compare("savepoints", &missing(&there, |name| !stateless.contains(&name)), NO_STATE);
}

#[test]
fn every_exec_node_is_in_a_measured_run() {
    let known: Vec<&str> = include_str!("executor/known.txt").lines().filter_map(|l| l.split(':').next()).collect();
    let mut there = BTreeSet::new();
    for text in [
        include_str!("executor/aggregates.jsonl"),
        include_str!("executor/documents.jsonl"),
        include_str!("executor/joins.jsonl"),
        include_str!("executor/split.jsonl"),
        include_str!("executor/table_functions.jsonl"),
        include_str!("executor/operators.jsonl"),
        include_str!("executor/patterns.jsonl"),
        include_str!("executor/ranks-and-bundles.jsonl"),
        include_str!("executor/various.jsonl"),
        include_str!("executor/windows.jsonl"),
    ] {
        for case in lines(text) {
            let name = format!("{} flink-1.20", case["id"].as_str().unwrap_or_default());
            if !known.contains(&name.as_str()) {
                there.extend(kinds_of_run(&case));
            }
        }
    }
    compare("runs", &missing(&there, |_| true), NO_RUN);
}

/// The exec nodes that a case of `tests/executor` runs.
fn kinds_of_run(case: &Value) -> BTreeSet<String> {
    let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut sql = String::new();
    for (key, value) in case["config"].as_object().into_iter().flatten() {
        sql += &format!("SET '{key}' = '{}';\n", words(value));
    }
    for table in case["tables"].as_array().into_iter().flatten() {
        let with = table["with"].as_str().map(|w| format!(", {w}")).unwrap_or_default();
        let columns = words(&table["columns"]);
        sql += &format!("CREATE TABLE {} ({columns}) WITH ('connector' = 'stub'{with});\n", words(&table["name"]));
    }
    for statement in case["views"].as_array().into_iter().flatten().chain([&case["query"]]) {
        sql += &format!("{};\n", words(statement).trim_end_matches(';'));
    }
    let mut sources = SourceMap::new();
    let file = sources.add("case.sql", sql);
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    let plans = plan_script_for(&[&script], Target::Flink120, Purpose::Collect).plans;
    plans.iter().flat_map(|plan| plan.ids().map(|id| plan.node(id).op.kind().to_owned())).collect()
}

/// Every kind of change, and each single difference that it can state, is asked for by a rule. Which family of operators a rule
/// speaks of is another matter: `tests/rules.rs` goes through them one by one.
#[test]
fn every_difference_is_judged_or_listed() {
    let book = RuleBook::embedded();
    let mut missing = BTreeSet::new();
    for kind in vocabulary::kinds() {
        let name = kind.name();
        let patterns: Vec<_> = book
            .rules()
            .iter()
            .filter(|r| r.targets.contains(&Target::Vvr))
            .flat_map(|r| &r.patterns)
            .filter(|p| p.words("change").contains(&name))
            .collect();
        if patterns.is_empty() {
            missing.insert(name.to_owned());
            continue;
        }
        if patterns.iter().any(|p| p.names().all(vocabulary::is_descriptive)) {
            continue;
        }
        for (fact, value) in kind.facts() {
            let single = matches!(value, Fact::Bool(_) | Fact::Count(_)) && !vocabulary::is_descriptive(fact);
            if single && !patterns.iter().any(|p| p.names().any(|n| n == fact)) {
                missing.insert(format!("{name} {fact}"));
            }
        }
    }
    compare("rules", &missing, NO_RULE);
}
