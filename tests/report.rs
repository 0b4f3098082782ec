//! The formats of reports, on a report made by hand.

use keepstate::check::failed;
use keepstate::diff::change::{Fate, MatchStatus};
use keepstate::report::human::{self, Style};
use keepstate::report::json;
use keepstate::report::model::{
    Carried, Column, ErrorCode, ErrorItem, Finding, Job, Note, Operator, OperatorEntry, Place, Related, Report,
    SinkVerdict, StateEntry,
};
use keepstate::rules::verdict::{Basis, Consequence, Verdict};
use keepstate::source::{FileId, SourceMap, Span};
use keepstate::target::Target;

const OLD: &str = "SELECT *\nFROM ranked\nWHERE rk <= 2;\n-- 'password' = 'hunter2'\n";
const NEW: &str = "SELECT *\nFROM ranked\nWHERE rk <= 3;\n-- 'password' = 'hunter2'\n";

fn place(sources: &SourceMap, file: FileId, what: &str) -> Option<Place> {
    let start = sources.file(file).text.find(what)?;
    Some(Place::of(sources, Span::new(file, start, start + what.len())))
}

fn report() -> (Report, SourceMap) {
    let mut sources = SourceMap::new();
    let old = sources.add("old.sql", OLD);
    let new = sources.add("new.sql", NEW);
    let finding = Finding {
        rule: "window-top-n-n-changed".to_owned(),
        documented: vec!["WTN-09".to_owned()],
        verdict: Verdict::Incompatible,
        basis: Basis::Documented,
        consequence: Consequence::Undetermined,
        message: "the number of rows kept per window and partition changes from 2 to 3".to_owned(),
        help: "keep the old number and filter in the reader, or start without state".to_owned(),
        url: Some("https://example.org/page".to_owned()),
        operator: Some(Operator {
            kind: "WindowRank".to_owned(),
            path: "Sink(top)/WindowRank".to_owned(),
            old_id: Some(4),
            new_id: Some(4),
        }),
        state: vec!["window_rank".to_owned()],
        old: place(&sources, old, "rk <= 2"),
        new: place(&sources, new, "rk <= 3"),
        beside: None,
        related: vec![Related {
            message: "the rows that are sent change too".to_owned(),
            old: None,
            new: place(&sources, new, "*"),
            beside: None,
        }],
        fingerprint: "9f2c41d07ab3".to_owned(),
        suppressed: None,
        fails: true,
        witness: None,
    };
    let compatible = Finding {
        rule: "sink-changed".to_owned(),
        verdict: Verdict::Compatible,
        consequence: Consequence::None,
        message: "the sink changes its name, its connector or its options".to_owned(),
        operator: None,
        state: Vec::new(),
        old: None,
        new: None,
        related: Vec::new(),
        ..finding.clone()
    };
    let job = Job {
        name: "orders_top".to_owned(),
        old: Some("old.sql".to_owned()),
        new: Some("new.sql".to_owned()),
        verdict: Verdict::Incompatible,
        findings: vec![finding, compatible],
        operators: vec![OperatorEntry {
            old_id: Some(4),
            new_id: Some(4),
            kind: "WindowRank".to_owned(),
            status: MatchStatus::Changed,
            state: vec![StateEntry {
                name: "window_rank".to_owned(),
                kind: "map".to_owned(),
                key: "ROW<a BIGINT>".to_owned(),
                namespace: "BIGINT".to_owned(),
                value: "ROW<a BIGINT>".to_owned(),
                carried: Carried::None,
            }],
        }],
        columns: vec![Column { sink: "top".to_owned(), name: "cnt".to_owned(), fate: Fate::FromZero }],
        sinks: vec![SinkVerdict { name: "top".to_owned(), verdict: Verdict::PartiallyCompatible }],
        notes: vec![Note { message: "table `ranked` has no DDL; its columns are inferred".to_owned(), at: None }],
        witness: None,
    };
    let report =
        Report { verdict: Verdict::Incompatible, exit_code: 1, jobs: vec![job], ..failed(Target::Vvr, Vec::new()) };
    (report, sources)
}

