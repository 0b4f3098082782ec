//! The two sides of a project, from wherever the old one comes: a revision, a lock, or nowhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checkout::{self, is_submodule};
use super::settings::Settings;
use super::{files, input};
use crate::check::{Options, Text};
use crate::git::{Commit, Repository};
use crate::lock::{Lock, Verified};
use crate::nearest::nearest;
use crate::report::model::{ErrorCode, ErrorItem};
use crate::workspace::{Extent, Plan, Workspace, within};

type Errors = Vec<ErrorItem>;

/// Both sides, as they were read. What is edited but not saved is put over them.
#[derive(Debug, Clone)]
pub struct Sides {
    root: PathBuf,
    workspace: Workspace,
    /// DDL that was asked for and is in the project.
    in_tree: Vec<String>,
    /// DDL that was asked for and is not.
    outside: Vec<Text>,
    old: Old,
    /// DDL that was asked for and could not be read.
    missing: Errors,
}

/// Where the old side comes from.
#[derive(Debug, Clone)]
enum Old {
    /// There is none.
    Nowhere,
    Revision {
        repository: Repository,
        base: Commit,
    },
    Lock {
        name: String,
        lock: Arc<Lock>,
    },
}

impl Sides {
    /// A revision, and another one or the work tree that a directory is in.
    pub fn of_checkout(directory: &Path, base: &str, head: Option<&str>, schema: &[String]) -> Result<Sides, Errors> {
        let one = |error: Box<ErrorItem>| vec![*error];
        let repository = Repository::of(directory).map_err(one)?;
        let root = files::normal(repository.root());
        let base = repository.commit(base).map_err(one)?;
        let head = head.map(|head| repository.commit(head)).transpose().map_err(one)?;
        let workspace = checkout::read(&repository, &root, &base, head.as_ref()).map_err(one)?;
        Ok(Sides::with_schema(root, workspace, schema, Old::Revision { repository, base }))
    }

    /// What is deployed, by a lock, and the scripts below the lock's directory.
    pub fn of_lock(name: &str, lock: Lock, schema: &[String]) -> Sides {
        let mut missing = Vec::new();
        let root = root_of(name);
        let mut unreadable = Vec::new();
        let new = files::tree(files::walk_project(&root), &mut unreadable);
        let mut workspace = Workspace { old: lock.tree(name), new, unreadable, ..Workspace::default() };
        workspace.find_renames();
        let old = Old::Lock { name: name.to_owned(), lock: Arc::new(lock) };
        // A lock holds the DDL of its side, whatever is asked for.
        let outside = input::read_all(schema.iter().map(String::as_str)).unwrap_or_else(|wrong| {
            missing.extend(wrong);
            Vec::new()
        });
        Sides { root, workspace, in_tree: Vec::new(), outside, old, missing }
    }

    /// Scripts below a directory, of which nothing is known to run.
    pub fn alone(root: PathBuf, found: Vec<(String, PathBuf)>, schema: &[String]) -> Sides {
        let mut unreadable = Vec::new();
        let new = files::tree(found, &mut unreadable);
        Sides::with_schema(root, Workspace { new, unreadable, ..Workspace::default() }, schema, Old::Nowhere)
    }

    fn with_schema(root: PathBuf, workspace: Workspace, schema: &[String], old: Old) -> Sides {
        let mut missing = Vec::new();
        let (in_tree, outside) = split_schema(&root, &workspace, schema, &mut missing);
        Sides { root, workspace, in_tree, outside, old, missing }
    }

    /// These sides if they can be compared: all DDL that was asked for is there, and a lock lies where at least one of its scripts is.
    pub fn whole(self) -> Result<Sides, Errors> {
        if let Old::Lock { name, lock } = &self.old
            && !lock.jobs.is_empty()
            && !self.workspace.new.keys().any(|path| self.workspace.old.contains_key(path))
            && self.workspace.renamed.is_empty()
        {
            let place = self.root.display();
            let message = format!("none of the {} jobs of {name} has its script below {place}", lock.jobs.len());
            let help = "a lock belongs into the directory that its scripts are below: copy it there";
            return Err(vec![ErrorItem::new(ErrorCode::Config, message).help(help)]);
        }
        if self.missing.is_empty() { Ok(self) } else { Err(self.missing) }
    }

