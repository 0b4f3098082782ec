//! `keepstate diff OLD NEW`: the plans, line by line.

use super::Outcome;
use super::args::DiffArgs;
use super::plan::{Planned, read_and_plan};
use crate::exec::Purpose;
use crate::planning::JobPlan;
use crate::report::human::{self, Style};
use crate::report::plan_diff::{side_by_side, unified};
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
        let sides = ((args.old.as_str(), tree(&old)), (args.new.as_str(), tree(&new)));
        let ((old_name, old_tree), (new_name, new_tree)) = (&sides.0, &sides.1);
        let mut text = if args.side_by_side {
            let width = args.width.or_else(terminal_width).unwrap_or(160);
            side_by_side((old_name, old_tree), (new_name, new_tree), width, style)
        } else {
            unified((old_name, old_tree), (new_name, new_tree), style)
        };
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

/// The width that the shell says the terminal has.
fn terminal_width() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|w| *w >= 40)
}