#[test]
fn people_see_both_sides_and_what_to_do() {
    let (report, sources) = report();
    insta::assert_snapshot!("human", human::render(&report, &sources, Style::default()));
}

#[test]
fn compatible_findings_are_shown_when_asked_for() {
    let (report, sources) = report();
    let text = human::render(&report, &sources, Style { verbose: true, ..Style::default() });
    assert!(text.contains("sink-changed") && text.contains("top.cnt  from zero"));
    let text = human::render(&report, &sources, Style { quiet: true, ..Style::default() });
    assert_eq!(text, "incompatible: orders_top (old.sql -> new.sql)\n");
}

#[test]
fn colours_come_only_when_asked_for() {
    let (report, sources) = report();
    assert!(!human::render(&report, &sources, Style::default()).contains('\u{1b}'));
    assert!(human::render(&report, &sources, Style { color: true, ..Style::default() }).contains("\u{1b}[1;31m"));
}

#[test]
fn secrets_are_not_in_excerpts() {
    let (report, sources) = report();
    let text = human::render(&report, &sources, Style::default());
    assert!(!text.contains("hunter2") && text.contains("'password' = '*******'"), "{text}");
}

#[test]
fn json_has_all_fields_in_order() {
    let (mut report, _) = report();
    report.tool.version = "0.0.0";
    insta::assert_snapshot!("json", json::render(&report));
}

#[test]
fn errors_point_at_the_text() {
    let mut sources = SourceMap::new();
    let file = sources.add("new.sql", "SELEC a\nFROM t;\n");
    let mut error = ErrorItem::new(ErrorCode::Parse, "a statement cannot begin with `SELEC`").help("write SELECT");
    error.at = place(&sources, file, "SELEC");
    error.label = "not a statement".to_owned();
    let report = failed(Target::Vvr, vec![error]);
    insta::assert_snapshot!("errors", human::render(&report, &sources, Style::default()));
    let value: serde_json::Value = serde_json::from_str(&json::render(&report)).unwrap();
    assert_eq!(value["errors"][0]["code"], "parse");
    assert_eq!(value["exit_code"], 2);
}

#[test]
fn a_place_outside_of_its_text_hides_nothing() {
    let (mut report, sources) = report();
    if let Some(place) = &mut report.jobs[0].findings[0].new {
        place.span = Span::new(FileId(1), 9000, 9999);
    }
    assert!(human::render(&report, &sources, Style::default()).contains("changes from 2 to 3"));
}

fn excerpt_of(text: &str, what: &str) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("a.sql", text);
    let mut error = ErrorItem::new(ErrorCode::Plan, "message");
    error.at = place(&sources, file, what);
    human::render_errors(&[error], &sources, Style::default())
}

#[test]
fn long_lines_are_shown_in_part() {
    let text = format!("SELECT {} culprit {}\nFROM t", "a, ".repeat(4000), ", b".repeat(4000));
    let shown = excerpt_of(&text, "culprit");
    assert!(shown.contains("culprit") && shown.contains("a.sql:1:12009"), "{shown}");
    assert!(shown.lines().all(|l| l.chars().count() < 300), "{shown}");
}

#[test]
fn places_at_the_edges_are_shown() {
    for (text, what) in [("x", "x"), ("", ""), ("é\n", "é"), ("a\n\n", ""), ("a\r\nb\r\n", "b")] {
        assert!(excerpt_of(text, what).contains("a.sql:"), "{text:?}");
    }
    let shown = excerpt_of("ä ü culprit\n", "culprit");
    assert!(shown.contains("a.sql:1:5"), "{shown}");
}

#[test]
fn a_clause_of_many_lines_is_pointed_at_by_its_first() {
    let shown = excerpt_of("SELECT a\nFROM t\nWHERE b\nAND c\nAND d\n", "FROM t\nWHERE b\nAND c");
    assert!(shown.contains("FROM t") && !shown.contains("AND d"), "{shown}");
}
