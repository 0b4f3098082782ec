//! What a rehearsal says, as data (the JSON form) and for people.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use serde::Serialize;

use super::Rehearsed;
use super::compare::{Comparison, Difference};
use super::migrate::Restored;
use crate::check::PlanPair;
use crate::diff::change::Fate;
use crate::eval::{json, text};
use crate::exec::Plan;
use crate::execution::sink_columns;
use crate::report::human::{Style, paint};
use crate::report::model::{ErrorItem, Job as JobReport, SCHEMA_VERSION, Tool};
use crate::report::witness::{ChangeReport, Counts, DifferenceReport, Witness, write_differences};
use crate::rules::verdict::Verdict;
use crate::run::Change;
use crate::target::Target;
use crate::terminal::visible;

/// All that a run of `rehearse` says.
#[derive(Debug, Clone, Serialize)]
pub struct RehearsalReport {
    /// The version of the form.
    pub schema_version: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// The engine whose restore is rehearsed.
    pub target: Target,
    /// The worst verdict of the check.
    pub verdict: Verdict,
    /// False if the rows of some job refute its verdict, true if those of others agree; none if nothing was put to the test.
    pub agrees: Option<bool>,
    /// The exit status of the run.
    pub exit_code: u8,
    /// The jobs that both sides have.
    pub jobs: Vec<JobRehearsal>,
    /// Why something could not be rehearsed.
    pub errors: Vec<ErrorItem>,
}

impl RehearsalReport {
    /// The report on some jobs.
    pub fn new(target: Target, verdict: Verdict, jobs: Vec<JobRehearsal>, errors: Vec<ErrorItem>) -> RehearsalReport {
        let agrees = jobs.iter().filter_map(|j| j.agrees).reduce(|a, b| a && b);
        let exit_code = match (errors.is_empty(), agrees) {
            (false, _) => 2,
            (true, agrees) => u8::from(agrees == Some(false)),
        };
        let (schema_version, tool) = (SCHEMA_VERSION, Tool::default());
        RehearsalReport { schema_version, tool, target, verdict, agrees, exit_code, jobs, errors }
    }
}

/// What the rows show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observation {
    /// Both runs send the same rows after the split.
    Equal,
    /// They differ, but not in the columns that the check calls kept.
    KeptColumnsEqual,
    /// They differ.
    Different,
}

/// Why rows may differ although the verdict stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exempt {
    /// `table.optimizer.state-compatibility.ignore-filter` is on, and a filter changed.
    IgnoresFilters,
    /// The watermark is another one.
    LateRows,
    /// A filter reads what starts from zero.
    FiltersByNew,
}

impl Exempt {
    /// What may differ between the rows of these plans, if anything may.
    pub fn of(pair: &PlanPair) -> Option<Exempt> {
        match pair {
            PlanPair { ignores_filters: true, .. } => Some(Exempt::IgnoresFilters),
            PlanPair { late_rows_differ: true, .. } => Some(Exempt::LateRows),
            PlanPair { filters_by_new: true, .. } => Some(Exempt::FiltersByNew),
            _ => None,
        }
    }

    fn note(self) -> &'static str {
        match self {
            Exempt::IgnoresFilters => {
                "ignore-filter is on: rows that a changed filter lets through differ on purpose, so they refute nothing"
            }
            Exempt::LateRows => {
                "the watermark is another one: which rows come too late, and when windows close, differs on purpose until event time \
                 has caught up, so they refute nothing"
            }
            Exempt::FiltersByNew => {
                "a filter reads an aggregate that starts from zero: which rows are sent differs until it has caught up, so they \
                 refute nothing"
            }
        }
    }
}

/// The rehearsal of one job.
#[derive(Debug, Clone, Serialize)]
pub struct JobRehearsal {
    /// Its name.
    pub name: String,
    /// The old file.
    pub old: Option<String>,
    /// The new file.
    pub new: Option<String>,
    /// The verdict of the check.
    pub verdict: Verdict,
    /// What the rows show.
    pub observed: Observation,
    /// Whether that agrees with the verdict. None if the verdict claims nothing that rows could refute.
    pub agrees: Option<bool>,
    /// After how many rows the savepoint was taken.
    pub split: u64,
    /// How many rows there were.
    pub rows: u64,
    /// What of the old state the new job got; none if it started empty.
    pub restored: Vec<Restored>,
    /// The changes that were sent after the split.
    pub changes: Counts,
    /// Every output column.
    pub columns: Vec<ColumnReport>,
    /// The first changes that differ.
    pub differences: Vec<DifferenceReport>,
    /// What should be known.
    pub notes: Vec<String>,
}

/// One output column.
#[derive(Debug, Clone, Serialize)]
pub struct ColumnReport {
    /// The sink.
    pub sink: String,
    /// The column.
    pub name: String,
    /// What the check says becomes of it.
    pub fate: Fate,
    /// It has the same values in both runs.
    pub equal: bool,
}

