//! Expressions against the values that Flink 1.20 gives them.
//!
//! `tests/eval/<family>.jsonl`: `id`, `expr`; `columns` (DDL) and `rows` of the table T that it reads, else a table of one
//! row; `zone`, the session time zone; then `type` and `value`, or `results`, one `value` or `error` for each row, or
//! `error` with its `phase`: refused by the planner, or failing over a row. `known.txt` lists the cases that differ with the
//! reason; a test fails when the list is wrong in either direction. `EVAL_SHOW=family` prints what differs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use keepstate::catalog::types::{DataType, TypeKind};
use keepstate::eval::{self, Datum, Row, Session, json, text};
use keepstate::exec::{self, NodeId, Operator, Plan};
use keepstate::source::SourceMap;
use keepstate::target::Target;
use serde_json::Value;

const FAMILIES: [(&str, &str); 13] = [
    ("arith", include_str!("eval/arith.jsonl")),
    ("cast", include_str!("eval/cast.jsonl")),
    ("collection", include_str!("eval/collection.jsonl")),
    ("cond", include_str!("eval/cond.jsonl")),
    ("hash", include_str!("eval/hash.jsonl")),
    ("json", include_str!("eval/json.jsonl")),
    ("logic", include_str!("eval/logic.jsonl")),
    ("math", include_str!("eval/math.jsonl")),
    ("mixed", include_str!("eval/mixed.jsonl")),
    ("other", include_str!("eval/other.jsonl")),
    ("string", include_str!("eval/string.jsonl")),
    ("temporal", include_str!("eval/temporal.jsonl")),
    ("zone", include_str!("eval/zone.jsonl")),
];

/// The processing time of every row.
const NOW: i64 = 1_704_067_200_000;

/// What an expression gives: its type, and a text, NULL or failure for each row.
struct Outcome {
    ty: String,
    rows: Vec<Result<Option<String>, String>>,
}

/// What happens to a case. The error is that of the planner.
fn run(case: &Value) -> Result<Outcome, String> {
    let field = |name: &str| case[name].as_str();
    let columns = field("columns").unwrap_or("x INT");
    let sql = format!(
        "CREATE TABLE T ({columns}) WITH ('connector' = 'stub');\nSELECT {} AS r FROM T;\n",
        field("expr").unwrap_or_default()
    );
    let mut sources = SourceMap::new();
    let file = sources.add("case.sql", sql);
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    if let Some(error) = script.errors.first() {
        return Err(error.message.clone());
    }
    let planned = exec::plan_script(&[&script], Target::Flink120);
    if let Some(error) = planned.errors.first() {
        return Err(error.message.clone());
    }
    let plan = planned.plans.first().ok_or("no plan")?;
    let zone = eval::zone::known(field("zone").unwrap_or("UTC")).ok_or("no such zone")?;
    let session = Session { zone };
    let sink = plan.sinks.first().copied().ok_or("no sink")?;
    let one_row = vec![Value::from(vec![1])];
    let rows = case["rows"].as_array().unwrap_or(&one_row);
    let ty = &plan.node(sink).columns[0].ty;
    let print = |row: Result<Row, String>| {
        let value = row?[0].clone();
        if value.is_null() && !ty.nullable {
            // Flink's sink refuses it (`ConstraintEnforcer`).
            return Err("Column 'r' is NOT NULL, however, a null value is being written into it".to_owned());
        }
        assert!(value.fits(ty), "{}: {value:?} is no {ty}", field("id").unwrap_or_default());
        Ok((!value.is_null()).then(|| text::print(&value, ty, &session.zone)))
    };
    let rows = rows.iter().map(|row| print(evaluate(plan, sink, row, &session))).collect();
    Ok(Outcome { ty: type_text(ty), rows })
}

/// A row at the output of an operator.
fn evaluate(plan: &Plan, id: NodeId, cells: &Value, session: &Session) -> Result<Row, String> {
    let node = plan.node(id);
    match &node.op {
        Operator::TableSourceScan(scan) => {
            let cell = |column: usize| {
                let ty = &scan.table.columns[column].ty;
                // A row of one cell may be written without its list.
                let cell = cells.as_array().map_or(cells, |row| &row[column]);
                json::read(cell, ty, &session.zone).map_err(|e| format!("bad cell: {e}"))
            };
            scan.fields.iter().map(|f| cell(*f)).collect::<Result<Vec<Datum>, _>>().map(Row::new)
        }
        Operator::Values(values) => {
            let row = values.rows.first().ok_or("no row")?;
            compute(row, &[], session)
        }
        Operator::Calc(calc) => {
            let row = evaluate(plan, node.inputs[0], cells, session)?;
            compute(&calc.exprs, &row, session)
        }
        Operator::Sink(_) => evaluate(plan, node.inputs[0], cells, session),
        other => Err(format!("a plan with {}", other.kind())),
    }
}

