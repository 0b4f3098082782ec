//! docs/ci.md: every recipe is read, and its commands are run.

use super::files::{valid, yaml};
use super::repository::{BASH, RULE, Repository, read};

/// The blocks of the guide: the section that each stands in, its language, its text.
fn blocks() -> Vec<(String, String, String)> {
    let guide = read("docs/ci.md");
    let (mut section, mut blocks, mut open) = (String::new(), Vec::new(), None::<(String, String)>);
    for line in guide.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => {
                let (language, text) = open.take().unwrap();
                blocks.push((section.clone(), language, text));
            }
            (Some((_, text)), None) => text.push_str(&format!("{line}\n")),
            (None, None) => section = line.strip_prefix("## ").map_or(section, str::to_owned),
        }
    }
    blocks
}

fn block(section: &str, nth: usize) -> String {
    let mut found = blocks().into_iter().filter(|(of, ..)| of == section);
    found.nth(nth).unwrap_or_else(|| panic!("docs/ci.md has no block {nth} in {section}")).2
}

/// No recipe is added without a test.
#[test]
fn every_recipe_is_tested() {
    let found: Vec<(String, String)> = blocks().into_iter().map(|(section, language, _)| (section, language)).collect();
    let tested = [
        ("GitHub Actions", "yaml"),
        ("GitLab", "yaml"),
        ("pre-commit", "yaml"),
        ("pre-commit", "yaml"),
        ("Jenkins", "groovy"),
        ("Azure Pipelines", "yaml"),
        ("Bitbucket Pipelines", "yaml"),
        ("A plain shell", "sh"),
        ("Before a deploy", "sh"),
        ("Before a deploy", "sh"),
        ("An image", "sh"),
    ];
    assert_eq!(found, tested.map(|(section, language)| (section.to_owned(), language.to_owned())));
}

#[test]
fn the_services_read_their_recipes() {
    valid("GitHub", &yaml(&block("GitHub Actions", 0)), "github-workflow");
    valid("GitLab", &yaml(&block("GitLab", 0)), "gitlab-ci");
    valid("Bitbucket", &yaml(&block("Bitbucket Pipelines", 0)), "bitbucket-pipelines");
    let action = yaml(&read("action.yml"));
    let workflow = yaml(&block("GitHub Actions", 0));
    for input in workflow["jobs"]["state"]["steps"][1]["with"].as_object().unwrap().keys() {
        assert!(action["inputs"][input].is_object(), "{input}");
    }
}

/// Runs the commands of a service in a full clone of a change that loses state.
fn runs(name: &str, script: &str, env: &[(&str, &str)]) {
    let repository = Repository::new(name);
    repository.change();
    let clone = repository.clone("change", None);
    // The clone of a service knows the branch that the change is for.
    repository.git_in(&clone, &["fetch", "--quiet", "origin", "main:refs/remotes/origin/main"]);
    let (status, said) = repository.run(&BASH, &clone, script, env);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains(&format!(": incompatible {RULE}")), "{said}");
    assert!(!said.contains("plain"), "what `main` has got meanwhile is no change of this branch: {said}");
    let junit = ["keepstate.xml", "test-results/keepstate.xml"].map(|file| clone.join(file));
    let junit = junit.iter().find(|file| file.exists()).unwrap();
    assert!(read(junit).contains("<failure"));
}

#[test]
fn the_commands_for_jenkins_run() {
    let pipeline = block("Jenkins", 0);
    let script = pipeline.split("'''").nth(1).unwrap();
    runs("jenkins", script, &[("CHANGE_TARGET", "main")]);
}

#[test]
fn the_commands_for_azure_run() {
    let pipeline = yaml(&block("Azure Pipelines", 0));
    let step = &pipeline["steps"][1];
    assert_eq!(step["env"]["TARGET"], "$(System.PullRequest.TargetBranch)");
    runs("azure", step["bash"].as_str().unwrap(), &[("TARGET", "refs/heads/main")]);
}

#[test]
fn the_commands_for_bitbucket_run() {
    let pipeline = yaml(&block("Bitbucket Pipelines", 0));
    let commands = pipeline["pipelines"]["pull-requests"]["**"][0]["step"]["script"].as_array().unwrap();
    let script: Vec<&str> = commands.iter().map(|c| c.as_str().unwrap()).collect();
    runs("bitbucket", &script.join("\n"), &[("BITBUCKET_PR_DESTINATION_BRANCH", "main")]);
}

#[test]
fn the_commands_for_a_shell_run() {
    runs("shell", &block("A plain shell", 0), &[]);
}

/// The short form in the README, and the version that all recipes name.
#[test]
fn the_readme_says_what_the_guide_says() {
    let readme = read("README.md");
    let section = readme.split("## In CI\n").nth(1).unwrap();
    let script = section.split("```sh\n").nth(1).and_then(|t| t.split("```").next()).unwrap();
    let repository = Repository::new("readme");
    repository.change();
    let clone = repository.clone("change", None);
    let (status, said) = repository.run(&BASH, &clone, script, &[]);
    assert!(status == 1 && said.contains("::error file=jobs/totals.sql"), "{said}");

    let version = env!("CARGO_PKG_VERSION");
    for (file, names) in [("docs/ci.md", 3), ("ci/github.yml", 1)] {
        assert_eq!(read(file).matches(&format!("v{version}")).count(), names, "{file}");
    }
}

/// A deploy goes through if the jobs keep their state, and only then does the lock follow.
#[test]
fn a_deploy_is_guarded_by_the_lock() {
    let repository = Repository::new("deploy");
    let here = repository.origin();
    std::fs::write(here.join("deploy"), "#!/bin/sh\necho \"deployed $1\"\n").unwrap();
    repository.executable(&here.join("deploy"));
    let run = |script: &str| repository.run(&BASH, &here, script, &[]);
    assert_eq!(run("keepstate lock").0, 0);
    repository.commit("locked");
    let (deploy, drift) = (block("Before a deploy", 0), block("Before a deploy", 1));
    assert_eq!(run(&drift).0, 0);
    // A change that keeps all state.
    repository.edit("jobs/ddl.sql", "'5' SECOND", "'7' SECOND");
    let (status, said) = run(&drift);
    assert!(status == 1 && said.contains("not up to date"), "{said}");
    let (status, said) = run(&deploy);
    assert!(status == 0 && said.contains("deployed jobs"), "{said}");
    assert_eq!(repository.git(&["log", "-1", "--format=%s"]), "Deployed");
    assert_eq!(repository.git(&["show", "--name-only", "--format=", "HEAD"]), "keepstate.lock");
    assert_eq!(run(&drift).0, 0);
    // One that does not.
    repository.edit("jobs/totals.sql", "'1' HOUR", "'2' HOUR");
    let (status, said) = run(&deploy);
    assert!(status == 1 && said.contains(RULE) && !said.contains("deployed"), "{said}");
    assert_eq!(run(&drift).0, 1, "the lock has stayed");
}

#[test]
fn the_image_is_run_with_commands_that_are_there() {
    let repository = Repository::new("image");
    repository.edit("jobs/totals.sql", "'1' HOUR", "'2' HOUR");
    repository.commit("another window");
    // Stands for docker: what comes after the name of the image are the arguments of the program.
    repository.shim(
        "docker",
        r#"case "$1" in build) exit 0 ;; esac
until [ "$1" = keepstate ]; do shift; done
exec "$@""#,
    );
    let (status, said) = repository.run(&BASH, &repository.origin(), &block("An image", 0), &[]);
    assert!(status == 1 && said.contains(RULE), "{said}");
}
