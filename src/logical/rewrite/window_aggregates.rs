//! Turns aggregates over the windows of a window function into window aggregates, and pulls the window function into them
//! (Flink's `StreamPhysicalWindowAggregateRule` and `PullUpWindowTableFunctionIntoWindowAggregateRule`).
//!
//! An aggregate is one of these if both window_start and window_end are among its keys; with only one of them it stays an
//! ordinary aggregate whose state never ends. A SESSION window must have just the group keys as its partition keys.

use std::sync::Arc;

use super::columns::{ColumnMap, identity, moved, remap_call};
use super::split_distinct::name_calls;
use super::window_columns::{WindowColumns, window_columns};
use crate::logical::make;
use crate::logical::rel::{
    AggArg, AggCall, Aggregate, Expand, Rel, RelColumn, RelOp, Split, Unsplit, WindowAggregate, WindowKind, WindowTvf,
    Windowing, WrittenCall, WrittenKey, window_bound_type, window_time_type,
};
use crate::logical::rex::{Origins, Rex};
use crate::plan_error::PlanResult;

/// Plans every aggregate of the tree.
pub fn plan_window_aggregates(rel: Rel) -> PlanResult<Rel> {
    let Rel { op, inputs, columns, origins } = rel;
    let mut inputs = inputs.into_iter().map(plan_window_aggregates).collect::<PlanResult<Vec<_>>>()?;
    Ok(match op {
        RelOp::Aggregate(aggregate) => plan_aggregate(aggregate, inputs.remove(0), columns, origins),
        RelOp::GroupWindow(mut window) => {
            let mut read: Vec<usize> = window.keys.clone();
            read.extend(window.calls.iter().flat_map(AggCall::inputs));
            let (input, kept) = materialize(inputs.remove(0), &read, Some(window.time), "");
            window.time = kept.unwrap_or(window.time);
            Rel { op: RelOp::GroupWindow(window), inputs: vec![input], columns, origins }
        }
        RelOp::Project(exprs) => {
            inputs.remove(0).project(exprs, columns.into_iter().map(|c| c.name).collect(), origins)
        }
        RelOp::Filter(conditions) => inputs.remove(0).filter(conditions, origins),
        op => Rel { op, inputs, columns, origins },
    })
}

