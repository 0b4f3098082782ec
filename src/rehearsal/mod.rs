//! A rehearsal: the old query over the first rows, a savepoint, the new query from it over the rest, beside a fresh run of the new
//! query over everything. What both send after the split is compared, and held against the verdict.

mod compare;
mod migrate;
mod report;

use crate::diff::correspondences;
use crate::exec::Plan;
use crate::execution::{Execution, run_error};
use crate::report::model::{ErrorItem, Job as JobReport};
use crate::rules::verdict::Verdict;
use crate::run::{Change, Clock, Emitted, EndOfInput};
use crate::source::SourceMap;
pub use compare::{Comparison, Difference, compare};
use migrate::watermarks;
pub use migrate::{Restored, migrate};
pub use report::{Exempt, JobRehearsal, Observation, RehearsalReport, render_human};

/// Where the savepoint is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// After this many rows of all inputs together.
    Rows(u64),
    /// After the row with which the watermark of the old job first reaches this time, in milliseconds.
    Watermark(i64),
}

/// The rows of one side: for each the place of its table among those that the plan reads.
pub type Rows = Vec<(usize, Change)>;

/// One side of a rehearsal.
pub struct Side<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// All rows, as this side's DDL reads them.
    pub rows: &'a Rows,
}

/// How a rehearsal goes.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Where the savepoint is taken.
    pub split: Split,
    /// Processing time.
    pub clock: Clock,
    /// What happens when the rows are at an end.
    pub end: EndOfInput,
}

/// What was seen.
pub struct Rehearsed {
    /// After how many rows the savepoint was taken.
    pub split: u64,
    /// What of the old state the new job got.
    pub restored: Vec<Restored>,
    /// What both runs sent after the split, compared.
    pub comparison: Comparison,
}

/// Rehearses the change of one job. What is carried over follows `job`, the verdict on it: nothing if it is incompatible.
pub fn rehearse(
    old: &Side<'_>,
    new: &Side<'_>,
    job: &JobReport,
    setting: Setting,
    sources: &SourceMap,
) -> Result<Rehearsed, Box<ErrorItem>> {
    let error = |e: Box<crate::run::RunError>| run_error(sources, &e);
    // The old job up to the split.
    let mut before = Execution::new(old.plan, setting.clock, sources)?;
    let mut ignore = |_: Emitted| {};
    let mut split = 0;
    for (table, change) in old.rows {
        let reached = match setting.split {
            Split::Rows(rows) => split >= rows,
            Split::Watermark(time) => before.job.pipeline().event_time().is_some_and(|w| w >= time),
        };
        if reached {
            break;
        }
        before.job.row(*table, change.clone(), &mut ignore).map_err(error)?;
        if matches!(setting.split, Split::Watermark(_)) {
            before.job.flush(&mut ignore).map_err(error)?;
        }
        split += 1;
    }
    before.job.end(EndOfInput::Hold, &mut ignore).map_err(error)?;

    // The new job from the savepoint over the rest.
    let mut after = Execution::new(new.plan, setting.clock, sources)?;
    after.job.set_now(before.job.now());
    let pairs = correspondences(old.plan, new.plan);
    let restored = match job.verdict {
        Verdict::Incompatible => Vec::new(),
        _ => {
            let (images, restored) = migrate(&mut before, &mut after, &pairs);
            after.job.pipeline().restore(new.plan, &images).map_err(error)?;
            after.job.pipeline().migrated();
            restored
        }
    };
    let event_time = watermarks(&mut before, new.plan, &pairs);
    after.job.pipeline().resume(&event_time);
    let rest = usize::try_from(split).unwrap_or(usize::MAX).min(new.rows.len());
    let from_savepoint = collect(&mut after, &new.rows[rest..], setting.end, sources)?;

    // The new job afresh over everything; what it sends up to the split does not count.
    let mut fresh = Execution::new(new.plan, setting.clock, sources)?;
    for (table, change) in &new.rows[..rest] {
        fresh.job.row(*table, change.clone(), &mut ignore).map_err(error)?;
    }
    fresh.job.end(EndOfInput::Hold, &mut ignore).map_err(error)?;
    let afresh = collect(&mut fresh, &new.rows[rest..], setting.end, sources)?;

    let comparison = compare(new.plan, job, from_savepoint, afresh);
    Ok(Rehearsed { split, restored, comparison })
}

fn collect(
    execution: &mut Execution<'_>,
    rows: &[(usize, Change)],
    end: EndOfInput,
    sources: &SourceMap,
) -> Result<Vec<Emitted>, Box<ErrorItem>> {
    let mut out = Vec::new();
    let mut emit = |emitted: Emitted| out.push(emitted);
    for (table, change) in rows {
        execution.job.row(*table, change.clone(), &mut emit).map_err(|e| run_error(sources, &e))?;
    }
    execution.job.end(end, &mut emit).map_err(|e| run_error(sources, &e))?;
    Ok(out)
}
