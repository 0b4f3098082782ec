//! State entries against what real savepoints of Flink 1.20.5 and 2.2.1 hold.
//!
//! `tests/state/*.jsonl`: a first line with the DDL that cases point into, then a case a line: `id`, `ddl`, `config`, `sql`, and per
//! version (`both` where they agree) the stateful operators as `[operator, key, [[state, kind, namespace, value], ..], [timer service,
//! namespace]]`, with the serializers read off a savepoint. They are written as Flink names them, less the word "Serializer":
//! `Row(STRING, BIGINT)` is a `RowDataSerializer` of these types, `Ttl<Long, X>` an X with a time to live, `Window` the serializer
//! of `TimeWindow`; accumulator classes are written as 2.2 writes them. `matrix.jsonl` are the sides of changes that were tried,
//! `shapes.jsonl` every operator with every function and type, `split.jsonl` aggregates with DISTINCT that are split.
//!
//! `unplanned.txt` lists the cases that keepstate does not plan yet, `known.txt` those whose *plan* differs from Flink's (another
//! column order, an operator too many), so that the state differs too. A test fails when a list is wrong in either direction.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use keepstate::catalog::types::{DataType, TypeKind};
use keepstate::exec::{Plan, plan_script};
use keepstate::source::SourceMap;
use keepstate::state::types::{RowType, StateType, Summary};
use keepstate::state::{StateEntry, StateKind, accumulators, entries};
use keepstate::target::Target;
use serde_json::Value;

/// The serializer of one value, as named in savepoints.
fn scalar(ty: &DataType) -> String {
    match &ty.kind {
        TypeKind::Boolean => "Boolean".to_owned(),
        TypeKind::TinyInt => "Byte".to_owned(),
        TypeKind::SmallInt => "Short".to_owned(),
        TypeKind::Int | TypeKind::Date | TypeKind::Time(_) => "Int".to_owned(),
        TypeKind::BigInt => "Long".to_owned(),
        TypeKind::Float => "Float".to_owned(),
        TypeKind::Double => "Double".to_owned(),
        TypeKind::Decimal(p, s) => format!("DecimalData<{p}, {s}>"),
        TypeKind::Char(_) | TypeKind::VarChar(_) => "StringData".to_owned(),
        TypeKind::Timestamp(p, _) | TypeKind::TimestampLtz(p, _) => format!("TimestampData<{p}>"),
        TypeKind::Array(of) => format!("ArrayData<{}, {}>", Summary(of), scalar(of)),
        other => format!("?{other}"),
    }
}

fn row(row: &RowType) -> String {
    let types: Vec<String> = row.types().map(|ty| Summary(ty).to_string()).collect();
    format!("Row({})", types.join(", "))
}

/// A serializer; those of data views are `Ext`.
fn serializer(ty: &StateType, view: bool) -> String {
    let inner = |ty: &StateType| serializer(ty, view);
    match ty {
        StateType::Void => "Void".to_owned(),
        StateType::Window => "Window".to_owned(),
        StateType::Value(ty) if view => format!("Ext<{}>", scalar(ty)),
        StateType::Value(ty) => scalar(ty),
        StateType::Row(r) if view => format!("Ext<{}>", row(r)),
        StateType::Row(r) => row(r),
        StateType::List(of) => format!("List<{}>", inner(of)),
        StateType::Map(k, v) => format!("Map<{}, {}>", inner(k), inner(v)),
        StateType::SortedMap(k, v) => format!("SortedMap<{}, {}>", inner(k), inner(v)),
        StateType::Tuple(parts) => format!("Tuple<{}>", parts.iter().map(inner).collect::<Vec<_>>().join(", ")),
        StateType::Class(name, parts) if parts.is_empty() => (*name).to_owned(),
        StateType::Class(name, parts) => format!("{name}<{}>", parts.iter().map(inner).collect::<Vec<_>>().join(", ")),
    }
}

