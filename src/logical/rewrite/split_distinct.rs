//! Aggregates with DISTINCT become two: one per bucket of values, and one over the buckets, so that no key's values meet in one
//! task (Flink's `SplitAggregateRule`, asked for by `table.optimizer.distinct-agg.split.enabled`).
//!
//! The values of a DISTINCT call, and those of MIN, MAX, FIRST_VALUE and LAST_VALUE, are dealt into buckets by `MOD(HASH_CODE(value), n)`.
//! Where calls want different buckets, an Expand sends each row once per kind of bucket, and calls take the rows of their kind.
//! What a value's bucket could not tell (LISTAGG with a separator, COLLECT, functions of the user) is not split, nor are windows of
//! processing time and SESSION windows.

use std::collections::HashSet;
use std::sync::Arc;

use super::columns::{ColumnMap, moved, remap_call};
use super::window_columns::window_columns;
use crate::catalog::functions::{self, operators as op};
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::make;
use crate::logical::rel::{AggArg, AggCall, Aggregate, Expand, Rel, RelColumn, RelOp, Split, Unsplit, WindowKind};
use crate::logical::rex::{Origins, Rex, Value};
use crate::plan_error::{PlanError, PlanResult};

/// Splits every aggregate of the tree that can be, into so many buckets.
pub fn split_distinct(rel: Rel, buckets: i64) -> PlanResult<Rel> {
    let Rel { op, inputs, mut columns, origins } = rel;
    let before: Vec<Vec<Arc<str>>> =
        inputs.iter().map(|i| i.columns.iter().map(|c| c.name.clone()).collect()).collect();
    let mut inputs = inputs.into_iter().map(|i| split_distinct(i, buckets)).collect::<PlanResult<Vec<Rel>>>()?;
    Ok(match op {
        RelOp::Aggregate(aggregate) if is_split(&aggregate, &inputs[0]) => {
            check_hashes(&aggregate, &inputs[0])?;
            split(aggregate, inputs.remove(0), columns, origins, buckets)
        }
        RelOp::Project(exprs) => {
            inputs.remove(0).project(exprs, columns.into_iter().map(|c| c.name).collect(), origins)
        }
        // A filter computes its row anew, under the names that it had.
        RelOp::Filter(conditions) => Rel { columns, ..inputs.remove(0).filter(conditions, origins) },
        RelOp::Join(join) => match <[Rel; 2]>::try_from(inputs) {
            Ok([left, right]) => Rel::join(left, right, join, origins),
            Err(inputs) => Rel { op: RelOp::Join(join), inputs, columns, origins },
        },
        op @ (RelOp::Over(_) | RelOp::Rank(_) | RelOp::Sort(_) | RelOp::Union | RelOp::Correlate(_)) => {
            rename_passed(&mut columns, &before, &inputs);
            Rel { op, inputs, columns, origins }
        }
        op => Rel { op, inputs, columns, origins },
    })
}

/// Flink's code generator has no hash code for all types, and says so when the job is translated.
fn check_hashes(aggregate: &Aggregate, input: &Rel) -> PlanResult<()> {
    for call in aggregate.calls.iter().filter(|c| wants_buckets(c)) {
        let Some(value) = call.args.iter().find_map(AggArg::column).filter(|c| !aggregate.keys.contains(c)) else {
            continue;
        };
        let ty = input.columns[value].ty.clone().materialized();
        let hashed = ty.is_numeric()
            || ty.is_character()
            || ty.is_interval()
            || ty.is_unknown()
            || matches!(
                ty.kind,
                TypeKind::Boolean | TypeKind::Date | TypeKind::Time(_) | TypeKind::Timestamp(..) | TypeKind::Null
            );
        if !hashed {
            let at = call.origins.first().unwrap_or_default();
            return Err(PlanError::rejected(at, format!("Unsupported call: HASH_CODE({})", ty.kind))
                .label("the values of this call are dealt into buckets by their hash codes")
                .help("unset 'table.optimizer.distinct-agg.split.enabled', or cast the argument")
                .into());
        }
    }
    Ok(())
}

