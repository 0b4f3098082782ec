//! The published schemas are those of the code, and what is written follows them.

use std::path::Path;

use keepstate::check::{Options, Text, check};
use keepstate::report::json;
use keepstate::report::schema;
use serde_json::Value;

/// `UPDATE_SCHEMAS=1 cargo test --test schemas` writes it anew.
#[test]
fn the_schema_of_reports_is_fresh() {
    let text = json::render(&schema::of_report());
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write("schemas/report.json", &text).unwrap();
    }
    let published = std::fs::read_to_string("schemas/report.json").unwrap();
    assert!(published == text, "schemas/report.json is stale: run `UPDATE_SCHEMAS=1 cargo test --test schemas`");
}

#[test]
fn the_schema_of_locks_is_fresh() {
    let text = json::render(&keepstate::lock::schema());
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write("schemas/lock.json", &text).unwrap();
    }
    let published = std::fs::read_to_string("schemas/lock.json").unwrap();
    assert!(published == text, "schemas/lock.json is stale: run `UPDATE_SCHEMAS=1 cargo test --test schemas`");
}

/// What the reader takes, the schema takes, and the other way round.
#[test]
fn the_schema_of_configurations_and_their_reader_agree() {
    let schema: Value = serde_json::from_str(schema::CONFIG).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let good = [
        "",
        "target = 'flink-2.2'\nfail-on = 'never'\nschema = ['a/*.sql']\njobs = ['jobs/**']",
        "[schema]\nfiles = ['a.sql']\n[jobs]\ninclude = ['x']\nexclude = ['y']\n[defines]\na = 'b'",
        "[rules]\nsink-added = 'off'\nover-grows = 'warn'",
        "[[allow]]\nrule = 'sink-added'\njob = 'a*'\nreason = 'r'\nuntil = '2030-01-01'\n[[allow]]\nfingerprint = 'f'\nreason = 'r'",
        "[formats]\nmine = 'all'\n[connector.c]\nsource = { watermark = true, bounded = { if = ['a'] }, async = 'x', when = [{ options = { a = 'b' }, changelog = 'all' }] }\nsink = { accepts = 'key', update-before = true }",
    ];
    let bad = [
        "targets = 'vvr'",
        "target = 'flink'",
        "fail-on = 'warn'",
        "schema = 'a'",
        "[schema]\nfile = []",
        "[defines]\na = 1",
        "[jobs]\nincludes = []",
        "[rules]\nsink-added = 'error!'",
        "[[allow]]\nrule = 'sink-added'",
        "[[allow]]\nreason = 'r'",
        "[allow]\nreason = 'r'",
        "[[allow]]\nrule = 'sink-added'\nreason = ''",
        "[connector.c]\nsource = { watermarks = true }",
        "[connector.c]\nsinks = {}",
    ];
    for (texts, wanted) in [(&good[..], true), (&bad[..], false)] {
        for text in texts {
            let mut sources = keepstate::source::SourceMap::new();
            let file = sources.add("keepstate.toml", *text);
            assert_eq!(keepstate::config::parse(&sources, file).is_ok(), wanted, "the reader, {text}");
            let value: Value = toml::from_str(text).unwrap();
            assert_eq!(validator.is_valid(&value), wanted, "the schema, {text}");
        }
    }
}

/// Every pair of `tests/cases/`, and what goes wrong on the way to a plan.
#[test]
fn reports_follow_their_schema() {
    let schema = jsonschema::validator_for(&schema::of_report()).unwrap();
    let mut pairs: Vec<(String, String, Options)> = Vec::new();
    for entry in std::fs::read_dir(Path::new("tests/cases")).unwrap() {
        for line in std::fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
            pairs.push((text("old"), text("new"), Options::default()));
        }
    }
    assert!(pairs.len() > 500, "{}", pairs.len());
    pairs.push(("SELEC".to_owned(), "SELECT k FROM t; SELECT ${x} FROM t;".to_owned(), Options::default()));
    for (old, new, options) in pairs {
        let report = check(Text::new("old.sql", old.as_str()), Text::new("new.sql", new.as_str()), &options).report;
        let value: Value = serde_json::from_str(&json::render(&report)).unwrap();
        let wrong: Vec<String> = schema.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(wrong.is_empty(), "{new}: {wrong:#?}");
    }
}

/// A schema that lets everything pass would be none.
#[test]
fn the_schema_refuses_what_is_no_report() {
    let schema = jsonschema::validator_for(&schema::of_report()).unwrap();
    let report =
        check(Text::new("old.sql", "SELECT 1;"), Text::new("new.sql", "SELECT 1;"), &Options::default()).report;
    let value: Value = serde_json::from_str(&json::render(&report)).unwrap();
    assert!(schema.is_valid(&value));
    for (pointer, wrong) in [
        ("/verdict", Value::from("fine")),
        ("/exit_code", Value::from("0")),
        ("/jobs/0/name", Value::Null),
        ("/jobs/0/operators/0/status", Value::from("other")),
    ] {
        let mut broken = value.clone();
        *broken.pointer_mut(pointer).unwrap() = wrong;
        assert!(!schema.is_valid(&broken), "{pointer}");
    }
}
