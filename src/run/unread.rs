//! Columns of sources that no operator looks at and no state keeps, so that nobody has to make values of their cells.

use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rex::Rex;

/// For each column of a scan, whether its values can matter: not if only operators that let rows through carry it, up to a `Calc`
/// that does without it.
pub fn kept(plan: &Plan, scan: NodeId) -> Vec<bool> {
    let width = plan.node(scan).columns.len();
    let mut kept = vec![false; width];
    if let Operator::TableSourceScan(op) = &plan.node(scan).op {
        keep(&mut kept, op.filters.iter().chain(&op.watermark));
    }
    let mut at = scan;
    loop {
        let mut readers = plan.ids().filter(|id| plan.node(*id).inputs.contains(&at));
        let (Some(reader), None) = (readers.next(), readers.next()) else { return vec![true; width] };
        match &plan.node(reader).op {
            Operator::Exchange(_) => {}
            Operator::WatermarkAssigner(assigner) => {
                keep(&mut kept, [&assigner.expr]);
                kept[assigner.rowtime] = true;
            }
            Operator::Calc(calc) => {
                keep(&mut kept, calc.exprs.iter().chain(&calc.conditions));
                return kept;
            }
            _ => return vec![true; width],
        }
        at = reader;
    }
}

fn keep<'a>(kept: &mut [bool], exprs: impl IntoIterator<Item = &'a Rex>) {
    exprs.into_iter().for_each(|e| e.visit(&mut |r| r.as_input().into_iter().for_each(|i| kept[i] = true)));
}
