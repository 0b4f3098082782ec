//! Old and new scripts with the verdict that the documented rules give, checked from end to end through the library.
//!
//! `tests/cases/*.jsonl` holds one case a line: `id`, `area`, `old`, `new`, `verdict`, `rules` (rows that must be cited), `basis`,
//! `columns` (fates of output columns, by name or by sink and name), `note`; and, where it matters, `findings` (how many) and `at` (the texts that the first
//! finding points at, old and new), `beside` (the side that only shows what stands around the thing), `says` and `also` (what
//! the first finding's message and its related places say).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use keepstate::check::{Options, Text, check};
use keepstate::diff::matching::Side;
use keepstate::report::model::{Place, Report};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    #[allow(dead_code)]
    area: String,
    old: String,
    new: String,
    verdict: String,
    #[serde(default)]
    rules: Vec<String>,
    #[serde(default)]
    basis: Option<String>,
    #[serde(default)]
    columns: Option<BTreeMap<String, String>>,
    #[serde(default)]
    #[allow(dead_code)]
    note: String,
    #[serde(default)]
    findings: Option<usize>,
    #[serde(default)]
    at: Option<(Option<String>, Option<String>)>,
    #[serde(default)]
    beside: Option<String>,
    #[serde(default)]
    says: Option<String>,
    #[serde(default)]
    also: Option<String>,
}

/// Documented cases that cannot be planned yet. Whoever makes one plan strikes its line.
const UNSUPPORTED: &[&str] = &[];

fn cases() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "jsonl")) {
        for (number, line) in fs::read_to_string(file).unwrap().lines().enumerate() {
            let case = serde_json::from_str(line);
            all.push(case.unwrap_or_else(|e| panic!("{}:{}: {e}", file.display(), number + 1)));
        }
    }
    all
}

fn report(old: &str, new: &str) -> Report {
    check(Text::new("old.sql", old), Text::new("new.sql", new), &Options::default()).report
}

/// The text of a place, in one line.
fn text(sql: &str, place: Option<&Place>) -> Option<String> {
    let place = place?;
    let slice = sql.get(place.start.offset as usize..place.end.offset as usize)?;
    Some(slice.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What a report has that the case does not want, in words.
fn wrong(case: &Case, report: &Report) -> Vec<String> {
    let mut wrong = Vec::new();
    let findings: Vec<_> = report.jobs.iter().flat_map(|j| &j.findings).collect();
    if report.verdict.name() != case.verdict {
        wrong.push(format!("verdict {}, expected {}", report.verdict, case.verdict));
    }
    let cited: BTreeSet<&str> = findings.iter().flat_map(|f| &f.documented).map(String::as_str).collect();
    let missing: Vec<&String> = case.rules.iter().filter(|r| !cited.contains(r.as_str())).collect();
    if !missing.is_empty() {
        wrong.push(format!("{missing:?} not cited but {cited:?}"));
    }
    let bases: BTreeSet<&str> = findings.iter().map(|f| f.basis.name()).collect();
    if let Some(basis) = case.basis.as_deref().filter(|b| *b != "same-plan")
        && !bases.contains(basis)
    {
        wrong.push(format!("basis {bases:?}, expected {basis}"));
    }
    for (name, fate) in case.columns.iter().flatten() {
        let column =
            report.jobs.iter().flat_map(|j| &j.columns).find(|c| {
                c.name.eq_ignore_ascii_case(name) || format!("{}.{}", c.sink, c.name).eq_ignore_ascii_case(name)
            });
        let found = column.map(|c| serde_json::to_value(c.fate).unwrap());
        if found.as_ref().and_then(|f| f.as_str()) != Some(fate) {
            wrong.push(format!("column {name} is {found:?}, expected {fate}"));
        }
    }
    let rules: Vec<&str> = findings.iter().map(|f| f.rule.as_str()).collect();
    if case.findings.is_some_and(|n| n != findings.len()) {
        wrong.push(format!("findings {rules:?}, expected {:?} of them", case.findings));
    }
    if let (Some((old, new)), Some(first)) = (&case.at, findings.first()) {
        let found = (text(&case.old, first.old.as_ref()), text(&case.new, first.new.as_ref()));
        if old.is_some() && *old != found.0 || new.is_some() && *new != found.1 {
            wrong.push(format!("points at {found:?}, expected {:?}", (old, new)));
        }
    }
    if let Some(first) = findings.first() {
        let beside = first.beside.map(|side| if side == Side::Old { "old" } else { "new" });
        if case.beside.is_some() && case.beside.as_deref() != beside {
            wrong.push(format!("beside on {beside:?}, expected {:?}", case.beside));
        }
        if case.says.as_ref().is_some_and(|says| !first.message.contains(says)) {
            wrong.push(format!("says `{}`, expected {:?}", first.message, case.says));
        }
        let related = || first.related.iter().any(|r| case.also.as_ref().is_some_and(|also| r.message.contains(also)));
        if case.also.is_some() && !related() {
            wrong.push(format!("also {:?}, expected {:?}", first.related, case.also));
        }
    }
    wrong
}

#[test]
fn verdicts_are_those_of_the_documents() {
    let mut failures = Vec::new();
    for case in cases().iter().filter(|c| !UNSUPPORTED.contains(&c.id.as_str())) {
        let report = report(&case.old, &case.new);
        failures.extend(wrong(case, &report).into_iter().map(|why| format!("{}: {why}", case.id)));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn unsupported_cases_are_unknown_and_nothing_better() {
    let all = cases();
    for id in UNSUPPORTED {
        let case = all.iter().find(|c| c.id == *id).unwrap_or_else(|| panic!("no case `{id}`"));
        let report = report(&case.old, &case.new);
        assert_eq!(report.verdict.name(), "unknown", "{id}");
        assert!(
            report.errors.iter().any(|e| e.code.name() == "unsupported"),
            "{id} can be planned now: strike it from the list"
        );
    }
}

#[test]
fn a_script_against_itself_changes_nothing() {
    let mut failures = Vec::new();
    for case in cases().iter().filter(|c| !UNSUPPORTED.contains(&c.id.as_str())) {
        for sql in [&case.old, &case.new] {
            let report = report(sql, sql);
            if !report.errors.is_empty() {
                continue;
            }
            let findings: Vec<&str> = report.jobs.iter().flat_map(|j| &j.findings).map(|f| f.rule.as_str()).collect();
            if report.verdict.name() != "compatible" || !findings.is_empty() {
                failures.push(format!("{}: {} {findings:?}", case.id, report.verdict));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn ids_are_unique_and_every_case_says_why() {
    let mut seen = BTreeSet::new();
    for case in cases() {
        assert!(seen.insert(case.id.clone()), "`{}` occurs twice", case.id);
        assert!(!case.note.is_empty(), "`{}` has no note", case.id);
    }
}