fn value(entry: &StateEntry) -> String {
    let view = entry.name.starts_with("agg") || entry.name.starts_with("distinctAcc_");
    let lives = |text: String| if entry.ttl.is_some() { format!("Ttl<Long, {text}>") } else { text };
    match (entry.kind, &entry.value) {
        (StateKind::Map, StateType::Map(k, v)) => {
            format!("Map<{}, {}>", serializer(k, view), lives(serializer(v, view)))
        }
        (StateKind::List, StateType::List(of)) => format!("List<{}>", lives(serializer(of, view))),
        (_, ty) => lives(serializer(ty, view)),
    }
}

/// One operator with its states in order of name, in the notation of the files.
fn planned(kind: &str, state: &[StateEntry]) -> String {
    let name = if kind == "Sink" { "SinkMaterializer" } else { kind };
    let key = state.iter().find_map(|e| e.key.as_ref()).map(row).unwrap_or_default();
    let mut lines = BTreeSet::new();
    for e in state {
        let line = match (e.kind, &e.key) {
            (StateKind::Timer, Some(key)) => {
                format!("{} TIMER {} {}", e.name, row(key), serializer(&e.namespace, false))
            }
            (StateKind::Operator, None) => format!("{} OPERATOR {}", e.name, value(e)),
            (kind, Some(key)) => {
                assert_eq!(row(key), row(state[0].key.as_ref().unwrap_or(key)), "one operator, one key");
                let kind = kind.name().to_uppercase();
                format!("{} {kind} {} {}", e.name, serializer(&e.namespace, false), value(e))
            }
            other => format!("{} without a key: {other:?}", e.name),
        };
        assert!(lines.insert(line), "{} twice", e.name);
    }
    let mut out = format!("{name} {key}\n");
    lines.iter().for_each(|l| _ = writeln!(out, "  {l}"));
    out
}

fn measured(operator: &Value) -> String {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let key = text(&operator[1]);
    let mut lines = BTreeSet::new();
    for state in operator[2].as_array().into_iter().flatten() {
        let words: Vec<String> = state.as_array().into_iter().flatten().map(text).collect();
        lines.insert(words.join(" "));
    }
    if let Some(timers) = operator.get(3) {
        for time in ["event", "processing"] {
            lines.insert(format!("_timer_state/{time}_{} TIMER {key} {}", text(&timers[0]), text(&timers[1])));
        }
    }
    let mut out = format!("{} {key}\n", text(&operator[0]));
    lines.iter().for_each(|l| _ = writeln!(out, "  {l}"));
    out
}

fn plan(sql: &str, target: Target) -> Result<Vec<Plan>, String> {
    let mut sources = SourceMap::new();
    let file = sources.add("case.sql", sql);
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    if let Some(e) = script.errors.first() {
        return Err(format!("syntax: {}", e.message));
    }
    let planned = plan_script(&[&script], target);
    match planned.errors.first() {
        Some(e) => Err(e.message.clone()),
        None => Ok(planned.plans),
    }
}

#[derive(Default)]
struct Outcome {
    matched: usize,
    differ: BTreeMap<String, String>,
    unplanned: BTreeMap<String, String>,
}

fn run(file: &str, outcome: &mut Outcome) {
    let mut lines = file.lines().map(|l| serde_json::from_str::<Value>(l).expect("a line of JSON"));
    let ddl = lines.next().expect("a first line")["ddl"].clone();
    for case in lines {
        let id = case["id"].as_str().unwrap_or_default();
        let mut sql = String::new();
        for (k, v) in case["config"].as_object().into_iter().flatten() {
            let _ = writeln!(sql, "SET '{k}' = '{}';", v.as_str().unwrap_or_default());
        }
        for i in case["ddl"].as_array().into_iter().flatten() {
            let _ = writeln!(sql, "{};", ddl[i.as_u64().unwrap_or_default() as usize].as_str().unwrap_or_default());
        }
        let _ = writeln!(sql, "{};", case["sql"].as_str().unwrap_or_default());
        for (version, target) in [("1.20.5", Target::Flink120), ("2.2.1", Target::Flink22)] {
            let Some(operators) = case.get("both").or(case.get(version)).and_then(Value::as_array) else { continue };
            let name = format!("{id} {target}");
            let plans = match plan(&sql, target) {
                Ok(plans) => plans,
                Err(e) => {
                    outcome.unplanned.insert(name, e);
                    continue;
                }
            };
            let mut ours = Vec::new();
            for plan in &plans {
                for id in plan.ids() {
                    let (op, state) = (&plan.node(id).op, entries(plan, id));
                    let stateful = !state.is_empty();
                    assert!(stateful == op.is_stateful() || op.kind() == "Sink", "{name}: {} {stateful}", op.kind());
                    if stateful {
                        ours.push(planned(op.kind(), &state));
                    }
                }
            }
            let mut theirs: Vec<String> = operators.iter().map(measured).collect();
            ours.sort();
            theirs.sort();
            if ours == theirs {
                outcome.matched += 1;
            } else {
                let diff = similar::TextDiff::from_lines(theirs.concat(), ours.concat()).unified_diff().to_string();
                outcome.differ.insert(name, diff);
            }
        }
    }
}

