//! One script of a comparison: parsed, planned, named.

use crate::plan_error::{PlanError, PlanErrorKind};
use crate::planning::{self, JobPlan, PlannedScript};
use crate::report::model::{ErrorCode, ErrorItem, Note, Place};
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::ast::Script;

use super::{DdlOnly, Options};

/// One side of a comparison, or one script by itself.
pub(crate) struct Side {
    pub(crate) planned: PlannedScript,
    /// Notes of the parser, and those of the planner.
    pub(crate) notes: Vec<Note>,
    /// Where it failed, if it did; the place may be unknown.
    pub(super) failed: Option<Option<Span>>,
    /// The tree, for its comments.
    pub(crate) script: Script,
}

impl Side {
    /// The name of a job: that of the script, with the sinks where the script has several jobs.
    pub(crate) fn job_name(&self, file: &str, plan: Option<&JobPlan>, single: bool) -> String {
        let base = self.planned.name.clone().unwrap_or_else(|| stem(file).to_owned());
        match plan {
            Some(plan) if !single && !plan.sinks.is_empty() => format!("{base}/{}", plan.sinks.join("+")),
            _ => base,
        }
    }
}

/// Plans one parsed script; what goes wrong is added to `errors`.
pub(crate) fn side(
    sources: &SourceMap,
    schema: &[Script],
    file: FileId,
    script: Script,
    options: &Options,
    ddl_only: DdlOnly,
    errors: &mut Vec<ErrorItem>,
) -> Side {
    syntax_errors(sources, &script, errors);
    let mut scripts: Vec<&Script> = schema.iter().collect();
    scripts.push(&script);
    let planned = planning::plan(&scripts, options.target, options.purpose, &options.connectors);
    let mut failed = script.errors.first().map(|e| Some(e.span));
    for error in &planned.errors {
        failed.get_or_insert(error.span);
        errors.push(plan_error(sources, error));
    }
    if planned.jobs.is_empty() && failed.is_none() && ddl_only == DdlOnly::Error {
        errors.push(no_job(&sources.file(file).name));
        failed = Some(None);
    }
    let mut notes: Vec<Note> = script
        .placeholders
        .iter()
        .map(|p| Note {
            message: format!("`{}` is not defined; it is taken as one unknown value", p.name),
            at: Some(Place::of(sources, p.span)),
        })
        .collect();
    notes.extend(
        planned.notes.iter().map(|n| Note { message: n.message.clone(), at: n.span.map(|s| Place::of(sources, s)) }),
    );
    Side { planned, notes, failed, script }
}

/// A script in which nothing runs.
pub(crate) fn no_job(name: &str) -> ErrorItem {
    ErrorItem::new(ErrorCode::Plan, format!("{name} has no INSERT and no SELECT, so there is no job"))
        .help("name the script that holds the query; pass files with DDL only as --schema")
}

/// The syntax errors of a script, for the report.
pub(crate) fn syntax_errors(sources: &SourceMap, script: &Script, errors: &mut Vec<ErrorItem>) {
    errors.extend(script.errors.iter().map(|e| ErrorItem {
        code: ErrorCode::Parse,
        message: e.message.clone(),
        help: e.help.clone(),
        at: Some(Place::of(sources, e.span)),
        label: e.label.clone(),
    }));
}

/// A planning error, for the report.
pub(crate) fn plan_error(sources: &SourceMap, error: &PlanError) -> ErrorItem {
    ErrorItem {
        code: match error.kind {
            PlanErrorKind::Rejected => ErrorCode::Plan,
            PlanErrorKind::Unsupported => ErrorCode::Unsupported,
        },
        message: error.message.clone(),
        help: error.help.clone(),
        at: error.span.map(|s| Place::of(sources, s)),
        label: error.label.clone(),
    }
}

/// The name of a file without its directory and ending.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\', ':']).next().unwrap_or(file);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name.trim_matches(['<', '>']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_named_after_its_file() {
        assert_eq!(stem("jobs/orders_top.sql"), "orders_top");
        assert_eq!(stem("<stdin>"), "stdin");
        assert_eq!(stem("HEAD~1:jobs/a.b.sql"), "a.b");
        assert_eq!(stem(".sql"), ".sql");
    }
}
