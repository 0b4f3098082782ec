//! Drops columns that nobody reads, as far as Flink's projection push-down carries.
//!
//! A projection goes through filters, joins, unions, window functions and watermark assigners down to the source. An assigner
//! right above a scan without computed columns keeps the whole row (its projection stays above), and OVER reads its whole input. Aggregates
//! lose calls that nobody reads, but the projection that feeds them keeps their arguments.

use std::sync::Arc;

use super::columns::{ColumnMap, columns_in_order, identity, keep_calls, moved, remap_order};
use super::unique_keys::unique_keys_after_ranks;
use crate::catalog::connectors::Connector;
use crate::catalog::types::TypeKind;
use crate::logical::join::{AsOf, Join};
use crate::logical::rel::{
    Aggregate, GroupWindow, RankEnd, Rel, RelColumn, RelOp, Scan, SetOperation, Times, Unread, Watermark, WindowTvf,
};
use crate::logical::rex::{Origins, Rex, Value};

/// Prunes below the root, all of whose columns are wanted.
pub fn prune_root(rel: Rel) -> Rel {
    let all: Vec<usize> = (0..rel.columns.len()).collect();
    let (rel, map) = prune(rel, &all);
    select(rel, &map, &all)
}

/// Prunes `rel` to at least `wanted` columns (in the order the reader would like them) and tells where they are.
fn prune(rel: Rel, wanted: &[usize]) -> (Rel, ColumnMap) {
    let Rel { op, mut inputs, columns, origins } = rel;
    match op {
        RelOp::Project(exprs) => {
            let input = inputs.remove(0);
            // The reader's order is kept, so that a source can deliver its fields in that order.
            let mut kept: Vec<usize> = Vec::with_capacity(wanted.len());
            let mut map: ColumnMap = vec![None; exprs.len()];
            for i in wanted {
                if map[*i].is_none() {
                    map[*i] = Some(kept.len());
                    kept.push(*i);
                }
            }
            let kept_exprs: Vec<Rex> = kept.iter().map(|i| exprs[*i].clone()).collect();
            let names = kept.iter().map(|i| columns[*i].name.clone()).collect();
            (project_pruned(input, kept_exprs, names, origins), map)
        }
        RelOp::Filter(conditions) => {
            let mut needed = columns_in_order(&conditions);
            needed.extend_from_slice(wanted);
            sort_unique(&mut needed);
            let (input, map) = prune(inputs.remove(0), &needed);
            let conditions = conditions.iter().map(|c| c.remap(&map)).collect();
            (input.filter(conditions, origins), map)
        }
        RelOp::Watermark(watermark) => prune_watermark(watermark, inputs.remove(0), columns, origins, wanted),
        RelOp::Scan(scan) => prune_scan(scan, columns, origins, wanted),
        RelOp::WindowTvf(tvf) => prune_tvf(tvf, inputs.remove(0), columns, origins, wanted),
        RelOp::Aggregate(aggregate) => {
            let first = aggregate.keys.len();
            let input = prune_all(inputs.remove(0));
            let keep = mask(columns.len(), wanted)[first..first + aggregate.calls.len()].to_vec();
            let same = identity(input.columns.len());
            let (calls, written) = keep_calls(&aggregate.calls, &aggregate.written, &keep, &same);
            let (columns, map) = drop_calls(columns, first, &keep);
            let op = RelOp::Aggregate(Aggregate { calls, written, ..aggregate });
            (Rel { op, inputs: vec![input], columns, origins }, map)
        }
        RelOp::GroupWindow(window) => {
            let first = window.keys.len();
            let input = prune_all(inputs.remove(0));
            let keep = mask(columns.len(), wanted)[first..first + window.calls.len()].to_vec();
            let same = identity(input.columns.len());
            let (calls, written) = keep_calls(&window.calls, &window.written, &keep, &same);
            let (columns, map) = drop_calls(columns, first, &keep);
            let op = RelOp::GroupWindow(GroupWindow { calls, written, ..window });
            (Rel { op, inputs: vec![input], columns, origins }, map)
        }
        RelOp::Set(SetOperation { times: Times::Counted { unread: Unread::Rows }, .. }) if wanted.is_empty() => {
            let map = identity(columns.len());
            (Rel { op, inputs: inputs.into_iter().map(prune_all).collect(), columns, origins }, map)
        }
        RelOp::Set(_) if wanted.is_empty() => {
            let constant = |i: Rel| project_pruned(i, Vec::new(), Vec::new(), Origins::none());
            let inputs: Vec<Rel> = inputs.into_iter().map(constant).collect();
            let map = vec![None; columns.len()];
            let columns = inputs[0].columns.clone();
            (Rel { op, inputs, columns, origins }, map)
        }
        RelOp::Union | RelOp::Set(_) => {
            let map = positions(columns.len(), wanted);
            let inputs = inputs
                .into_iter()
                .map(|i| {
                    let (i, m) = prune(i, wanted);
                    select(i, &m, wanted)
                })
                .collect::<Vec<Rel>>();
            let mut columns: Vec<RelColumn> = wanted.iter().map(|i| columns[*i].clone()).collect();
            first_names(&mut columns, &inputs);
            (Rel { op, inputs, columns, origins }, map)
        }
        // The call refers to the row as a whole (the correlation variable), so that all of it stays.
        RelOp::Correlate(mut correlate) => {
            let map = identity(columns.len());
            let width = inputs[0].columns.len();
            let made = wanted.iter().filter_map(|i| correlate.columns.get(i.checked_sub(width)?));
            correlate.reads_not_null = { made }.any(|c| !c.ty.nullable);
            (Rel::correlate(prune_all(inputs.remove(0)), correlate, origins), map)
        }
        RelOp::Join(join) => prune_join(join, inputs, origins, wanted),
        RelOp::Values(rows) if rows.is_empty() => {
            let map = positions(columns.len(), wanted);
            let columns = wanted.iter().map(|i| columns[*i].clone()).collect();
            (Rel { op: RelOp::Values(rows), inputs, columns, origins }, map)
        }
        // These read (or keep) their whole input.
        op @ (RelOp::Over(_)
        | RelOp::Rank(_)
        | RelOp::Expand(_)
        | RelOp::WindowAggregate(_)
        | RelOp::Values(_)
        | RelOp::Sort(_)
        | RelOp::Match(_)) => {
            let map = identity(columns.len());
            let inputs = inputs.into_iter().map(prune_all).collect();
            (Rel { op, inputs, columns, origins }, map)
        }
    }
}

