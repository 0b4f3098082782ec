//! What is asked of git: which scripts differ from a revision, and their texts there. Through the `git` program, as everybody has it
//! configured, and reading only.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::report::model::{ErrorCode, ErrorItem};

/// A work tree.
#[derive(Debug, Clone)]
pub struct Repository {
    root: PathBuf,
}

/// A commit that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// As it was written: `origin/main`.
    pub name: String,
    /// Its id.
    pub id: String,
}

/// A file of a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Its path from the root of the work tree, with slashes.
    pub path: String,
    /// The id of its content.
    pub id: String,
}

type Result<T> = std::result::Result<T, Box<ErrorItem>>;

impl Repository {
    /// The work tree that a directory is in.
    pub fn of(directory: &Path) -> Result<Repository> {
        let output = git(directory, ["rev-parse", "--show-toplevel"], &[])?;
        if !output.ok {
            let message = format!("{} is not in a git work tree", shown(directory));
            let why = first_line(&output.stderr);
            let help = if why.contains("dubious ownership") {
                "git refuses it because somebody else owns it: `git config --global --add safe.directory ...` says that it is safe"
            } else {
                "run keepstate inside of a checkout, or name two files"
            };
            return Err(Box::new(ErrorItem::new(ErrorCode::Io, message).help(help)));
        }
        let root = String::from_utf8_lossy(&output.stdout).trim_end_matches(['\n', '\r']).to_owned();
        Ok(Repository { root: PathBuf::from(root) })
    }

    /// The directory at its top.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The commit of a revision.
    pub fn commit(&self, revision: &str) -> Result<Commit> {
        let wanted = format!("{revision}^{{commit}}");
        let output = git(&self.root, ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted], &[])?;
        if output.ok {
            let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            return Ok(Commit { name: revision.to_owned(), id });
        }
        let shallow = git(&self.root, ["rev-parse", "--is-shallow-repository"], &[])?;
        let shallow = String::from_utf8_lossy(&shallow.stdout).trim() == "true";
        let message = format!("git knows no revision `{revision}`");
        let error = ErrorItem::new(ErrorCode::Io, message);
        Err(Box::new(if shallow {
            error.help(
                "this checkout is shallow: fetch the history (`git fetch --unshallow`, or `fetch-depth: 0` in actions/checkout)",
            )
        } else {
            let remote = revision.split_once('/').map_or("origin", |(remote, _)| remote);
            error.help(format!("`git branch --all` lists the branches; `git fetch {remote}` brings those of a remote"))
        }))
    }

    /// The SQL files of a commit.
    pub fn files(&self, commit: &Commit) -> Result<Vec<Blob>> {
        let output = self.ask(&["ls-tree", "-r", "-z", "--full-tree", &commit.id])?;
        let mut files = Vec::new();
        for entry in records(&output) {
            // `100644 blob 3b18e5... \tpath`; links and submodules are no files.
            let Some((meta, path)) = entry.split_once('\t') else { continue };
            let mut words = meta.split(' ');
            let (mode, id) = (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
            if mode.starts_with("100") && is_sql(path) {
                files.push(Blob { path: path.to_owned(), id: id.to_owned() });
            }
        }
        Ok(files)
    }

    /// The SQL files of the work tree that git does not ignore: paths from the root.
    pub fn work_files(&self) -> Result<Vec<String>> {
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", "--deduplicate"];
        let output = self.ask(&args)?;
        Ok(records(&output).filter(|path| is_sql(path)).map(str::to_owned).collect())
    }

    /// Files that are not as in a commit (`head`: in another one; none: in the work tree), with the ids of their old contents.
    pub fn changed(&self, base: &Commit, head: Option<&Commit>) -> Result<Vec<Changed>> {
        let mut args = vec![
            "diff",
            "--raw",
            "-z",
            "--no-abbrev",
            "--find-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-relative",
        ];
        args.push(&base.id);
        args.extend(head.map(|h| h.id.as_str()));
        args.push("--");
        let output = self.ask(&args)?;
        let mut fields = records(&output);
        let mut changed = Vec::new();
        while let Some(meta) = fields.next() {
            // `:100644 100644 <old id> <new id> R087`, then the path, then that after a rename.
            let words: Vec<&str> = meta.trim_start_matches(':').split(' ').collect();
            let [old_mode, new_mode, _, _, status] = words.as_slice() else { continue };
            let submodule = [old_mode, new_mode].contains(&&SUBMODULE);
            let Some(first) = fields.next() else { break };
            let renamed = status.starts_with(['R', 'C']);
            let second = if renamed { fields.next() } else { None };
            let new = second.unwrap_or(first);
            let change = match status.chars().next() {
                Some('A') => Changed { old: None, new: Some(new.to_owned()), submodule },
                Some('D') => Changed { old: Some(first.to_owned()), new: None, submodule },
                _ => Changed { old: Some(first.to_owned()), new: Some(new.to_owned()), submodule },
            };
            changed.push(change);
        }
        Ok(changed)
    }

    /// The contents of blobs, in their order.
    pub fn read(&self, ids: &[&str]) -> Result<Vec<Vec<u8>>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut input = ids.join("\n").into_bytes();
        input.push(b'\n');
        let output = git(&self.root, ["cat-file", "--batch"], &input)?;
        let mut rest = output.stdout.as_slice();
        let mut contents = Vec::with_capacity(ids.len());
        for id in ids {
            // `<id> blob <size>`, the content, a line break.
            let line_end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            let header = String::from_utf8_lossy(&rest[..line_end]).into_owned();
            let size = header.split(' ').nth(2).and_then(|s| s.parse::<usize>().ok());
            let content = size.and_then(|size| Some((rest.get(line_end + 1..line_end + 1 + size)?, size)));
            let Some((content, size)) = content else {
                let message = format!("git cannot read the object {id}");
                return Err(Box::new(
                    ErrorItem::new(ErrorCode::Io, message)
                        .help("the checkout may be partial: `git fsck` says what is missing, `git fetch` brings it"),
                ));
            };
            contents.push(content.to_vec());
            rest = rest.get(line_end + 1 + size + 1..).unwrap_or_default();
        }
        Ok(contents)
    }

    /// The content of a path (from the root) in a commit; `None` if it has no such file.
    pub fn show(&self, commit: &Commit, path: &str) -> Result<Option<Vec<u8>>> {
        let object = format!("{}:{path}", commit.id);
        let output = git(&self.root, ["rev-parse", "--verify", "--quiet", "--end-of-options", &object], &[])?;
        if !output.ok {
            return Ok(None);
        }
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let output = git(&self.root, ["cat-file", "blob", &id], &[])?;
        Ok(output.ok.then_some(output.stdout))
    }

    /// The submodule that a path (from the root) is in, if any.
    pub fn submodule(&self, path: &str) -> Result<Option<String>> {
        let output = self.ask(&["ls-files", "-z", "--stage"])?;
        let found = records(&output)
            .filter_map(|r| r.strip_prefix("160000 ")?.split_once('\t').map(|(_, p)| p))
            .find(|module| path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
        Ok(found.map(str::to_owned))
    }

    /// Runs a command that has no reason to fail.
    fn ask(&self, args: &[&str]) -> Result<String> {
        let output = git(&self.root, args, &[])?;
        if output.ok {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let message = format!("`git {}` failed: {}", args.first().unwrap_or(&""), first_line(&output.stderr));
        Err(Box::new(ErrorItem::new(ErrorCode::Io, message).help("try the same command by hand")))
    }
}

/// A file on both sides, or on one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its old path; none if it is new.
    pub old: Option<String>,
    /// Its new path; none if it is gone.
    pub new: Option<String>,
    /// It is a submodule, whose scripts have revisions of their own.
    pub submodule: bool,
}

