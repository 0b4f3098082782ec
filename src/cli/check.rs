//! `keepstate check OLD NEW`.

use std::sync::Arc;

use super::args::CheckArgs;
use super::documents::Documents;
use super::rehearse::rehearse_jobs;
use super::{Outcome, input};
use crate::check::{Checked, Options, check};
use crate::exec::Purpose;
use crate::report::human::Style;
use crate::report::model::{ErrorCode, ErrorItem};

pub(super) fn run(args: &CheckArgs, style: Style) -> Outcome {
    let reading = &args.reading;
    let names = reading.schema.iter().chain([&args.old, &args.new]).map(String::as_str);
    let mut checked = match input::read_all(names) {
        Err(errors) => Checked::failed(reading.target, errors),
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
            checked
        }
    };
    let (documents, unwritable) = Documents::open(&args.formats.destinations);
    if !unwritable.is_empty() {
        checked.report.errors.extend(unwritable);
        checked.report.exit_code = 2;
    }
    documents.finish(checked.report.exit_code, |format| checked.render(format, style))
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
