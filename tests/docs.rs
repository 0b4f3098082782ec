//! The documents: their commands are run, and the paths that they name exist.

use std::collections::BTreeSet;
use std::path::Path;

const DOCUMENTS: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "BENCHMARKS.md",
    "CHANGELOG.md",
    "docs/projects.md",
    "docs/ci.md",
];

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every `console` block of the documents and of `tests/cli/` is run. `TRYCMD=overwrite cargo test --test docs` writes
/// the output anew.
#[test]
fn commands_do_what_the_documents_show() {
    let cases = trycmd::TestCases::new();
    cases
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        // Commits are the same wherever and whenever they are made.
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        cases
            .env(format!("GIT_{who}_NAME"), "keepstate")
            .env(format!("GIT_{who}_EMAIL"), "keepstate@example.org")
            .env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
    }
    for program in ["git", "cp"] {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let place = std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file());
        cases.register_bin(program, place.unwrap_or_else(|| panic!("there is no {program} on the PATH")).as_path());
    }
    cases.case("README.md").case("CONTRIBUTING.md").case("tests/cli/*.md").case("tests/cli/*.toml").run();
}

/// Everything between backticks or in a link that looks like a path of this repository exists. Links start from their document.
#[test]
fn paths_in_documents_exist() {
    let roots = ["src/", "tests/", "rules/", "examples/", "benches/", ".ci/", "ci/", "docs/"];
    for document in DOCUMENTS {
        let text = read(document);
        let beside = Path::new(document).parent().unwrap();
        let quoted = text.split('`').skip(1).step_by(2).map(|path| (path, Path::new("")));
        let linked = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let linked = linked.filter(|l| !l.is_empty() && !l.contains("://")).map(|path| (path, beside));
        for (path, from) in quoted.chain(linked) {
            let path = path.split(':').next().unwrap_or(path);
            let ours =
                roots.iter().any(|root| path.trim_start_matches("../").starts_with(root)) || path.ends_with(".md");
            if ours && !path.contains(['<', '*', ' ', '{', '\n']) {
                assert!(from.join(path).exists(), "{document} names {path}, which does not exist");
            }
        }
    }
}

/// The README lists exactly the pages of the rule book.
#[test]
fn the_readme_lists_all_pages() {
    let pages: BTreeSet<&str> =
        keepstate::rules::RuleBook::embedded().rules().iter().map(|rule| rule.page.as_str()).collect();
    let text = read("README.md");
    let section = text.split("## What is judged").nth(1).and_then(|t| t.split("### Limits").next()).unwrap();
    let listed: BTreeSet<&str> =
        section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(listed, pages);
}

/// And exactly the pages of the lint rules.
#[test]
fn the_readme_lists_all_lints() {
    let book = keepstate::rules::RuleBook::embedded();
    let rules: BTreeSet<&str> = book.lints().iter().map(|rule| rule.id.as_str()).collect();
    let text = read("README.md");
    let section = text.split("### What lint finds").nth(1).and_then(|t| t.split("\n## ").next()).unwrap();
    let listed: BTreeSet<&str> = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(listed, rules);
}

/// The configuration that docs/projects.md shows is one, and its commands are commands.
#[test]
fn the_guide_to_projects_shows_what_works() {
    let guide = read("docs/projects.md");
    let toml = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let mut sources = keepstate::source::SourceMap::new();
    let file = sources.add("keepstate.toml", toml);
    let config = keepstate::config::parse(&sources, file).unwrap_or_else(|e| panic!("{e:#?}"));
    assert_eq!((config.allow.len(), config.levels.len()), (2, 3));
    let help = |args: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_keepstate")).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let known = help(&["check", "--help"]) + &help(&["lock", "--help"]) + &help(&["schema", "--help"]);
    let options = guide.split_whitespace().filter(|w| w.starts_with("--") && w.len() > 2);
    for option in options.map(|o| o.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-')) {
        let option = option.trim_start_matches('`');
        assert!(known.contains(option) || option == "--" || guide.contains(&format!("{option} keepstate")), "{option}");
    }
}

/// `docs/rules.md` is what the rule book says today.
#[test]
fn the_index_of_rules_is_fresh() {
    use keepstate::report::rule_index;
    use keepstate::rules::{RuleBook, rows::Rows};

    let index = rule_index::render(RuleBook::embedded(), Rows::embedded());
    let stale = "docs/rules.md is stale: run `cargo run -- rules --format markdown > docs/rules.md`";
    assert!(read("docs/rules.md") == index, "{stale}");
    for path in index.split("](../").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(Path::new(path).exists(), "docs/rules.md links to {path}, which does not exist");
    }
}

/// What `.ci/run` runs is what the README tells people to run.
#[test]
fn the_readme_shows_what_ci_runs() {
    let (readme, ci) = (read("README.md"), read(".ci/run"));
    let block = readme.split("```sh\n").nth(1).and_then(|t| t.split("```").next()).unwrap();
    for command in block.lines() {
        let arguments = command.strip_prefix("cargo ").unwrap_or_else(|| panic!("{command} is not run by cargo"));
        let locked = arguments.split_once(' ').map_or_else(
            || format!("cargo {arguments} --locked"),
            |(subcommand, rest)| format!("cargo {subcommand} --locked {rest}"),
        );
        assert!(ci.lines().any(|line| line.trim() == locked), ".ci/run does not run `{locked}`");
    }
}

