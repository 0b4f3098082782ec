//! action.yml and ci/github.yml: their steps are run one after the other, with the files and variables that a runner gives them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files::yaml;
use super::repository::{BASH, RULE, Repository, read};

/// A runner for the steps of one action or job.
struct Runner<'a> {
    repository: &'a Repository,
    workspace: PathBuf,
    /// What expressions stand for; what is not there is empty.
    context: BTreeMap<String, String>,
    env: Vec<(String, String)>,
    said: String,
}

impl<'a> Runner<'a> {
    fn new(repository: &'a Repository, workspace: &Path, context: &[(&str, &str)]) -> Runner<'a> {
        let temp = repository.root.join("temp");
        let env = [
            ("GITHUB_WORKSPACE", workspace.display().to_string()),
            ("GITHUB_ACTION_PATH", env!("CARGO_MANIFEST_DIR").to_owned()),
            ("GITHUB_SERVER_URL", format!("file://{}", repository.root.join("server").display())),
            ("GITHUB_REPOSITORY", "us/jobs".to_owned()),
            ("RUNNER_TEMP", temp.display().to_string()),
            ("RUNNER_OS", "Linux".to_owned()),
            ("RUNNER_ARCH", "X64".to_owned()),
        ];
        let _ = std::fs::remove_dir_all(&temp);
        std::fs::create_dir_all(&temp).unwrap();
        Runner {
            repository,
            workspace: workspace.to_owned(),
            context: context.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            env: env.map(|(name, value)| (name.to_owned(), value)).into(),
            said: String::new(),
        }
    }

    /// Runs action.yml with these inputs; the exit status of the last step that ran.
    fn action(&mut self, inputs: &[(&str, &str)]) -> i32 {
        let action = yaml(&read("action.yml"));
        for (name, input) in action["inputs"].as_object().unwrap() {
            self.context.insert(format!("inputs.{name}"), input["default"].as_str().unwrap().to_owned());
        }
        for (name, value) in inputs {
            assert!(self.context.insert(format!("inputs.{name}"), (*value).to_owned()).is_some(), "{name}");
        }
        let status = self.steps(action["runs"]["steps"].as_array().unwrap());
        for (name, output) in action["outputs"].as_object().unwrap() {
            let value = self.expand(output["value"].as_str().unwrap());
            self.context.insert(name.clone(), value);
        }
        status
    }

    fn steps(&mut self, steps: &[Value]) -> i32 {
        let mut status = 0;
        for step in steps {
            let needed = step["if"].as_str().is_none_or(|condition| self.holds(condition));
            if let (0, true, Some(script)) = (status, needed, step["run"].as_str()) {
                status = self.step(step, script);
            }
        }
        status
    }

    fn step(&mut self, step: &Value, script: &str) -> i32 {
        let mut env = self.env.clone();
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            env.push((name.clone(), self.expand(value.as_str().unwrap())));
        }
        let output = self.repository.root.join("github_output");
        std::fs::write(&output, "").unwrap();
        for (name, file) in
            [("GITHUB_OUTPUT", "github_output"), ("GITHUB_STEP_SUMMARY", "summary"), ("GITHUB_PATH", "path")]
        {
            env.push((name.to_owned(), self.repository.root.join(file).display().to_string()));
        }
        let directory = step["working-directory"].as_str().map_or_else(|| ".".to_owned(), |d| self.expand(d));
        let borrowed: Vec<(&str, &str)> = env.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let (status, said) = self.repository.run(&BASH, &self.workspace.join(directory), script, &borrowed);
        self.said.push_str(&said);
        if let Some(id) = step["id"].as_str() {
            for line in read(&output).lines() {
                let (name, value) = line.split_once('=').unwrap_or_else(|| panic!("{id}: {line}"));
                self.context.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
            }
        }
        status
    }

    /// `a == 'b'`, the only form of condition in the action.
    fn holds(&self, condition: &str) -> bool {
        let (name, value) = condition.split_once(" == ").unwrap_or_else(|| panic!("{condition}"));
        self.value(name) == value.trim_matches('\'')
    }

