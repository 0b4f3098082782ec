//! The row of accumulators that an aggregate keeps per key, as Flink's code generation lays it out
//! (`AggregateUtil.transformToAggregateInfoList`, `AggsHandlerCodeGenerator`, `AggFunctionFactory`).
//!
//! The calls come first, each with the fields of its function; then the COUNT(*) that Flink adds to know when a key has no rows
//! left; then one field per distinct view. Views live in states of their own, and their fields in the row stay empty.

use std::ops::Range;

use super::types::{RowType, StateType, Summary};
use super::{Keyed, StateEntry};
use crate::catalog::types::{DataType, Field, TypeKind};
use crate::exec::Column;
use crate::logical::rel::{AggArg, AggCall};

/// Where everything stands in an accumulator row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccumulatorLayout {
    /// The fields of the row.
    pub row: RowType,
    /// The fields of each call.
    pub calls: Vec<Range<usize>>,
    /// The field that counts rows, where Flink needs one: that of the query's own COUNT(*), or one added.
    pub count_star: Option<usize>,
    /// The views of DISTINCT.
    pub distincts: Vec<DistinctView>,
    /// The views of functions that keep collections.
    pub views: Vec<DataView>,
    /// Rows can be taken back.
    pub retracts: bool,
}

/// The values seen by DISTINCT calls over the same arguments, with how often each was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistinctView {
    /// The arguments.
    pub args: Vec<AggArg>,
    /// The calls that share it.
    pub calls: Vec<usize>,
    /// Its field in the row.
    pub field: usize,
    /// The type of the values.
    pub key: StateType,
    /// The type of the counts.
    pub value: DataType,
}

/// A map or list of an accumulator that has a state of its own (Flink's `DataViewSpec`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataView {
    /// The call.
    pub call: usize,
    /// The name of its state: `agg2$map`.
    pub name: String,
    /// What it holds: a map or a list.
    pub ty: StateType,
}

/// How an aggregate uses its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AggregateUse {
    /// Rows can be taken back.
    pub retracts: bool,
    /// A COUNT(*) is needed, whether the query has one or not.
    pub counts_rows: bool,
    /// Time attributes come in as such. They do in OVER; below other aggregates they are made ordinary timestamps
    /// (`RelTimeIndicatorConverter`).
    pub keeps_time: bool,
}

impl AggregateUse {
    fn argument(self, arg: &AggArg, input: &[Column]) -> DataType {
        match arg {
            AggArg::Column(i) => match input.get(*i) {
                Some(c) if self.keeps_time => c.ty.clone(),
                Some(c) => c.ty.clone().materialized(),
                None => DataType::unknown(),
            },
            AggArg::Constant(e) => e.ty.clone(),
        }
    }
}

impl AccumulatorLayout {
    /// Lays out the calls of an aggregate over `input`.
    pub fn of(calls: &[AggCall], input: &[Column], usage: AggregateUse) -> AccumulatorLayout {
        let mut fields: Vec<Field> = Vec::new();
        let mut ranges = Vec::with_capacity(calls.len());
        let mut views = Vec::new();
        for (i, call) in calls.iter().enumerate() {
            let accumulator = Accumulator::of(call, input, usage);
            let first = fields.len();
            let alone = accumulator.fields.len() == 1;
            for (name, ty) in accumulator.fields {
                let name = if alone { call.name.to_string() } else { format!("{}.{name}", call.name) };
                fields.push(Field { name, ty });
            }
            ranges.push(first..fields.len());
            let named = |(name, ty): (&str, StateType)| DataView { call: i, name: format!("agg{i}${name}"), ty };
            views.extend(accumulator.views.into_iter().map(named));
        }
        let own = calls.iter().position(is_count_star).and_then(|i| ranges.get(i)).map(|r: &Range<usize>| r.start);
        let count_star = usage.counts_rows.then(|| {
            own.unwrap_or_else(|| {
                fields.push(Field { name: "count(*)".to_owned(), ty: TypeKind::BigInt.nullable() });
                fields.len() - 1
            })
        });
        let mut distincts = distinct_views(calls, input, usage);
        for (i, view) in distincts.iter_mut().enumerate() {
            view.field = fields.len();
            fields.push(Field { name: distinct_name(i), ty: raw(MAP_VIEW) });
        }
        AccumulatorLayout {
            row: RowType { fields },
            calls: ranges,
            count_star,
            distincts,
            views,
            retracts: usage.retracts,
        }
    }

