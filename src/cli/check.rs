//! `keepstate check OLD NEW`.

use std::sync::Arc;

use super::args::{CheckArgs, Format};
use super::rehearse::rehearse_jobs;
use super::{Outcome, input};
use crate::check::{Checked, Options, check, failed};
use crate::exec::Purpose;
use crate::report::human::{self, Style};
use crate::report::json;
use crate::report::model::{ErrorCode, ErrorItem};
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
                engines: args.old_engine.clone().zip(args.new_engine.clone()),
                purpose: if args.rows.data.is_empty() { Purpose::Explain } else { Purpose::Collect },
                policy: Arc::default(),
            };
            let mut checked = check(old, new, &options);
            if !args.rows.data.is_empty() {
                attach_witnesses(&mut checked, args, style);
            }
            (checked.report, checked.sources)
        }
    };
    let text = match args.format {
        Format::Human => human::render(&report, &sources, style),
        Format::Json => json::render(&report),
    };
    Outcome { text, exit: report.exit_code }
}

/// Rehearses the change of each job and puts what was seen beside its findings. Rows that refute a verdict, and rows that cannot be
/// run, are errors: a check that was asked for evidence must not pass without it.
fn attach_witnesses(checked: &mut Checked, args: &CheckArgs, style: Style) {
    let (rehearsals, errors) = rehearse_jobs(checked, &args.rows, args.split_at, style);
    for rehearsal in rehearsals {
        let jobs = checked.report.jobs.iter_mut().filter(|j| j.name == rehearsal.name);
        for job in jobs {
            job.findings.iter_mut().for_each(|f| f.witness = Some(rehearsal.witness()));
            job.witness = Some(rehearsal.witness());
        }
        if rehearsal.agrees == Some(false) {
            let message = format!("the rows refute the verdict on {}: this is a bug in a rule", rehearsal.name);
            let error = ErrorItem::new(ErrorCode::Internal, message);
            checked.report.errors.push(error.help("`keepstate rehearse` shows the rows; please report it"));
            checked.report.exit_code = 2;
        }
    }
    if !errors.is_empty() {
        checked.report.errors.extend(errors);
        checked.report.exit_code = 2;
    }
}
