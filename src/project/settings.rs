//! What holds for a script: what was asked for over `keepstate.toml`, which is looked for from the script upwards.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{files, input};
use crate::check::{Options, Text};
use crate::config::{self, Config, FILE_NAME};
use crate::report::model::{ErrorCode, ErrorItem, Place};
use crate::rules::verdict::FailOn;
use crate::source::SourceMap;
use crate::suppress::Policy;
use crate::target::Target;
use crate::workspace::Setting;

/// How scripts are to be read, by whoever asks: it stands over every configuration.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The engine.
    pub target: Option<Target>,
    /// More DDL.
    pub schema: Vec<String>,
    /// Values of `${name}`.
    pub defines: BTreeMap<String, String>,
    /// The configuration; if none, the nearest one above each script.
    pub config: Option<PathBuf>,
}

/// A configuration with its directory.
#[derive(Debug, Default)]
pub struct Found {
    /// The directory; none if there is no configuration.
    directory: Option<PathBuf>,
    config: Config,
    policy: Arc<Policy>,
}

/// The configurations of a run. What is wrong with them is gathered, with the texts that it points into.
pub struct Settings {
    asked: Asked,
    /// Everything but target, schema, defines, policy and, if the configuration has one, `fail_on`.
    base: Options,
    fail_on: Option<FailOn>,
    explicit: Option<Arc<Found>>,
    /// Where there is no configuration.
    none: Arc<Found>,
    by_directory: RefCell<HashMap<PathBuf, Arc<Found>>>,
    by_file: RefCell<HashMap<PathBuf, Arc<Found>>>,
    in_tree: RefCell<HashMap<usize, Arc<Setting>>>,
    problems: RefCell<Problems>,
}

/// What is wrong, with the texts that it is wrong in.
#[derive(Debug, Default)]
pub struct Problems {
    /// What.
    pub errors: Vec<ErrorItem>,
    /// The texts.
    pub sources: SourceMap,
}

impl From<Vec<ErrorItem>> for Problems {
    fn from(errors: Vec<ErrorItem>) -> Problems {
        Problems { errors, sources: SourceMap::new() }
    }
}

impl Problems {
    /// Takes over other problems.
    pub fn add(&mut self, mut more: Problems) {
        let first = self.sources.append(more.sources);
        more.errors.iter_mut().filter_map(|e| e.at.as_mut()).for_each(|place| place.span.file.0 += first);
        self.errors.append(&mut more.errors);
    }
}

impl Settings {
    /// The settings of a run whose other options are `base`.
    pub fn new(asked: impl Into<Asked>, base: Options, fail_on: Option<FailOn>) -> Settings {
        let mut settings = Settings {
            asked: asked.into(),
            base,
            fail_on,
            explicit: None,
            none: Arc::new(Found {
                policy: Arc::new(Policy { today: today(), ..Policy::default() }),
                ..Found::default()
            }),
            by_directory: RefCell::default(),
            by_file: RefCell::default(),
            in_tree: RefCell::default(),
            problems: RefCell::default(),
        };
        if let Some(file) = settings.asked.config.clone() {
            settings.explicit = Some(settings.load(&file));
        }
        settings
    }

    /// What was found to be wrong.
    pub fn problems(&self) -> Problems {
        self.problems.take()
    }

    /// The engine, as the command line or the configuration of a script says; none if neither does.
    pub fn target(&self, found: &Found) -> Option<Target> {
        self.asked.target.or(found.config.target)
    }

    /// The configuration for a script, or for the current directory if the script comes from nowhere.
    pub fn of(&self, script: Option<&Path>) -> Arc<Found> {
        if let Some(found) = &self.explicit {
            return Arc::clone(found);
        }
        let here = files::current_directory();
        let directory =
            script.map_or_else(|| here.clone(), |s| here.join(s).parent().map_or(here.clone(), Path::to_owned));
        self.upwards(&files::normal(&directory))
    }

    /// The options for a script: what the command line and the configuration say, with the DDL that the configuration names on disk.
    pub fn options(&self, found: &Found) -> Options {
        Options { schema: self.schema_on_disk(found), ..self.without_schema(found) }
    }

    /// Scripts that are read together, and how: by the configuration of the last that is a file. Their DDL is in the options.
    pub fn read(&self, names: &[&str]) -> Result<(Options, Vec<Text>), Problems> {
        let script = names.iter().rev().map(Path::new).find(|p| p.is_file());
        let mut options = self.options(&self.of(script));
        let all = self.asked.schema.iter().map(String::as_str).chain(names.iter().copied());
        let texts = input::read_all(all);
        let mut problems = self.problems();
        match texts {
            Ok(mut schema) if problems.errors.is_empty() => {
                let scripts = schema.split_off(self.asked.schema.len());
                options.schema.extend(schema);
                Ok((options, scripts))
            }
            Ok(_) => Err(problems),
            Err(errors) => {
                problems.errors.extend(errors);
                Err(problems)
            }
        }
    }

