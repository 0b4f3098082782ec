//! What `check` compares: two files or directories, a revision, a lock, or an editor's text.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::CheckArgs;
use super::settings::{Problems, Settings};
use super::{files, input};
use crate::check::{Batch, Options, Pair, Text};
use crate::lock::Lock;
use crate::project::sides::{Sides, root_of};
use crate::report::model::{ErrorCode, ErrorItem, Note};
use crate::target::Target;
use crate::workspace::{Extent, Plan, Workspace};

/// What is to be checked.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// The engine, for the report.
    pub target: Target,
    /// The pairs and what is to be said of other files.
    pub plan: Plan,
    /// Why something cannot be checked, with the texts of configurations.
    pub problems: Problems,
}

/// Finds them.
pub(super) fn collect(args: &CheckArgs, base: Options) -> Pairs {
    let settings = Settings::new(&args.reading, base, args.fail_on.map(Into::into));
    let here = settings.of(None);
    let mut target = settings.target(&here).unwrap_or_default();
    let found = match (&args.base, &args.lock, &args.stdin_path) {
        (_, Some(lock), _) => against_lock(args, &settings, lock, &mut target).map_err(Problems::from),
        (base, _, Some(path)) => {
            from_editor(args, &settings, base.as_deref().unwrap_or("HEAD"), path).map_err(Problems::from)
        }
        (Some(base), None, None) => differing(args, &settings, base).map_err(Problems::from),
        (None, None, None) => two(args, &settings),
    };
    let mut problems = settings.problems();
    let plan = match found {
        // Nothing is checked under a configuration that is not what somebody meant.
        Ok(plan) if problems.errors.is_empty() => plan,
        Ok(_) => Plan::default(),
        Err(more) => {
            problems.add(more);
            Plan::default()
        }
    };
    let mut plan = plan;
    problems.errors.append(&mut plan.errors);
    if plan.pairs.is_empty() && problems.errors.is_empty() {
        let message = match (&args.base, &args.lock) {
            (Some(base), _) => format!("no job differs from {base}"),
            _ => "no script has a job".to_owned(),
        };
        plan.notes.push(Note { message, at: None });
    }
    let target = plan.pairs.first().map_or(target, |b| b.options.target);
    Pairs { target, plan, problems }
}

/// `check OLD NEW`.
fn two(args: &CheckArgs, settings: &Settings) -> Result<Plan, Problems> {
    let [old, new] = args.paths.as_slice() else {
        let message = match args.paths.len() {
            0 => "there is nothing to compare".to_owned(),
            1 => format!("{} is to be compared with nothing", args.paths[0]),
            n => format!("{n} files are named, and two can be compared"),
        };
        let help = "name OLD and NEW, or compare with a revision (--base REV) or with what is deployed (--lock FILE)";
        return Err(vec![ErrorItem::new(ErrorCode::Config, message).help(help)].into());
    };
    let directory = |name: &str| name != "-" && Path::new(name).is_dir();
    match (directory(old), directory(new)) {
        (true, true) => return Ok(directories(args, settings, old, new)?),
        (false, false) => {}
        (true, false) | (false, true) => {
            let (directory, file) = if directory(old) { (old, new) } else { (new, old) };
            let message = format!("{directory} is a directory, and {file} is none");
            return Err(
                vec![ErrorItem::new(ErrorCode::Config, message).help("name two files or two directories")].into()
            );
        }
    }
    let (options, scripts) = settings.read(&[old, new])?;
    let mut sides = scripts.into_iter();
    Ok(single(sides.next(), sides.next(), options))
}

/// One pair, with the same DDL on both sides.
fn single(old: Option<Text>, new: Option<Text>, options: Options) -> Plan {
    let schema = options.schema.clone();
    let pair = Pair { old, new, old_schema: schema.clone(), new_schema: schema, ..Pair::default() };
    Plan { pairs: vec![Batch { pair, options: Arc::new(options) }], ..Plan::default() }
}

