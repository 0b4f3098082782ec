//! .pre-commit-hooks.yaml, run by pre-commit itself where it can be had.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::files::yaml;
use super::repository::{BASH, RULE, Repository, read};

/// The program, installed once into the directory of the tests; none without Python, pip or a network.
fn pre_commit() -> Option<PathBuf> {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pre-commit");
    let program = place.join("bin/pre-commit");
    let works = || {
        let version = Command::new(&program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    if !works() {
        let made = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place).output().ok()?;
        let mut pip = Command::new(place.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check", "--retries", "1", "pre-commit>=4,<5"]);
        let _ = made.status.success().then(|| pip.output());
    }
    works().then_some(program)
}

fn hooks() -> Vec<Value> {
    yaml(&read(".pre-commit-hooks.yaml")).as_array().unwrap().clone()
}

/// What can be said without pre-commit.
#[test]
fn hooks_call_commands_that_are_there() {
    let ids: Vec<Value> = hooks().iter().map(|hook| hook["id"].clone()).collect();
    assert_eq!(ids, ["keepstate-check", "keepstate-lint"]);
    for hook in hooks() {
        assert_eq!((&hook["language"], &hook["types"][0]), (&"rust".into(), &"sql".into()));
    }
    let entries: Vec<Value> = hooks().iter().map(|hook| hook["entry"].clone()).collect();
    assert_eq!(entries, ["keepstate check --base HEAD", "keepstate lint"]);
    let guide = read("docs/ci.md");
    let used: Vec<&str> = guide.lines().filter_map(|line| line.trim().strip_prefix("- id: ")).collect();
    assert_eq!(used, ["keepstate-check", "keepstate-lint", "keepstate-check"]);
}

/// The hooks with the program that is there already, as pre-commit would otherwise build it from this repository; and the second
/// configuration of docs/ci.md.
#[test]
fn a_commit_is_stopped_by_the_hooks() {
    let Some(pre_commit) = pre_commit() else {
        // Past the harness, which keeps what a passing test prints to itself.
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"SKIPPED a_commit_is_stopped_by_the_hooks: pre-commit is not here and cannot be installed\n",
        );
        return;
    };
    let repository = Repository::new("hooks");
    let here = repository.origin();
    let (status, said) = repository.run(
        &BASH,
        &here,
        &format!(
            "'{}' validate-manifest '{}/.pre-commit-hooks.yaml'",
            pre_commit.display(),
            env!("CARGO_MANIFEST_DIR")
        ),
        &[],
    );
    assert_eq!(status, 0, "{said}");
    let mut local = hooks();
    for hook in &mut local {
        hook["language"] = "system".into();
    }
    let ours = serde_json::json!({ "repos": [{ "repo": "local", "hooks": local }] }).to_string();
    let guide = read("docs/ci.md");
    let shown = guide.split("```yaml\n").map(|t| t.split("```").next().unwrap()).find(|t| t.contains("repo: local"));
    for (configuration, lints, (from, to)) in
        [(ours.as_str(), true, ("'5'", "'7'")), (shown.unwrap(), false, ("'7'", "'9'"))]
    {
        std::fs::write(here.join(".pre-commit-config.yaml"), configuration).unwrap();
        repository.git(&["add", ".pre-commit-config.yaml"]);
        let install = format!("'{}' install", pre_commit.display());
        assert_eq!(repository.run(&BASH, &here, &install, &[]).0, 0);
        let commit = || repository.run(&BASH, &here, "git commit --all --message x", &[]);
        // Nothing of SQL: no hook has anything to do.
        let (status, said) = commit();
        assert!(status == 0 && said.contains("Skipped"), "{said}");
        // A change of DDL that loses nothing, then one of a job that loses its state.
        repository.edit("jobs/ddl.sql", from, to);
        let (status, said) = commit();
        assert!(status == 0 && said.contains("Passed"), "{said}");
        assert_eq!(said.contains("keepstate lint"), lints, "{said}");
        repository.edit("jobs/totals.sql", "'1' HOUR", "'2' HOUR");
        let (status, said) = commit();
        assert!(status == 1 && said.contains(RULE) && said.contains("jobs/totals.sql"), "{said}");
        repository.edit("jobs/totals.sql", "'2' HOUR", "'1' HOUR");
        // DDL alone can cost the state of a job.
        repository.edit("jobs/ddl.sql", "price DECIMAL(10, 2)", "price DECIMAL(12, 2)");
        let (status, said) = commit();
        assert!(status == 1 && said.contains("totals"), "{said}");
        repository.git(&["checkout", "--quiet", "HEAD", "."]);
    }
}
