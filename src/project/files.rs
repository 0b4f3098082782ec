//! Paths, and the scripts below a directory.

use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;

use super::input;
use crate::check::Text;
use crate::git::is_sql;
use crate::nearest::nearest;
use crate::report::model::{ErrorCode, ErrorItem};
use crate::workspace::Tree;

/// The directory that the program runs in.
pub fn current_directory() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// A path without `.` and `..`, absolute; links are followed as far as it exists.
pub fn normal(path: &Path) -> PathBuf {
    let absolute = current_directory().join(path);
    if let Ok(real) = absolute.canonicalize() {
        return real;
    }
    let mut out = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    let real = out.ancestors().skip(1).find_map(|above| Some((above, above.canonicalize().ok()?)));
    match real {
        Some((above, real)) => out.strip_prefix(above).map_or(out.clone(), |rest| real.join(rest)),
        None => out,
    }
}

/// The path of something below a root, with slashes; `None` if it is not below. Both are normal.
pub fn relative(root: &Path, path: &Path) -> Option<String> {
    let rest = path.strip_prefix(root).ok()?;
    let parts: Vec<String> = rest.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
    Some(parts.join("/"))
}

/// A path as people wrote it, or from the current directory.
pub fn shown(path: &Path) -> String {
    let short = path.strip_prefix(current_directory()).unwrap_or(path);
    let short = short.strip_prefix(".").unwrap_or(short);
    short.to_string_lossy().replace('\\', "/")
}

/// The SQL files below a directory, by their paths in it. What git ignores is left out if `keeping` says so; links are not followed.
fn walk(directory: &Path, ignored: Ignored, depth: Option<usize>) -> Vec<(String, PathBuf)> {
    let mut builder = WalkBuilder::new(directory);
    builder.max_depth(depth);
    let heed = ignored == Ignored::LeftOut;
    builder.git_ignore(heed).git_exclude(heed).git_global(heed).ignore(heed).parents(heed).follow_links(false);
    let mut found: Vec<(String, PathBuf)> = builder
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|t| t.is_file()))
        .filter_map(|entry| Some((relative(directory, entry.path())?, entry.into_path())))
        .filter(|(path, _)| is_sql(path))
        .collect();
    found.sort();
    found
}

/// What to do with files that git ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ignored {
    LeftOut,
    Taken,
}

/// All SQL files below a directory that somebody named, hidden ones excepted.
pub fn walk_all(directory: &Path) -> Vec<(String, PathBuf)> {
    walk(directory, Ignored::Taken, None)
}

/// The SQL files of a project: without those that git ignores.
pub fn walk_project(directory: &Path) -> Vec<(String, PathBuf)> {
    walk(directory, Ignored::LeftOut, None)
}

/// The SQL files in a directory, without those in the directories in it.
pub fn beside(directory: &Path) -> Vec<(String, PathBuf)> {
    walk(directory, Ignored::Taken, Some(1))
}

/// The text of a file, under the name that people know it by.
pub fn read_text(file: &Path) -> Result<Text, Box<ErrorItem>> {
    input::read_path(file, &shown(file))
}

/// The texts of files as a tree; those that cannot be read with their paths.
pub fn tree(found: Vec<(String, PathBuf)>, unreadable: &mut Vec<(String, ErrorItem)>) -> Tree {
    let mut tree = Tree::new();
    for (path, file) in found {
        match read_text(&file) {
            Ok(text) => drop(tree.insert(path, text)),
            Err(error) => unreadable.push((path, *error)),
        }
    }
    tree
}

/// Says that a path was named under which there is no script.
pub fn no_script<'a>(path: &str, inside: &str, names: impl Iterator<Item = &'a str>) -> ErrorItem {
    let error = ErrorItem::new(ErrorCode::Io, format!("there is no SQL file at {path}"));
    match nearest(inside, names) {
        Some(near) => error.help(format!("did you mean {near}?")),
        None => error.help("paths are those of files that end in .sql, or of directories"),
    }
}
