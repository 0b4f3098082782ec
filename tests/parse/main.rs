//! The parser over whole scripts: what is read, where it stands, and what is said about what cannot be read.
//!
//! `ok/*.sql` must parse, `err/*.sql` must give exactly the errors of its snapshot. Update with `INSTA_UPDATE=always`.

mod dump;
mod layout;
mod limits;
mod spans;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use keepstate::source::SourceMap;
use keepstate::syntax::{ast::Script, parse};

/// Parses a text without definitions.
fn parse_text(text: &str) -> (SourceMap, Script) {
    parse_with(text, &[])
}

/// Parses a text with definitions.
fn parse_with(text: &str, defines: &[(&str, &str)]) -> (SourceMap, Script) {
    let defines: BTreeMap<_, _> = defines.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let mut sources = SourceMap::new();
    let file = sources.add("test.sql", text);
    let script = parse(&sources, file, &defines);
    (sources, script)
}

/// The scripts of a directory beside this file, with their names.
fn scripts(directory: &str) -> Vec<(String, String)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/parse").join(directory);
    let mut out: Vec<_> = std::fs::read_dir(path)
        .expect("the directory is part of the repository")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "sql"))
        .map(|path| {
            let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).expect("text"))
        })
        .collect();
    out.sort();
    out
}

/// The errors of a script, each with the line it points into.
fn render_errors(sources: &SourceMap, script: &Script, text: &str) -> String {
    let mut out = String::new();
    for error in &script.errors {
        let (from, to) = sources.positions(error.span);
        let line = text.lines().nth(from.line as usize - 1).unwrap_or("");
        let width = if to.line == from.line { (to.column - from.column).max(1) } else { 1 };
        let (indent, carets) = (" ".repeat(from.column as usize - 1), "^".repeat(width as usize));
        let _ = writeln!(
            out,
            "{}:{}: {}\n  {line}\n  {indent}{carets} {}",
            from.line, from.column, error.message, error.label
        );
        if let Some(help) = &error.help {
            let _ = writeln!(out, "  help: {help}");
        }
    }
    out
}

#[test]
fn ok_scripts_parse() {
    for (name, text) in scripts("ok") {
        let (sources, script) = parse_text(&text);
        assert_eq!(render_errors(&sources, &script, &text), "", "{name}");
        insta::with_settings!({ snapshot_suffix => name, prepend_module_to_snapshot => false, snapshot_path => "snapshots" }, {
            insta::assert_snapshot!("ok", dump::script(&script));
        });
    }
}

#[test]
fn err_scripts_say_why() {
    for (name, text) in scripts("err") {
        let (sources, script) = parse_text(&text);
        let mut out = render_errors(&sources, &script, &text);
        let _ = write!(out, "---\n{}", dump::script(&script));
        insta::with_settings!({ snapshot_suffix => name, prepend_module_to_snapshot => false, snapshot_path => "snapshots" }, {
            insta::assert_snapshot!("err", out);
        });
    }
}

#[test]
fn definitions_replace_placeholders_and_spans_stay() {
    let text = "INSERT INTO ${db}.s SELECT {{ n }} AS x, '${u}' FROM t WHERE a > ${n} AND b = ${u}";
    let (sources, script) = parse_with(text, &[("db", "prod"), ("n", "1000")]);
    assert!(script.errors.is_empty(), "{:?}", script.errors);
    let names: Vec<_> = script.placeholders.iter().map(|p| (p.name.as_str(), sources.text(p.span))).collect();
    assert_eq!(names, [("u", "${u}"), ("u", "${u}")]);
    assert_eq!(
        dump::script(&script).lines().next(),
        Some("Insert prod.s ← SELECT 1000 AS x, '${u}' FROM t WHERE ((a > 1000) AND (b = ${u}))")
    );
    let spans = spans::expressions(&sources, &script);
    assert!(spans.iter().any(|s| s == "a > ${n}"), "{spans:?}");
    assert_eq!(sources.text(script.statements[0].span), text);
}

#[test]
fn an_empty_script_has_no_statement_and_no_error() {
    for text in ["", "\n", ";;", "-- only a comment\n", "/* x */", "\u{feff}"] {
        let (_, script) = parse_text(text);
        assert!(script.statements.is_empty() && script.errors.is_empty(), "{text:?}");
    }
}

#[test]
fn comments_are_kept_with_their_places() {
    let text = "-- keepstate: allow x\nSELECT /* why */ 'a -- no' /*+ H */ FROM t -- end";
    let (sources, script) = parse_text(text);
    let comments: Vec<_> = script.comments.iter().map(|c| (c.text.as_str(), sources.text(c.span))).collect();
    assert_eq!(
        comments,
        [(" keepstate: allow x", "-- keepstate: allow x"), (" why ", "/* why */"), (" end", "-- end")]
    );
}
