//! `keepstate check`.

use super::Outcome;
use super::args::CheckArgs;
use super::documents::Documents;
use super::pairs::{self, Pairs};
use super::rehearse::rehearse_jobs;
use crate::check::{Checked, Options, check_all};
use crate::exec::Purpose;
use crate::report::human::Style;
use crate::report::model::{ErrorCode, ErrorItem};

pub(super) fn run(args: &CheckArgs, style: Style) -> Outcome {
    let base = Options {
        engines: args.old_engine.clone().zip(args.new_engine.clone()),
        purpose: if args.rows.data.is_empty() { Purpose::Explain } else { Purpose::Collect },
        ..Options::default()
    };
    let Pairs { target, plan, problems } = pairs::collect(args, base);
    let mut checked = check_all(target, plan.pairs, problems.errors, problems.sources);
    checked.report.notes.splice(0..0, plan.notes);
    if !args.rows.data.is_empty() && checked.report.errors.is_empty() {
        attach_witnesses(&mut checked, args, style);
    }
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