    /// The text with `${{ a || b }}` replaced by the first of them that is not empty.
    fn expand(&self, text: &str) -> String {
        let Some((before, rest)) = text.split_once("${{") else { return text.to_owned() };
        let (expression, after) = rest.split_once("}}").unwrap();
        let value = expression.split("||").map(|name| self.value(name.trim())).find(|value| !value.is_empty());
        format!("{before}{}{}", value.unwrap_or_default(), self.expand(after))
    }

    fn value(&self, name: &str) -> String {
        self.context.get(name).cloned().unwrap_or_default()
    }
}

const INSTALLED: (&str, &str) = ("version", "installed");

/// A pull request as `actions/checkout` leaves it: the newest commit only, which merges the change into `main`.
fn pull_request(repository: &Repository) -> (PathBuf, String, String) {
    let head = repository.change();
    let base = repository.git(&["rev-parse", "main"]);
    repository.git(&["switch", "--quiet", "--create", "merge"]);
    repository.git(&["merge", "--quiet", "--no-edit", "--no-ff", "change"]);
    (repository.clone("merge", Some(1)), head, base)
}

#[test]
fn a_pull_request_is_compared_with_what_it_was_merged_into() {
    let repository = Repository::new("pull-request");
    let old = repository.git(&["rev-parse", "HEAD"]);
    let (clone, head, base) = pull_request(&repository);
    // The event still names the commit that the branch had when it was opened.
    let context = [("github.event.pull_request.head.sha", head.as_str()), ("github.event.pull_request.base.sha", &old)];
    let mut runner = Runner::new(&repository, &clone, &context);
    assert_eq!(runner.action(&[INSTALLED, ("paths", "jobs\n")]), 1, "{}", runner.said);
    assert_eq!(runner.value("base"), base);
    assert_eq!((runner.value("verdict"), runner.value("exit-code")), ("incompatible".to_owned(), "1".to_owned()));
    assert!(runner.said.contains("::error file=jobs/totals.sql,line=3"), "{}", runner.said);
    // What `main` has got meanwhile is no change of this pull request.
    let report: Value = serde_json::from_str(&read(runner.value("json"))).unwrap();
    assert_eq!(report["jobs"].as_array().unwrap().len(), 1, "{report:#}");
    let sarif: Value = serde_json::from_str(&read(runner.value("sarif"))).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], RULE);
    assert!(read(runner.value("html")).contains(RULE));
    let markdown = read(runner.value("markdown"));
    assert!(markdown.starts_with("## keepstate: incompatible"), "{markdown}");
    assert_eq!(read(repository.root.join("summary")), markdown);
}

#[test]
fn other_events_have_their_base_too() {
    let repository = Repository::new("events");
    let before = repository.git(&["rev-parse", "HEAD"]);
    repository.change();
    repository.git(&["merge", "--quiet", "--no-edit", "change"]);
    let verdict = |depth, branch, context: &[(&str, &str)], inputs: &[(&str, &str)]| {
        let clone = repository.clone(branch, depth);
        let mut runner = Runner::new(&repository, &clone, context);
        let inputs: Vec<(&str, &str)> = [INSTALLED].iter().chain(inputs).copied().collect();
        let status = runner.action(&inputs);
        (status, runner.value("base"), runner.said)
    };
    // A push, with the history and without.
    for depth in [None, Some(1)] {
        let (status, base, said) = verdict(depth, "main", &[("github.event.before", &before)], &[]);
        assert!(status == 1 && base == before && said.contains(RULE), "{said}");
    }
    // A branch that is new: there was nothing before.
    let zeros = "0".repeat(40);
    let context = [("github.event.before", zeros.as_str()), ("github.event.repository.default_branch", "main")];
    let main = repository.git(&["rev-parse", "main"]);
    let (status, base, said) = verdict(Some(1), "change", &context, &[]);
    assert!(base == main && status == 0, "{said}");
    // A base that is named: a commit, a branch here or there.
    for named in [before.as_str(), "main", "origin/main"] {
        let (_, base, said) = verdict(Some(1), "change", &[], &[("base", named)]);
        assert_eq!(base, if named == before { &before } else { &main }.as_str(), "{said}");
    }
    // None at all, and one that is nowhere.
    let (status, _, said) = verdict(None, "main", &[], &[]);
    assert!(status == 2 && said.contains("nothing says what to compare with"), "{said}");
    let gone = "0123456789012345678901234567890123456789";
    let (status, _, said) = verdict(Some(1), "main", &[("github.event.before", gone)], &[]);
    assert!(status == 2 && said.contains("::error") && said.contains("`fetch-depth: 0`"), "{said}");
}