impl JobRehearsal {
    /// Holds what was seen against the verdict. `exempt`: why rows may differ although
    /// the verdict stands, if they may.
    pub fn new(
        job: &JobReport,
        seen: Rehearsed,
        plan: &Plan,
        zone: &TimeZone,
        rows: u64,
        exempt: Option<Exempt>,
    ) -> JobRehearsal {
        let Rehearsed { split, restored, comparison } = seen;
        let Comparison { counts, first, columns, kept_equal } = comparison;
        let equal = counts.different + counts.missing + counts.extra == 0;
        let observed = match (equal, kept_equal) {
            (true, _) => Observation::Equal,
            (false, true) => Observation::KeptColumnsEqual,
            (false, false) => Observation::Different,
        };
        let mut notes = Vec::new();
        notes.extend(exempt.map(|e| e.note().to_owned()));
        // Nothing was sent after the split: nothing was put to the test.
        let idle = counts.equal + counts.different + counts.missing + counts.extra == 0;
        let agrees = match job.verdict {
            _ if exempt.is_some() || idle => None,
            Verdict::Compatible => Some(equal),
            Verdict::PartiallyCompatible => Some(kept_equal),
            Verdict::Unknown | Verdict::Incompatible => None,
        };
        if job.verdict == Verdict::Incompatible {
            notes
                .push("an incompatible change does not restore; the new job was started empty at the split".to_owned());
        }
        if split >= rows {
            notes.push(
                "the split was not reached before the rows were at an end, so little can be seen; choose an earlier one (a \
                 timestamp is reached when the watermark passes it, and never by tables without one)"
                    .to_owned(),
            );
        } else if counts.equal + counts.different + counts.missing == 0 {
            notes.push("the fresh job sent nothing after the split, so nothing was put to the test".to_owned());
        }
        let difference = |d: Difference| DifferenceReport {
            sink: plan.sink_name(plan.sinks[d.sink]).to_owned(),
            restored: d.restored.map(|c| change(plan, d.sink, &c, zone)),
            fresh: d.fresh.map(|c| change(plan, d.sink, &c, zone)),
        };
        JobRehearsal {
            name: job.name.clone(),
            old: job.old.clone(),
            new: job.new.clone(),
            verdict: job.verdict,
            observed,
            agrees,
            split,
            rows,
            restored,
            changes: counts,
            columns: columns
                .into_iter()
                .map(|c| ColumnReport { sink: c.sink, name: c.name, fate: c.fate, equal: c.equal })
                .collect(),
            differences: first.into_iter().map(difference).collect(),
            notes,
        }
    }
}

impl JobRehearsal {
    /// What it shows, for the findings of the job.
    pub fn witness(&self) -> Witness {
        Witness {
            split: self.split,
            rows: self.rows,
            agrees: self.agrees,
            changes: self.changes,
            differences: self.differences.clone(),
        }
    }
}

fn change(plan: &Plan, sink: usize, change: &Change, zone: &TimeZone) -> ChangeReport {
    let columns = sink_columns(plan, plan.sinks[sink]);
    let cells = columns.iter().zip(change.row.iter());
    let shown = |((_, ty), value): (&(String, _), &crate::eval::Datum)| {
        if value.is_null() { "<NULL>".to_owned() } else { text::print(value, ty, zone) }
    };
    ChangeReport {
        op: change.kind.name().to_owned(),
        row: cells.clone().map(|((name, ty), v)| (name.clone(), json::write(v, ty, zone))).collect(),
        shown: cells.map(shown).collect(),
    }
}

/// Writes a report for people. Errors are not in it.
pub fn render_human(report: &RehearsalReport, style: Style) -> String {
    let mut out = String::new();
    for job in &report.jobs {
        let sides = [&job.old, &job.new].map(|s| s.as_deref().unwrap_or("?"));
        let headline = format!("{}: {} ({} -> {})", job.verdict.name(), job.name, sides[0], sides[1]);
        let _ = writeln!(out, "{}", visible(&headline));
        let (headline, color) = match (job.agrees, job.observed) {
            (Some(true), _) => ("the rows agree with the verdict", "32"),
            (Some(false), _) => ("THE ROWS REFUTE THE VERDICT: this is a bug in a rule; please report it", "1;31"),
            (None, Observation::Equal) if job.changes == Counts::default() => {
                ("nothing was sent after the savepoint, so nothing was put to the test", "33")
            }
            (None, Observation::Equal) => ("the rows come out right, though the verdict does not promise it", "33"),
            (None, _) if job.verdict < Verdict::Unknown => {
                ("the rows come out differently for the reason in the note, which refutes nothing", "33")
            }
            (None, _) => ("the rows come out differently; the verdict does not promise that they are right", "33"),
        };
        let _ = writeln!(out, "{}", paint(headline, color, style));
        if style.quiet {
            continue;
        }
        let _ = writeln!(out, "\nsavepoint after {} of {} rows", job.split, job.rows);
        for operator in &job.restored {
            let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            let _ = write!(out, "  {} ({}) takes over {}", operator.kind, operator.operator, list(&operator.entries));
            let _ = if operator.empty.is_empty() {
                writeln!(out)
            } else {
                writeln!(out, "; {} starts empty", operator.empty.join(", "))
            };
        }
        let Counts { equal, different, missing, extra } = job.changes;
        let _ = writeln!(
            out,
            "sent after it: {equal} equal, {different} different, {missing} missing from and {extra} extra in the restored job"
        );
        for column in job.columns.iter().filter(|c| style.verbose || !c.equal) {
            let same = if column.equal { "equal" } else { "different" };
            // What an incompatible change would have kept is of no use: nothing is restored.
            let says = if job.verdict == Verdict::Incompatible { "" } else { fate(column.fate) };
            let _ = writeln!(out, "{}", visible(&format!("  {}.{}: {same}{says}", column.sink, column.name)));
        }
        write_differences(&job.differences, &mut out);
        for note in &job.notes {
            let _ = writeln!(out, "note: {note}");
        }
    }
    out
}

fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Kept => " (the check says it is kept)",
        Fate::FromZero => " (the check says it starts from zero)",
        Fate::Lost => " (the check says its state is lost)",
        Fate::Undetermined => " (the check says nothing of it)",
    }
}
