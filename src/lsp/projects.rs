//! The projects that open documents are in, read once and read again when they may have changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::options::Options;
use crate::git::Repository;
use crate::lock::Lock;
use crate::project::sides::{Sides, root_of};
use crate::project::{files, input};
use crate::report::model::ErrorItem;

/// A project is read again after so long, since editors need not tell of every file that changes.
const FRESH: Duration = Duration::from_secs(2);

/// A project that took long to read is kept for so many times as long.
const PATIENCE: u32 = 20;

/// What is known of projects.
#[derive(Debug, Default)]
pub struct Projects {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The root of the checkout that a directory is in, if it is in one.
    roots: HashMap<PathBuf, Option<PathBuf>>,
    sides: HashMap<PathBuf, Read>,
    /// How often all was forgotten: what was being read then is out of date.
    age: u64,
}

#[derive(Debug, Clone)]
struct Read {
    sides: Arc<Sides>,
    at: Instant,
    took: Duration,
}

impl Read {
    fn is_fresh(&self) -> bool {
        self.at.elapsed() < FRESH.max(self.took * PATIENCE)
    }
}

/// A project, and why it is not compared with what was asked for.
#[derive(Debug, Clone)]
pub struct Found {
    /// Both sides.
    pub sides: Arc<Sides>,
    /// Why there is no old side although one was asked for.
    pub trouble: Option<ErrorItem>,
}

impl Projects {
    /// Reads everything anew from now on.
    pub fn forget(&self) {
        let mut known = self.known();
        *known = Known { age: known.age + 1, ..Known::default() };
    }

    /// The project of a file. `folders` are those that the editor has open.
    pub fn of(&self, file: &Path, options: &Options, folders: &[PathBuf]) -> Found {
        let mut trouble = None;
        if let Some(lock) = &options.lock {
            if files::relative(&root_of(&lock.to_string_lossy()), file).is_some() {
                match self.read(lock, || of_lock(lock, options)) {
                    Ok(sides) => return Found { sides, trouble: None },
                    Err(error) => trouble = Some(*error),
                }
            }
        } else {
            let directory = file.parent().unwrap_or(file);
            if let Some(root) = self.root(directory) {
                let read = || {
                    let sides = Sides::of_checkout(&root, &options.base, None, &options.schema());
                    sides.map_err(|mut errors| Box::new(errors.remove(0)))
                };
                match self.read(&root, read) {
                    Ok(sides) => return Found { sides, trouble: None },
                    // A repository without commits has no HEAD, and that is no mistake.
                    Err(error) if options.base_is_asked => trouble = Some(*error),
                    Err(_) => {}
                }
            } else if options.base_is_asked {
                trouble = Repository::of(directory).err().map(|error| *error);
            }
        }
        Found { sides: self.alone(file, options, folders), trouble }
    }

    /// Scripts that nothing is known of but their texts.
    fn alone(&self, file: &Path, options: &Options, folders: &[PathBuf]) -> Arc<Sides> {
        let folder = folders.iter().map(|f| files::normal(f)).find(|f| file.starts_with(f));
        let root =
            folder.clone().or_else(|| file.parent().map(Path::to_owned)).unwrap_or_else(files::current_directory);
        let read = || {
            let found = if folder.is_some() { files::walk_project(&root) } else { files::beside(&root) };
            Ok::<_, Box<ErrorItem>>(Sides::alone(root.clone(), found, &options.schema()))
        };
        // The same directory may be the root of a checkout whose revision is not to be had.
        self.read(&root.join("."), read).unwrap_or_else(|_| Arc::new(Sides::alone(root.clone(), Vec::new(), &[])))
    }

    fn read<E>(&self, key: &Path, read: impl FnOnce() -> Result<Sides, E>) -> Result<Arc<Sides>, E> {
        let (kept, age) = {
            let known = self.known();
            (known.sides.get(key).cloned(), known.age)
        };
        if let Some(kept) = kept.filter(|k| k.is_fresh() && !k.sides.has_moved()) {
            return Ok(kept.sides);
        }
        let start = Instant::now();
        let sides = Arc::new(read()?);
        let mut known = self.known();
        if known.age == age {
            let fresh = Read { sides: Arc::clone(&sides), at: Instant::now(), took: start.elapsed() };
            known.sides.insert(key.to_owned(), fresh);
        }
        Ok(sides)
    }

    /// The root of the checkout that a directory is in.
    fn root(&self, directory: &Path) -> Option<PathBuf> {
        if let Some(root) = self.known().roots.get(directory) {
            return root.clone();
        }
        let root = Repository::of(directory).ok().map(|r| files::normal(r.root()));
        self.known().roots.insert(directory.to_owned(), root.clone());
        root
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        // What a thread that broke off has left is as good as before: entries are whole or not there.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn of_lock(file: &Path, options: &Options) -> Result<Sides, Box<ErrorItem>> {
    let name = file.to_string_lossy();
    let text = input::read_path(file, &name)?;
    let lock = Lock::parse(&name, &text.text)?;
    Ok(Sides::of_lock(&name, lock, &options.schema()))
}