    fn without_schema(&self, found: &Found) -> Options {
        let mut defines = found.config.defines.clone();
        defines.extend(self.asked.defines.clone());
        Options {
            target: self.target(found).unwrap_or_default(),
            defines,
            fail_on: self.fail_on.or(found.config.fail_on).unwrap_or_default(),
            policy: Arc::clone(&found.policy),
            connectors: found.config.connectors.clone(),
            ..self.base.clone()
        }
    }

    /// How the scripts of a tree whose root is at `root` are checked, for the script at `path` in it.
    pub fn in_tree(&self, root: &Path, path: &str, given: &[Text], in_tree: &[String]) -> Arc<Setting> {
        let found = self.of(Some(&root.join(path)));
        let key = Arc::as_ptr(&found) as usize;
        if let Some(setting) = self.in_tree.borrow().get(&key) {
            return Arc::clone(setting);
        }
        let directory = found.directory.as_deref().map(files::normal);
        let prefix = directory.and_then(|d| files::relative(root, &d));
        let prefix = prefix.map(|p| if p.is_empty() { p } else { format!("{p}/") });
        let mut options = self.without_schema(&found);
        // Outside of the tree there is one version of it.
        if prefix.is_none() {
            options.schema = self.schema_on_disk(&found);
        }
        options.schema.extend(given.iter().cloned());
        let setting = Arc::new(Setting {
            config: found.config.clone(),
            prefix,
            schema: in_tree.to_vec(),
            options: Arc::new(options),
        });
        self.in_tree.borrow_mut().insert(key, Arc::clone(&setting));
        setting
    }

    fn schema_on_disk(&self, found: &Found) -> Vec<Text> {
        let Some(directory) = &found.directory else { return Vec::new() };
        if found.config.schema.globs.is_empty() {
            return Vec::new();
        }
        let mut texts = Vec::new();
        let mut any = false;
        for (path, file) in files::walk_all(directory) {
            if found.config.schema.covers(&path) {
                any = true;
                match files::read_text(&file) {
                    Ok(text) => texts.push(text),
                    Err(error) => self.problems.borrow_mut().errors.push(*error),
                }
            }
        }
        if !any {
            let globs = found.config.schema.globs.join("`, `");
            let message = format!("no file matches the schema globs `{globs}` below {}", directory.display());
            let error = ErrorItem::new(ErrorCode::Config, message);
            self.problems.borrow_mut().errors.push(error.help("globs are relative to the directory of keepstate.toml"));
        }
        texts
    }

    fn upwards(&self, directory: &Path) -> Arc<Found> {
        if let Some(found) = self.by_directory.borrow().get(directory) {
            return Arc::clone(found);
        }
        let file = directory.join(FILE_NAME);
        // What is there and cannot be read is not passed over.
        let found = if file.symlink_metadata().is_ok() {
            self.load(&file)
        } else {
            match directory.parent() {
                Some(parent) => self.upwards(parent),
                None => Arc::clone(&self.none),
            }
        };
        self.by_directory.borrow_mut().insert(directory.to_owned(), Arc::clone(&found));
        found
    }

    fn load(&self, file: &Path) -> Arc<Found> {
        if let Some(found) = self.by_file.borrow().get(file) {
            return Arc::clone(found);
        }
        let found = Arc::new(self.parse(file));
        self.by_file.borrow_mut().insert(file.to_owned(), Arc::clone(&found));
        found
    }

    fn parse(&self, file: &Path) -> Found {
        let shown = files::shown(file);
        let mut problems = self.problems.borrow_mut();
        let text = match fs::read(file) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                let message = format!("cannot read the configuration {shown}: {error}");
                problems.errors.push(ErrorItem::new(ErrorCode::Config, message).help("check the path of --config"));
                return Found::default();
            }
        };
        let Problems { errors, sources } = &mut *problems;
        let id = sources.add(shown, text);
        let config = config::parse(sources, id).unwrap_or_else(|wrong| {
            errors.extend(wrong);
            Config::default()
        });
        let directory = files::current_directory().join(file.parent().unwrap_or(Path::new("")));
        // Notes name the file; only errors show it.
        let unseen = |place: &Place| Place { span: Default::default(), ..place.clone() };
        let mut allow = config.allow.clone();
        allow.iter_mut().for_each(|a| a.at = a.at.as_ref().map(unseen));
        let policy = Arc::new(Policy { levels: config.levels.clone(), allow, today: today() });
        Found { directory: Some(files::normal(&directory)), config, policy }
    }
}

/// The day, for allowances that end.
fn today() -> Option<jiff::civil::Date> {
    Some(jiff::ZonedDateTime::now().date())
}