#[test]
fn a_lock_takes_the_place_of_a_revision() {
    let repository = Repository::new("with-lock");
    let clone = repository.clone("main", None);
    assert_eq!(repository.run(&BASH, &clone, "keepstate lock", &[]).0, 0);
    let text = read(clone.join("jobs/totals.sql")).replace("'1' HOUR", "'2' HOUR");
    std::fs::write(clone.join("jobs/totals.sql"), text).unwrap();
    let mut runner = Runner::new(&repository, &clone, &[]);
    let inputs = [INSTALLED, ("lock", "keepstate.lock"), ("sarif", "own.sarif"), ("fail", "false")];
    assert_eq!(runner.action(&inputs), 0, "{}", runner.said);
    assert_eq!((runner.value("exit-code"), runner.value("base")), ("1".to_owned(), String::new()));
    assert_eq!(runner.value("sarif"), clone.join("own.sarif").display().to_string());
    assert!(clone.join("own.sarif").exists());
}

#[test]
fn inputs_are_not_run() {
    let repository = Repository::new("injection");
    let clone = repository.clone("main", None);
    for bad in ["$(touch pwned)", "; touch pwned", "`touch pwned`", "' ; touch pwned ; '", "\" ; touch pwned ; \""] {
        for input in ["base", "lock", "paths", "args", "version"] {
            let mut runner = Runner::new(&repository, &clone, &[("github.event.repository.default_branch", "main")]);
            let inputs = if input == "version" { vec![] } else { vec![INSTALLED] };
            let inputs: Vec<(&str, &str)> = inputs.into_iter().chain([(input, bad)]).collect();
            assert_eq!(runner.action(&inputs), 2, "{input} {bad}: {}", runner.said);
            assert!(!clone.join("pwned").exists(), "{input} {bad}");
        }
    }
    let mut runner = Runner::new(&repository, &clone, &[]);
    assert_eq!(runner.action(&[INSTALLED, ("base", "--output=x")]), 2);
    assert!(runner.said.contains("it begins with -"), "{}", runner.said);
}

#[test]
fn wrong_use_leaves_no_reports() {
    let repository = Repository::new("wrong-use");
    let clone = repository.clone("main", None);
    let mut runner = Runner::new(&repository, &clone, &[]);
    let status = runner.action(&[INSTALLED, ("base", "HEAD"), ("args", "--no-such-option")]);
    assert_eq!((status, runner.value("verdict")), (2, "unknown".to_owned()), "{}", runner.said);
    assert_eq!(runner.value("sarif"), "");
}