/// The first branch names the columns of a union.
fn first_names(columns: &mut [RelColumn], inputs: &[Rel]) {
    for (column, first) in columns.iter_mut().zip(inputs.first().map_or(&[][..], |i| &i.columns)) {
        column.name = first.name.clone();
    }
}

/// Prunes below `rel`, whose columns all stay where they are.
fn prune_all(rel: Rel) -> Rel {
    let all: Vec<usize> = (0..rel.columns.len()).collect();
    let (rel, map) = prune(rel, &all);
    select(rel, &map, &all)
}

/// A projection over its pruned input. A projection of nothing keeps one constant, as rows must have a column.
fn project_pruned(input: Rel, mut exprs: Vec<Rex>, mut names: Vec<Arc<str>>, origins: Origins) -> Rel {
    if exprs.is_empty() {
        exprs.push(zero());
        names.push("$f0".into());
    }
    let refs = columns_in_order(&exprs);
    let (input, map) = prune(input, &refs);
    let exprs = exprs.iter().map(|e| e.remap(&map)).collect();
    input.project(exprs, names, origins)
}

fn zero() -> Rex {
    Rex::literal(Value::Int(0), TypeKind::Int.not_null())
}

/// Projects to `wanted` columns in that order.
fn select(rel: Rel, map: &ColumnMap, wanted: &[usize]) -> Rel {
    let exprs = wanted.iter().map(|i| rel.column(moved(map, *i))).collect();
    let names = wanted.iter().map(|i| rel.columns[moved(map, *i)].name.clone()).collect();
    rel.project(exprs, names, Origins::none())
}

/// Below an assigner only a projection that computes something (or a source that projects) can be narrowed.
fn prune_watermark(
    watermark: Watermark,
    input: Rel,
    columns: Vec<RelColumn>,
    origins: Origins,
    wanted: &[usize],
) -> (Rel, ColumnMap) {
    let narrows = match &input.op {
        RelOp::Project(_) => true,
        RelOp::Scan(scan) => Connector::of(&scan.table).source.projection,
        _ => false,
    };
    if !narrows {
        let map = identity(columns.len());
        let input = prune_all(input);
        return (Rel { op: RelOp::Watermark(watermark), inputs: vec![input], columns, origins }, map);
    }
    let mut needed: Vec<usize> = wanted.to_vec();
    for extra in std::iter::once(watermark.rowtime).chain(columns_in_order([&watermark.expr])) {
        if !needed.contains(&extra) {
            needed.push(extra);
        }
    }
    let (input, map) = prune(input, &needed);
    let input = select(input, &map, &needed);
    let map = positions(columns.len(), &needed);
    let columns = needed.iter().map(|i| columns[*i].clone()).collect();
    let op = RelOp::Watermark(Watermark { rowtime: moved(&map, watermark.rowtime), expr: watermark.expr.remap(&map) });
    (Rel { op, inputs: vec![input], columns, origins }, map)
}

