//! `keepstate check OLD NEW`.

use super::args::{CheckArgs, Format};
use super::{Outcome, input};
use crate::check::{Options, check, failed};
use crate::report::human::{self, Style};
use crate::report::json;
use crate::source::SourceMap;

pub(super) fn run(args: &CheckArgs, style: Style) -> Outcome {
    let reading = &args.reading;
    let names = reading.schema.iter().chain([&args.old, &args.new]).map(String::as_str);
    let (report, sources) = match input::read_all(names) {
        Err(errors) => (failed(reading.target, errors), SourceMap::new()),
        Ok(mut texts) => {
            let mut sides = texts.split_off(reading.schema.len()).into_iter();
            let (Some(old), Some(new)) = (sides.next(), sides.next()) else {
                return Outcome { text: String::new(), exit: 2 };
            };
            let options = Options {
                target: reading.target,
                schema: texts,
                defines: reading.defines(),
                fail_on: args.fail_on.into(),
            };
            let checked = check(old, new, &options);
            (checked.report, checked.sources)
        }
    };
    let text = match args.format {
        Format::Human => human::render(&report, &sources, style),
        Format::Json => json::render(&report),
    };
    Outcome { text, exit: report.exit_code }
}
