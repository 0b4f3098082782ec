//! A page for reviewers: one file that needs nothing else, is readable without scripts, and lets nothing of a script be markup.
//!
//! `page.rs` is the page as a whole, `job.rs` and `finding.rs` what it says, `excerpt.rs` the clauses, `operators.rs` what is known of each
//! operator, `layout/` and `graph.rs` the drawings of the plans. `page.css` and `page.js` are let in by their hashes and nothing
//! else is, so even markup that slipped through could load and run nothing.

mod excerpt;
mod finding;
mod graph;
mod job;
mod layout;
mod operators;
mod page;
mod text;

use super::format::JobPlans;
use super::human::Style;
use super::lint::LintReport;
use super::model::Report;
use crate::source::SourceMap;

/// Writes the report of a check.
pub(super) fn render_check(report: &Report, sources: &SourceMap, plans: &[JobPlans<'_>], style: Style) -> String {
    page::check(report, sources, plans, style)
}

/// Writes the report of a lint.
pub(super) fn render_lint(report: &LintReport, sources: &SourceMap, style: Style) -> String {
    page::lint(report, sources, style)
}