fn prune_scan(scan: Scan, columns: Vec<RelColumn>, origins: Origins, wanted: &[usize]) -> (Rel, ColumnMap) {
    let all = wanted.len() == columns.len() && wanted.iter().enumerate().all(|(i, w)| i == *w);
    if all || wanted.is_empty() || !Connector::of(&scan.table).source.projection {
        let map = identity(columns.len());
        return (Rel { op: RelOp::Scan(scan), inputs: Vec::new(), columns, origins }, map);
    }
    let map = positions(columns.len(), wanted);
    let fields = wanted.iter().map(|i| scan.fields[*i]).collect();
    // A source that is asked for all its fields in another order only reorders: that is not a narrower read.
    let columns = wanted.iter().map(|i| columns[*i].clone()).collect();
    let op = RelOp::Scan(Scan { fields, projected: true, ..scan });
    (Rel { op, inputs: Vec::new(), columns, origins }, map)
}

/// A join passes on what is wanted and what its condition reads, in the order of its inputs.
fn prune_join(join: Join, inputs: Vec<Rel>, origins: Origins, wanted: &[usize]) -> (Rel, ColumnMap) {
    let mut needed = columns_in_order(&join.conditions);
    needed.extend_from_slice(wanted);
    let left_width = inputs[0].columns.len();
    if let Some(AsOf::Valid { time, from }) = join.as_of {
        needed.extend([time, left_width + from]);
    }
    sort_unique(&mut needed);
    let mut map = ColumnMap::new();
    let (mut first, mut kept) = (0, 0);
    let mut narrowed = Vec::with_capacity(2);
    for (side, input) in inputs.into_iter().enumerate() {
        let width = input.columns.len();
        let mut own: Vec<usize> =
            needed.iter().filter(|i| (first..first + width).contains(*i)).map(|i| i - first).collect();
        if own.is_empty() && (side == 0 || join.join_type.keeps_right()) {
            // Rows that are passed on must have a column.
            own.push(0);
        }
        map.extend(positions(width, &own).into_iter().map(|at| at.map(|at| at + kept)));
        let (input, places) = prune(input, &own);
        let input = select(input, &places, &own);
        kept += input.columns.len();
        first += width;
        narrowed.push(input);
    }
    let conditions = join.conditions.iter().map(|c| c.remap(&map)).collect();
    let Ok([left, right]) = <[Rel; 2]>::try_from(narrowed) else { unreachable!("a join has two inputs") };
    let as_of = match join.as_of {
        Some(AsOf::Valid { time, from }) => {
            Some(AsOf::Valid { time: moved(&map, time), from: moved(&map, left_width + from) - left.columns.len() })
        }
        looked_up => looked_up,
    };
    (Rel::join(left, right, Join { conditions, as_of, ..join }, origins), map)
}

fn prune_tvf(
    tvf: WindowTvf,
    input: Rel,
    columns: Vec<RelColumn>,
    origins: Origins,
    wanted: &[usize],
) -> (Rel, ColumnMap) {
    let width = input.columns.len();
    let mut needed: Vec<usize> = wanted.iter().copied().filter(|i| *i < width).collect();
    needed.push(tvf.time);
    needed.extend_from_slice(&tvf.partition);
    sort_unique(&mut needed);
    let (input, map) = prune(input, &needed);
    let input = select(input, &map, &needed);
    let inner = positions(width, &needed);
    let mut map = inner.clone();
    map.extend((0..3).map(|i| Some(needed.len() + i)));
    let columns = needed.iter().copied().chain(width..width + 3).map(|i| columns[i].clone()).collect();
    let op = RelOp::WindowTvf(WindowTvf {
        time: moved(&inner, tvf.time),
        partition: tvf.partition.iter().map(|i| moved(&inner, *i)).collect(),
        ..tvf
    });
    (Rel { op, inputs: vec![input], columns, origins }, map)
}

