//! What keepstate gives to shells and to `man`.

use std::path::Path;
use std::process::{Command, Output};

fn keepstate(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_keepstate")).args(args).output().unwrap()
}

fn shown(args: &[&str]) -> String {
    let output = keepstate(args);
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that `--help` lists.
fn commands() -> Vec<String> {
    let help = shown(&["--help"]);
    let listed = help.split("Commands:\n").nth(1).and_then(|t| t.split("\n\n").next()).unwrap();
    let names = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|w| !w.is_empty()));
    let names: Vec<String> = names.filter(|name| *name != "help").map(str::to_owned).collect();
    assert!(names.len() > 10, "{names:?}");
    names
}

#[test]
fn every_shell_is_told_of_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = shown(&["completions", shell]);
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        assert!(script.contains("stdin-path"), "{shell}");
        // The others know no names of values.
        if ["bash", "fish", "zsh"].contains(&shell) {
            for name in ["flink-1.20", "sarif", "partially-compatible"] {
                assert!(script.contains(name), "{shell}: {name}");
            }
        }
    }
    assert_eq!(keepstate(&["completions", "tcsh"]).status.code(), Some(2));
}

/// In a real bash: words are completed as someone would type them.
#[test]
fn bash_completes() {
    let complete = |words: &[&str]| {
        let script = r#"source <("$1" completions bash); shift
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _keepstate keepstate "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[*]}""#;
        let output = Command::new("bash")
            .args(["-uc", script, "bash", env!("CARGO_BIN_EXE_keepstate"), "keepstate"])
            .args(words)
            .output()
            .unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete(&["che"]), "check");
    assert_eq!(complete(&["check", "--target", "flink"]), "flink-1.20 flink-2.2");
    assert_eq!(complete(&["check", "--format", "s"]), "sarif");
    assert_eq!(complete(&["lint", "--format", "j"]), "json junit");
    assert_eq!(complete(&["check", "--fail-on", "u"]), "unknown");
    assert_eq!(complete(&["check", "--st"]), "--stdin-path");
    assert_eq!(complete(&["schema", "l"]), "lock");
    for command in commands() {
        let words = complete(&[&command, ""]);
        assert!(!words.contains(['[', '<', '|']), "{command}: {words}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shells").join("man");
    let _ = std::fs::remove_dir_all(&dir);
    assert_eq!(shown(&["man", "--dir", dir.to_str().unwrap()]), "");
    let read = |page: &str| std::fs::read_to_string(dir.join(page)).unwrap();
    assert_eq!(read("keepstate.1"), shown(&["man"]));
    let commands = commands();
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), commands.len() + 1);
    for command in commands {
        let page = read(&format!("keepstate-{command}.1"));
        for part in [".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS"] {
            assert!(page.contains(part), "{command}: {part}");
        }
    }
    assert!(read("keepstate-check.1").contains("\\-\\-fail\\-on"));
    assert!(read("keepstate.1").contains("Exit status: 0"));
    // Where no directory can be.
    let refused = keepstate(&["man", "--dir", dir.join("keepstate.1").to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stdout).unwrap();
    assert!(said.contains("cannot be written") && said.contains("--dir"), "{said}");
}