fn compute(exprs: &[keepstate::logical::rex::Rex], row: &[Datum], session: &Session) -> Result<Row, String> {
    let value = |e| {
        let evaluator = eval::compile(e, session).map_err(|e| format!("not run: {e}"))?;
        evaluator.eval(row, NOW).map_err(|e| e.message)
    };
    exprs.iter().map(value).collect::<Result<Vec<_>, _>>().map(Row::new)
}

/// A type in the words of Flink's validator: lengths of STRING and BYTES left out, intervals by what they count.
fn type_text(ty: &DataType) -> String {
    let kind = match &ty.kind {
        TypeKind::IntervalYearMonth(_) => "INTERVAL MONTH".to_owned(),
        TypeKind::IntervalDayTime(_) => "INTERVAL SECOND(3)".to_owned(),
        kind => kind.to_string(),
    };
    let kind = kind.replace("VARCHAR(2147483647)", "STRING").replace("VARBINARY(2147483647)", "BYTES");
    let kind = kind.replace(" *ROWTIME*", "").replace(" *PROCTIME*", "");
    format!("{kind}{}", if ty.nullable { "" } else { " NOT NULL" })
}

/// True if two texts say the same: maps and rows are compared without their brackets, numbers by value.
fn same(got: &Option<String>, wanted: Option<&str>) -> bool {
    let (Some(got), Some(wanted)) = (got.as_deref(), wanted) else { return got.is_none() && wanted.is_none() };
    if got == wanted {
        return true;
    }
    if let (Ok(a), Ok(b)) = (got.parse::<f64>(), wanted.parse::<f64>()) {
        return a == b || (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
    }
    // The entries of maps come in the order of a hash table.
    let sorted = |text: &str| {
        let mut parts: Vec<String> = text
            .trim_matches(|c| "{}".contains(c))
            .split(", ")
            .map(|p| p.trim_start_matches("+I").to_owned())
            .collect();
        parts.sort();
        parts
    };
    got.starts_with('{') && wanted.starts_with('{') && sorted(got) == sorted(wanted)
}

/// What differs from Flink, if anything.
fn difference(case: &Value) -> Option<String> {
    let outcome = run(case);
    if case["error"]["phase"] == "plan" {
        return match outcome {
            Err(_) => None,
            // A constant that fails is computed while Flink plans, and when the executor compiles here.
            Ok(outcome)
                if case["columns"].is_null() && matches!(&outcome.rows[..], [Err(e)] if !e.starts_with("not run")) =>
            {
                None
            }
            Ok(outcome) => Some(format!("accepted: {:?} (Flink: {})", outcome.rows, case["error"]["message"])),
        };
    }
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(message) => return Some(format!("refused: {message}")),
    };
    if case["type"].as_str().is_some_and(|t| t != outcome.ty) {
        return Some(format!("type {} (Flink: {})", outcome.ty, case["type"]));
    }
    let single = vec![case.clone()];
    let wanted = case["results"].as_array().unwrap_or(&single);
    for (i, (got, wanted)) in outcome.rows.iter().zip(wanted).enumerate() {
        let right = match got {
            Err(message) => {
                !wanted["error"].is_null() && !message.starts_with("not run") && !message.starts_with("bad cell")
            }
            Ok(value) => wanted["error"].is_null() && same(value, wanted["value"].as_str()),
        };
        if !right {
            let wanted = if wanted["error"].is_null() { &wanted["value"] } else { &wanted["error"] };
            return Some(format!("row {}: {got:?} (Flink: {wanted})", i + 1));
        }
    }
    None
}

#[test]
fn values_are_flinks() {
    let show = std::env::var("EVAL_SHOW").unwrap_or_default();
    let known: BTreeSet<&str> = include_str!("eval/known.txt")
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .filter_map(|l| l.split_whitespace().next())
        .collect();
    let mut wrong = Vec::new();
    for (family, cases) in FAMILIES {
        let (mut total, mut right) = (0, 0);
        for line in cases.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let id = case["id"].as_str().unwrap();
            total += 1;
            match (difference(&case), known.contains(id)) {
                (None, listed) => {
                    right += 1;
                    if listed {
                        wrong.push(format!("{id} is right now: take it off the list"));
                    }
                }
                (Some(difference), listed) => {
                    if show == family || show == "all" {
                        println!("{id} {}: {difference}", case["expr"].as_str().unwrap());
                    }
                    if !listed {
                        wrong.push(format!("{id} {}: {difference}", case["expr"].as_str().unwrap()));
                    }
                }
            }
        }
        println!("{family}: {right}/{total}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn zones_of_cases_are_known() {
    assert_ne!(eval::zone::known("America/New_York"), Some(TimeZone::UTC));
}
