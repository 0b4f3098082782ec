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