    /// The directory that paths in the project are taken from.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// True if the old side's revision is another commit now than when it was read.
    pub fn has_moved(&self) -> bool {
        match &self.old {
            Old::Revision { repository, base } => repository.commit(&base.name).is_ok_and(|now| now.id != base.id),
            Old::Nowhere | Old::Lock { .. } => false,
        }
    }

    /// The path in the project of a file.
    pub fn inside(&self, file: &Path) -> Option<String> {
        files::relative(&self.root, &files::normal(file))
    }

    /// True if there is an old side.
    pub fn has_old(&self) -> bool {
        !matches!(self.old, Old::Nowhere)
    }

    /// What people call the old side: a revision, or the file of a lock.
    pub fn old_name(&self) -> &str {
        match &self.old {
            Old::Nowhere => "",
            Old::Revision { base, .. } => &base.name,
            Old::Lock { name, .. } => name,
        }
    }

    /// The file that reports know under a name, if it is on the new side.
    pub fn file_of(&self, name: &str) -> PathBuf {
        let found = self.workspace.new.iter().find(|(_, text)| text.name == name);
        found.map_or_else(|| files::normal(Path::new(name)), |(path, _)| self.root.join(path))
    }

    /// The file of the project of which reports know the old text under a name.
    pub fn old_file_of(&self, name: &str) -> Option<PathBuf> {
        let (path, _) = self.workspace.old.iter().find(|(_, text)| text.name == name)?;
        Some(self.root.join(path))
    }

    /// Puts the text of an editor in the place of a file's. Its path in the project is returned if it is in it.
    pub fn edit(&mut self, file: &Path, text: Text) -> Option<String> {
        let inside = self.inside(file)?;
        // That the file cannot be read is no matter then; that the old one cannot still is.
        if self.workspace.old.contains_key(&inside) {
            self.workspace.unreadable.retain(|(path, _)| *path != inside);
        }
        self.workspace.new.insert(inside.clone(), text);
        Some(inside)
    }

    /// Adds a text that is no file.
    pub fn add(&mut self, text: Text) {
        self.workspace.new.insert(text.name.clone(), text);
    }