    /// The states beside the row itself.
    pub(super) fn view_entries(&self, keyed: &Keyed) -> Vec<StateEntry> {
        let mut out = Vec::new();
        for view in &self.views {
            out.push(match &view.ty {
                StateType::List(element) => keyed.list(&view.name, element.as_ref().clone()),
                StateType::Map(key, value) => keyed.map(&view.name, key.as_ref().clone(), value.as_ref().clone()),
                other => keyed.value(&view.name, other.clone()),
            });
        }
        out.extend(self.distinct_entries(keyed));
        out
    }

    /// The states of DISTINCT.
    pub(super) fn distinct_entries(&self, keyed: &Keyed) -> Vec<StateEntry> {
        let mut out = Vec::new();
        for (i, view) in self.distincts.iter().enumerate() {
            let count = StateType::Value(view.value.clone());
            out.push(keyed.map(distinct_name(i), view.key.clone(), count.clone()));
            // A map state takes no NULL as key; it has a state of its own (`StateMapView.NullAwareMapView`).
            out.push(keyed.value(format!("{}_null_state", distinct_name(i)), count));
        }
        out
    }
}

fn distinct_name(i: usize) -> String {
    format!("distinctAcc_{i}")
}

fn is_count_star(call: &AggCall) -> bool {
    &*call.function == "COUNT" && call.args.is_empty() && call.filter.is_none() && !call.distinct
}

/// Flink's `AggregateUtil.extractDistinctInformation`: one view per list of arguments, in order of first use.
fn distinct_views(calls: &[AggCall], input: &[Column], usage: AggregateUse) -> Vec<DistinctView> {
    let mut out: Vec<DistinctView> = Vec::new();
    for (i, call) in calls.iter().enumerate().filter(|(_, c)| c.distinct) {
        match out.iter_mut().find(|v| v.args == call.args) {
            Some(view) => view.calls.push(i),
            None => {
                let types = call.args.iter().map(|a| usage.argument(a, input));
                let key = match call.args.as_slice() {
                    [one] => StateType::Value(usage.argument(one, input)),
                    _ => RowType::new(types.enumerate().map(|(i, ty)| (format!("f{i}"), ty))).into(),
                };
                let value = TypeKind::BigInt.nullable();
                out.push(DistinctView { args: call.args.clone(), calls: vec![i], field: 0, key, value });
            }
        }
    }
    for view in &mut out {
        // One count per call where rows are taken back, else one bit per call, 64 in a long.
        let longs = if usage.retracts { view.calls.len() } else { view.calls.len().div_ceil(64) };
        if longs > 1 {
            view.value = TypeKind::Array(TypeKind::BigInt.not_null().into()).nullable();
        }
    }
    out
}

const MAP_VIEW: &str = "org.apache.flink.table.api.dataview.MapView";
const LIST_VIEW: &str = "org.apache.flink.table.api.dataview.ListView";
const LINKED_LIST: &str = "java.util.LinkedList";
const FUNCTIONS: &str = "org.apache.flink.table.runtime.functions.aggregate";

fn raw(class: &str) -> DataType {
    TypeKind::Other(format!("RAW('{class}', '...')").into()).nullable()
}