/// Each example as JSON: one document, whose exit code is the exit status.
#[test]
fn examples_report_json() {
    let expected = [
        ("order_totals", 0, "partially-compatible"),
        ("rewritten", 0, "compatible"),
        ("top_products", 1, "incompatible"),
        ("wrong_sql", 2, "unknown"),
    ];
    let mut there: Vec<String> = std::fs::read_dir("examples")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("old.sql").exists())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    there.sort();
    assert_eq!(there, expected.map(|(name, ..)| name));

    for (name, status, verdict) in expected {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_keepstate"))
            .args(["check", "--format", "json"])
            .args(["old", "new"].map(|side| format!("examples/{name}/{side}.sql")))
            .output()
            .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(status), "{name}");
        assert_eq!((&report["exit_code"], &report["verdict"]), (&status.into(), &verdict.into()), "{name}");
        assert_eq!((report["schema_version"].as_u64(), output.stderr.len()), (Some(1), 0), "{name}");
    }
}

/// The rule that CONTRIBUTING.md walks through is the one in the book.
#[test]
fn the_walk_through_shows_a_real_rule() {
    let document = read("CONTRIBUTING.md");
    let shown = document.split("```toml\n").nth(1).and_then(|t| t.split("```").next()).unwrap();
    assert!(read("rules/vvr/window-top-n/window-top-n-n-changed.md").starts_with(shown), "{shown}");
}

/// What the README says of NOT NULL: it is told where state is made of the column, and only there.
#[test]
fn not_null_is_as_the_readme_says() {
    use keepstate::check::{Options, Text, check};

    let table = |b: &str| format!("CREATE TABLE t (k STRING, a INT, {b}) WITH ('connector' = 'kafka');");
    let verdict = |query: &str, declared: bool| {
        let side = |b: &str| if declared { format!("{}\n{query}", table(b)) } else { query.to_owned() };
        let (old, new) = (Text::new("old.sql", side("b BIGINT")), Text::new("new.sql", side("b BIGINT NOT NULL")));
        check(old, new, &Options::default()).report.verdict.name()
    };
    assert_eq!(verdict("SELECT k, SUM(b) AS s FROM t GROUP BY k;", true), "unknown");
    assert_eq!(verdict("SELECT k, SUM(a) AS s FROM t WHERE b > 1 GROUP BY k;", true), "compatible");
    assert_eq!(verdict("SELECT k, SUM(b) AS s FROM t GROUP BY k;", false), "compatible");
}

/// What the README says cannot be planned yet cannot be planned yet.
#[test]
fn the_limits_are_the_limits() {
    use keepstate::check::{Options, Text, check};
    use keepstate::report::model::ErrorCode;

    let tables = "CREATE TABLE a (k STRING, v INT, t TIMESTAMP(3), WATERMARK FOR t AS t) WITH ('connector' = 'kafka');
        CREATE TABLE p (k STRING, t AS PROCTIME()) WITH ('connector' = 'kafka');
        CREATE TABLE d (k STRING, v INT) WITH ('connector' = 'jdbc');
        CREATE TABLE b (k STRING, w INT) WITH ('connector' = 'kafka');
        CREATE FUNCTION f AS 'F';";
    for query in [
        "SELECT k FROM a FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'",
        "SELECT p.k FROM p JOIN d FOR SYSTEM_TIME AS OF p.t AS d ON p.k = d.k WHERE d.v IN (SELECT v FROM a)",
        "SELECT x.k FROM a AS x JOIN a AS y ON x.k = y.k AND x.t >= FLOOR(y.t TO HOUR) AND x.t < y.t",
        "SELECT a.k, b.k, COUNT(*) FROM a JOIN b ON a.k = b.k GROUP BY a.k, b.k",
        "SELECT a.k, x.w FROM a, LATERAL (SELECT w FROM b WHERE b.k = a.k) AS x",
        "SELECT k FROM a WHERE v IN (SELECT x FROM a CROSS JOIN UNNEST(ARRAY[v]) AS u (x))",
        "SELECT k FROM a, LATERAL TABLE(f(k)) AS u",
        "SELECT k, (SELECT MAX(w) FROM b WHERE b.w < a.v) FROM a",
        "SELECT k FROM a WHERE k = 'x' OR v IN (SELECT w FROM b WHERE b.k = a.k)",
        "SELECT k FROM a WHERE v IN (SELECT w FROM b) OR k IN (SELECT k FROM b)",
        "SELECT k, EXISTS (SELECT 1 FROM b WHERE b.w < a.v) FROM a",
        "SELECT k, v NOT IN (SELECT w FROM b) FROM a",
    ] {
        let text = Text::new("job.sql", format!("{tables} {query};"));
        let report = check(text.clone(), text, &Options::default()).report;
        let codes: Vec<ErrorCode> = report.errors.iter().map(|error| error.code).collect();
        assert_eq!(report.exit_code, 2, "{query}");
        assert!(codes.iter().all(|code| *code == ErrorCode::Unsupported), "{query}: {:?}", report.errors);
    }
    for query in [
        "SELECT a.k FROM a, b",
        "SELECT * FROM a MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES A.v AS v PATTERN (A) DEFINE A AS A.v > 1)",
    ] {
        let text = Text::new("job.sql", query);
        let report = check(text.clone(), text, &Options::default()).report;
        assert_eq!(report.errors.first().map(|error| error.code), Some(ErrorCode::Unsupported), "{query}");
    }
}
