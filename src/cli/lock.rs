//! `keepstate lock [PATH...]`: records what is deployed.

use std::fs;
use std::path::Path;

use rayon::prelude::*;

use super::args::LockArgs;
use super::pairs::scripts;
use super::settings::Settings;
use super::{Outcome, files, input};
use crate::check::{Options, Text};
use crate::lock::{Lock, Recorded, record};
use crate::project::sides::root_of;
use crate::report::human::{self, Style};
use crate::report::model::{ErrorCode, ErrorItem};
use crate::source::SourceMap;
use crate::workspace::{Extent, Workspace, within};

pub(super) fn run(args: &LockArgs, style: Style) -> Outcome {
    match lock(args) {
        Ok(outcome) => outcome,
        Err((errors, sources)) => Outcome { text: human::render_errors(&errors, &sources, style), exit: 2 },
    }
}

type Failed = (Vec<ErrorItem>, SourceMap);

fn lock(args: &LockArgs) -> Result<Outcome, Failed> {
    let plain = |errors: Vec<ErrorItem>| (errors, SourceMap::new());
    let settings = Settings::new(&args.reading, Options::default(), None);
    let root = root_of(&args.output);
    let mut errors = Vec::new();
    let given = input::read_all(args.reading.schema.iter().map(String::as_str)).map_err(plain)?;
    let (only, found) = scripts(&root, &args.paths, &mut errors);
    let mut unreadable = Vec::new();
    let new = files::tree(found, &mut unreadable);
    errors.extend(unreadable.into_iter().map(|(_, error)| error));
    let before = older(args).map_err(|e| plain(vec![*e]))?;
    let locked = || before.iter().flat_map(|b| b.jobs.iter().map(|j| j.file.as_str()));
    for (path, inside) in args.paths.iter().zip(&only) {
        // A script that is gone may be named, to leave the lock.
        if !new.keys().map(String::as_str).chain(locked()).any(|file| within(file, inside)) {
            errors.push(files::no_script(path, inside, new.keys().map(String::as_str)));
        }
    }
    let empties = args.paths.is_empty() && new.is_empty();
    if empties && errors.is_empty() {
        let error = ErrorItem::new(ErrorCode::Io, format!("there is no SQL file below {}", root.display()));
        errors.push(error.help("run it where the scripts are, or name the lock's place with --output"));
    }
    if !errors.is_empty() {
        return Err(plain(errors));
    }
    let workspace = Workspace { new, only: only.clone(), ..Workspace::default() };
    let plan = workspace.plan(Extent::All, &|path| settings.in_tree(&root, path, &given, &[]));
    let problems = settings.problems();
    if !problems.errors.is_empty() {
        return Err((problems.errors, problems.sources));
    }
    if !plan.errors.is_empty() {
        return Err(plain(plan.errors));
    }
    let targets: Vec<_> = plan.pairs.iter().map(|b| b.options.target).collect();
    let target = targets.first().copied().unwrap_or_default();
    if let Some(other) = targets.iter().find(|t| **t != target) {
        let error = ErrorItem::new(ErrorCode::Config, format!("some scripts are for {target}, others for {other}"));
        return Err(plain(vec![error.help("write a lock for each: `keepstate lock PATH --output FILE`")]));
    }
    let path = |text: &Text| {
        let file = files::normal(Path::new(&text.name));
        files::relative(&root, &file).unwrap_or_else(|| text.name.clone())
    };
    let recorded: Vec<Result<Recorded, Failed>> =
        plan.pairs.into_par_iter().map(|b| record(b.pair, &b.options, &path)).collect();
    let (mut good, mut bad, mut sources) = (Vec::new(), Vec::new(), SourceMap::new());
    for one in recorded {
        match one {
            Ok(one) => good.push(one),
            Err((errors, texts)) => {
                let first = sources.append(texts);
                bad.extend(errors.into_iter().map(|mut e| {
                    if let Some(place) = &mut e.at {
                        place.span.file.0 += first;
                    }
                    e
                }));
            }
        }
    }
    if !bad.is_empty() {
        return Err((bad, sources));
    }
    let mut lock = Lock::new(target, good);
    if let Some(before) = before.clone().filter(|_| !only.is_empty()) {
        if before.target != target {
            let message = format!("{} was written for {}, and this is for {target}", args.output, before.target);
            let error = ErrorItem::new(ErrorCode::Config, message);
            return Err(plain(vec![error.help("lock all scripts at once, without PATH")]));
        }
        lock.keep(before, &|file| !only.iter().any(|path| within(file, path)));
    }
    let said = summary(before.as_ref(), &lock);
    if args.check {
        let fresh = before.as_ref() == Some(&lock);
        let text = if fresh {
            format!("{} is up to date\n", args.output)
        } else {
            format!("{} is not up to date: {said}", args.output)
        };
        return Ok(Outcome { text, exit: u8::from(!fresh) });
    }
    if args.output == "-" {
        return Ok(Outcome::ok(lock.to_text()));
    }
    fs::write(&args.output, lock.to_text()).map_err(|error| {
        let error = ErrorItem::new(ErrorCode::Io, format!("{} cannot be written: {error}", args.output));
        plain(vec![error.help("name another file with --output")])
    })?;
    Ok(Outcome::ok(format!("{}: {said}", args.output)))
}

/// The lock that is there already.
fn older(args: &LockArgs) -> Result<Option<Lock>, Box<ErrorItem>> {
    let file = Path::new(&args.output);
    if args.output == "-" || !file.exists() {
        return Ok(None);
    }
    let text = input::read_path(file, &args.output)?;
    match Lock::parse(&args.output, &text.text) {
        Ok(lock) => Ok(Some(lock)),
        // A lock that is broken may be written anew, but nothing else is written over.
        Err(_) if args.paths.is_empty() && !args.check && looks_like_a_lock(&text.text) => Ok(None),
        Err(error) => Err(error),
    }
}

/// True for a lock that cannot be read any more, or not yet; and for an empty file.
fn looks_like_a_lock(text: &str) -> bool {
    text.trim().is_empty() || (text.trim_start().starts_with('{') && text.contains("\"keepstate\""))
}

/// What is in the lock, and what of it is new.
fn summary(before: Option<&Lock>, lock: &Lock) -> String {
    let jobs = match lock.jobs.len() {
        1 => "1 job".to_owned(),
        n => format!("{n} jobs"),
    };
    let Some(before) = before else { return format!("{jobs}\n") };
    let of = |lock: &Lock, file: &str, name: &str| lock.jobs.iter().find(|j| j.file == file && j.name == name).cloned();
    let (mut added, mut changed) = (0, 0);
    for job in &lock.jobs {
        match of(before, &job.file, &job.name) {
            None => added += 1,
            Some(old) if old != *job => changed += 1,
            Some(_) => {}
        }
    }
    let removed = before.jobs.iter().filter(|j| of(lock, &j.file, &j.name).is_none()).count();
    format!("{jobs}, {added} added, {changed} changed, {removed} removed\n")
}