fn plan_aggregate(aggregate: Aggregate, input: Rel, columns: Vec<RelColumn>, origins: Origins) -> Rel {
    let plan = window_columns(&input).filter(|w| w.bounded_by(&aggregate.keys) && session_keys_fit(w, &aggregate));
    let Some(window) = plan else {
        let mut read = aggregate.keys.clone();
        read.extend(aggregate.calls.iter().flat_map(AggCall::inputs));
        let (input, _) = materialize(input, &read, None, "");
        let columns = columns
            .into_iter()
            .enumerate()
            .map(|(i, c)| if i < aggregate.keys.len() { RelColumn { ty: c.ty.materialized(), ..c } } else { c })
            .collect();
        return Rel { op: RelOp::Aggregate(aggregate), inputs: vec![input], columns, origins };
    };

    let mut keys = Vec::new();
    let mut key_origins = Vec::new();
    let mut written_keys = Vec::new();
    for (key, at) in aggregate.keys.iter().zip(&aggregate.key_origins) {
        written_keys.push(if window.start.contains(key) {
            WrittenKey::WindowStart
        } else if window.end.contains(key) {
            WrittenKey::WindowEnd
        } else if window.time.contains(key) {
            WrittenKey::WindowTime
        } else {
            keys.push(*key);
            key_origins.push(at.clone());
            WrittenKey::Key(keys.len() - 1)
        });
    }
    let window_time = written_keys.contains(&WrittenKey::WindowTime);
    let proctime = window.proctime;
    let start = key_in(&aggregate.keys, &window.start);
    let end = key_in(&aggregate.keys, &window.end);
    let partition: Vec<usize> = window.partition.iter().filter_map(|p| p.first().copied()).collect();
    // Buckets of a split aggregate are no step of the query's.
    let (_, whole) = aggregate.split.whole(&aggregate.keys, &aggregate.calls);
    let fields_step = computed_step(&input, whole.iter().flat_map(|c| c.args.iter().filter_map(AggArg::column)));
    let step_computes_fields = fields_step.is_some();
    let step = fields_step.or_else(|| computed_step(&input, whole.iter().filter_map(|c| c.filter)));
    let mut tvf: WindowTvf = window.tvf.clone();
    let time_type = tvf_time_type(&input);
    tvf.partition = partition;

    let (input, map, windowing) = if can_pull_up(&input, &window, &aggregate) {
        let (input, map, time) = without_tvf(input);
        (input, map, Windowing::TimeColumn(time))
    } else {
        let map = identity(input.columns.len());
        (input, map, Windowing::Bounds { start, end })
    };
    let keys: Vec<usize> = keys.iter().map(|k| moved(&map, *k)).collect();
    tvf.partition = tvf.partition.iter().map(|k| moved(&map, *k)).collect();
    let calls: Vec<AggCall> = aggregate.calls.iter().map(|c| remap_call(c, &map)).collect();
    let split = match aggregate.split {
        Split::Partial(unsplit) => {
            // The keys of the window are no keys any more.
            let own = written_keys[..unsplit.keys].iter().filter(|k| matches!(k, WrittenKey::Key(_))).count();
            let calls = unsplit.calls.iter().map(|c| remap_call(c, &map)).collect();
            Split::Partial(Unsplit { keys: own, calls, ..unsplit })
        }
        split => split,
    };
    let written = aggregate
        .written
        .iter()
        .map(|w| WrittenCall { call: remap_call(&w.call, &map), planned: w.planned.clone() })
        .collect();

    let mut read = keys.clone();
    read.extend(calls.iter().flat_map(AggCall::inputs));
    let time = match windowing {
        Windowing::TimeColumn(time) => Some(time),
        Windowing::Bounds { .. } => None,
    };
    let (input, kept) = materialize(input, &read, time, "_0");
    let windowing = match (windowing, kept) {
        (Windowing::TimeColumn(_), Some(time)) => Windowing::TimeColumn(time),
        (w, _) => w,
    };

    // Physical order: keys, calls, window columns. A projection above restores the order of the query.
    let mut out: Vec<RelColumn> = Vec::new();
    let mut places: Vec<usize> = vec![0; columns.len()];
    let window_at = keys.len() + calls.len();
    for (i, written_key) in written_keys.iter().enumerate() {
        places[i] = match written_key {
            WrittenKey::Key(k) => *k,
            WrittenKey::WindowEnd => window_at + 1,
            WrittenKey::WindowTime => window_at + 2,
            WrittenKey::WindowStart | WrittenKey::Window => window_at,
        };
    }
    let first_call = aggregate.keys.len();
    for (i, key) in written_keys.iter().enumerate() {
        if matches!(key, WrittenKey::Key(_)) {
            let c = &columns[i];
            out.push(RelColumn::new(c.name.clone(), c.ty.clone().materialized()));
        }
    }
    for i in 0..calls.len() {
        places[first_call + i] = keys.len() + i;
    }
    match split {
        Split::None => out.extend_from_slice(&columns[first_call..first_call + calls.len()]),
        // These calls have no names of their own.
        Split::Partial(_) | Split::Final => name_calls(&mut out, calls.iter().map(|c| c.ty.clone())),
    }
    let name_of = |wanted: WrittenKey, default: &str| -> Arc<str> {
        written_keys.iter().position(|k| *k == wanted).map_or_else(|| default.into(), |i| columns[i].name.clone())
    };
    out.push(RelColumn::new(name_of(WrittenKey::WindowStart, "window_start"), window_bound_type()));
    out.push(RelColumn::new(name_of(WrittenKey::WindowEnd, "window_end"), window_bound_type()));
    if window_time {
        out.push(RelColumn::new(name_of(WrittenKey::WindowTime, "window_time"), time_type));
    }
    let op = RelOp::WindowAggregate(Box::new(WindowAggregate {
        tvf,
        windowing,
        proctime,
        keys,
        key_origins,
        written_keys,
        calls,
        written,
        window_time,
        grouping_sets: aggregate.grouping_sets,
        step,
        step_computes_fields,
        split,
    }));
    let rel = Rel { op, inputs: vec![input], columns: out, origins: origins.clone() };
    let exprs = places.iter().map(|p| rel.column(*p)).collect();
    rel.project(exprs, columns.into_iter().map(|c| c.name).collect(), origins)
}