/// Columns that are passed on have the names of the (first) input, which has lost those of the calls that were split.
fn rename_passed(columns: &mut [RelColumn], before: &[Vec<Arc<str>>], inputs: &[Rel]) {
    let (Some(before), Some(input)) = (before.first(), inputs.first()) else { return };
    for ((column, was), is) in columns.iter_mut().zip(before).zip(&input.columns) {
        if column.name == *was {
            column.name = is.name.clone();
        }
    }
}

fn is_split(aggregate: &Aggregate, input: &Rel) -> bool {
    let on_clock_or_session = window_columns(input).is_some_and(|w| {
        w.bounded_by(&aggregate.keys) && (w.proctime || matches!(w.tvf.kind, WindowKind::Session { .. }))
    });
    aggregate.split == Split::None
        && aggregate.calls.iter().any(|c| c.distinct)
        && aggregate.calls.iter().all(can_be_split)
        && !on_clock_or_session
}

/// Functions whose results over buckets can be combined.
fn can_be_split(call: &AggCall) -> bool {
    match &*call.function {
        "COUNT" | "SUM" | "$SUM0" | "AVG" | "MIN" | "MAX" | "FIRST_VALUE" | "LAST_VALUE" | "SINGLE_VALUE" => true,
        "LISTAGG" => call.args.len() == 1,
        _ => false,
    }
}

/// The rows of a call are dealt into buckets by its argument.
fn wants_buckets(call: &AggCall) -> bool {
    call.distinct || matches!(&*call.function, "MIN" | "MAX" | "FIRST_VALUE" | "LAST_VALUE")
}

