//! `keepstate lint FILE...`.

use super::args::{Format, LintArgs};
use super::{Outcome, input};
use crate::check::Options;
use crate::lint::{Linted, failed, lint};
use crate::report::human::Style;
use crate::report::{json, lint_human};
use crate::source::SourceMap;

pub(super) fn run(args: &LintArgs, style: Style) -> Outcome {
    let reading = &args.reading;
    let names = reading.schema.iter().chain(&args.files).map(String::as_str);
    let Linted { report, sources } = match input::read_all(names) {
        Err(errors) => Linted { report: failed(reading.target, errors), sources: SourceMap::new() },
        Ok(mut texts) => {
            let scripts = texts.split_off(reading.schema.len());
            let options =
                Options { target: reading.target, schema: texts, defines: reading.defines(), ..Options::default() };
            lint(scripts, &options)
        }
    };
    let text = match args.format {
        Format::Human => lint_human::render(&report, &sources, style),
        Format::Json => json::render(&report),
    };
    Outcome { text, exit: report.exit_code }
}