#[test]
fn entries_are_those_of_savepoints() {
    let mut outcome = Outcome::default();
    run(include_str!("state/matrix.jsonl"), &mut outcome);
    run(include_str!("state/shapes.jsonl"), &mut outcome);
    run(include_str!("state/split.jsonl"), &mut outcome);
    let total = outcome.matched + outcome.differ.len() + outcome.unplanned.len();
    println!(
        "{} of {total} match, {} differ, {} are not planned",
        outcome.matched,
        outcome.differ.len(),
        outcome.unplanned.len()
    );
    let mut problems = compare("unplanned.txt", include_str!("state/unplanned.txt"), &outcome.unplanned);
    problems.extend(compare("known.txt", include_str!("state/known.txt"), &outcome.differ));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What a list has too little or too much; lines that start with `#` say why.
fn compare(list: &str, text: &str, found: &BTreeMap<String, String>) -> Vec<String> {
    let known: BTreeSet<&str> = text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let names: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    let missing = names.difference(&known).map(|n| format!("{n}, not in {list}:\n{}", found[*n]));
    let fixed = known.difference(&names).map(|n| format!("{n}: strike it from {list}"));
    missing.chain(fixed).collect()
}

const SCRIPT: &str = "
    SET 'table.exec.state.ttl' = '90 min';
    CREATE TABLE orders (buyer STRING, item VARCHAR(20), price DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'stub', 'changelog' = 'all');
    SELECT buyer, COUNT(DISTINCT item) AS items, MAX(price) AS top, AVG(price) AS mean FROM orders GROUP BY buyer;";

#[test]
fn people_read_fields_by_name() {
    let plans = plan(SCRIPT, Target::Flink120).expect("a plan");
    let text = keepstate::state::text::of_plan(&plans[0]);
    insta::assert_snapshot!(text, @"
    State of GroupAggregate (2), keyed by ROW<`buyer` STRING>
      accState                  value ROW<`items` BIGINT, `top` MaxWithRetractAccumulator<`max` DECIMAL(10, 2), `mapSize` BIGINT, `map` MapView>, `mean.sum` DECIMAL(38, 2), `mean.count` BIGINT, `count(*)` BIGINT, `distinctAcc_0` MapView>, kept for 90 min
      agg1$map                  MAP<DECIMAL(10, 2) NOT NULL, BIGINT>, kept for 90 min
      distinctAcc_0             MAP<VARCHAR(20), BIGINT>, kept for 90 min
      distinctAcc_0_null_state  value BIGINT, kept for 90 min
      timers                    processing and event time
    ");
}

#[test]
fn machines_read_what_a_savepoint_says() {
    let plans = plan(SCRIPT, Target::Flink120).expect("a plan");
    let plan = &plans[0];
    let aggregate = plan.ids().find(|id| plan.node(*id).op.kind() == "GroupAggregate").expect("an aggregate");
    let state: Vec<Value> = entries(plan, aggregate).iter().map(StateEntry::to_json).collect();
    let view = state.iter().find(|e| e["name"] == "distinctAcc_0").expect("a distinct view");
    assert_eq!(
        *view,
        serde_json::json!({
            "name": "distinctAcc_0", "kind": "map", "key": "ROW<STRING>", "namespace": "VOID",
            "value": "MAP<VARCHAR(20), BIGINT>", "compiled_name": "groupAggregateState", "ttl": 5_400_000
        })
    );
}

#[test]
fn calls_find_their_fields() {
    let plans = plan(SCRIPT, Target::Flink120).expect("a plan");
    let plan = &plans[0];
    let layouts: Vec<_> = plan.ids().filter_map(|id| accumulators(plan, id)).collect();
    let [layout] = layouts.as_slice() else { panic!("one aggregate, not {}", layouts.len()) };
    assert_eq!(layout.calls, [0..1, 1..2, 2..4]);
    assert_eq!(layout.count_star, Some(4), "rows are taken back, so Flink counts them");
    assert_eq!(layout.distincts[0].field, 5);
    assert_eq!((layout.views[0].call, layout.views[0].name.as_str()), (1, "agg1$map"));
}

#[test]
fn a_restore_compares_types_not_names() {
    let entry = |sql: &str, target| {
        let plans = plan(&SCRIPT.replace("COUNT(DISTINCT item) AS items, MAX(price)", sql), target).expect("a plan");
        let plan = &plans[0];
        plan.ids().flat_map(|id| entries(plan, id)).find(|e| e.name == "accState").expect("accumulators")
    };
    let old = entry("SUM(price) AS total, COUNT(item)", Target::Flink120);
    assert!(old.restores_into(&entry("SUM(price * 2) AS other, COUNT(price)", Target::Flink22)));
    assert!(!old.restores_into(&entry("MAX(price) AS total, COUNT(item)", Target::Flink120)));
}

/// `tests/state/ttl.jsonl`: the times to live that compiled plans give the states of joins and aggregates, where hints say them.
/// Measured on Flink 1.20.5 and 2.2.1.
#[test]
fn hints_give_state_its_time() {
    let mut lines = include_str!("state/ttl.jsonl").lines();
    let tables: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    let tables: Vec<&str> = tables["ddl"].as_array().unwrap().iter().map(|d| d.as_str().unwrap()).collect();
    let mut wrong = Vec::new();
    for line in lines {
        let case: Value = serde_json::from_str(line).unwrap();
        let options = case["config"].as_object().into_iter().flatten();
        let options: String = options.map(|(k, v)| format!("SET '{k}' = '{}';\n", v.as_str().unwrap())).collect();
        let sql = format!("{options}{};\n{};\n", tables.join(";\n"), case["sql"].as_str().unwrap());
        for (target, name) in [(Target::Flink120, "flink-1.20"), (Target::Flink22, "flink-2.2")] {
            let expected = if case["both"].is_null() { &case[name] } else { &case["both"] };
            let got = match plan(&sql, target) {
                Err(message) => serde_json::json!({ "error": message }),
                Ok(plans) => serde_json::json!({ "states": times(&plans) }),
            };
            let error = |v: &Value| v["error"].as_str().map(|e| e.split([':', ',', '`']).next().unwrap().to_owned());
            if error(expected) != error(&got) || expected["states"] != got["states"] {
                wrong.push(format!("{} {name}: {expected}\n  here {got}", case["id"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The joins and aggregates of plans with the times of their states, in order.
fn times(plans: &[Plan]) -> Vec<(String, Vec<String>)> {
    let mut out = Vec::new();
    for (plan, id) in plans.iter().flat_map(|plan| plan.ids().map(move |id| (plan, id))) {
        let kind = plan.node(id).op.kind();
        if !matches!(kind, "Join" | "GroupAggregate" | "GlobalGroupAggregate") {
            continue;
        }
        let mut known = Vec::new();
        for entry in entries(plan, id).iter().filter(|e| e.compiled_name.is_some()) {
            if !known.iter().any(|(name, _)| *name == entry.compiled_name) {
                let text = entry.ttl.map_or_else(|| "0 ms".to_owned(), keepstate::exec::window_spec::duration);
                known.push((entry.compiled_name, text));
            }
        }
        out.push((kind.to_owned(), known.into_iter().map(|(_, ttl)| ttl).collect()));
    }
    out.sort();
    out
}
