//! Where reports go: formats and their files, with the exit status of each.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use keepstate::report::format::Format;

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

/// A directory of this test's own.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("outputs").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn files(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Whether a text is a document of a format, as far as that can be told.
fn is_document(format: Format, text: &str) -> bool {
    match format {
        Format::Json | Format::Sarif | Format::Gitlab => serde_json::from_str::<serde_json::Value>(text).is_ok(),
        Format::Junit => quick_junit::Report::deserialize_from_str(text).is_ok(),
        _ => !text.is_empty(),
    }
}

/// The exit status is the same in every format, on stdout and in files, and every format is a whole document whatever it is.
#[test]
fn every_format_with_every_exit_status() {
    let pair = |name: &str| ["old", "new"].map(|side| format!("examples/{name}/{side}.sql"));
    let missing = ["no-such-old.sql", "no-such-new.sql"].map(str::to_owned);
    let dir = directory("matrix");
    for format in Format::ALL {
        let name = format.name();
        for (status, files) in
            [(0, pair("rewritten")), (1, pair("top_products")), (2, pair("wrong_sql")), (2, missing.clone())]
        {
            let stdout = keepstate(&["check", &files[0], &files[1], "--format", name]);
            let shown = text(&stdout.stdout);
            assert_eq!((stdout.status.code(), stdout.stderr.len()), (Some(status), 0), "{name}");
            assert!(is_document(format, &shown), "{name}: {shown}");

            let path = dir.join(format!("{status}.{name}"));
            let to = format!("{name}={}", path.display());
            let file = keepstate(&["check", &files[0], &files[1], "--format", &to]);
            assert_eq!((file.status.code(), text(&file.stdout)), (Some(status), String::new()), "{name}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), shown, "{name}");

            let lint = keepstate(&["lint", &files[1], "--format", name]);
            assert!(is_document(format, &text(&lint.stdout)), "{name}: {}", text(&lint.stdout));
        }
    }
    assert!(files(&dir).iter().all(|name| !name.ends_with(".tmp")));
}

/// Each verdict under each `--fail-on` in each format: the status follows from the first two alone, and what a format itself says of
/// passing agrees with it.
#[test]
fn every_verdict_under_every_threshold_in_every_format() {
    let verdicts = [
        ("compatible", "rewritten", "vvr"),
        ("partially-compatible", "order_totals", "vvr"),
        // No rule speaks of this engine.
        ("unknown", "top_products", "flink-1.20"),
        ("incompatible", "top_products", "vvr"),
    ];
    let thresholds = [("partially-compatible", 1), ("unknown", 2), ("incompatible", 3), ("never", usize::MAX), ("", 2)];
    let dir = directory("thresholds");
    for (rank, (verdict, name, target)) in verdicts.into_iter().enumerate() {
        let [old, new] = ["old", "new"].map(|side| format!("examples/{name}/{side}.sql"));
        for (threshold, least) in thresholds {
            let status = i32::from(rank >= least);
            let files = Format::ALL.map(|format| format!("{}={}", format.name(), dir.join(format.name()).display()));
            let mut args = vec!["check", &old, &new, "--target", target];
            args.extend(files.iter().flat_map(|file| ["--format", file]));
            if !threshold.is_empty() {
                args.extend(["--fail-on", threshold]);
            }
            let output = keepstate(&args);
            assert_eq!(output.status.code(), Some(status), "{verdict}, --fail-on {threshold}");
            assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{verdict}, --fail-on {threshold}");
            for format in Format::ALL {
                let shown = std::fs::read_to_string(dir.join(format.name())).unwrap();
                let case = format!("{verdict}, --fail-on {threshold}, {}: {shown}", format.name());
                assert!(is_document(format, &shown), "{case}");
                match format {
                    Format::Json => {
                        let report: serde_json::Value = serde_json::from_str(&shown).unwrap();
                        assert_eq!(
                            (&report["exit_code"], &report["verdict"]),
                            (&status.into(), &verdict.into()),
                            "{case}"
                        );
                    }
                    Format::Junit => {
                        let report = quick_junit::Report::deserialize_from_str(&shown).unwrap();
                        assert_eq!((report.failures > 0, report.errors), (status == 1, 0), "{case}");
                    }
                    // Levels tell how bad something is, not whether it passes.
                    Format::Sarif | Format::Gitlab => {}
                    Format::Github if rank == 0 => assert!(!shown.starts_with("::error"), "{case}"),
                    _ => assert!(shown.contains(verdict), "{case}"),
                }
            }
        }
    }
}

#[test]
fn several_formats_at_once() {
    let dir = directory("several");
    let path = |name: &str| dir.join(name).display().to_string();
    let (sarif, junit) = (format!("sarif={}", path("out.sarif")), format!("junit={}", path("a=b.xml")));
    let [old, new] = ["old", "new"].map(|side| format!("examples/top_products/{side}.sql"));
    let output = keepstate(&[
        "check", &old, &new, "--format", &sarif, "--format", "human", "--format", &junit, "--color", "always",
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("\u{1b}[1;31mincompatible"));
    assert_eq!(files(&dir), ["a=b.xml", "out.sarif"]);
    for name in files(&dir) {
        assert!(!std::fs::read_to_string(dir.join(name)).unwrap().contains('\u{1b}'));
    }
}

#[test]
fn contradictions_are_usage_errors() {
    let [old, new] = ["old", "new"].map(|side| format!("examples/rewritten/{side}.sql"));
    for (formats, why) in [
        (["json", "human"], "--format human=FILE"),
        (["json=same", "human=same"], "two formats are for same"),
        (["jsn", "human=x"], "did you mean `json`?"),
        (["json=", "human=x"], "json=report.txt"),
    ] {
        let output = keepstate(&["check", &old, &new, "--format", formats[0], "--format", formats[1]]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{formats:?}");
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
        assert!(!Path::new("same").exists() && !Path::new("x").exists());
    }
}

#[test]
fn what_cannot_be_written_is_an_error_of_the_report() {
    let dir = directory("unwritable");
    let [old, new] = ["old", "new"].map(|side| format!("examples/rewritten/{side}.sql"));
    let nowhere = format!("sarif={}", dir.join("no/such/out.sarif").display());
    let folder = format!("junit={}", dir.display());
    let whole = dir.join("whole.json");
    let good = format!("json={}", whole.display());
    let output = keepstate(&[
        "check", &old, &new, "--format", &nowhere, "--format", &folder, "--format", &good, "--format", "concise",
    ]);
    let shown = text(&output.stdout);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(2), 0), "{shown}");
    assert!(
        shown.contains("error io") && shown.contains("there is no directory") && shown.contains("it is a directory"),
        "{shown}"
    );
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&whole).unwrap()).unwrap();
    assert_eq!((&report["exit_code"], report["errors"].as_array().map(Vec::len)), (&2.into(), Some(2)));
    assert_eq!(files(&dir), ["whole.json"]);

    // If no format is on stdout, stderr says it.
    let output = keepstate(&["lint", &new, "--format", &nowhere]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(text(&output.stderr).contains("there is no directory"), "{}", text(&output.stderr));
}