/// A release on a server of files, packed by ci/pack from a program that calls the real one.
fn release(repository: &Repository, version: &str) -> PathBuf {
    let built = repository.root.join("built");
    std::fs::create_dir_all(&built).unwrap();
    let program = built.join("keepstate");
    std::fs::write(&program, format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_keepstate"))).unwrap();
    repository.executable(&program);
    let out = repository.root.join(format!("server/them/keepstate/releases/download/v{version}"));
    let pack = format!("ci/pack x86_64-unknown-linux-musl '{}' '{}'", built.display(), out.display());
    let (status, said) = repository.run(&BASH, Path::new(env!("CARGO_MANIFEST_DIR")), &pack, &[]);
    assert_eq!(status, 0, "{said}");
    out
}

#[test]
fn the_program_is_that_of_the_release_or_is_built() {
    let repository = Repository::new("install");
    let clone = repository.clone("main", None);
    let out = release(&repository, "9.8.7");
    let archive = out.join("keepstate-x86_64-unknown-linux-musl.tar.gz");
    let (_, listed) = repository.run(&BASH, &out, "tar -tzf *.tar.gz", &[]);
    for file in ["keepstate", "man/keepstate-check.1", "completions/keepstate.zsh", "LICENSE-MIT"] {
        assert!(listed.contains(&format!("keepstate-x86_64-unknown-linux-musl/{file}\n")), "{listed}");
    }
    repository.shim("cargo", &format!("echo \"$@\" > '{}'; exit 7", repository.root.join("cargo").display()));
    let install = |version: &str, arch: &str| {
        let mut runner = Runner::new(&repository, &clone, &[("github.action_repository", "them/keepstate")]);
        runner.env.push(("RUNNER_ARCH".to_owned(), arch.to_owned()));
        (runner.action(&[("version", version), ("base", "HEAD")]), runner.said)
    };
    let (status, said) = install("v9.8.7", "X64");
    assert_eq!(status, 0, "{said}");
    let bin = repository.root.join("temp/keepstate-9.8.7/bin");
    assert!(bin.join("keepstate").exists());
    assert_eq!(read(repository.root.join("path")).trim(), bin.display().to_string());
    // Not what was released.
    let mut bytes = std::fs::read(&archive).unwrap();
    bytes.push(0);
    std::fs::write(&archive, bytes).unwrap();
    let (status, said) = install("9.8.7", "X64");
    assert!(status == 2 && said.contains("is not what its checksum says"), "{said}");
    // No such release, or none for this runner: from source, which is another command for another version.
    let cargo = || read(repository.root.join("cargo"));
    assert_eq!(install("9.9.9", "X64").0, 7);
    assert!(
        cargo().starts_with("install --locked --root ") && cargo().contains("--tag v9.9.9 keepstate"),
        "{}",
        cargo()
    );
    assert_eq!(install("", "RISCV").0, 7);
    assert!(cargo().contains(&format!("--path {}", env!("CARGO_MANIFEST_DIR"))), "{}", cargo());
}

/// The workflow's comment is made once and then changed.
#[test]
fn one_comment_follows_the_pull_request() {
    let repository = Repository::new("comment");
    let comment = repository.root.join("comment");
    // Stands for GitHub: the comments of others and, once it is made, ours.
    repository.shim(
        "gh",
        &format!(
            r#"echo "$*" >> '{root}/calls'
case "$*" in
  *--jq*) if [ -e '{comment}' ]; then echo 42; fi ;;
  *POST*issues/7/comments*|*PATCH*issues/comments/42*) for last; do :; done; cat "${{last#body=@}}" > '{comment}' ;;
  *) exit 1 ;;
esac"#,
            root = repository.root.display(),
            comment = comment.display()
        ),
    );
    let workflow = yaml(&read("ci/github.yml"));
    let steps = workflow["jobs"]["check"]["steps"].as_array().unwrap().clone();
    let step: Vec<Value> = steps.into_iter().filter(|step| step["name"] == "Comment").collect();
    assert_eq!(step.len(), 1);
    let markdown = repository.root.join("report.md");
    for (method, text) in [("POST", "## keepstate: incompatible\n"), ("PATCH", "## keepstate: compatible\n")] {
        std::fs::write(&markdown, text).unwrap();
        let path = markdown.display().to_string();
        let context = [("steps.keepstate.outputs.markdown", path.as_str()), ("github.event.pull_request.number", "7")];
        let mut runner = Runner::new(&repository, &repository.origin(), &context);
        let script = step[0]["run"].as_str().unwrap();
        assert_eq!(runner.step(&step[0], script), 0, "{}", runner.said);
        assert_eq!(read(&comment), text);
        let calls = read(repository.root.join("calls"));
        assert!(calls.lines().last().unwrap().contains(method), "{calls}");
    }
}