fn key_in(keys: &[usize], columns: &[usize]) -> usize {
    keys.iter().copied().find(|k| columns.contains(k)).expect("the keys hold both bounds")
}

/// SESSION windows end per partition key, so only an aggregate by just these keys can merge with them.
fn session_keys_fit(window: &WindowColumns<'_>, aggregate: &Aggregate) -> bool {
    if !matches!(window.tvf.kind, WindowKind::Session { .. }) {
        return true;
    }
    let plain: Vec<usize> = aggregate.keys.iter().copied().filter(|k| !window.is_window_column(*k)).collect();
    plain.iter().all(|k| window.partition.iter().any(|p| p.contains(k)))
        && window.partition.iter().all(|p| plain.iter().any(|k| p.contains(k)))
}

fn tvf_time_type(rel: &Rel) -> crate::catalog::types::DataType {
    match &rel.op {
        RelOp::WindowTvf(tvf) => window_time_type(&rel.input().columns[tvf.time].ty),
        RelOp::WindowAggregate(w) if w.window_time => {
            rel.columns.last().map_or_else(window_bound_type, |c| c.ty.clone())
        }
        _ => rel.inputs.first().map_or_else(window_bound_type, tvf_time_type),
    }
}

/// The window function can move into the aggregate if nothing in between reads its columns except to pass them on.
fn can_pull_up(input: &Rel, window: &WindowColumns<'_>, aggregate: &Aggregate) -> bool {
    reaches_tvf(input) && aggregate.calls.iter().flat_map(AggCall::inputs).all(|i| !window.is_window_column(i))
}

fn reaches_tvf(rel: &Rel) -> bool {
    let clean = |exprs: &[Rex], below: &WindowColumns<'_>, bare_allowed: bool| {
        exprs.iter().all(|e| {
            let mut reads = false;
            e.visit(&mut |r| reads |= r.as_input().is_some_and(|i| below.is_window_column(i)));
            !reads || (bare_allowed && e.as_input().is_some())
        })
    };
    match &rel.op {
        RelOp::WindowTvf(_) => true,
        RelOp::Filter(conditions) => {
            reaches_tvf(rel.input()) && window_columns(rel.input()).is_some_and(|w| clean(conditions, &w, false))
        }
        RelOp::Project(exprs) => {
            reaches_tvf(rel.input()) && window_columns(rel.input()).is_some_and(|w| clean(exprs, &w, true))
        }
        RelOp::Expand(expand) => {
            reaches_tvf(rel.input())
                && window_columns(rel.input()).is_some_and(|w| expand.projects.iter().all(|p| clean(p, &w, true)))
        }
        _ => false,
    }
}

