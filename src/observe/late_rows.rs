//! Watermarks that leave late rows no time, where operators drop what is late.

use std::collections::BTreeSet;

use super::Observer;
use super::observation::ObservationKind;
use crate::catalog::Table;
use crate::exec::window_spec::{WindowAttachment, WindowSpec};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rex::{Origins, Rex};

impl Observer<'_> {
    /// One observation for each such watermark, about the first operator that drops rows by it.
    pub(super) fn late_rows(&mut self) {
        let plan = self.plan;
        let mut told = BTreeSet::new();
        for id in plan.ids() {
            for (input, column) in drops_late_rows(plan, id) {
                for (table, expr, rowtime) in watermarks(plan, input, column) {
                    let Some(declared) = table.watermark.as_ref() else { continue };
                    if expr.as_input() != Some(rowtime) || !told.insert(declared.span) {
                        continue;
                    }
                    let args = vec![
                        ("column", format!("`{}`", table.columns[declared.column].name)),
                        ("table", format!("`{}`", table.path.name)),
                    ];
                    self.add(ObservationKind::WatermarkWithoutDelay, id, args, &Origins::at(declared.span));
                }
            }
        }
    }
}

/// The event times by which an operator drops rows that come after the watermark: nodes with their columns.
fn drops_late_rows(plan: &Plan, id: NodeId) -> Vec<(NodeId, usize)> {
    let node = plan.node(id);
    let time = |window: &WindowSpec| match window.attachment {
        WindowAttachment::TimeColumn(i) if !window.proctime => Some(i),
        _ => None,
    };
    let column = match &node.op {
        // By itself a window function only adds columns; SESSION windows are state, and what is late for these is dropped.
        Operator::WindowTableFunction(w) if w.keyed => time(&w.window),
        Operator::WindowRank(_) | Operator::WindowDeduplicate(_) | Operator::WindowJoin(_) => {
            return node.inputs.iter().filter_map(|input| window_below(plan, *input)).collect();
        }
        Operator::WindowAggregate(a) => time(&a.window),
        Operator::LocalWindowAggregate(a) => time(&a.window),
        Operator::GroupWindowAggregate(a) if !a.proctime && a.emit.allow_lateness == 0 => a.time,
        Operator::OverAggregate(o) => o.order.first().map(|k| k.column),
        Operator::TemporalSort(s) if !s.proctime => s.order.first().map(|k| k.column),
        Operator::IntervalJoin(j) if j.interval.event_time => {
            let times = [j.interval.left_time, j.interval.right_time];
            return node.inputs.iter().copied().zip(times).collect();
        }
        _ => None,
    };
    column.and_then(|c| Some((*node.inputs.first()?, c))).into_iter().collect()
}

/// The time column of the window function whose windows an operator reads, if there is no aggregate in between.
fn window_below(plan: &Plan, mut at: NodeId) -> Option<(NodeId, usize)> {
    loop {
        let node = plan.node(at);
        let below = *node.inputs.first()?;
        match &node.op {
            Operator::WindowTableFunction(w) => {
                return match w.window.attachment {
                    WindowAttachment::TimeColumn(i) if !w.window.proctime => Some((below, i)),
                    _ => None,
                };
            }
            Operator::Calc(_) | Operator::Exchange(_) | Operator::WindowRank(_) | Operator::WindowDeduplicate(_) => {
                at = below
            }
            _ => return None,
        }
    }
}

/// A watermark: its table, its expression, and the time column among those that this reads.
type Declared<'p> = (&'p Table, &'p Rex, usize);

/// The assigner of a watermark that the source does not make itself: its expression and its time column. Its table stands below.
type Assigned<'p> = Option<(&'p Rex, usize)>;

/// The watermarks that a time column is declared with; several where inputs are united.
fn watermarks(plan: &Plan, id: NodeId, column: usize) -> Vec<Declared<'_>> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<(NodeId, usize, Assigned<'_>)> = vec![(id, column, None)];
    while let Some((at, column, assigned)) = open.pop() {
        if !seen.insert((at, column, assigned.is_some())) {
            continue;
        }
        let node = plan.node(at);
        let is_time = node.columns.get(column).is_some_and(|c| c.ty.is_rowtime());
        if !is_time && assigned.is_none() {
            continue;
        }
        let first = node.inputs.first().copied();
        match (&node.op, first) {
            (Operator::TableSourceScan(scan), _) => found.extend(match (assigned, &scan.watermark) {
                (Some((expr, rowtime)), _) => Some((&*scan.table, expr, rowtime)),
                (None, Some(expr)) => Some((&*scan.table, expr, column)),
                (None, None) => None,
            }),
            (Operator::WatermarkAssigner(w), Some(below)) => {
                let own = (w.rowtime == column).then_some((&w.expr, w.rowtime));
                open.push((below, column, assigned.or(own)));
            }
            (Operator::Calc(calc), Some(below)) => {
                let Some(rex) = calc.exprs.get(column) else { continue };
                let time = match (rex.as_input(), rex.as_call("Reinterpret")) {
                    (Some(i), _) => Some(i),
                    (None, Some([arg])) => arg.as_input(),
                    _ => None,
                };
                // Below its assigner, or above a scan that makes watermarks of it, the column is computed, from whatever: only the
                // table is looked for.
                let in_scan = || matches!(&plan.node(below).op, Operator::TableSourceScan(s) if s.watermark.is_some());
                let next = time.or_else(|| (assigned.is_some() || in_scan()).then_some(0));
                open.extend(next.map(|i| (below, i, assigned)));
            }
            (Operator::Union(_), _) => open.extend(node.inputs.iter().map(|i| (*i, column, assigned))),
            (_, Some(below)) => {
                let width = plan.node(below).columns.len();
                match node.inputs.get(1) {
                    Some(right) if column >= width => open.push((*right, column - width, assigned)),
                    _ => open.push((below, column, assigned)),
                }
            }
            (_, None) => {}
        }
    }
    found
}
