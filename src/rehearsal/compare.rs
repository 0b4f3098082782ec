//! What the restored run and the fresh one sent after the split, row against row.

use rustc_hash::FxHashMap;

use crate::diff::change::Fate;
use crate::eval::{Datum, Row};
use crate::exec::Plan;
use crate::execution::sink_columns;
use crate::report::model::Job as JobReport;
use crate::report::witness::Counts;
use crate::run::{Change, Emitted, RowKind};

/// Two changes that should be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The number of the sink.
    pub sink: usize,
    /// What the restored run sent; none if it left the row out.
    pub restored: Option<Change>,
    /// What the fresh run sent; none if it sent no such row.
    pub fresh: Option<Change>,
}

/// One output column, over all rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnSeen {
    /// The number of its sink (several sinks may have one name), and its place there.
    place: (usize, usize),
    /// The sink.
    pub sink: String,
    /// The column.
    pub name: String,
    /// What the check says of it.
    pub fate: Fate,
    /// It has the same values in both runs, whatever the rows they stand in.
    pub equal: bool,
}

/// The result of comparing.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// Rows by kind.
    pub counts: Counts,
    /// The first differences, in the order of the fresh run; extra rows last.
    pub first: Vec<Difference>,
    /// Every output column.
    pub columns: Vec<ColumnSeen>,
    /// All columns that the check calls kept have, taken together, the same values in both runs.
    pub kept_equal: bool,
}

/// How many differences are shown.
const SHOWN: usize = 10;

/// Compares the changes that both runs sent, whatever their order: order between keys is not defined.
pub fn compare(plan: &Plan, job: &JobReport, restored: Vec<Emitted>, fresh: Vec<Emitted>) -> Comparison {
    let columns = columns(plan, job, &restored, &fresh);
    let kept_equal = kept_equal(plan, &columns, &restored, &fresh);
    let mut counts = Counts::default();
    let (mut extra, mut missing) = unmatched(restored, fresh, &mut counts);
    let mut first = pair_up(&mut extra, &mut missing, &mut counts);
    counts.missing = missing.len();
    counts.extra = extra.len();
    first.extend(missing.into_iter().map(|(sink, change)| Difference { sink, restored: None, fresh: Some(change) }));
    first.extend(extra.into_iter().map(|(sink, change)| Difference { sink, restored: Some(change), fresh: None }));
    first.truncate(SHOWN);
    Comparison { counts, first, columns, kept_equal }
}

/// Takes out what both sent.
fn unmatched(restored: Vec<Emitted>, fresh: Vec<Emitted>, counts: &mut Counts) -> (Vec<Emitted>, Vec<Emitted>) {
    let mut open: FxHashMap<Emitted, usize> = FxHashMap::default();
    for emitted in &restored {
        *open.entry(emitted.clone()).or_default() += 1;
    }
    let mut missing = Vec::new();
    for emitted in fresh {
        match open.get_mut(&emitted) {
            Some(n) if *n > 0 => {
                *n -= 1;
                counts.equal += 1;
            }
            _ => missing.push(emitted),
        }
    }
    // What is left in `open` was sent by the restored run alone: its last occurrences.
    let mut extra: Vec<Emitted> = restored.into_iter().rev().filter(|e| open.get_mut(e).is_some_and(take)).collect();
    extra.reverse();
    (extra, missing)
}

fn take(n: &mut usize) -> bool {
    let some = *n > 0;
    *n = n.saturating_sub(1);
    some
}

/// Pairs rows that differ in few columns: first those that differ in one, then in two, and so on up to half of the columns.
fn pair_up(extra: &mut Vec<Emitted>, missing: &mut Vec<Emitted>, counts: &mut Counts) -> Vec<Difference> {
    /// More rows than this are counted, but not paired.
    const MOST: usize = 2_000;
    let mut pairs: Vec<(usize, Difference)> = Vec::new();
    if extra.len().min(missing.len()) > MOST {
        return Vec::new();
    }
    let width = missing.iter().map(|(_, c)| c.row.len()).max().unwrap_or(0);
    let mut used = vec![false; extra.len()];
    let mut order: Vec<Option<usize>> = vec![None; missing.len()];
    for distance in 1..=(width / 2).max(1) {
        for (m, (sink, change)) in missing.iter().enumerate().filter(|(m, _)| order[*m].is_none()).collect::<Vec<_>>() {
            let near = |(e, (other_sink, other)): (usize, &Emitted)| {
                let fits = !used[e] && other_sink == sink && other.kind == change.kind;
                fits.then(|| distance_of(&other.row, &change.row)).filter(|d| *d == distance).map(|_| e)
            };
            if let Some(e) = extra.iter().enumerate().find_map(near) {
                used[e] = true;
                order[m] = Some(e);
            }
        }
    }
    for (m, partner) in order.iter().enumerate() {
        if let Some(e) = partner {
            let (sink, fresh) = missing[m].clone();
            pairs.push((m, Difference { sink, restored: Some(extra[*e].1.clone()), fresh: Some(fresh) }));
        }
    }
    counts.different = pairs.len();
    let mut at = 0;
    missing.retain(|_| {
        at += 1;
        order[at - 1].is_none()
    });
    at = 0;
    extra.retain(|_| {
        at += 1;
        !used[at - 1]
    });
    pairs.into_iter().map(|(_, d)| d).collect()
}

fn distance_of(a: &[Datum], b: &[Datum]) -> usize {
    a.iter().zip(b).filter(|(x, y)| x != y).count()
}

/// The rows that are there in the end, projected to some columns: how often each was added less how often it was taken back. An
/// update of a column that is left out has no effect in it.
fn net(emitted: &[Emitted], sink: usize, columns: &[usize]) -> FxHashMap<Row, i64> {
    let mut net: FxHashMap<Row, i64> = FxHashMap::default();
    for (at, Change { kind, row }) in emitted {
        if *at == sink {
            let step = if matches!(kind, RowKind::Insert | RowKind::UpdateAfter) { 1 } else { -1 };
            *net.entry(row.project(columns)).or_default() += step;
        }
    }
    net.retain(|_, n| *n != 0);
    net
}

fn columns(plan: &Plan, job: &JobReport, restored: &[Emitted], fresh: &[Emitted]) -> Vec<ColumnSeen> {
    let mut out = Vec::new();
    for (number, sink) in plan.sinks.iter().enumerate() {
        let sink_name = plan.sink_name(*sink);
        let named = sink_columns(plan, *sink);
        let fate = |name: &str| {
            let known = job.columns.iter().find(|c| c.sink == sink_name && c.name == name);
            known.map_or(Fate::Undetermined, |c| c.fate)
        };
        for (i, (name, _)) in named.iter().enumerate() {
            let equal = net(restored, number, &[i]) == net(fresh, number, &[i]);
            out.push(ColumnSeen {
                place: (number, i),
                sink: sink_name.to_owned(),
                name: name.clone(),
                fate: fate(name),
                equal,
            });
        }
    }
    out
}

fn kept_equal(plan: &Plan, seen: &[ColumnSeen], restored: &[Emitted], fresh: &[Emitted]) -> bool {
    (0..plan.sinks.len()).all(|number| {
        let kept = seen.iter().filter(|c| c.place.0 == number && c.fate == Fate::Kept).map(|c| c.place.1);
        let kept: Vec<usize> = kept.collect();
        net(restored, number, &kept) == net(fresh, number, &kept)
    })
}
