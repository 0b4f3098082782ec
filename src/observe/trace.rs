//! Where a column comes from: through the operators that pass it on, down to what computes it.

use std::collections::BTreeSet;

use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rex::Rex;
use crate::source::Span;

/// What gives a column its values.
#[derive(Debug, Clone, Copy)]
pub enum Traced<'p> {
    /// An expression over the columns of `below`.
    Computed {
        /// The expression.
        rex: &'p Rex,
        /// What it reads.
        below: NodeId,
    },
    /// Column `field` of a scan.
    Scanned {
        /// The scan.
        scan: NodeId,
        /// The column among those that it puts out.
        field: usize,
    },
    /// A bound of a window, or its time.
    WindowBound {
        /// `window_start`, `window_end` or `window_time`.
        bound: &'static str,
    },
    /// Something else: an aggregate, a rank number, a literal row.
    Made,
}

impl Traced<'_> {
    /// Where it is written.
    pub fn origin(&self, plan: &Plan) -> Option<Span> {
        match self {
            Traced::Computed { rex, .. } => rex.origins.first(),
            Traced::Scanned { scan, field } => match &plan.node(*scan).op {
                Operator::TableSourceScan(s) => s.fields.get(*field).map(|f| s.table.columns[*f].span),
                _ => None,
            },
            Traced::WindowBound { .. } | Traced::Made => None,
        }
    }
}

/// What gives a column of a node its values; several answers where inputs are united.
pub fn trace(plan: &Plan, id: NodeId, column: usize) -> Vec<Traced<'_>> {
    let mut found = Vec::new();
    walk(plan, id, column, |traced| {
        found.push(traced);
        Vec::new()
    });
    found
}

/// Goes down from a column to what gives it its values, and on to the columns that `visit` answers with. Each is met once.
fn walk<'p>(plan: &'p Plan, id: NodeId, column: usize, mut visit: impl FnMut(Traced<'p>) -> Vec<(NodeId, usize)>) {
    let mut seen = BTreeSet::new();
    let mut open = vec![(id, column)];
    while let Some((id, column)) = open.pop() {
        if !seen.insert((id, column)) {
            continue;
        }
        match step(plan, id, column) {
            Step::Found(traced) => open.extend(visit(traced)),
            Step::Below(next) => open.extend(next),
        }
    }
}

/// Calls `f` with every expression that a column's values are computed by, however far below.
pub fn for_each_expression<'p>(plan: &'p Plan, id: NodeId, column: usize, f: &mut impl FnMut(&'p Rex)) {
    walk(plan, id, column, |traced| {
        let mut read = Vec::new();
        if let Traced::Computed { rex, below } = traced {
            f(rex);
            rex.visit(&mut |r| read.extend(r.as_input().map(|i| (below, i))));
        }
        read
    });
}

enum Step<'p> {
    Found(Traced<'p>),
    Below(Vec<(NodeId, usize)>),
}

fn step(plan: &Plan, id: NodeId, column: usize) -> Step<'_> {
    let node = plan.node(id);
    let first = node.inputs.first().copied();
    let width = first.map_or(0, |i| plan.node(i).columns.len());
    let made = Step::Found(Traced::Made);
    let bound = |bound| Step::Found(Traced::WindowBound { bound });
    // The columns that follow those of an input, in the order in which window operators put them out.
    let bounds = |at: usize| match at {
        0 => bound("window_start"),
        1 => bound("window_end"),
        _ => bound("window_time"),
    };
    let Some(input) = first else {
        return match &node.op {
            Operator::TableSourceScan(_) => Step::Found(Traced::Scanned { scan: id, field: column }),
            _ => made,
        };
    };
    let key = |keys: &[usize], below: NodeId| keys.get(column).map(|k| Step::Below(vec![(below, *k)]));
    let phase = || {
        let local = plan.local_phase(id)?;
        let below = *plan.node(local).inputs.first()?;
        match &plan.node(local).op {
            Operator::LocalWindowAggregate(l) => key(&l.keys, below),
            Operator::LocalGroupAggregate(l) => key(&l.keys, below),
            Operator::IncrementalGroupAggregate(halves) if column < halves.keys => {
                Some(Step::Below(vec![(local, column)]))
            }
            _ => None,
        }
    };
    match &node.op {
        Operator::Calc(calc) => match calc.exprs.get(column) {
            Some(rex) => match rex.as_input() {
                Some(i) => Step::Below(vec![(input, i)]),
                None => Step::Found(Traced::Computed { rex, below: input }),
            },
            None => made,
        },
        Operator::Expand(expand) => {
            let inputs = expand.projects.iter().filter_map(|p| p.get(column)?.as_input()).map(|i| (input, i));
            let inputs: Vec<_> = inputs.collect();
            if inputs.is_empty() { made } else { Step::Below(inputs) }
        }
        Operator::WindowTableFunction(_) if column >= width => bounds(column - width),
        Operator::WindowAggregate(a) => key(&a.keys, input)
            .or_else(|| (column - a.keys.len()).checked_sub(a.calls.len()).map(bounds))
            .unwrap_or(made),
        Operator::GlobalWindowAggregate(g) => phase()
            .or_else(|| {
                let a = &g.aggregate;
                column.checked_sub(a.keys.len())?.checked_sub(a.calls.len()).map(bounds)
            })
            .unwrap_or(made),
        Operator::GroupWindowAggregate(a) => key(&a.keys, input)
            .or_else(|| (column - a.keys.len()).checked_sub(a.calls.len()).map(bounds))
            .unwrap_or(made),
        Operator::GroupAggregate(a) => key(&a.keys, input).unwrap_or(made),
        Operator::GlobalGroupAggregate(_) | Operator::IncrementalGroupAggregate(_) => phase().unwrap_or(made),
        Operator::Union(_) => Step::Below(node.inputs.iter().map(|i| (*i, column)).collect()),
        Operator::WindowTableFunction(_)
        | Operator::WatermarkAssigner(_)
        | Operator::MiniBatchAssigner(_)
        | Operator::Exchange(_)
        | Operator::DropUpdateBefore(_)
        | Operator::ChangelogNormalize(_)
        | Operator::Limit(_)
        | Operator::SortLimit(_)
        | Operator::TemporalSort(_)
        | Operator::Deduplicate(_)
        | Operator::WindowDeduplicate(_)
        | Operator::Rank(_)
        | Operator::WindowRank(_)
        | Operator::OverAggregate(_)
        | Operator::Sink(_)
        | Operator::Join(_)
        | Operator::IntervalJoin(_)
            if column < width =>
        {
            Step::Below(vec![(input, column)])
        }
        // The row of the right side follows that of the left one.
        Operator::Join(_) | Operator::IntervalJoin(_) => match node.inputs.get(1) {
            Some(right) => Step::Below(vec![(*right, column - width)]),
            None => made,
        },
        // Of what is not known here, nothing is said.
        _ => made,
    }
}