    /// Looks only at what is at or below paths, as they were written.
    pub fn look_at(&mut self, paths: &[String]) -> Result<(), Errors> {
        let (mut only, mut errors) = (Vec::new(), Vec::new());
        for path in paths {
            if path.trim().is_empty() {
                let error = ErrorItem::new(ErrorCode::Config, "one of the paths is empty");
                errors.push(error.help("a variable may not be set; without a path everything is looked at"));
                continue;
            }
            match self.named(path) {
                Ok(inside) => only.push(inside),
                Err(error) => errors.push(*error),
            }
        }
        self.workspace.only = only;
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// What is to be checked of the paths that are looked at.
    pub fn plan(&self, settings: &Settings, extent: Extent) -> Plan {
        let setting = |path: &str| settings.in_tree(&self.root, path, &self.outside, &self.in_tree);
        let mut plan = self.workspace.plan(extent, &setting);
        let Old::Lock { name, lock } = &self.old else { return plan };
        let prefix = format!("{name}:");
        for batch in &mut plan.pairs {
            let mut options = (*batch.options).clone();
            options.target = lock.target;
            batch.options = Arc::new(options);
            // What came with a deployed job came with it, whatever the configuration says today.
            if let Some(path) = batch.pair.old.as_ref().and_then(|t| t.name.strip_prefix(&prefix)) {
                (batch.pair.old_schema, batch.pair.old_beside) = lock.ddl(name, path);
            }
        }
        plan
    }

    /// What is to be checked of one path in the project.
    pub fn plan_at(&mut self, inside: &str, settings: &Settings, extent: Extent) -> Plan {
        self.workspace.only = vec![inside.to_owned()];
        self.plan(settings, extent)
    }

    /// Whether the plans of a lock are still those of the scripts in it; `plan` is what is checked against it.
    pub fn verify(&self, plan: &Plan) -> Verified {
        let Old::Lock { name, lock } = &self.old else { return Verified::default() };
        let prefix = format!("{name}:");
        let mut options: BTreeMap<String, Arc<Options>> = BTreeMap::new();
        for batch in &plan.pairs {
            let Some(path) = batch.pair.old.as_ref().and_then(|t| t.name.strip_prefix(&prefix)) else { continue };
            options.insert(path.to_owned(), Arc::clone(&batch.options));
        }
        lock.verify_all(name, &|path| options.get(path).cloned().unwrap_or_default())
    }

    /// A path that somebody wrote, from the root.
    fn named(&self, path: &str) -> Result<String, Box<ErrorItem>> {
        let Sides { root, workspace, .. } = self;
        let inside = files::relative(root, &files::normal(Path::new(path)));
        let repository = match &self.old {
            Old::Revision { repository, .. } => repository,
            Old::Lock { .. } | Old::Nowhere => {
                let Some(inside) = inside else {
                    let message = format!("{path} is not below {}, the directory of the lock", root.display());
                    let error = ErrorItem::new(ErrorCode::Io, message);
                    return Err(Box::new(error.help("a lock holds scripts of its own directory")));
                };
                let known = || workspace.old.keys().chain(workspace.new.keys()).map(String::as_str);
                let there = known().any(|file| within(file, &inside));
                return if there { Ok(inside) } else { Err(Box::new(files::no_script(path, &inside, known()))) };
            }
        };
        let Some(inside) = inside else {
            let message = format!("{path} is outside of the work tree {}", root.display());
            return Err(Box::new(ErrorItem::new(ErrorCode::Io, message).help("name paths of this checkout")));
        };
        let mut both = workspace.old.keys().chain(workspace.new.keys());
        if both.any(|file| within(file, &inside)) || root.join(&inside).is_dir() && !is_submodule(repository, &inside) {
            return Ok(inside);
        }
        if is_submodule(repository, &inside) {
            let message = format!("{path} is in a submodule, which has revisions of its own");
            return Err(Box::new(
                ErrorItem::new(ErrorCode::Io, message).help("run keepstate in the submodule's directory"),
            ));
        }
        let error = ErrorItem::new(ErrorCode::Io, format!("there is no SQL file at {path} on either side"));
        let names = workspace.new.keys().chain(workspace.old.keys()).map(String::as_str);
        Err(Box::new(match nearest(&inside, names) {
            Some(near) => error.help(format!("did you mean {near}?")),
            None => error.help("paths are those of files that end in .sql, or of directories"),
        }))
    }
}

/// The directory that the paths of a lock are taken from.
pub fn root_of(lock: &str) -> PathBuf {
    let path = files::normal(Path::new(lock));
    path.parent().map_or_else(files::current_directory, Path::to_owned)
}

/// Files with DDL that were asked for: those of the project are taken from each side's revision, the others as they are.
fn split_schema(
    root: &Path,
    workspace: &Workspace,
    schema: &[String],
    errors: &mut Errors,
) -> (Vec<String>, Vec<Text>) {
    let (mut in_tree, mut outside) = (Vec::new(), Vec::new());
    for file in schema {
        let inside = files::relative(root, &files::normal(Path::new(file)));
        match inside.filter(|path| workspace.old.contains_key(path) || workspace.new.contains_key(path)) {
            Some(path) => in_tree.push(path),
            None => match input::read_all([file.as_str()]) {
                Ok(texts) => outside.extend(texts),
                Err(wrong) => errors.extend(wrong),
            },
        }
    }
    (in_tree, outside)
}
