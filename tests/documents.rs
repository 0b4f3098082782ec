//! The documents that this project started from: Alibaba's pages on Window Top-N, HOP and OVER. Each of their queries is planned
//! as it is written there, and each of their pairs gets the verdict that the page gives it, by the page's own row.

use std::fs;
use std::path::Path;

use keepstate::check::{Options, Text, check};
use keepstate::report::model::Report;

fn text(name: &str) -> Text {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents").join(name);
    Text::new(name, fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

fn checked(old: &str, new: &str) -> Report {
    check(text(old), text(new), &Options::default()).report
}

#[test]
fn pairs_get_the_verdict_of_the_page() {
    for (pair, verdict, row) in [
        ("window_columns_in_output", "compatible", "WTN-01"),
        ("rank_number_in_output", "compatible", "WTN-02"),
        ("partition_keys_moved", "compatible", "WTN-03"),
        ("aggregate_added", "incompatible", "WTN-06"),
        ("window_keys_moved", "incompatible", "WTN-10"),
        ("group_keys_moved", "incompatible", "WTN-11"),
    ] {
        let report = checked(&format!("window_top_n/{pair}.old.sql"), &format!("window_top_n/{pair}.new.sql"));
        assert_eq!(report.verdict.name(), verdict, "{pair}");
        let rows: Vec<&str> =
            report.jobs.iter().flat_map(|j| &j.findings).flat_map(|f| &f.documented).map(String::as_str).collect();
        assert_eq!(rows, [row], "{pair}");
    }
}

#[test]
fn queries_are_planned_as_written() {
    for (query, operator) in [
        ("hop.sql", "GroupWindowAggregate"),
        ("over_rows.sql", "OverAggregate"),
        ("over_range.sql", "OverAggregate"),
        ("over_inline.sql", "OverAggregate"),
        ("over_named_window.sql", "OverAggregate"),
    ] {
        let report = checked(query, query);
        assert!(report.errors.is_empty(), "{query}");
        assert_eq!(report.verdict.name(), "compatible", "{query}");
        let kinds: Vec<&str> = report.jobs.iter().flat_map(|j| &j.operators).map(|o| o.kind.as_str()).collect();
        assert!(kinds.contains(&operator), "{query}: {kinds:?}");
    }
}

/// One query of the page on OVER lacks a parenthesis.
#[test]
fn the_missing_parenthesis_is_pointed_at() {
    let report = checked("over_without_parenthesis.sql", "over_without_parenthesis.sql");
    assert_eq!((report.verdict.name(), report.exit_code), ("unknown", 2));
    let error = &report.errors[0];
    assert!(error.message.contains("expected `(` after OVER"), "{}", error.message);
    let at = error.at.as_ref().expect("a place");
    assert_eq!((at.start.line, at.start.column), (3, 5));
}