fn split(aggregate: Aggregate, input: Rel, columns: Vec<RelColumn>, origins: Origins, buckets: i64) -> Rel {
    let (aggregate, input) = without_permutation(aggregate, input);
    let first_call = aggregate.keys.len();
    let width = input.columns.len();
    let bucket_of = |call: &AggCall| -> Option<usize> {
        wants_buckets(call)
            .then(|| call.args.iter().find_map(AggArg::column))
            .flatten()
            .filter(|c| !aggregate.keys.contains(c))
    };
    let mut bucketed: Vec<usize> = aggregate.calls.iter().filter_map(bucket_of).collect();
    bucketed.sort_unstable();
    bucketed.dedup();
    let input = with_buckets(input, &bucketed, buckets);

    // AVG is a sum and a count, whose quotient is computed above.
    let parts: Vec<Vec<AggCall>> = aggregate.calls.iter().map(|c| parts(c, &input)).collect();
    let unsplit: Vec<AggCall> = parts.iter().flatten().cloned().collect();
    let place = |column: usize| bucketed.iter().position(|b| *b == column);
    // The kinds of buckets, as the place of the column that tells them; rows without buckets come last.
    let mut kinds: Vec<Option<usize>> =
        unsplit.iter().filter(|c| wants_buckets(c)).map(|c| bucket_of(c).and_then(place)).collect();
    kinds.sort_unstable_by_key(|k| k.unwrap_or(usize::MAX));
    kinds.dedup();
    let expanded = kinds.len() > 1;
    let mut calls = unsplit.clone();
    let input = if expanded {
        if kinds.last() != Some(&None) && unsplit.iter().any(|c| !wants_buckets(c)) {
            kinds.push(None);
        }
        let wanted: Vec<Option<usize>> = unsplit.iter().map(|c| bucket_of(c).and_then(place)).collect();
        chosen(expand(input, width, &kinds, bucketed.len()), &mut calls, &wanted, bucketed.len())
    } else {
        input
    };

    let keys: Vec<usize> = aggregate.keys.iter().copied().chain(width..width + bucketed.len()).collect();
    let mut key_origins = aggregate.key_origins.clone();
    key_origins.resize(keys.len(), Origins::none());
    let mut partial_columns: Vec<RelColumn> = keys.iter().map(|k| input.columns[*k].clone()).collect();
    name_calls(&mut partial_columns, calls.iter().map(|c| c.ty.clone()));
    // The written calls are computed by the parts of the planned ones.
    let starts: Vec<usize> = parts
        .iter()
        .scan(0, |at, p| {
            *at += p.len();
            Some(*at - p.len())
        })
        .collect();
    let mut written = aggregate.written;
    for w in &mut written {
        w.planned = w.planned.iter().flat_map(|p| starts[*p]..starts[*p] + parts[*p].len()).collect();
    }
    let combined: Vec<AggCall> = calls
        .iter()
        .enumerate()
        .map(|(i, c)| combining(c, keys.len() + i, &partial_columns[keys.len() + i].name))
        .collect();
    let partial = RelOp::Aggregate(Aggregate {
        keys,
        key_origins,
        calls,
        written,
        distinct: false,
        grouping_sets: aggregate.grouping_sets,
        ttl: aggregate.ttl,
        split: Split::Partial(Unsplit { keys: first_call, calls: unsplit, expanded }),
    });
    let partial = Rel { op: partial, inputs: vec![input], columns: partial_columns, origins: origins.clone() };

    let mut final_columns: Vec<RelColumn> = columns[..first_call]
        .iter()
        .zip(&partial.columns)
        .map(|(c, p)| RelColumn { ty: c.ty.clone(), ..p.clone() })
        .collect();
    name_calls(&mut final_columns, combined.iter().map(|c| c.ty.clone()));
    let combined_count = combined.len();
    let last = RelOp::Aggregate(Aggregate {
        keys: (0..first_call).collect(),
        key_origins: aggregate.key_origins,
        calls: combined,
        written: Vec::new(),
        distinct: false,
        grouping_sets: aggregate.grouping_sets,
        ttl: aggregate.ttl,
        split: Split::Final,
    });
    let last = Rel { op: last, inputs: vec![partial], columns: final_columns, origins: origins.clone() };
    if combined_count == aggregate.calls.len() {
        return last;
    }
    quotients(last, first_call, &aggregate.calls, &starts, origins)
}

/// An input that only puts all columns in another order is read as it is, if the keys keep their order
/// (Calcite's `AggregateProjectMergeRule`, where it costs nothing).
fn without_permutation(mut aggregate: Aggregate, mut input: Rel) -> (Aggregate, Rel) {
    let place: Option<ColumnMap> = match &input.op {
        RelOp::Project(exprs) if exprs.len() == input.input().columns.len() => {
            exprs.iter().map(|e| e.as_input().map(Some)).collect()
        }
        _ => None,
    };
    let Some(place) = place else { return (aggregate, input) };
    let all = place.iter().collect::<HashSet<_>>().len() == place.len();
    let keys: Vec<usize> = aggregate.keys.iter().map(|k| moved(&place, *k)).collect();
    if !all || !keys.is_sorted() {
        return (aggregate, input);
    }
    aggregate.keys = keys;
    aggregate.calls = aggregate.calls.iter().map(|c| remap_call(c, &place)).collect();
    for w in &mut aggregate.written {
        w.call = remap_call(&w.call, &place);
    }
    (aggregate, input.inputs.remove(0))
}

/// The calls that a call is computed from.
fn parts(call: &AggCall, input: &Rel) -> Vec<AggCall> {
    if &*call.function != "AVG" {
        return vec![call.clone()];
    }
    let argument = match call.args.first() {
        Some(AggArg::Column(i)) => input.columns[*i].ty.clone(),
        Some(AggArg::Constant(e)) => e.ty.clone(),
        None => call.ty.clone(),
    };
    let part = |function: &str, ty: DataType| AggCall { function: function.into(), ty, ..call.clone() };
    vec![part("$SUM0", make::sum_type(&argument).with_nullable(false)), part("COUNT", TypeKind::BigInt.not_null())]
}

