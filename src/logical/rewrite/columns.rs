//! Rebuilding operators over inputs whose columns were renumbered.

use std::collections::BTreeSet;

use crate::logical::rel::{AggArg, AggCall, SortKey, WrittenCall};
use crate::logical::rex::Rex;

/// Where each old column is now; `None` if it is gone.
pub type ColumnMap = Vec<Option<usize>>;

/// The map that leaves `n` columns where they are.
pub fn identity(n: usize) -> ColumnMap {
    (0..n).map(Some).collect()
}

/// The new index of a column that is certainly kept.
pub fn moved(map: &ColumnMap, i: usize) -> usize {
    map[i].expect("a column that is read is kept")
}

/// The columns that `exprs` read, in the order of their first appearance.
pub fn columns_in_order<'a>(exprs: impl IntoIterator<Item = &'a Rex>) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let mut order = Vec::new();
    for e in exprs {
        e.visit(&mut |r| {
            if let Some(i) = r.as_input()
                && seen.insert(i)
            {
                order.push(i);
            }
        });
    }
    order
}

/// A call over renumbered columns.
pub fn remap_call(call: &AggCall, map: &ColumnMap) -> AggCall {
    let mut call = call.clone();
    for arg in &mut call.args {
        if let AggArg::Column(i) = arg {
            *i = moved(map, *i);
        }
    }
    call.filter = call.filter.map(|i| moved(map, i));
    call
}

/// The calls that are kept (by index) with their written forms, over renumbered columns.
pub fn keep_calls(
    calls: &[AggCall],
    written: &[WrittenCall],
    keep: &[bool],
    map: &ColumnMap,
) -> (Vec<AggCall>, Vec<WrittenCall>) {
    let mut places: ColumnMap = vec![None; calls.len()];
    let mut kept = Vec::new();
    for (i, call) in calls.iter().enumerate().filter(|(i, _)| keep[*i]) {
        places[i] = Some(kept.len());
        kept.push(remap_call(call, map));
    }
    let written = written
        .iter()
        .filter(|w| w.planned.iter().any(|p| keep[*p]))
        .map(|w| WrittenCall {
            call: remap_call(&w.call, map),
            planned: w.planned.iter().filter_map(|p| places[*p]).collect(),
        })
        .collect();
    (kept, written)
}

/// Sort keys over renumbered columns.
pub fn remap_order(order: &[SortKey], map: &ColumnMap) -> Vec<SortKey> {
    order.iter().map(|k| SortKey { column: moved(map, k.column), ..k.clone() }).collect()
}
