//! What pipelines are made of is well formed, and says what the rest of the project says.

use std::collections::BTreeSet;

use serde_json::Value;

use super::repository::read;

/// The actions and workflows.
const GITHUB: [&str; 4] = ["action.yml", "ci/github.yml", ".github/workflows/ci.yml", ".github/workflows/release.yml"];

pub fn yaml(text: &str) -> Value {
    serde_yaml_ng::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

/// Asserts that a document is as its schema in tests/schemas/ says.
pub fn valid(name: &str, document: &Value, schema: &str) {
    let schema: Value = serde_json::from_str(&read(format!("tests/schemas/{schema}.json"))).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
}

/// All steps, wherever they are.
fn steps(document: &Value) -> Vec<Value> {
    match document {
        Value::Object(fields) => {
            let here = fields.get("steps").and_then(Value::as_array).cloned().unwrap_or_default();
            here.into_iter().chain(fields.values().flat_map(steps)).collect()
        }
        Value::Array(items) => items.iter().flat_map(steps).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn documents_are_as_their_schemas_say() {
    for file in GITHUB {
        let schema = if file == "action.yml" { "github-action" } else { "github-workflow" };
        valid(file, &yaml(&read(file)), schema);
    }
    valid("ci/gitlab.yml", &yaml(&read("ci/gitlab.yml")), "gitlab-ci");
    // And the schemas tell right from wrong.
    let wrong = yaml(&read("action.yml").replace("shell: bash", "shel: bash"));
    let schema: Value = serde_json::from_str(&read("tests/schemas/github-action.json")).unwrap();
    assert!(!jsonschema::validator_for(&schema).unwrap().is_valid(&wrong));
}

/// What a stranger may have written reaches a shell only as the value of a variable.
#[test]
fn no_script_has_an_expression_in_it() {
    for file in GITHUB {
        let steps = steps(&yaml(&read(file)));
        assert!(!steps.is_empty(), "{file}");
        for step in &steps {
            let script = step["run"].as_str().unwrap_or_default();
            assert!(!script.contains("${{"), "{file}: {script}");
        }
    }
}

#[test]
fn actions_of_others_are_pinned_to_a_version() {
    for file in GITHUB {
        for step in steps(&yaml(&read(file))) {
            let Some(uses) = step["uses"].as_str() else { continue };
            let version = uses.split_once('@').map_or("", |(_, version)| version);
            let pinned = version.strip_prefix('v').is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()));
            assert!(pinned || uses == "./", "{file}: {uses}");
        }
    }
}

#[test]
fn no_workflow_asks_for_secrets() {
    for file in GITHUB {
        assert!(!read(file).contains("secrets."), "{file}");
    }
    for file in &GITHUB[1..] {
        let permissions = yaml(&read(file))["permissions"].clone();
        assert_eq!(permissions["contents"], "read", "{file}");
    }
}

/// The table of inputs in docs/ci.md is that of the action.
#[test]
fn the_inputs_are_those_that_the_guide_lists() {
    let action = yaml(&read("action.yml"));
    let inputs: BTreeSet<String> = action["inputs"].as_object().unwrap().keys().cloned().collect();
    let guide = read("docs/ci.md");
    let table = guide.split("| input | meaning |").nth(1).and_then(|t| t.split("\n\n").next()).unwrap();
    let first = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let listed: BTreeSet<String> =
        first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect();
    assert_eq!(listed, inputs);
    let outputs = guide.split("Outputs are").nth(1).and_then(|t| t.split(". ").next()).unwrap();
    for output in action["outputs"].as_object().unwrap().keys() {
        assert!(outputs.contains(&format!("`{output}`")), "{output}");
    }
}

/// Archives have the names by which the action, `cargo binstall` and the release look for them.
#[test]
fn archives_are_named_alike() {
    let (action, release, pack, cargo) =
        (read("action.yml"), read(".github/workflows/release.yml"), read("ci/pack"), read("Cargo.toml"));
    assert!(action.contains("archive=keepstate-$target.tar.gz"));
    assert!(pack.contains("name=keepstate-$target\n") && pack.contains("$name.tar.gz.sha256"));
    assert!(cargo.contains("/v{ version }/keepstate-{ target }.tar.gz") && cargo.contains("pkg-fmt = \"tgz\""));
    let built: BTreeSet<&str> =
        release.lines().filter_map(|line| line.split("target: ").nth(1)?.strip_suffix(" }")).collect();
    let fetched: BTreeSet<&str> = action
        .lines()
        .filter_map(|line| line.trim().strip_suffix(" ;;")?.split(") target=").nth(1).filter(|t| !t.is_empty()))
        .collect();
    assert_eq!(built, fetched);
    assert_eq!(built.len(), 5);
}

/// The image is built from what the build needs, and from nothing else.
#[test]
fn the_image_is_built_from_all_that_the_build_reads() {
    let ignored = read(".dockerignore");
    let kept: Vec<&str> = ignored.lines().filter_map(|line| line.strip_prefix('!')).collect();
    let manifest: toml::Value = read("Cargo.toml").parse::<toml::Table>().unwrap().into();
    let readme = manifest["package"]["readme"].as_str().unwrap();
    for needed in ["Cargo.toml", "Cargo.lock", "build.rs", "src", "rules", "schemas", "benches", readme] {
        assert!(kept.contains(&needed), "{needed}");
    }
    let docker = read("Dockerfile");
    for needed in ["--locked", "USER 1000", "apk add --no-cache git", "safe.directory", "ENTRYPOINT"] {
        assert!(docker.contains(needed), "{needed}");
    }
}
