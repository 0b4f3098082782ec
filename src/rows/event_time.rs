//! The event time of a row that is about to be read, to bring rows of several tables into order.

use crate::catalog::TableColumnKind;
use crate::eval::{Datum, Evaluator, Session, compile};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rex::{Rex, RexKind};

/// Computes the event time of rows of one scan.
pub struct EventTime {
    /// Over the stored columns of the table.
    rowtime: Evaluator,
}

impl EventTime {
    /// The event time of the rows of a scan, if its table has one.
    pub fn of(plan: &Plan, scan: NodeId, session: &Session) -> Option<EventTime> {
        let Operator::TableSourceScan(op) = &plan.node(scan).op else { return None };
        let stored: Vec<usize> = (0..op.table.columns.len())
            .filter(|i| !matches!(op.table.columns[*i].kind, TableColumnKind::Computed(_)))
            .collect();
        let place: Vec<Option<usize>> = op.fields.iter().map(|f| stored.iter().position(|s| s == f)).collect();
        // What the operators above make of the scan's columns, up to the one that is event time.
        let mut columns: Vec<Rex> =
            plan.node(scan).columns.iter().enumerate().map(|(i, c)| Rex::input(i, c.ty.clone())).collect();
        let mut at = scan;
        let rowtime = loop {
            if let Some(i) = plan.node(at).columns.iter().position(|c| c.ty.is_rowtime()) {
                break columns.get(i)?.clone();
            }
            at = plan.ids().find(|id| plan.node(*id).inputs.first() == Some(&at))?;
            match &plan.node(at).op {
                Operator::Calc(calc) => columns = calc.exprs.iter().map(|e| e.substitute(&columns)).collect(),
                Operator::WatermarkAssigner(assigner) => break columns.get(assigner.rowtime)?.clone(),
                _ => return None,
            }
        };
        let rowtime = rowtime.remap(&place);
        // A source that makes watermarks itself leaves `Reinterpret(ts)`: the value as it is.
        let rowtime = match &rowtime.kind {
            RexKind::Call(function, args) if function.name().eq_ignore_ascii_case("Reinterpret") => {
                args.first()?.clone()
            }
            _ => rowtime,
        };
        Some(EventTime { rowtime: compile(&rowtime, session).ok()? })
    }

    /// Milliseconds; none for NULL and for rows that the expression fails on (the run will say so).
    pub fn of_row(&self, row: &[Datum]) -> Option<i64> {
        self.rowtime.eval(row, 0).ok()?.as_millis()
    }
}
