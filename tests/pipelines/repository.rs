//! A repository of jobs, a clone of it as a service makes one, and a shell as a service starts one.

use std::path::{Path, PathBuf};
use std::process::Command;

const DDL: &str = "CREATE TABLE orders (customer STRING, price DECIMAL(10, 2), ordered_at TIMESTAMP(3),
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'b:9092', 'format' = 'json');
CREATE TABLE totals (customer STRING, window_end TIMESTAMP(3), spent DECIMAL(38, 2)) WITH ('connector' = 'print');
";

const TOTALS: &str = "INSERT INTO totals
SELECT customer, window_end, SUM(price) AS spent
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR))
GROUP BY customer, window_start, window_end;
";

const PLAIN: &str = "INSERT INTO totals SELECT customer, ordered_at, price FROM orders;\n";

/// The rule that finds what [`Repository::change`] does.
pub const RULE: &str = "window-tvf-window-changed";

pub fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A directory with a repository in `origin`, and room beside it.
pub struct Repository {
    pub root: PathBuf,
}

impl Repository {
    /// Two jobs and their DDL, committed on `main`.
    pub fn new(name: &str) -> Repository {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pipelines").join(name);
        let _ = std::fs::remove_dir_all(&root);
        for directory in ["origin/jobs", "home", "temp"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        let repository = Repository { root };
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        for (file, text) in [("ddl", DDL), ("totals", TOTALS), ("plain", PLAIN)] {
            std::fs::write(repository.origin().join(format!("jobs/{file}.sql")), text).unwrap();
        }
        repository.commit("first");
        repository
    }

    pub fn origin(&self) -> PathBuf {
        self.root.join("origin")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let program = Path::new(env!("CARGO_BIN_EXE_keepstate")).parent().unwrap().display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        // Nothing of who runs the tests: neither their configuration nor their variables.
        command
            .env_clear()
            .env("PATH", format!("{}:{program}:{path}", self.root.join("shims").display()))
            .env("HOME", self.root.join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@example.org");
        }
        command
    }

    pub fn git_in(&self, directory: &Path, args: &[&str]) -> String {
        let output = self.command("git").args(args).current_dir(directory).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.origin(), args)
    }

    /// Commits everything, and says which commit that is.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn edit(&self, path: &str, from: &str, to: &str) {
        let file = self.origin().join(path);
        let text = read(&file);
        assert!(text.contains(from), "{path} has no {from}");
        std::fs::write(file, text.replace(from, to)).unwrap();
    }

    /// Another window on a branch of its own: a change that loses state. `main` goes on meanwhile, with a change of another job.
    pub fn change(&self) -> String {
        self.git(&["switch", "--quiet", "--create", "change"]);
        self.edit("jobs/totals.sql", "'1' HOUR", "'2' HOUR");
        let head = self.commit("another window");
        self.git(&["switch", "--quiet", "main"]);
        self.edit("jobs/plain.sql", "price FROM", "price * 2 FROM");
        self.commit("main goes on");
        head
    }

    /// A clone of one branch, of so many commits.
    pub fn clone(&self, branch: &str, depth: Option<u32>) -> PathBuf {
        let to = self.root.join("clone");
        let _ = std::fs::remove_dir_all(&to);
        let depth = depth.map(|depth| format!("--depth={depth}"));
        let source = format!("file://{}", self.origin().display());
        let mut args = vec!["clone", "--quiet", "--branch", branch, "--single-branch"];
        args.extend(depth.as_deref());
        args.extend([source.as_str(), "clone"]);
        self.git_in(&self.root, &args);
        to
    }

    /// A program that stands before the real one.
    pub fn shim(&self, name: &str, script: &str) {
        let file = self.root.join("shims").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        self.executable(&file);
    }

    pub fn executable(&self, file: &Path) {
        assert!(Command::new("chmod").arg("+x").arg(file).status().unwrap().success());
    }

    /// Runs a script as `shell` with these options runs it, and shows all that it says.
    pub fn run(&self, shell: &[&str], directory: &Path, script: &str, env: &[(&str, &str)]) -> (i32, String) {
        let file = self.root.join("script");
        std::fs::write(&file, script).unwrap();
        let mut command = self.command(shell[0]);
        let output = command.args(&shell[1..]).arg(&file).envs(env.iter().copied()).current_dir(directory).output();
        let output = output.unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (output.status.code().unwrap(), said)
    }
}

/// How a careful shell runs a script: an error or a variable that is not set ends it.
pub const BASH: [&str; 6] = ["bash", "--noprofile", "--norc", "-eu", "-o", "pipefail"];
