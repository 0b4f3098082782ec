//! The rule book as data: well formed, complete, and each example true.

use std::collections::{BTreeMap, BTreeSet};

use keepstate::diff::change::{Change, ChangeKind, Item, JobDiff};
use keepstate::rules::file::Scope;
use keepstate::rules::judge::{NO_RULE, judge};
use keepstate::rules::rows::Rows;
use keepstate::rules::verdict::{Basis, Consequence, Verdict};
use keepstate::rules::{RuleBook, template, vocabulary};
use keepstate::target::Target;

fn book() -> &'static RuleBook {
    RuleBook::embedded()
}

/// Every documented row that carries a verdict is cited by a rule, or `rules/rows.toml` says why not; and it says so of no row that
/// is cited, so that the reasons go once the rules are there.
#[test]
fn every_documented_row_has_a_rule_or_a_reason() {
    let cited: BTreeSet<&str> = book().rules().iter().flat_map(|r| r.documented.iter().map(String::as_str)).collect();
    let mut wrong = Vec::new();
    let mut known = BTreeSet::new();
    for row in Rows::embedded().iter() {
        let id = row.id.as_str();
        assert!(known.insert(id), "{id} is listed twice");
        match (cited.contains(id), &row.undecided, &row.pending) {
            (true, None, None) | (false, Some(_), None) | (false, None, Some(_)) => {}
            (true, ..) => wrong.push(format!("{id} is cited by a rule: strike its `undecided` or `pending`")),
            (false, None, None) => wrong.push(format!("{id} is cited by no rule, and nothing says why")),
            (false, Some(_), Some(_)) => wrong.push(format!("{id} is either undecided or pending")),
        }
    }
    wrong.extend(cited.difference(&known).map(|id| format!("{id} is cited, but is no row of rules/rows.toml")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The numbers of the rows of a page leave no gap.
#[test]
fn no_documented_row_is_missing() {
    let last = [
        ("AL", 1),
        ("GA", 13),
        ("OA", 12),
        ("GW", 12),
        ("WTVF", 20),
        ("DD", 5),
        ("TN", 7),
        ("WTN", 11),
        ("J", 9),
        ("PR", 5),
        ("WH", 4),
        ("UA", 2),
        ("TS", 4),
        ("LM", 3),
        ("SRC", 10),
        ("SNK", 6),
        ("OL", 6),
        ("CFG", 9),
        ("ENG", 4),
    ];
    let expected: Vec<String> =
        last.iter().flat_map(|(page, last)| (1..=*last).map(move |n| format!("{page}-{n:02}"))).collect();
    let listed: Vec<&str> = Rows::embedded().iter().map(|row| row.id.as_str()).collect();
    assert_eq!(listed, expected);
}

/// Rows that were not read in the documents are never cited as if they had been.
#[test]
fn recalled_rows_are_not_cited() {
    for rule in book().rules() {
        for id in ["OA-10", "OA-11", "OA-12", "GA-11", "GA-12", "GA-13"] {
            assert!(!rule.documented.iter().any(|d| d == id), "{} cites {id}", rule.id);
        }
    }
}

#[test]
fn every_rule_has_an_example_and_consistent_words() {
    for rule in book().rules() {
        let examples = rule.examples().unwrap();
        assert!(!examples.is_empty(), "{} has no example", rule.id);
        assert!(!rule.prose().is_empty(), "{} has no prose", rule.id);
        assert!(rule.body.starts_with(&format!("# {}\n", rule.title)), "{}: the heading is not the title", rule.id);
        for example in &examples {
            let engines = (&example.expect.old_engine, &example.expect.new_engine);
            assert!(
                example.old != example.new || engines.0 != engines.1,
                "{}: both sides of `{}` are the same",
                rule.id,
                example.name
            );
            if let Some(expected) = &example.expect.rules {
                for id in expected {
                    assert!(book().get(id).is_some(), "{} expects an unknown rule {id}", rule.id);
                }
            }
        }
        for text in [&rule.title, &rule.message, &rule.help] {
            assert!(!text.trim().ends_with('.') && !text.contains('\n'), "{}: {text:?} is not one line", rule.id);
        }
        let fits = match rule.verdict {
            Verdict::Compatible => rule.consequence == Consequence::None,
            Verdict::PartiallyCompatible => rule.consequence == Consequence::StartsEmpty,
            Verdict::Unknown => rule.consequence == Consequence::Undetermined,
            Verdict::Incompatible => !matches!(rule.consequence, Consequence::None | Consequence::StartsEmpty),
        };
        assert!(fits, "{}: verdict and consequence do not go together", rule.id);
        if rule.basis == Basis::Documented {
            assert!(!rule.documented.is_empty(), "{} says `documented` and cites no row", rule.id);
        }
    }
}

#[test]
fn rules_ask_only_for_facts_that_exist() {
    let job: Vec<&str> = vocabulary::JOB.iter().map(|(name, _)| *name).collect();
    for rule in book().rules() {
        for pattern in rule.patterns.iter().chain(&rule.inferred) {
            let known = if rule.scope == Scope::Job {
                job.clone()
            } else {
                // What is only inferred is a part of what the rule is about.
                let own = rule.patterns[0].words("change");
                let kinds = if pattern.words("change").is_empty() { own } else { pattern.words("change") };
                assert_eq!(kinds.len(), 1, "{}: each alternative names one kind of change", rule.id);
                vocabulary::facts_of(kinds[0]).unwrap_or_else(|| panic!("{}: no change `{}`", rule.id, kinds[0]))
            };
            for name in pattern.names() {
                assert!(known.contains(&name), "{}: there is no fact `{name}`", rule.id);
            }
            for family in pattern.words("family") {
                assert!(vocabulary::FAMILIES.contains(&family), "{}: there is no family `{family}`", rule.id);
            }
        }
    }
}

#[test]
fn optional_arguments_stand_in_brackets() {
    // Outside of brackets only facts that the kind always states may be used, else people read a question mark.
    for rule in book().rules() {
        for text in [&rule.message, &rule.help] {
            let mut outside = String::new();
            let mut depth = 0;
            for c in text.chars() {
                depth += i32::from(c == '[') - i32::from(c == ']');
                if depth == 0 {
                    outside.push(c);
                }
            }
            for name in template::names(&outside) {
                assert!(["items"].contains(&name), "{}: `{{{name}}}` must stand in brackets", rule.id);
            }
        }
    }
}

fn change(kind: ChangeKind, family: &'static str) -> Change {
    Change {
        kind,
        operator: None,
        context: vec![("family", family.into())],
        args: Vec::new(),
        item: Item::Other,
        old: None,
        new: None,
        beside: None,
        spots: Vec::new(),
        chain: Vec::new(),
        echoes: Vec::new(),
    }
}

/// Every single difference of every kind of change, set to true or one.
fn single_differences() -> Vec<(String, ChangeKind)> {
    use keepstate::diff::change::{AggregatesChange, KeysChange, MeasuresChange, OrderChange, WindowChange};
    let mut all = Vec::new();
    let mut add = |name: &str, kind: ChangeKind| all.push((format!("{} {name}", kind.name()).trim().to_owned(), kind));
    let two = AggregatesChange { old: 2, new: 2, survivors: 1, ..Default::default() };
    for (name, aggregates) in [
        ("added", AggregatesChange { new: 3, survivors: 2, added: 1, ..two.clone() }),
        ("removed", AggregatesChange { new: 1, removed: 1, ..two.clone() }),
        ("changed", AggregatesChange { changed: 1, ..two.clone() }),
        ("recomputed", AggregatesChange { recomputed: 1, ..two.clone() }),
        ("filter_changed", AggregatesChange { filter_changed: 1, ..two.clone() }),
        ("moved", AggregatesChange { survivors: 2, moved: true, ..two.clone() }),
        ("distinct_changed", AggregatesChange { distinct_changed: 1, ..two.clone() }),
        ("distinct_moved", AggregatesChange { survivors: 2, distinct_moved: true, ..two.clone() }),
        ("first", AggregatesChange { new: 1, added: 1, ..Default::default() }),
        ("all removed", AggregatesChange { old: 1, removed: 1, ..Default::default() }),
    ] {
        add(name, ChangeKind::Aggregates(aggregates));
    }
    type Set = fn(&mut WindowChange);
    let windows: [(&str, Set); 8] = [
        ("window_type", |w| w.window_type = true),
        ("size", |w| w.size = true),
        ("slide", |w| w.slide = true),
        ("step", |w| w.step = true),
        ("gap", |w| w.gap = true),
        ("offset", |w| w.offset = true),
        ("time_attribute", |w| w.time_attribute = true),
        ("session_keys", |w| w.session_keys = true),
    ];
    for (name, set) in windows {
        let mut window = WindowChange::default();
        set(&mut window);
        add(name, ChangeKind::Window(window));
    }
    let keys: [(&str, KeysChange); 5] = [
        ("added", KeysChange { added: 1, ..Default::default() }),
        ("removed", KeysChange { removed: 1, ..Default::default() }),
        ("changed", KeysChange { changed: 1, ..Default::default() }),
        ("moved", KeysChange { moved: true, ..Default::default() }),
        ("window_moved", KeysChange { window_moved: true, ..Default::default() }),
    ];
    for (name, change) in &keys {
        add(name, ChangeKind::GroupKeys(change.clone()));
        if *name != "window_moved" {
            add(name, ChangeKind::PartitionKeys(change.clone()));
            add(name, ChangeKind::InputColumns(change.clone()));
        }
    }
    for (name, order) in [
        ("fields", OrderChange { fields: true, ..Default::default() }),
        ("direction", OrderChange { direction: true, ..Default::default() }),
        ("nulls", OrderChange { nulls: true, ..Default::default() }),
        ("time_attribute", OrderChange { time_attribute: true, ..Default::default() }),
    ] {
        add(name, ChangeKind::OrderBy(order));
    }
    add("", ChangeKind::GroupingSets { on_both_sides: false });
    add("start", ChangeKind::RankRange { start: true, end: false });
    add("end", ChangeKind::RankRange { start: false, end: true });
    add("", ChangeKind::StateTtl { switched: false });
    add("switched", ChangeKind::StateTtl { switched: true });
    add("", ChangeKind::RankType);
    add("units", ChangeKind::Frame { units: true, bound: false });
    add("bound", ChangeKind::Frame { units: false, bound: true });
    add("", ChangeKind::ProjectionStep { appeared: true, conditions_only: false });
    add("", ChangeKind::WindowOutput { added: 1, removed: 0, window_time: false });
    add("", ChangeKind::RankOutput { added: true });
    add("", ChangeKind::OutputColumns { added: 1, removed: 0 });
    add("upsert_key", ChangeKind::RankStrategy { upsert_key: true, algorithm: false });
    add("algorithm", ChangeKind::RankStrategy { upsert_key: false, algorithm: true });
    add("", ChangeKind::EmitStrategy { lateness_only: false });
    for (name, measures) in [
        ("added", MeasuresChange { added: 1, ..Default::default() }),
        ("removed", MeasuresChange { removed: 1, ..Default::default() }),
        ("changed", MeasuresChange { changed: 1, ..Default::default() }),
        ("moved", MeasuresChange { moved: true, ..Default::default() }),
    ] {
        add(name, ChangeKind::Measures(measures));
    }
    add("", ChangeKind::RowPattern);
    add("", ChangeKind::AfterMatch);
    add("", ChangeKind::Definitions { changed: 1 });
    add("", ChangeKind::Within);
    for set in ["join_type", "condition", "key_order", "bounds", "reworded", "sides", "order", "unique_keys"] {
        add(
            set,
            ChangeKind::Join {
                join_type: set == "join_type",
                condition: set == "condition",
                key_order: set == "key_order",
                bounds: set == "bounds",
                reworded: set == "reworded",
                sides: set == "sides",
                order: set == "order",
                unique_keys: set == "unique_keys",
            },
        );
    }
    all
}

/// Which differences an operator of each family can have at all.
fn possible(family: &str) -> &'static [&'static str] {
    match family {
        "window-aggregate" => {
            &["aggregates", "window", "group-keys", "grouping-sets", "projection-step", "window-output"]
        }
        "group-window-aggregate" => &["aggregates", "window", "group-keys", "window-output", "emit-strategy"],
        "group-aggregate" => &["aggregates", "group-keys", "grouping-sets", "state-ttl"],
        "over-aggregate" => &["aggregates", "partition-keys", "order-by", "input-columns", "frame"],
        "window-rank" => &[
            "window",
            "partition-keys",
            "order-by",
            "rank-range",
            "rank-type",
            "input-columns",
            "window-output",
            "rank-output",
        ],
        "window-deduplicate" => &["window", "partition-keys", "order-by", "input-columns", "window-output"],
        "rank" => {
            &["partition-keys", "order-by", "rank-range", "rank-type", "input-columns", "rank-output", "rank-strategy"]
        }
        "deduplicate" => &["partition-keys", "order-by", "input-columns", "output-columns"],
        "join" => &["join", "input-columns", "state-ttl"],
        "interval-join" | "window-join" => &["join", "input-columns"],
        "match" => &[
            "row-pattern",
            "measures",
            "after-match",
            "definitions",
            "within",
            "partition-keys",
            "order-by",
            "input-columns",
        ],
        _ => &[],
    }
}

/// The differences that are `unknown` because no rule speaks of them. Whoever writes a rule strikes its line.
#[test]
fn differences_without_a_rule_are_listed() {
    let expected: BTreeMap<&str, &[&str]> = BTreeMap::from([
        // Ranks other than ROW_NUMBER do not plan.
        ("window-rank", &["rank-type"][..]),
        ("rank", &["rank-type", "input-columns moved"][..]),
        // Whether stored columns may change places is not written for operators that keep rows.
        // FILTER and OVER together do not plan.
        ("over-aggregate", &["aggregates filter_changed", "input-columns moved"][..]),
        ("deduplicate", &["input-columns moved"][..]),
        ("match", &["input-columns moved"][..]),
        // A regular join has no bounds. Nothing is written of the order of its keys, of its sides, or of what tells rows apart.
        (
            "join",
            &[
                "join key_order",
                "join bounds",
                "join reworded",
                "join sides",
                "join unique_keys",
                "input-columns moved",
                // From one time to live to another.
                "state-ttl",
            ][..],
        ),
        // Rows of an interval join are not told apart by keys.
        ("interval-join", &["join key_order", "join sides", "join unique_keys", "input-columns moved"][..]),
        // No page exists.
        (
            "window-join",
            &[
                "join join_type",
                "join condition",
                "join key_order",
                "join bounds",
                "join reworded",
                "join sides",
                "join order",
                "join unique_keys",
                "input-columns added",
                "input-columns removed",
                "input-columns changed",
                "input-columns moved",
            ][..],
        ),
        // A group window has no window columns among its keys; its window function may move.
        ("window-aggregate", &[][..]),
        ("group-window-aggregate", &[][..]),
        // There are no window columns to move in an unbounded GROUP BY. Nothing is written of another time to live.
        ("group-aggregate", &["group-keys window_moved", "state-ttl"][..]),
        // No page exists.
        (
            "window-deduplicate",
            &[
                "window window_type",
                "window size",
                "window slide",
                "window step",
                "window gap",
                "window offset",
                "window time_attribute",
                "window session_keys",
                "partition-keys added",
                "input-columns added",
                "partition-keys removed",
                "input-columns removed",
                "partition-keys changed",
                "input-columns changed",
                "partition-keys moved",
                "input-columns moved",
                "order-by fields",
                "order-by direction",
                "order-by nulls",
                "order-by time_attribute",
                "window-output",
            ][..],
        ),
    ]);
    for (family, expected) in expected {
        let unknown: BTreeSet<String> = single_differences()
            .into_iter()
            .filter(|(_, kind)| possible(family).contains(&kind.name()))
            .filter(|(_, kind)| {
                let mut change = change(kind.clone(), family);
                if family == "deduplicate" {
                    change.context.extend([("time", "rowtime".into()), ("keep", "last".into())]);
                }
                let judged = judge(book(), Target::Vvr, &JobDiff { changes: vec![change], ..Default::default() });
                judged.findings.iter().any(|f| f.rule == NO_RULE)
            })
            .map(|(name, _)| name)
            .collect();
        let expected: BTreeSet<String> = expected.iter().map(|e| (*e).to_owned()).collect();
        assert_eq!(unknown, expected, "of {family}");
    }
}

#[test]
fn below_a_window_rank_the_stricter_page_judges() {
    for (name, kind) in single_differences() {
        if !possible("window-aggregate").contains(&kind.name()) || kind.name() == "window-output" {
            continue;
        }
        let mut change = change(kind, "window-aggregate");
        change.context.push(("feeds_window_rank", true.into()));
        let judged = judge(book(), Target::Vvr, &JobDiff { changes: vec![change], ..Default::default() });
        assert_eq!(judged.verdict, Verdict::Incompatible, "{name}");
        assert!(judged.findings.iter().all(|f| f.documented.iter().any(|d| d.starts_with('W'))), "{name}");
    }
}

#[test]
fn names_are_found_and_suggested() {
    assert_eq!(
        book().find("wtn-09").iter().map(|r| r.id.as_str()).collect::<Vec<_>>(),
        ["window-top-n-lower-bound-changed", "window-top-n-n-changed"]
    );
    assert_eq!(book().suggest("window-top-n-n-change"), Some("window-top-n-n-changed"));
    assert!(book().find("nothing-like-it").is_empty());
}

/// Every example from end to end: both scripts are planned, compared and judged.
#[test]
fn examples_are_true() {
    use keepstate::check::{Options, Text, check};
    let mut wrong = Vec::new();
    for rule in book().rules() {
        for example in rule.examples().unwrap() {
            let target = example.expect.target.unwrap_or(rule.targets[0]);
            let engines = example.expect.old_engine.zip(example.expect.new_engine);
            let options = Options { target, engines, ..Default::default() };
            let checked = check(Text::new("old.sql", example.old), Text::new("new.sql", example.new), &options);
            let report = checked.report;
            let mut fail = |why: String| wrong.push(format!("{} ({}): {why}", rule.id, example.name));
            for error in &report.errors {
                fail(format!("{}: {}", error.code.name(), error.message));
            }
            if report.verdict != example.expect.verdict {
                fail(format!("verdict {}, expected {}", report.verdict, example.expect.verdict));
            }
            let mut found: Vec<&str> = report.jobs.iter().flat_map(|j| &j.findings).map(|f| f.rule.as_str()).collect();
            found.sort_unstable();
            match &example.expect.rules {
                Some(expected) => {
                    let mut expected: Vec<&str> = expected.iter().map(String::as_str).collect();
                    expected.sort_unstable();
                    if found != expected {
                        fail(format!("found {found:?}, expected {expected:?}"));
                    }
                }
                None if !found.contains(&rule.id.as_str()) => fail(format!("found {found:?} without this rule")),
                None => {}
            }
            if let Some(basis) = example.expect.basis {
                let own = report.jobs.iter().flat_map(|j| &j.findings).find(|f| f.rule == rule.id);
                if own.map(|f| f.basis) != Some(basis) {
                    fail(format!("basis {:?}, expected {basis:?}", own.map(|f| f.basis)));
                }
            }
            for (name, fate) in &example.expect.columns {
                let column = report.jobs.iter().flat_map(|j| &j.columns).find(|c| c.name == *name);
                if column.map(|c| c.fate) != Some((*fate).into()) {
                    fail(format!("column {name} is {:?}, expected {fate:?}", column.map(|c| c.fate)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} examples are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A script against itself changes nothing: no rule may find anything in it.
#[test]
fn no_rule_finds_anything_without_a_change() {
    use keepstate::check::{Options, Text, check};
    for rule in book().rules() {
        for example in rule.examples().unwrap() {
            for text in [example.old, example.new] {
                let checked = check(Text::new("a.sql", text.clone()), Text::new("b.sql", text), &Options::default());
                let found: Vec<_> = checked.report.jobs.iter().flat_map(|j| &j.findings).map(|f| &f.rule).collect();
                assert!(found.is_empty(), "{} ({}): {found:?}", rule.id, example.name);
            }
        }
    }
}

/// The same for changes of sources, sinks, filters and jobs, which are of no operator family.
#[test]
fn other_differences_without_a_rule_are_listed() {
    let source = |set: &str| ChangeKind::Source {
        renamed: set == "renamed",
        connector: set == "connector",
        options: usize::from(set == "options"),
        sharding: usize::from(set == "sharding"),
        changelog: set == "changelog",
        watermark: set == "watermark",
        primary_key: set == "primary_key",
        unread_added: usize::from(set == "unread_added"),
        unread_changed: usize::from(set == "unread_changed"),
    };
    let sink = |set: &str| ChangeKind::Sink {
        renamed: set == "renamed",
        connector: set == "connector",
        options: usize::from(set == "options"),
    };
    let mut all: Vec<(String, ChangeKind)> = Vec::new();
    for set in [
        "renamed",
        "connector",
        "options",
        "sharding",
        "changelog",
        "watermark",
        "primary_key",
        "unread_added",
        "unread_changed",
    ] {
        all.push((format!("source {set}"), source(set)));
    }
    for set in ["renamed", "connector", "options"] {
        all.push((format!("sink {set}"), sink(set)));
    }
    all.push(("nullability".to_owned(), ChangeKind::Nullability { required: true, key: false }));
    all.push(("sink-materializer".to_owned(), ChangeKind::SinkMaterializer));
    for stateful in [false, true] {
        all.push((format!("sink-added {stateful}"), ChangeKind::SinkAdded { stateful }));
        all.push((format!("sink-removed {stateful}"), ChangeKind::SinkRemoved { stateful }));
    }
    for (below_stateful, ignored) in [(false, false), (true, false), (true, true)] {
        let name = format!("filter {below_stateful} {ignored}");
        all.push((name, ChangeKind::Filter { below_stateful, added: 1, removed: 1, ignored, having: false }));
    }
    for below_stateful in [false, true] {
        let kind = ChangeKind::TableFunction { below_stateful, added: 1, removed: 1 };
        all.push((format!("table-function {below_stateful}"), kind));
    }
    for (name, added, removed, moved) in [("added", 1, 0, false), ("removed", 0, 1, false), ("moved", 0, 0, true)] {
        all.push((format!("union-inputs {name}"), ChangeKind::UnionInputs { added, removed, moved }));
    }
    for window_keys in [false, true] {
        let kind = ChangeKind::OperatorReplaced { old_family: "rank", new_family: "deduplicate", window_keys };
        all.push((format!("operator-replaced {window_keys}"), kind));
    }
    all.push(("operator-added".to_owned(), ChangeKind::OperatorAdded));
    all.push(("operator-removed".to_owned(), ChangeKind::OperatorRemoved));
    all.push(("output-names".to_owned(), ChangeKind::OutputNames { renamed: 1 }));
    all.push(("job-option ttl".to_owned(), ChangeKind::JobOption { key: "table.exec.state.ttl".to_owned() }));
    all.push(("job-option other".to_owned(), ChangeKind::JobOption { key: "pipeline.max-parallelism".to_owned() }));

    let unknown: Vec<String> = all
        .into_iter()
        .filter(|(_, kind)| {
            let diff = JobDiff { changes: vec![change(kind.clone(), "")], ..Default::default() };
            judge(book(), Target::Vvr, &diff).findings.iter().any(|f| f.rule == NO_RULE)
        })
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        unknown,
        [
            // Only a changed delay is documented; another column or expression is no delay.
            "source watermark",
            // An operator that goes while its INSERT stays.
            "operator-removed",
            // From one positive time to another.
            "job-option ttl",
            "job-option other",
        ]
    );
}
