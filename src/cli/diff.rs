//! `keepstate diff OLD NEW`: the plans, line by line.

use similar::{ChangeTag, TextDiff};

use super::Outcome;
use super::args::DiffArgs;
use super::plan::{Planned, read_and_plan};
use crate::exec::Purpose;
use crate::planning::JobPlan;
use crate::report::human::{self, Style, paint};
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

/// A unified diff; empty if the texts are the same.
fn unified(old: (&str, &str), new: (&str, &str), style: Style) -> String {
    let diff = TextDiff::from_lines(old.1, new.1);
    let mut out = String::new();
    for group in diff.grouped_ops(3) {
        if out.is_empty() {
            out.push_str(&paint(&format!("--- {}", old.0), "1", style));
            out.push('\n');
            out.push_str(&paint(&format!("+++ {}", new.0), "1", style));
            out.push('\n');
        } else {
            out.push_str(&paint("...", "36", style));
            out.push('\n');
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, color) = match change.tag() {
                ChangeTag::Delete => ('-', Some("31")),
                ChangeTag::Insert => ('+', Some("32")),
                ChangeTag::Equal => (' ', None),
            };
            let line = format!("{sign}{}", change.value().trim_end_matches('\n'));
            out.push_str(&color.map_or_else(|| line.clone(), |color| paint(&line, color, style)));
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        let text = unified(("a", "x\ny\n"), ("b", "x\nz\n"), Style::default());
        assert_eq!(text, "--- a\n+++ b\n x\n-y\n+z\n");
        assert_eq!(unified(("a", "x\n"), ("b", "x\n"), Style::default()), "");
    }
}