/// The call over the results of `call` per bucket, which stand in `column`.
fn combining(call: &AggCall, column: usize, name: &Arc<str>) -> AggCall {
    let function = if &*call.function == "COUNT" { "$SUM0".into() } else { call.function.clone() };
    AggCall {
        function,
        args: vec![AggArg::Column(column)],
        distinct: false,
        filter: None,
        ty: call.ty.clone(),
        name: name.clone(),
        monotonic: false,
        origins: call.origins.clone(),
    }
}

/// `input` with a column that tells the bucket of each of `values`.
fn with_buckets(input: Rel, values: &[usize], buckets: i64) -> Rel {
    if values.is_empty() {
        return input;
    }
    let mut exprs = input.all_columns();
    let mut names = Names::of(input.columns.iter().map(|c| c.name.clone()));
    for value in values {
        // What is hashed is a value: a time attribute is none.
        let value = make::materialize(input.column(*value));
        let (nullable, origins) = (value.ty.nullable, value.origins.clone());
        let int = |nullable: bool| DataType { kind: TypeKind::Int, nullable };
        let hash = Rex::call(&op::HASH_CODE, vec![value], int(nullable)).or_at(&origins);
        let count = Rex::literal(Value::Int(buckets), int(false));
        names.place(exprs.len());
        exprs.push(Rex::call(&op::MOD, vec![hash, count], int(nullable)).or_at(&origins));
    }
    input.project(exprs, names.list, Origins::none())
}

/// Each row once per kind of bucket, the columns of other buckets NULL. The last column tells the kinds apart: one bit per bucket
/// that is NULL, the last one lowest.
fn expand(input: Rel, first: usize, kinds: &[Option<usize>], buckets: usize) -> Rel {
    let mut columns = input.columns.clone();
    for column in &mut columns[first..] {
        column.ty = column.ty.clone().with_nullable(true);
    }
    let expand_id = columns.len();
    let mut name = "$e".to_owned();
    let mut i = 0;
    while columns.iter().any(|c| *c.name == *name) {
        name = format!("$e_{i}");
        i += 1;
    }
    columns.push(RelColumn::new(name, TypeKind::BigInt.not_null()));
    let projects = kinds
        .iter()
        .map(|kind| {
            let keeps = |i: usize| i < first || *kind == Some(i - first);
            let column = |i: usize| if keeps(i) { input.column(i) } else { Rex::null(columns[i].ty.clone()) };
            (0..expand_id).map(column).chain([kind_id(*kind, buckets)]).collect()
        })
        .collect();
    let op = RelOp::Expand(Expand { projects, expand_id });
    Rel { op, inputs: vec![input], columns, origins: Origins::none() }
}

fn kind_number(kind: Option<usize>, buckets: usize) -> i64 {
    (0..buckets).filter(|b| Some(*b) != kind).map(|b| 1i64 << (buckets - 1 - b).min(62)).sum()
}

fn kind_id(kind: Option<usize>, buckets: usize) -> Rex {
    Rex::literal(Value::Int(kind_number(kind, buckets)), TypeKind::BigInt.not_null())
}

