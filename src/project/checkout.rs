//! The scripts of two revisions, or of one and the work tree, as git has them; and `REV:path` as an input.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::files;
use super::input;
use crate::check::Text;
use crate::git::{Changed, Commit, Repository, is_sql};
use crate::nearest::nearest;
use crate::report::model::{ErrorCode, ErrorItem, Note};
use crate::workspace::{Tree, Workspace};

/// The two sides of everything in the work tree.
pub fn read(
    repository: &Repository,
    root: &Path,
    base: &Commit,
    head: Option<&Commit>,
) -> Result<Workspace, Box<ErrorItem>> {
    let changed = repository.changed(base, head)?;
    // What is the same on both sides is not asked of git again, and need not be readable.
    let differs: HashSet<&str> = changed.iter().filter_map(|c| c.old.as_deref()).collect();
    let blobs = repository.files(base)?;
    let known: HashSet<&str> = blobs.iter().map(|b| b.path.as_str()).collect();
    let mut unreadable: Vec<(String, ErrorItem)> = Vec::new();
    let mut note = |path: &str, error: Box<ErrorItem>| {
        if differs.contains(path) || !known.contains(path) {
            unreadable.push((path.to_owned(), *error));
        }
    };
    let new = match head {
        Some(head) => revision(repository, head, &mut note)?,
        None => {
            let mut tree = Tree::new();
            for path in repository.work_files()? {
                let file = root.join(&path);
                match file.symlink_metadata() {
                    Ok(there) if there.is_file() => match input::read_path(&file, &path) {
                        Ok(text) => drop(tree.insert(path, text)),
                        Err(error) => note(&path, error),
                    },
                    // Links are not followed: what was a script and is one now is said to be.
                    Ok(_) if differs.contains(path.as_str()) => {
                        let error =
                            ErrorItem::new(ErrorCode::Io, format!("{path} is a link or a device, not a script"));
                        note(
                            &path,
                            Box::new(error.help("put the text itself there, or name the file that it leads to")),
                        );
                    }
                    Err(_) if path.contains(char::REPLACEMENT_CHARACTER) => {
                        let error = ErrorItem::new(ErrorCode::Io, format!("the name of {path} is not UTF-8"));
                        note(&path, Box::new(error.help("give the file another name")));
                    }
                    // A file that is deleted but still known to git is not there.
                    Ok(_) | Err(_) => {}
                }
            }
            tree
        }
    };
    let renames = |c: &Changed| match (&c.old, &c.new) {
        (Some(old), Some(new)) if old != new && (is_sql(old) || is_sql(new)) => Some((new.clone(), old.clone())),
        _ => None,
    };
    let renamed: BTreeMap<String, String> = changed.iter().filter_map(renames).collect();
    let wanted: Vec<&crate::git::Blob> =
        blobs.iter().filter(|b| differs.contains(b.path.as_str()) || !new.contains_key(&b.path)).collect();
    let contents = repository.read(&wanted.iter().map(|b| b.id.as_str()).collect::<Vec<_>>())?;
    let mut old = Tree::new();
    for blob in &blobs {
        if let Some(text) = new.get(&blob.path).filter(|_| !differs.contains(blob.path.as_str())) {
            let name = named(base, &blob.path);
            old.insert(blob.path.clone(), Text { name, text: Arc::clone(&text.text) });
        }
    }
    for (blob, content) in wanted.iter().zip(contents) {
        match input::text(&named(base, &blob.path), content) {
            Ok(text) => drop(old.insert(blob.path.clone(), text)),
            Err(error) => note(&blob.path, error),
        }
    }
    let submodules = changed.iter().filter(|c| c.submodule).filter_map(|c| c.new.as_ref().or(c.old.as_ref()));
    let notes = submodules.map(|path| {
        let message = format!("the submodule {path} differs, and its scripts are not looked at: run keepstate in it");
        (path.clone(), Note { message, at: None })
    });
    let notes = notes.collect();
    let mut workspace = Workspace { old, new, renamed, unreadable, notes, only: Vec::new() };
    workspace.find_renames();
    Ok(workspace)
}

fn named(commit: &Commit, path: &str) -> String {
    format!("{}:{path}", commit.name)
}

fn revision(
    repository: &Repository,
    commit: &Commit,
    unreadable: &mut dyn FnMut(&str, Box<ErrorItem>),
) -> Result<Tree, Box<ErrorItem>> {
    let blobs = repository.files(commit)?;
    let contents = repository.read(&blobs.iter().map(|b| b.id.as_str()).collect::<Vec<_>>())?;
    let mut tree = Tree::new();
    for (blob, content) in blobs.into_iter().zip(contents) {
        match input::text(&named(commit, &blob.path), content) {
            Ok(text) => drop(tree.insert(blob.path, text)),
            Err(error) => unreadable(&blob.path, error),
        }
    }
    Ok(tree)
}

/// True if a path is in a submodule.
pub fn is_submodule(repository: &Repository, path: &str) -> bool {
    repository.submodule(path).is_ok_and(|found| found.is_some())
}

/// The text that `REV:path` means, if it is one: no file has that name, and git knows the revision.
pub fn revision_text(name: &str) -> Option<Result<Text, Box<ErrorItem>>> {
    let (revision, path) = name.split_once(':').filter(|(r, p)| !r.is_empty() && !p.is_empty())?;
    if Path::new(name).exists() {
        return None;
    }
    let here = files::current_directory();
    let repository = match Repository::of(&here) {
        Ok(repository) => repository,
        Err(error) => return Some(Err(error)),
    };
    let commit = match repository.commit(revision) {
        Ok(commit) => commit,
        Err(error) => return Some(Err(error)),
    };
    // As git has it: from the root, or with `./` from the current directory.
    let root = files::normal(repository.root());
    let from_here = path.starts_with("./") || path.starts_with("../");
    let inside =
        if from_here { files::relative(&root, &files::normal(Path::new(path))) } else { Some(path.to_owned()) };
    let inside = inside.unwrap_or_else(|| path.to_owned());
    let missing = || {
        let error = ErrorItem::new(ErrorCode::Io, format!("{revision} has no file {inside}"));
        let names: Vec<String> = repository.files(&commit).unwrap_or_default().into_iter().map(|b| b.path).collect();
        let near = nearest(&inside, names.iter().map(String::as_str)).map(str::to_owned);
        Box::new(match near {
            Some(near) => error.help(format!("did you mean {revision}:{near}?")),
            None => error.help("the path is taken from the root of the checkout; `./` makes it one from here"),
        })
    };
    Some(match repository.show(&commit, &inside) {
        Ok(Some(content)) => input::text(name, content),
        Ok(None) => Err(missing()),
        Err(error) => Err(error),
    })
}