#[test]
#[cfg(unix)]
fn files_keep_what_they_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let dir = directory("kept");
    let [old, new] = ["old", "new"].map(|side| format!("examples/rewritten/{side}.sql"));
    let (real, link) = (dir.join("real.json"), dir.join("link.json"));
    std::fs::write(&real, "before").unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, &link).unwrap();
    let to = format!("json={}", link.display());
    assert_eq!(keepstate(&["check", &old, &new, "--format", &to, "--format", "json=/dev/null"]).status.code(), Some(0));
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().starts_with('{'));
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);

    let output = keepstate(&["check", &old, &new, "--format", "json=/dev/stdout"]);
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok());
}

/// What each command says at length.
const COMMANDS: [&str; 12] = [
    "check examples/top_products/old.sql examples/top_products/new.sql",
    "check examples/wrong_sql/old.sql examples/wrong_sql/new.sql --format json",
    "lint examples/daily_revenue/job.sql",
    "plan -v examples/order_totals/old.sql",
    "diff examples/top_products/old.sql examples/top_products/new.sql",
    "parse examples/wrong_sql/new.sql",
    "run examples/bids/sum.sql --data Bid=examples/bids/Bid.csv --format csv",
    "rehearse examples/order_totals/old.sql examples/order_totals/new.sql --data orders=examples/order_totals/orders.csv --split-at 3",
    "rules",
    "explain WTVF-10",
    "completions zsh",
    "man",
];

fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

/// A reader that goes away changes no exit status, and nobody complains.
#[test]
fn a_closed_pipe_changes_nothing() {
    for command in COMMANDS {
        let mut child = Command::new(env!("CARGO_BIN_EXE_keepstate"))
            .args(words(command))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let read = keepstate(&words(command));
        assert_eq!((output.status.code(), text(&output.stderr)), (read.status.code(), String::new()), "{command}");
        assert!(!read.stdout.is_empty(), "{command}");
    }
}

/// A disk that is full is another matter.
#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_written_to_stdout_is_said() {
    for command in COMMANDS {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_keepstate"))
            .args(words(command))
            .stdin(Stdio::null())
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(text(&output.stderr).contains("cannot be written") || text(&output.stderr).contains("cannot write"));
    }
}

/// Off a terminal the output is the same bytes wherever it is made, and nothing is said of progress.
#[test]
fn services_change_no_output() {
    for command in COMMANDS {
        let plain = keepstate(&words(command));
        assert!(!plain.stdout.contains(&0x1b) && plain.stderr.is_empty(), "{command}");
        for (name, value) in [
            ("NO_COLOR", "1"),
            ("CI", "true"),
            ("GITHUB_ACTIONS", "true"),
            ("TERM", "dumb"),
            ("LANG", "C"),
            ("TZ", "Asia/Tokyo"),
        ] {
            let output = Command::new(env!("CARGO_BIN_EXE_keepstate"))
                .args(words(command))
                .env(name, value)
                .stdin(Stdio::null())
                .output();
            assert!(output.unwrap().stdout == plain.stdout, "{command} with {name}={value}");
        }
    }
}

/// On a terminal there are colours, unless they are not wanted. `script` makes the terminal.
#[test]
#[cfg(target_os = "linux")]
fn a_terminal_has_colours_unless_they_are_not_wanted() {
    let shown = |command: &str, env: &[(&str, &str)]| {
        let line = format!("'{}' {command}", env!("CARGO_BIN_EXE_keepstate"));
        let output = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .env("TERM", "xterm")
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .output();
        output.ok().map(|output| (output.status.code(), output.stdout.contains(&0x1b)))
    };
    let check = "check examples/top_products/old.sql examples/top_products/new.sql";
    let Some(coloured) = shown(check, &[]) else {
        let _ =
            std::io::Write::write_all(&mut std::io::stderr(), b"SKIPPED colours on a terminal: there is no `script`\n");
        return;
    };
    assert_eq!(coloured, (Some(1), true));
    assert_eq!(shown(check, &[("NO_COLOR", "1")]), Some((Some(1), false)));
    assert_eq!(shown(check, &[("NO_COLOR", "")]), Some((Some(1), true)), "an empty NO_COLOR is none");
    assert_eq!(shown(&format!("{check} --color never"), &[]), Some((Some(1), false)));
    assert_eq!(shown(&format!("{check} --color always"), &[("NO_COLOR", "1")]), Some((Some(1), true)));
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Human) {
        assert_eq!(
            shown(&format!("{check} --format {}", format.name()), &[]),
            Some((Some(1), false)),
            "{}",
            format.name()
        );
    }
}