/// A FILTER for each call, so that it takes the rows of its kind of bucket only.
fn chosen(input: Rel, calls: &mut [AggCall], kinds: &[Option<usize>], buckets: usize) -> Rel {
    let expand_id = input.columns.len() - 1;
    let mut exprs: Vec<Rex> = input.all_columns();
    exprs.truncate(expand_id);
    let mut names = Names::of(input.columns[..expand_id].iter().map(|c| c.name.clone()));
    for (call, kind) in calls.iter_mut().zip(kinds) {
        let id = input.column(expand_id);
        let mut condition = Rex::call(&op::EQUALS, vec![id, kind_id(*kind, buckets)], TypeKind::Boolean.not_null());
        if let Some(filter) = call.filter {
            let filter = input.column(filter);
            let ty = DataType { kind: TypeKind::Boolean, nullable: filter.ty.nullable };
            condition = Rex::call(&op::AND, vec![condition, filter], ty);
        }
        let known = exprs[expand_id..].iter().position(|e| *e == condition).map(|i| expand_id + i);
        call.filter = Some(known.unwrap_or_else(|| {
            names.name(&format!("$g_{}", kind_number(*kind, buckets)));
            exprs.push(condition);
            exprs.len() - 1
        }));
    }
    input.project(exprs, names.list, Origins::none())
}

/// The results of the calls as they were before the split: AVG is a quotient.
fn quotients(last: Rel, first_call: usize, calls: &[AggCall], starts: &[usize], origins: Origins) -> Rel {
    let mut exprs: Vec<Rex> = (0..first_call).map(|i| last.column(i)).collect();
    let mut names = Names::of(last.columns[..first_call].iter().map(|c| c.name.clone()));
    for (call, start) in calls.iter().zip(starts) {
        let part = last.column(first_call + start);
        if &*call.function != "AVG" {
            names.name(&last.columns[first_call + start].name);
            exprs.push(part);
            continue;
        }
        let count = last.column(first_call + start + 1);
        let ty = call.ty.clone().with_nullable(true);
        let zero = Rex::literal(Value::Int(0), TypeKind::Int.not_null());
        let none = Rex::call(&op::EQUALS, vec![count.clone(), zero], TypeKind::Boolean.not_null());
        // An integer divided by a count is a BIGINT.
        let wide = if ty.is_integer() { TypeKind::BigInt.nullable() } else { ty.clone() };
        let quotient = Rex::call(&op::DIVIDE, vec![part, count], wide.clone().with_nullable(false));
        let value = match functions::lookup("IF") {
            Some(function) => Rex::call(function, vec![none, Rex::null(ty.clone()), quotient], wide),
            None => quotient,
        };
        names.place(exprs.len());
        let same = value.ty.kind == call.ty.kind && call.ty.nullable;
        let value = if same { value } else { make::cast(value, call.ty.clone()) };
        exprs.push(value.or_at(&call.origins));
    }
    last.project(exprs, names.list, origins)
}

/// Calls without a name of their own are named by their place (Calcite's `Aggregate.deriveRowType`).
pub(super) fn name_calls(columns: &mut Vec<RelColumn>, types: impl Iterator<Item = DataType>) {
    for ty in types {
        let base = format!("$f{}", columns.len());
        let mut name = base.clone();
        let mut i = 0;
        while columns.iter().any(|c| *c.name == *name) {
            name = format!("{base}_{i}");
            i += 1;
        }
        columns.push(RelColumn::new(name, ty));
    }
}

/// The names of a projection (Calcite's `RelBuilder.project`).
struct Names {
    list: Vec<Arc<str>>,
    used: HashSet<Arc<str>>,
}

impl Names {
    fn of(names: impl Iterator<Item = Arc<str>>) -> Names {
        let list: Vec<Arc<str>> = names.collect();
        Names { used: list.iter().cloned().collect(), list }
    }

    /// A name that is given; a number follows it if it is taken.
    fn name(&mut self, given: &str) {
        let mut name: Arc<str> = given.into();
        let mut i = 0;
        while !self.used.insert(name.clone()) {
            name = format!("{given}{i}").into();
            i += 1;
        }
        self.list.push(name);
    }

    /// The name of what has none, by its place.
    fn place(&mut self, mut i: usize) {
        loop {
            let name: Arc<str> = format!("$f{i}").into();
            if self.used.insert(name.clone()) {
                self.list.push(name);
                return;
            }
            i += 1;
        }
    }
}