/// The mode of submodules.
const SUBMODULE: &str = "160000";

/// True for scripts.
pub fn is_sql(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("sql"))
}

struct Output {
    ok: bool,
    stdout: Vec<u8>,
    stderr: String,
}

fn git(directory: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>, input: &[u8]) -> Result<Output> {
    let mut command = Command::new("git");
    // Nothing that a checkout configures may run, and nothing is written.
    command.arg("-C").arg(directory).args(["-c", "core.fsmonitor=false", "-c", "core.quotepath=false"]).args(args);
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    let child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| {
        let message = format!("git cannot be started: {error}");
        Box::new(ErrorItem::new(ErrorCode::Io, message).help("install git, or name two files"))
    })?;
    let stdin = child.stdin.take();
    let failed = |error: std::io::Error| {
        Box::new(ErrorItem::new(ErrorCode::Io, format!("git broke off: {error}")).help("try again"))
    };
    // git answers while it is still being asked: somebody has to listen meanwhile.
    let output = std::thread::scope(|scope| {
        if let Some(mut stdin) = stdin {
            scope.spawn(move || stdin.write_all(input));
        }
        child.wait_with_output()
    });
    let output = output.map_err(failed)?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Output { ok: output.status.success(), stdout: output.stdout, stderr })
}

fn records(output: &str) -> impl Iterator<Item = &str> {
    output.split('\0').filter(|r| !r.is_empty())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("no reason given").trim()
}

fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    if text.is_empty() || text == "." { "this directory".to_owned() } else { format!("`{text}`") }
}