/// The same rows without the window columns: where each column is now, and where the time attribute is.
fn without_tvf(rel: Rel) -> (Rel, ColumnMap, usize) {
    let Rel { op, mut inputs, columns, origins } = rel;
    match op {
        RelOp::WindowTvf(tvf) => {
            let input = inputs.remove(0);
            let mut map = identity(input.columns.len());
            map.extend([None, None, None]);
            (input, map, tvf.time)
        }
        RelOp::Filter(conditions) => {
            let (input, map, time) = without_tvf(inputs.remove(0));
            let conditions = conditions.iter().map(|c| c.remap(&map)).collect();
            (input.filter(conditions, origins), map, time)
        }
        RelOp::Project(exprs) => {
            let (input, below, time) = without_tvf(inputs.remove(0));
            let (mut kept, mut names) = (Vec::new(), Vec::new());
            let mut map: ColumnMap = Vec::with_capacity(exprs.len());
            for (e, column) in exprs.iter().zip(&columns) {
                if e.as_input().is_some_and(|i| below[i].is_none()) {
                    map.push(None);
                    continue;
                }
                map.push(Some(kept.len()));
                kept.push(e.remap(&below));
                names.push(column.name.clone());
            }
            let place = kept.iter().position(|e| e.as_input() == Some(time)).unwrap_or_else(|| {
                kept.push(input.column(time));
                names.push(input.columns[time].name.clone());
                kept.len() - 1
            });
            (input.project(kept, names, origins), map, place)
        }
        RelOp::Expand(expand) => {
            let (input, below, time) = without_tvf(inputs.remove(0));
            let gone: Vec<bool> = (0..columns.len())
                .map(|i| expand.projects.iter().all(|p| p[i].as_input().is_some_and(|c| below[c].is_none())))
                .collect();
            let mut map: ColumnMap = Vec::with_capacity(columns.len());
            let mut kept = 0;
            for g in &gone {
                map.push((!g).then_some(kept));
                kept += usize::from(!g);
            }
            let mut out: Vec<RelColumn> =
                columns.iter().zip(&gone).filter(|(_, g)| !**g).map(|(c, _)| c.clone()).collect();
            let projects: Vec<Vec<Rex>> = expand
                .projects
                .iter()
                .map(|p| {
                    let kept = p.iter().zip(&gone).filter(|(_, g)| !**g).map(|(e, _)| e.remap(&below));
                    kept.chain(std::iter::once(input.column(time))).collect()
                })
                .collect();
            out.push(input.columns[time].clone());
            let place = out.len() - 1;
            let expand_id = moved(&map, expand.expand_id);
            let op = RelOp::Expand(Expand { projects, expand_id });
            (Rel { op, inputs: vec![input], columns: out, origins }, map, place)
        }
        _ => unreachable!("reaches_tvf allows only these"),
    }
}

/// A step between the window function and the aggregate that computes one of these columns.
fn computed_step(input: &Rel, mut columns: impl Iterator<Item = usize>) -> Option<Origins> {
    columns.find_map(|i| computed_above_tvf(input, i))
}

fn computed_above_tvf(rel: &Rel, i: usize) -> Option<Origins> {
    match &rel.op {
        RelOp::Project(exprs) => match exprs[i].as_input() {
            Some(j) => computed_above_tvf(rel.input(), j),
            None => stands_on_tvf(rel.input()).then(|| exprs[i].origins.clone()),
        },
        RelOp::Filter(_) => computed_above_tvf(rel.input(), i),
        RelOp::Expand(expand) => {
            expand.projects.iter().find_map(|p| p[i].as_input()).and_then(|j| computed_above_tvf(rel.input(), j))
        }
        _ => None,
    }
}

fn stands_on_tvf(rel: &Rel) -> bool {
    match &rel.op {
        RelOp::WindowTvf(_) => true,
        RelOp::Project(_) | RelOp::Filter(_) | RelOp::Expand(_) => stands_on_tvf(rel.input()),
        _ => false,
    }
}

/// Time attributes that are grouped by or aggregated become ordinary timestamps below (Flink's `RelTimeIndicatorConverter`).
/// `keep` is a column that must stay a time attribute: where it is afterwards.
fn materialize(input: Rel, read: &[usize], keep: Option<usize>, suffix: &str) -> (Rel, Option<usize>) {
    let is_time = |i: &usize| input.columns[*i].ty.time_attribute() != crate::catalog::types::TimeAttribute::None;
    if !read.iter().any(is_time) {
        return (input, keep);
    }
    let mut exprs = input.all_columns();
    let mut names: Vec<Arc<str>> = input.columns.iter().map(|c| c.name.clone()).collect();
    for i in read.iter().filter(|i| is_time(i)) {
        if exprs[*i].as_input().is_some() {
            exprs[*i] = make::materialize(exprs[*i].clone());
        }
    }
    let kept = keep.map(|k| {
        if exprs[k].as_input().is_some() {
            return k;
        }
        exprs.push(input.column(k));
        names.push(format!("{}{suffix}", names[k]).into());
        exprs.len() - 1
    });
    (input.project(exprs, names, Origins::none()), kept)
}
