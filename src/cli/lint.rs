//! `keepstate lint FILE...`.

use super::args::LintArgs;
use super::documents::Documents;
use super::{Outcome, input};
use crate::check::Options;
use crate::lint::{Linted, failed, lint};
use crate::report::format::render_lint;
use crate::report::human::Style;
use crate::source::SourceMap;

pub(super) fn run(args: &LintArgs, style: Style) -> Outcome {
    let reading = &args.reading;
    let names = reading.schema.iter().chain(&args.files).map(String::as_str);
    let Linted { mut report, sources } = match input::read_all(names) {
        Err(errors) => Linted { report: failed(reading.target, errors), sources: SourceMap::new() },
        Ok(mut texts) => {
            let scripts = texts.split_off(reading.schema.len());
            let options =
                Options { target: reading.target, schema: texts, defines: reading.defines(), ..Options::default() };
            lint(scripts, &options)
        }
    };
    let (documents, unwritable) = Documents::open(&args.formats.destinations);
    if !unwritable.is_empty() {
        report.errors.extend(unwritable);
        report.exit_code = 2;
    }
    documents.finish(report.exit_code, |format| render_lint(format, &report, &sources, style))
}
