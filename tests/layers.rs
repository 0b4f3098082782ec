//! The layers of the code: one direction, and each library in one place. `ARCHITECTURE.md` says why.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The modules, each with those that it may use. A module may use what stands before it, never what stands after it.
const LAYERS: [&str; 33] = [
    "source",
    "target",
    "terminal",
    "nearest",
    "plan_error",
    "syntax",
    "catalog",
    "logical",
    "eval",
    "exec",
    "state",
    "identity",
    "run",
    "rows",
    "engine",
    "diff",
    "observe",
    "rules",
    "report",
    "git",
    "suppress",
    "config",
    "planning",
    "check",
    "lint",
    "workspace",
    "lock",
    "execution",
    "rehearsal",
    "project",
    "lsp",
    "cli",
    "main",
];

/// Words that only one module may say: the libraries that it hides, and what touches the world outside.
const ONLY: [(&str, &[&str]); 14] = [
    ("sqlparser::", &["syntax"]),
    ("clap::", &["cli"]),
    ("miette::", &["report"]),
    ("sha2::", &["report", "execution", "eval", "lock"]),
    ("rayon::", &["check", "workspace", "lock", "cli"]),
    ("globset::", &["suppress", "config"]),
    ("similar::", &["report", "workspace"]),
    ("std::fs", &["cli", "project"]),
    ("std::env", &["cli", "project"]),
    ("std::thread", &["cli", "git", "lsp"]),
    ("std::time", &["lsp"]),
    ("print!", &[]),
    ("println!", &[]),
    ("std::process", &["cli", "main", "git"]),
];

/// The source files with the module that each belongs to.
fn files() -> Vec<(String, PathBuf)> {
    fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    collect(Path::new("src"), &mut paths);
    paths.sort();
    let module = |path: &Path| {
        let first = path.components().nth(1).unwrap().as_os_str().to_string_lossy().into_owned();
        first.trim_end_matches(".rs").to_owned()
    };
    paths.into_iter().map(|path| (module(&path), path)).filter(|(module, _)| module != "lib").collect()
}

/// The code of a file: no comments, no unit tests (they stand last in a file).
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(&text);
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The modules named after `crate::` or `keepstate::`, in braces as well.
fn used(code: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for root in ["crate::", "keepstate::"] {
        for rest in code.split(root).skip(1) {
            let inner = rest.strip_prefix('{').unwrap_or(rest);
            let end = if rest.starts_with('{') { inner.find("};").unwrap_or(inner.len()) } else { inner.len() };
            let names = if rest.starts_with('{') { inner[..end].split(',').collect() } else { vec![inner] };
            for name in names {
                let name: String = name.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                if LAYERS.contains(&name.as_str()) {
                    modules.insert(name);
                }
            }
        }
    }
    modules
}

fn layer(module: &str) -> usize {
    LAYERS.iter().position(|l| *l == module).unwrap_or_else(|| panic!("the module {module} has no place in LAYERS"))
}

#[test]
fn no_module_uses_what_stands_after_it() {
    let mut wrong = Vec::new();
    for (module, path) in files() {
        for other in used(&code(&path)) {
            if layer(&other) > layer(&module) {
                wrong.push(format!("{}: `{module}` uses `{other}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_library_is_known_in_one_place() {
    let mut wrong = Vec::new();
    for (module, path) in files() {
        let code = code(&path);
        for (word, allowed) in ONLY {
            let said = code.match_indices(word).any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric()));
            if said && !allowed.contains(&module.as_str()) {
                wrong.push(format!("{}: `{word}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_layers_are_the_modules() {
    let there: BTreeSet<String> = files().into_iter().map(|(module, _)| module).collect();
    let listed: BTreeSet<String> = LAYERS.iter().map(|l| (*l).to_owned()).collect();
    assert_eq!(there, listed);
}

#[test]
fn uses_are_found() {
    let found = |text: &str| used(text).into_iter().collect::<Vec<_>>();
    assert_eq!(found("use crate::exec::{Plan, rank};"), ["exec"]);
    assert_eq!(found("use crate::{catalog::Table, diff, unknown};"), ["catalog", "diff"]);
    assert_eq!(found("let x = crate::rules::verdict::worst();"), ["rules"]);
    assert_eq!(found("use super::exec;"), [""; 0]);
}
