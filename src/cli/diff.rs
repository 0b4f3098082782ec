//! `keepstate diff OLD NEW`: the plans, line by line.

use super::Outcome;
use super::args::DiffArgs;
use super::plan::{Planned, read_and_plan};
use crate::exec::Purpose;
use crate::planning::JobPlan;
use crate::report::human::{self, Style};
use crate::report::plan_diff::unified;
use crate::terminal::visible;

pub(super) fn run(args: &DiffArgs, style: Style) -> Outcome {
    if args.old == "-" && args.new == "-" {
        let error = crate::report::model::ErrorItem::new(
            crate::report::model::ErrorCode::Config,
            "stdin is named twice, but can be read once",
        );
        return super::refuse(error.help("give one of the two as a file"), style);
    }
    let old = read_and_plan(&args.old, &args.reading, Purpose::Explain);
    let new = read_and_plan(&args.new, &args.reading, Purpose::Explain);
    if old.errors.is_empty() && new.errors.is_empty() {
        let mut text = unified((&args.old, &tree(&old)), (&args.new, &tree(&new)), style);
        old.secrets.clean(&mut text);
        new.secrets.clean(&mut text);
        return Outcome::ok(text);
    }
    let mut text = human::render_errors(&old.errors, &old.sources, style);
    text.push_str(&human::render_errors(&new.errors, &new.sources, style));
    Outcome { text, exit: 2 }
}

fn tree(planned: &Planned) -> String {
    visible(&planned.script.jobs.iter().map(JobPlan::tree_text).collect::<Vec<_>>().join("\n")).into_owned()
}
