//! `keepstate lint FILE...`: scripts, and the scripts of directories.

use std::path::Path;
use std::sync::Arc;

use super::args::LintArgs;
use super::documents::Documents;
use super::settings::{Problems, Settings};
use super::{Outcome, files};
use crate::check::{Batch, Options, Pair};
use crate::lint::{Linted, failed, lint_all};
use crate::report::format::render_lint;
use crate::report::human::Style;
use crate::report::model::{ErrorCode, ErrorItem};
use crate::rules::RuleBook;
use crate::workspace::{Extent, Workspace};

pub(super) fn run(args: &LintArgs, style: Style) -> Outcome {
    let settings = Settings::new(&args.reading, Options::default(), None);
    let Linted { mut report, sources } = match scripts(args, &settings) {
        Err(Problems { errors, sources }) => {
            Linted { report: failed(args.reading.target.unwrap_or_default(), errors), sources }
        }
        Ok(batch) => {
            let target = batch.first().map_or_else(|| args.reading.target.unwrap_or_default(), |b| b.options.target);
            lint_all(RuleBook::embedded(), target, batch)
        }
    };
    let (documents, unwritable) = Documents::open(&args.formats.destinations);
    if !unwritable.is_empty() {
        report.errors.extend(unwritable);
        report.exit_code = 2;
    }
    documents.finish(report.exit_code, |format| render_lint(format, &report, &sources, style))
}

/// The scripts that were named, and those of the directories that were.
fn scripts(args: &LintArgs, settings: &Settings) -> Result<Vec<Batch>, Problems> {
    let is_directory = |name: &&str| **name != *"-" && Path::new(name).is_dir();
    let (directories, names): (Vec<&str>, Vec<&str>) = args.files.iter().map(String::as_str).partition(is_directory);
    let (shared, texts) = settings.read(&names)?;
    let given = &shared.schema[shared.schema.len() - args.reading.schema.len()..];
    let mut batch = Vec::new();
    for text in texts {
        let mut options = settings.options(&settings.of(Some(Path::new(&text.name))));
        options.schema.extend(given.iter().cloned());
        let pair = Pair { new: Some(text), new_schema: options.schema.clone(), ..Pair::default() };
        batch.push(Batch { pair, options: Arc::new(options) });
    }
    let mut errors = Vec::new();
    for directory in directories {
        let mut unreadable = Vec::new();
        let new = files::tree(files::walk_all(Path::new(directory)), &mut unreadable);
        errors.extend(unreadable.into_iter().map(|(_, error)| error));
        if new.is_empty() {
            let error = ErrorItem::new(ErrorCode::Io, format!("there is no SQL file in {directory}"));
            errors.push(error.help("scripts are the files that end in .sql"));
        }
        let root = files::normal(Path::new(directory));
        let workspace = Workspace { new, ..Workspace::default() };
        batch.extend(workspace.plan(Extent::All, &|path| settings.in_tree(&root, path, given, &[])).pairs);
    }
    let mut problems = settings.problems();
    problems.errors.extend(errors);
    if problems.errors.is_empty() { Ok(batch) } else { Err(problems) }
}