/// The accumulator of one call.
struct Accumulator {
    fields: Vec<(&'static str, DataType)>,
    views: Vec<(&'static str, StateType)>,
}

impl Accumulator {
    fn fields<const N: usize>(fields: [(&'static str, DataType); N]) -> Accumulator {
        Accumulator { fields: fields.into(), views: Vec::new() }
    }

    /// One field of a structured type: the accumulator class of a function that is not code-generated.
    fn structured<const N: usize>(class: &str, members: [(&'static str, DataType); N]) -> Accumulator {
        let mut text = format!("STRUCTURED<'{FUNCTIONS}.{class}'");
        for (name, ty) in &members {
            text += &format!(", `{name}` {}", Summary(ty));
        }
        text.push('>');
        Accumulator::fields([("acc", TypeKind::Other(text.into()).nullable())])
    }

    fn map(mut self, name: &'static str, key: DataType, value: DataType) -> Accumulator {
        self.views.push((name, StateType::Map(StateType::Value(key).into(), StateType::Value(value).into())));
        self
    }

    fn list(mut self, name: &'static str, element: DataType) -> Accumulator {
        self.views.push((name, StateType::Value(element).list()));
        self
    }

    /// The layout of Flink's implementation of a call. A user's function has one field that is not known.
    fn of(call: &AggCall, input: &[Column], usage: AggregateUse) -> Accumulator {
        let ty = call.args.first().map_or_else(DataType::unknown, |a| usage.argument(a, input)).with_nullable(true);
        let long = || TypeKind::BigInt.nullable();
        match (&*call.function, call.takes_back(usage.retracts)) {
            ("COUNT" | "APPROX_COUNT_DISTINCT", _) => Accumulator::fields([("count", long())]),
            ("SUM", true) => Accumulator::fields([("sum", sum_type(&ty)), ("count", long())]),
            ("SUM", false) | ("$SUM0", _) => Accumulator::fields([("sum", sum_type(&ty))]),
            ("AVG", _) => Accumulator::fields([("sum", average_sum_type(&ty)), ("count", long())]),
            ("MAX" | "MIN", false) => Accumulator::fields([("value", extreme_type(ty))]),
            ("MAX", true) => extreme_with_retract("MaxWithRetractAggFunction$MaxWithRetractAccumulator", "max", ty),
            ("MIN", true) => extreme_with_retract("MinWithRetractAggFunction$MinWithRetractAccumulator", "min", ty),
            ("FIRST_VALUE", false) => by_order("firstValue", "firstOrder", ty),
            ("LAST_VALUE", false) => by_order("lastValue", "lastOrder", ty),
            ("FIRST_VALUE", true) => by_order_with_retract("FirstValue", ("firstValue", "firstOrder"), ty),
            ("LAST_VALUE", true) => by_order_with_retract("LastValue", ("lastValue", "lastOrder"), ty),
            ("LISTAGG", false) => {
                let string = || TypeKind::string().nullable();
                Accumulator::fields([("accDelimiter", string()), ("concatAcc", string())])
            }
            ("LISTAGG", true) => list_aggregate_with_retract(call.args.len() > 1),
            ("COLLECT", _) => Accumulator::structured(
                "CollectAggFunction$CollectAccumulator",
                [("map", raw(MAP_VIEW))],
            )
            .map("map", ty.with_nullable(false), TypeKind::Int.nullable()),
            ("ARRAY_AGG", _) => Accumulator::structured(
                "ArrayAggFunction$ArrayAggAccumulator",
                [("list", raw(LINKED_LIST)), ("retractList", raw(LINKED_LIST))],
            ),
            ("JSON_OBJECTAGG", _) => Accumulator::structured(
                "JsonObjectAggFunction$Accumulator",
                [("map", raw(MAP_VIEW))],
            )
            .map("map", TypeKind::string().not_null(), TypeKind::string().nullable()),
            ("JSON_ARRAYAGG", _) => {
                Accumulator::structured("JsonArrayAggFunction$Accumulator", [("list", raw(LIST_VIEW))])
                    .list("list", TypeKind::string().nullable())
            }
            ("PERCENTILE", _) => Accumulator::structured(
                "PercentileAggFunction$PercentileAccumulator",
                [
                    ("percentages", TypeKind::Array(TypeKind::Double.nullable().into()).nullable()),
                    ("valueCount", raw(MAP_VIEW)),
                ],
            )
            .map("valueCount", TypeKind::Double.nullable(), long()),
            ("SINGLE_VALUE", _) => Accumulator::fields([("value", ty), ("count", TypeKind::Int.nullable())]),
            ("ROW_NUMBER" | "DENSE_RANK", _) => Accumulator::fields([("sequence", long())]),
            ("RANK", _) => Accumulator::fields([("current", long()), ("sequence", long())]),
            ("LAG" | "LEAD", _) => Accumulator::structured(
                "LagAggFunction$LagAcc",
                [("offset", TypeKind::Int.nullable()), ("defaultValue", ty), ("buffer", raw(LINKED_LIST))],
            ),
            _ => Accumulator::fields([("acc", DataType::unknown())]),
        }
    }
}

/// `SumAggFunction`: the argument's type; DECIMAL(38, s) for DECIMAL(p, s).
fn sum_type(ty: &DataType) -> DataType {
    match ty.kind {
        TypeKind::Decimal(_, s) => TypeKind::Decimal(38, s).nullable(),
        _ => ty.clone(),
    }
}

/// `AvgAggFunction`: sums are BIGINT, DOUBLE or DECIMAL(38, s).
fn average_sum_type(ty: &DataType) -> DataType {
    match ty.kind {
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Int | TypeKind::BigInt => TypeKind::BigInt.nullable(),
        TypeKind::Float | TypeKind::Double => TypeKind::Double.nullable(),
        _ => sum_type(ty),
    }
}

/// `MaxAggFunction`, `MinAggFunction`: strings lose their length, time attributes their mark.
pub(super) fn extreme_type(ty: DataType) -> DataType {
    match ty.kind {
        TypeKind::Char(_) | TypeKind::VarChar(_) => TypeKind::string().nullable(),
        _ => ty.materialized().with_nullable(true),
    }
}

/// `MaxWithRetractAggFunction`: how often each value was seen.
fn extreme_with_retract(class: &str, member: &'static str, ty: DataType) -> Accumulator {
    let long = TypeKind::BigInt.nullable();
    Accumulator::structured(class, [(member, ty.clone()), ("mapSize", long.clone()), ("map", raw(MAP_VIEW))]).map(
        "map",
        ty.with_nullable(false),
        long,
    )
}

/// `FirstValueAggFunction`, `LastValueAggFunction`: one field, a row.
fn by_order(value: &str, order: &str, ty: DataType) -> Accumulator {
    let fields =
        [Field { name: value.to_owned(), ty }, Field { name: order.to_owned(), ty: TypeKind::BigInt.nullable() }];
    Accumulator::fields([("acc", TypeKind::Row(fields.into()).nullable())])
}

/// `FirstValueWithRetractAggFunction`, `LastValueWithRetractAggFunction`: values by order and orders by value.
fn by_order_with_retract(function: &str, names: (&'static str, &'static str), ty: DataType) -> Accumulator {
    let class = format!("{function}WithRetractAggFunction${function}WithRetractAccumulator");
    let long = TypeKind::BigInt.nullable();
    let element = ty.clone().with_nullable(false);
    let array = |of: DataType| TypeKind::Array(of.into()).nullable();
    let maps = [("valueToOrderMap", raw(MAP_VIEW)), ("orderToValueMap", raw(MAP_VIEW))];
    let [by_value, by_number] = maps;
    Accumulator::structured(&class, [(names.0, ty), (names.1, long.clone()), by_value, by_number])
        .map("valueToOrderMap", element.clone(), array(long.clone()))
        .map("orderToValueMap", long, array(element))
}

/// `ListAggWithRetractAggFunction`; with a separator `ListAggWsWithRetractAggFunction`.
fn list_aggregate_with_retract(separated: bool) -> Accumulator {
    let lists = || [("list", raw(LIST_VIEW)), ("retractList", raw(LIST_VIEW))];
    let accumulator = if separated {
        let [list, retracted] = lists();
        let class = "ListAggWsWithRetractAggFunction$ListAggWsWithRetractAccumulator";
        Accumulator::structured(class, [list, retracted, ("delimiter", TypeKind::string().nullable())])
    } else {
        Accumulator::structured("ListAggWithRetractAggFunction$ListAggWithRetractAccumulator", lists())
    };
    let element = TypeKind::string().not_null();
    accumulator.list("list", element.clone()).list("retractList", element)
}
