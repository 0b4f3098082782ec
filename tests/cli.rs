//! The program from outside: exit status, streams, documents.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn keepstate(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_keepstate"))
        .args(args)
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A directory of this test's own.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn a_missing_file_is_an_error_with_the_nearest_name() {
    let dir = directory("missing");
    std::fs::write(dir.join("orders.sql"), "SELECT 1;").unwrap();
    let typo = dir.join("order.sql").display().to_string();
    let right = dir.join("orders.sql").display().to_string();
    let output = keepstate(&["check", &typo, &right]);
    assert_eq!(output.status.code(), Some(2));
    let shown = text(&output.stdout);
    assert!(shown.contains(&format!("there is no file {typo}")), "{shown}");
    assert!(shown.contains(&format!("did you mean {right}?")), "{shown}");

    let output = keepstate(&["check", &typo, &right, "--format", "json"]);
    let report = json(&output);
    assert_eq!((output.status.code(), &report["exit_code"]), (Some(2), &2.into()));
    assert_eq!((&report["verdict"], &report["errors"][0]["code"]), (&"unknown".into(), &"io".into()));
}

#[test]
fn what_is_no_text_is_refused() {
    let dir = directory("no-text");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let good = file("good.sql", b"SELECT 1;");
    for (bad, why) in [
        (file("binary.sql", b"SELECT\0"), "binary file"),
        (file("latin.sql", b"SELECT '\xe9'"), "not UTF-8 (byte 8)"),
        (dir.display().to_string(), "is a directory"),
    ] {
        let output = keepstate(&["check", &good, &bad]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stdout).contains(why), "{}", text(&output.stdout));
    }
    let output = keepstate(&["check", "-", "-"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("stdin is named twice"));
}

#[test]
fn all_unreadable_files_are_named() {
    let output = keepstate(&["parse", "no-such-file-a.sql", "no-such-file-b.sql", "--format", "json"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(json(&output)["errors"].as_array().unwrap().len(), 2);
}

#[test]
fn wrong_use_is_exit_2() {
    for args in [&["chek"][..], &["check", "a", "b", "--target", "flonk"], &["check", "a", "b", "--define", "x"]] {
        let output = keepstate(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn one_script_is_compared_with_nothing() {
    let output = keepstate(&["check", "one", "--format", "json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(json(&output)["errors"][0]["message"].as_str().unwrap().contains("compared with nothing"));
}

#[test]
fn rules_are_listed_and_explained() {
    let output = keepstate(&["rules", "--format", "json"]);
    assert!(output.status.success());
    let ids: Vec<String> =
        json(&output)["rules"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap().to_owned()).collect();
    assert!(ids.len() > 100 && ids.contains(&"window-top-n-n-changed".to_owned()));
    assert!(
        text(&keepstate(&["rules", "--target", "flink-2.2"]).stdout)
            .contains("no rules about changes for this engine yet")
    );

    let output = keepstate(&["explain", "window-top-n-n-changed"]);
    assert!(output.status.success());
    let shown = text(&output.stdout);
    assert!(shown.contains("WTN-09") && shown.contains("```sql old"), "{shown}");
    assert!(text(&keepstate(&["explain", "wtn-09"]).stdout).contains("window-top-n-n-changed"));
    for built_in in ["no-rule", "not-planned"] {
        assert!(keepstate(&["explain", built_in]).status.success());
    }

    let output = keepstate(&["explain", "window-top-n-n-chnged"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("did you mean `window-top-n-n-changed`?"));
}

#[test]
fn lint_rules_are_listed_and_explained() {
    let output = keepstate(&["rules", "--format", "json", "--target", "flink-1.20"]);
    let lints = json(&output)["lints"].as_array().unwrap().clone();
    assert!(lints.iter().any(|l| l["id"] == "join-grows" && l["level"] == "warning"));
    assert!(lints.iter().all(|l| l["id"] != "rank-without-limit"), "it is about another engine");
    let shown = text(&keepstate(&["explain", "join-grows"]).stdout);
    assert!(shown.contains("level:") && shown.contains("```sql"), "{shown}");
    assert!(text(&keepstate(&["explain", "join-grow"]).stdout).contains("did you mean `join-grows`?"));
}

#[test]
fn lint_says_by_its_status_what_it_found() {
    let dir = directory("lint");
    let file = |name: &str, sql: &str| {
        let path = dir.join(name);
        std::fs::write(&path, sql).unwrap();
        path.display().to_string()
    };
    let clean = file("clean.sql", "CREATE TABLE t (a INT) WITH ('connector' = 'kafka'); SELECT a FROM t WHERE a > 1;");
    let grows = file("grows.sql", "CREATE TABLE t (a INT) WITH ('connector' = 'kafka'); SELECT DISTINCT a FROM t;");
    let wrong = file("wrong.sql", "SELECT FROM WHERE;");
    let status = |files: &[&str]| keepstate(&[&["lint"], files].concat()).status.code();
    assert_eq!(status(&[&clean]), Some(0));
    assert_eq!(status(&[&clean, &grows]), Some(1));
    assert_eq!(status(&[&grows, &wrong]), Some(2));
    assert_eq!(status(&["no-such-file.sql"]), Some(2));
    let report = json(&keepstate(&["lint", "--format", "json", &grows, &wrong, &clean]));
    let files: Vec<&str> = report["jobs"].as_array().unwrap().iter().map(|j| j["file"].as_str().unwrap()).collect();
    assert_eq!(files, [grows.as_str(), clean.as_str()], "in order; what did not plan is among the errors");
    assert_eq!((&report["exit_code"], &report["errors"][0]["code"]), (&2.into(), &"parse".into()));
}

#[test]
fn nothing_is_coloured_off_a_terminal() {
    let plain = keepstate(&["rules"]);
    assert!(!plain.stdout.contains(&0x1b));
    assert!(keepstate(&["rules", "--color", "always"]).stdout.contains(&0x1b));
    let no_color = Command::new(env!("CARGO_BIN_EXE_keepstate")).args(["rules"]).env("NO_COLOR", "1").output().unwrap();
    assert_eq!(no_color.stdout, plain.stdout);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_keepstate"))
        .args(["explain", "WTVF-10"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn stdin_is_read_once() {
    let dir = directory("stdin");
    let file = dir.join("a.sql");
    std::fs::write(&file, "SELECT 1;").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_keepstate"))
        .args(["check", "-", &file.display().to_string(), "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"SELECT 1;").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(json(&output)["jobs"][0]["old"], "<stdin>");
}