/// Two directories, file by file.
fn directories(args: &CheckArgs, settings: &Settings, old: &str, new: &str) -> Result<Plan, Vec<ErrorItem>> {
    let mut unreadable = Vec::new();
    let given = input::read_all(args.reading.schema.iter().map(String::as_str))?;
    let (old, new) = (Path::new(old), Path::new(new));
    let mut side = |directory: &Path| files::tree(files::walk_all(directory), &mut unreadable);
    let workspace = Workspace { old: side(old), new: side(new), ..Workspace::default() };
    if workspace.old.is_empty() && workspace.new.is_empty() && unreadable.is_empty() {
        let message = format!("there is no SQL file in {} and {}", old.display(), new.display());
        return Err(vec![ErrorItem::new(ErrorCode::Io, message).help("scripts are the files that end in .sql")]);
    }
    let mut workspace = Workspace { unreadable, ..workspace };
    workspace.find_renames();
    let root = files::normal(new);
    Ok(workspace.plan(Extent::All, &|path| settings.in_tree(&root, path, &given, &[])))
}

/// What differs between two revisions, or between one and the work tree.
fn differing(args: &CheckArgs, settings: &Settings, base: &str) -> Result<Plan, Vec<ErrorItem>> {
    let here = files::current_directory();
    let mut sides = Sides::of_checkout(&here, base, args.head.as_deref(), &args.reading.schema)?.whole()?;
    sides.look_at(&args.paths)?;
    Ok(sides.plan(settings, Extent::Changed))
}

/// The text of an editor against a revision of its file.
fn from_editor(args: &CheckArgs, settings: &Settings, base: &str, path: &str) -> Result<Plan, Vec<ErrorItem>> {
    let one = |error: Box<ErrorItem>| vec![*error];
    if args.paths.as_slice() != ["-"] {
        let error = ErrorItem::new(ErrorCode::Config, "--stdin-path is the path of a text that comes over stdin");
        return Err(vec![error.help("write `-` for the script: `keepstate check - --stdin-path jobs/orders.sql`")]);
    }
    let text = input::read_stdin(path).map_err(one)?;
    let mut sides = Sides::of_checkout(&files::current_directory(), base, None, &args.reading.schema)?.whole()?;
    let Some(inside) = sides.edit(Path::new(path), text) else {
        let message = format!("{path} is outside of the work tree {}", sides.root().display());
        return Err(vec![ErrorItem::new(ErrorCode::Io, message).help("name a path of this checkout")]);
    };
    Ok(sides.plan_at(&inside, settings, Extent::All))
}

/// What is deployed against the work tree.
fn against_lock(
    args: &CheckArgs,
    settings: &Settings,
    file: &str,
    target: &mut Target,
) -> Result<Plan, Vec<ErrorItem>> {
    let one = |error: Box<ErrorItem>| vec![*error];
    let text = input::read_path(Path::new(file), file).map_err(one)?;
    let lock = Lock::parse(file, &text.text).map_err(one)?;
    let root = root_of(file);
    // The engine of the lock holds unless another one was asked for.
    let asked = settings.target(&settings.of(Some(&root.join("-"))));
    if let Some(asked) = asked.filter(|asked| *asked != lock.target) {
        let message = format!("{file} was written for {}, and the check is for {asked}", lock.target);
        let help = format!("check with `--target {}`, or write the lock again with `--target {asked}`", lock.target);
        return Err(vec![ErrorItem::new(ErrorCode::Config, message).help(help)]);
    }
    *target = lock.target;
    let mut sides = Sides::of_lock(file, lock, &args.reading.schema).whole()?;
    sides.look_at(&args.paths)?;
    let mut plan = sides.plan(settings, Extent::All);
    let verified = sides.verify(&plan);
    if !verified.errors.is_empty() {
        return Err(verified.errors);
    }
    plan.notes.extend(verified.notes);
    Ok(plan)
}

/// The scripts of a project, and the named paths as prefixes in it.
pub(super) fn scripts(
    root: &Path,
    paths: &[String],
    errors: &mut Vec<ErrorItem>,
) -> (Vec<String>, Vec<(String, PathBuf)>) {
    let mut only = Vec::new();
    for path in paths {
        match files::relative(root, &files::normal(Path::new(path))) {
            Some(inside) => only.push(inside),
            None => {
                let message = format!("{path} is not below {}, the directory of the lock", root.display());
                errors.push(ErrorItem::new(ErrorCode::Io, message).help("a lock holds scripts of its own directory"));
            }
        }
    }
    (only, files::walk_project(root))
}
