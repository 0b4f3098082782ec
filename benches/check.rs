//! How long a check takes, beside what sqlparser alone takes to parse the same two texts.
//!
//! The pair (`benches/check/*.sql`) uses the legacy HOP and DDL that sqlparser's GenericDialect can parse, so that both
//! read all of it. `BENCHMARKS.md` holds what was measured. The stages show where the time goes.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use keepstate::check::{Options, Text, check};
use keepstate::exec::plan_script;
use keepstate::rules::RuleBook;
use keepstate::rules::judge::judge;
use keepstate::rules::verdict::Verdict;
use keepstate::source::SourceMap;
use keepstate::target::Target;
use keepstate::{diff, syntax};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

const OLD: &str = include_str!("check/old.sql");
const NEW: &str = include_str!("check/new.sql");

/// The check as a program would call it, and the parse it is compared with.
fn whole(criterion: &mut Criterion) {
    let checked = check(Text::new("old.sql", OLD), Text::new("new.sql", NEW), &Options::default());
    assert!(checked.report.errors.is_empty(), "{:?}", checked.report.errors);
    assert_eq!(checked.report.verdict, Verdict::PartiallyCompatible);
    for text in [OLD, NEW] {
        assert!(Parser::parse_sql(&GenericDialect {}, text).is_ok_and(|statements| statements.len() == 5));
    }

    let mut group = criterion.benchmark_group("pair");
    group.bench_function("check", |b| {
        b.iter(|| {
            check(Text::new("old.sql", black_box(OLD)), Text::new("new.sql", black_box(NEW)), &Options::default())
        });
    });
    group.bench_function("sqlparser", |b| {
        b.iter(|| [OLD, NEW].map(|text| Parser::parse_sql(&GenericDialect {}, black_box(text))));
    });
    group.finish();
}

/// The steps of a check.
fn stages(criterion: &mut Criterion) {
    let mut sources = SourceMap::new();
    let files = [("old.sql", OLD), ("new.sql", NEW)].map(|(name, text)| sources.add(name, text));
    let scripts = files.map(|file| syntax::parse(&sources, file, &Default::default()));
    let plans = scripts.each_ref().map(|script| plan_script(&[script], Target::default()));
    let [old, new] = plans.each_ref().map(|planned| &planned.plans[0]);
    let changes = diff::diff(&sources, old, new);

    let mut group = criterion.benchmark_group("stage");
    group.bench_function("parse", |b| {
        b.iter(|| files.map(|file| syntax::parse(black_box(&sources), file, &Default::default())));
    });
    group.bench_function("plan", |b| {
        b.iter(|| scripts.each_ref().map(|script| plan_script(&[black_box(script)], Target::default())));
    });
    group.bench_function("diff", |b| b.iter(|| diff::diff(&sources, black_box(old), black_box(new))));
    group.bench_function("judge", |b| {
        b.iter(|| judge(RuleBook::embedded(), Target::default(), black_box(&changes)));
    });
    group.finish();
}

/// What the first check of a process pays on top: reading the rule book.
fn first(criterion: &mut Criterion) {
    fn collect(directory: &Path, files: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else if !path.ends_with("README.md") {
                let name = path.strip_prefix("rules").unwrap().display().to_string();
                files.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut files = Vec::new();
    collect(Path::new("rules"), &mut files);
    files.sort();
    let book = || RuleBook::parse(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    assert_eq!(book().map(|book| book.rules().len()), Ok(RuleBook::embedded().rules().len()));

    criterion.bench_function("first/rule book", |b| b.iter(book));
}

criterion_group!(benches, whole, stages, first);
criterion_main!(benches);