/// The columns and map that are left when calls are dropped from the places after `first`.
fn drop_calls(columns: Vec<RelColumn>, first: usize, keep: &[bool]) -> (Vec<RelColumn>, ColumnMap) {
    let mut map: ColumnMap = Vec::with_capacity(columns.len());
    let mut left = Vec::with_capacity(columns.len());
    for (i, column) in columns.into_iter().enumerate() {
        let gone = i >= first && keep.get(i - first) == Some(&false);
        map.push((!gone).then_some(left.len()));
        if !gone {
            left.push(column);
        }
    }
    (left, map)
}

/// Which of `width` columns are wanted.
fn mask(width: usize, wanted: &[usize]) -> Vec<bool> {
    let mut mask = vec![false; width];
    for i in wanted {
        mask[*i] = true;
    }
    mask
}

fn positions(width: usize, order: &[usize]) -> ColumnMap {
    let mut map: ColumnMap = vec![None; width];
    for (new, old) in order.iter().enumerate() {
        map[*old].get_or_insert(new);
    }
    map
}

fn sort_unique(list: &mut Vec<usize>) {
    list.sort_unstable();
    list.dedup();
}

/// After ranks are recognized: the projection above a rank drops what neither it nor the rank reads
/// (Flink's `CalcRankTransposeRule`). It does not go further down than projections do by themselves.
pub fn narrow_below_ranks(rel: Rel, wanted: &[usize]) -> (Rel, ColumnMap) {
    let Rel { op, mut inputs, columns, origins } = rel;
    match op {
        RelOp::Rank(mut rank) => {
            let width = inputs[0].columns.len();
            let mut needed: Vec<usize> = wanted.iter().copied().filter(|i| *i < width).collect();
            needed.extend(rank.partition.iter().chain(rank.order.iter().map(|k| &k.column)));
            // Where this column is then, Flink does not ask.
            if let RankEnd::Column(column) = rank.end {
                needed.push(column.min(width - 1));
            }
            // What tells rows apart is kept, so that updates still find theirs.
            needed.extend(unique_keys_after_ranks(&inputs[0]).into_iter().flatten());
            sort_unique(&mut needed);
            let input = narrow_exact(inputs.remove(0), &needed);
            let mut map = positions(width, &needed);
            let mut out: Vec<_> = needed.iter().map(|i| columns[*i].clone()).collect();
            rank.output_number &= wanted.contains(&width);
            if rank.output_number {
                map.push(Some(needed.len()));
                out.push(columns[width].clone());
            } else {
                map.push(None);
            }
            rank.partition = rank.partition.iter().map(|i| moved(&map, *i)).collect();
            rank.order = remap_order(&rank.order, &map);
            (Rel { op: RelOp::Rank(rank), inputs: vec![input], columns: out, origins }, map)
        }
        RelOp::Project(exprs) => {
            let is_wanted = mask(exprs.len(), wanted);
            let kept: Vec<usize> = (0..exprs.len()).filter(|i| is_wanted[*i]).collect();
            let map = positions(exprs.len(), &kept);
            let mut exprs: Vec<Rex> = kept.iter().map(|i| exprs[*i].clone()).collect();
            let mut names: Vec<Arc<str>> = kept.iter().map(|i| columns[*i].name.clone()).collect();
            if exprs.is_empty() {
                exprs.push(zero());
                names.push("$f0".into());
            }
            let mut refs = columns_in_order(&exprs);
            refs.sort_unstable();
            let (input, inner) = narrow_below_ranks(inputs.remove(0), &refs);
            let exprs = exprs.iter().map(|e| e.remap(&inner)).collect();
            (input.project(exprs, names, origins), map)
        }
        RelOp::Filter(conditions) => {
            let mut needed = columns_in_order(&conditions);
            needed.extend_from_slice(wanted);
            sort_unique(&mut needed);
            let (input, map) = narrow_below_ranks(inputs.remove(0), &needed);
            let conditions = conditions.iter().map(|c| c.remap(&map)).collect();
            (input.filter(conditions, origins), map)
        }
        op => {
            let map = identity(columns.len());
            let inputs = inputs.into_iter().map(narrow_all).collect();
            (Rel { op, inputs, columns, origins }, map)
        }
    }
}

fn narrow_all(rel: Rel) -> Rel {
    let all: Vec<usize> = (0..rel.columns.len()).collect();
    narrow_exact(rel, &all)
}

fn narrow_exact(rel: Rel, wanted: &[usize]) -> Rel {
    let (rel, map) = narrow_below_ranks(rel, wanted);
    select(rel, &map, wanted)
}
