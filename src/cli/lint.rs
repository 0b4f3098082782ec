//! `keepstate lint FILE...`.

use super::Outcome;
use super::args::LintArgs;
use super::documents::Documents;
use super::settings::{Problems, Settings};
use crate::check::Options;
use crate::lint::{Linted, failed, lint};
use crate::report::format::render_lint;
use crate::report::human::Style;

pub(super) fn run(args: &LintArgs, style: Style) -> Outcome {
    let names: Vec<&str> = args.files.iter().map(String::as_str).collect();
    let settings = Settings::new(&args.reading, Options::default(), None);
    let Linted { mut report, sources } = match settings.read(&names) {
        Err(Problems { errors, sources }) => {
            Linted { report: failed(args.reading.target.unwrap_or_default(), errors), sources }
        }
        Ok((options, scripts)) => lint(scripts, &options),
    };
    let (documents, unwritable) = Documents::open(&args.formats.destinations);
    if !unwritable.is_empty() {
        report.errors.extend(unwritable);
        report.exit_code = 2;
    }
    documents.finish(report.exit_code, |format| render_lint(format, &report, &sources, style))
}
