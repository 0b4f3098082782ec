//! Hands to the sources what they can do themselves: watermarks first, then filters right above the scan
//! (Flink's `PushWatermarkIntoTableSourceScan*Rule` and `PushFilterInCalcIntoTableSourceScanRule`).

use crate::catalog::connectors::Connector;
use crate::catalog::types::TimeAttribute;
use crate::logical::make;
use crate::logical::rel::{Rel, RelColumn, RelOp, Scan};
use crate::logical::rex::Rex;

/// Pushes into every source of the tree.
pub fn push_into_sources(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let mut inputs: Vec<Rel> = inputs.into_iter().map(push_into_sources).collect();
    match op {
        RelOp::Watermark(watermark) => {
            let input = inputs.remove(0);
            match takes_watermark(&input) {
                Some(Below::Scan) => {
                    let Rel { op: RelOp::Scan(scan), columns: fields, origins: at, .. } = input else {
                        unreachable!("checked above")
                    };
                    let columns = as_rowtime(fields, watermark.rowtime);
                    let op = RelOp::Scan(Scan { watermark: Some(watermark.expr), ..scan });
                    Rel { op, inputs: Vec::new(), columns, origins: at }
                }
                Some(Below::Projection) => {
                    let Rel { op: RelOp::Project(mut exprs), inputs: mut below, origins: at, .. } = input else {
                        unreachable!("checked above")
                    };
                    let mut scan = below.remove(0);
                    let strategy = watermark.expr.substitute(&exprs);
                    if let RelOp::Scan(s) = &mut scan.op {
                        s.watermark = Some(strategy);
                    }
                    let rowtime = &mut exprs[watermark.rowtime];
                    *rowtime = make::reinterpret(rowtime.clone(), columns[watermark.rowtime].ty.clone());
                    scan.project(exprs, columns.into_iter().map(|c| c.name).collect(), at)
                }
                None => Rel { op: RelOp::Watermark(watermark), inputs: vec![input], columns, origins },
            }
        }
        RelOp::Project(exprs) => {
            let names = columns.into_iter().map(|c| c.name).collect();
            inputs.remove(0).project(exprs, names, origins)
        }
        RelOp::Filter(conditions) => push_filter(inputs.remove(0), conditions, origins),
        op => Rel { op, inputs, columns, origins },
    }
}

enum Below {
    Scan,
    Projection,
}

fn takes_watermark(input: &Rel) -> Option<Below> {
    let able = |rel: &Rel| match &rel.op {
        RelOp::Scan(scan) => Connector::of(&scan.table).source.watermark,
        _ => false,
    };
    match &input.op {
        RelOp::Scan(_) if able(input) => Some(Below::Scan),
        RelOp::Project(_) if able(input.input()) => Some(Below::Projection),
        _ => None,
    }
}

fn as_rowtime(mut columns: Vec<RelColumn>, rowtime: usize) -> Vec<RelColumn> {
    let ty = &mut columns[rowtime].ty;
    *ty = ty.clone().with_time_attribute(TimeAttribute::Rowtime);
    columns
}

/// A source with filter push-down takes conditions on its own fields.
fn push_filter(input: Rel, conditions: Vec<Rex>, origins: crate::logical::rex::Origins) -> Rel {
    let able = |rel: &Rel| match &rel.op {
        RelOp::Scan(scan) => Connector::of(&scan.table).source.filter,
        _ => false,
    };
    match input.op {
        RelOp::Scan(_) if able(&input) => {
            let Rel { op: RelOp::Scan(mut scan), columns, origins: at, .. } = input else {
                unreachable!("matched above")
            };
            let (taken, left): (Vec<Rex>, Vec<Rex>) = conditions.into_iter().partition(Rex::is_pushable);
            scan.filters.extend(taken);
            Rel { op: RelOp::Scan(scan), inputs: Vec::new(), columns, origins: at }.filter(left, origins)
        }
        RelOp::Project(_) if able(input.input()) => {
            let Rel { op: RelOp::Project(exprs), inputs: mut below, columns, origins: at } = input else {
                unreachable!("matched above")
            };
            let on_fields = |c: &Rex| {
                let mut bare = true;
                c.visit(&mut |r| {
                    if let Some(i) = r.as_input() {
                        bare &= exprs[i].as_input().is_some();
                    }
                });
                bare
            };
            let (down, up): (Vec<Rex>, Vec<Rex>) =
                conditions.into_iter().partition(|c| c.is_pushable() && on_fields(c));
            let down = down.iter().map(|c| c.substitute(&exprs)).collect();
            let names = columns.into_iter().map(|c| c.name).collect();
            push_filter(below.remove(0), down, origins.clone()).project(exprs, names, at).filter(up, origins)
        }
        _ => input.filter(conditions, origins),
    }
}
