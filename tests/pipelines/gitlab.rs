//! ci/gitlab.yml, run as a runner runs it.

use serde_json::Value;

use super::files::yaml;
use super::repository::{BASH, RULE, Repository, read};

fn script() -> String {
    let template = yaml(&read("ci/gitlab.yml"));
    let commands = template["keepstate"]["script"].as_array().unwrap().clone();
    commands.iter().map(|c| c.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// A shell of an image without bash, too.
const SHELLS: [&[&str]; 2] = [&BASH, &["sh", "-eu"]];

#[test]
fn a_merge_request_is_compared_with_where_it_started() {
    let repository = Repository::new("gitlab");
    let base = repository.git(&["rev-parse", "HEAD"]);
    repository.change();
    for shell in SHELLS {
        let clone = repository.clone("change", Some(1));
        let env =
            [("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.as_str()), ("KEEPSTATE_PATHS", "jobs"), ("KEEPSTATE_ARGS", "")];
        let (status, said) = repository.run(shell, &clone, &script(), &env);
        assert!(status == 1 && said.contains(RULE), "{said}");
        let quality: Value = serde_json::from_str(&read(clone.join("gl-code-quality-report.json"))).unwrap();
        assert_eq!(quality.as_array().unwrap().len(), 1);
        assert_eq!(quality[0]["location"]["path"], "jobs/totals.sql");
        assert!(read(clone.join("keepstate.xml")).contains("<failure"));
        // More arguments, and all paths.
        let env = [env[0], ("KEEPSTATE_PATHS", ""), ("KEEPSTATE_ARGS", "--fail-on never --target vvr")];
        let (status, said) = repository.run(shell, &clone, &script(), &env);
        assert!(status == 0 && said.contains(RULE), "{said}");
    }
}

#[test]
fn the_reports_are_those_that_the_artifacts_name() {
    let template = yaml(&read("ci/gitlab.yml"));
    let artifacts = &template["keepstate"]["artifacts"];
    assert_eq!(artifacts["when"], "always", "a failing check has reports as well");
    assert!(script().contains(&format!("--format html={}", artifacts["paths"][0].as_str().unwrap())));
    for (kind, format) in [("codequality", "gitlab"), ("junit", "junit")] {
        let file = artifacts["reports"][kind].as_str().unwrap();
        assert!(script().contains(&format!("--format {format}={file}")), "{kind}");
    }
}

#[test]
fn variables_are_not_run() {
    let repository = Repository::new("gitlab-injection");
    let base = repository.git(&["rev-parse", "HEAD"]);
    let clone = repository.clone("main", None);
    for shell in SHELLS {
        for bad in ["$(touch pwned)", "; touch pwned", "`touch pwned`", "jobs/*"] {
            for (paths, args) in [(bad, ""), ("", bad)] {
                let env = [
                    ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.as_str()),
                    ("KEEPSTATE_PATHS", paths),
                    ("KEEPSTATE_ARGS", args),
                ];
                let (status, said) = repository.run(shell, &clone, &script(), &env);
                assert_eq!(status, 2, "{bad}: {said}");
                assert!(!clone.join("pwned").exists(), "{bad}");
            }
        }
    }
}

#[test]
fn a_commit_that_is_gone_is_said() {
    let repository = Repository::new("gitlab-gone");
    let clone = repository.clone("main", Some(1));
    let env = [("CI_MERGE_REQUEST_DIFF_BASE_SHA", "0123456789012345678901234567890123456789"), ("KEEPSTATE_PATHS", "")];
    let (status, said) = repository.run(&BASH, &clone, &script(), &[env[0], env[1], ("KEEPSTATE_ARGS", "")]);
    assert!(status == 2 && said.contains("GIT_DEPTH"), "{said}");
}
