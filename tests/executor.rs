//! Runs against real Flink: queries over small tricky inputs with the changelogs that Flink 1.20 and 2.2 sent.
//!
//! `tests/executor/*.jsonl` was measured, with parallelism 1 and a watermark after every row that raises it: `bounded` are all
//! rows when the end of the input lets everything fire, `held` is how many of them come first when the job is stopped with a
//! savepoint instead; `left` is what all changes leave; `error` is what Flink refuses with. Rows are compared as a whole, not in order, since Flink's own order
//! across keys is not stable. `known.txt` lists the cases that differ, with the reason; a test fails when the list is wrong in
//! either direction.

use std::collections::{BTreeMap, BTreeSet};

use keepstate::eval::json;
use keepstate::execution::{Execution, sink_columns};
use keepstate::report::model::ErrorCode;
use keepstate::rows::{Interleave, JsonReader, Source};
use keepstate::run::{Clock, EndOfInput};
use keepstate::source::SourceMap;
use keepstate::target::Target;
use serde_json::{Value, json};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    tables: Vec<Table>,
    #[serde(default)]
    views: Vec<String>,
    #[serde(default)]
    config: BTreeMap<String, String>,
    query: String,
    /// By engine; `both` where they agree.
    results: BTreeMap<String, Expected>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: String,
    columns: String,
    with: Option<String>,
    #[serde(default)]
    rows: Vec<InputRow>,
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum InputRow {
    Insert(Vec<Value>),
    Change { op: String, v: Vec<Value> },
}

#[derive(serde::Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Expected {
    Rows {
        bounded: Vec<Value>,
        held: Option<usize>,
    },
    Refused {
        error: String,
    },
    /// What is left of all changes, where their order hangs on which source is faster.
    Left {
        left: Vec<Value>,
    },
}

/// Why a run gave no rows: Flink would refuse it too, or keepstate cannot do it.
enum Stop {
    Refused(String),
    Unable(String),
}

impl Case {
    fn script(&self) -> String {
        let mut options = BTreeMap::from([("pipeline.auto-watermark-interval", "0"), ("table.local-time-zone", "UTC")]);
        options.extend(self.config.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        let mut sql: String = options.iter().map(|(k, v)| format!("SET '{k}' = '{v}';\n")).collect();
        for table in &self.tables {
            let with = table.with.as_ref().map(|w| format!(", {w}")).unwrap_or_default();
            sql += &format!("CREATE TABLE {} ({}) WITH ('connector' = 'stub'{with});\n", table.name, table.columns);
        }
        for statement in self.views.iter().chain([&self.query]) {
            sql += &format!("{};\n", statement.trim_end_matches(';'));
        }
        sql
    }

    fn run(&self, target: Target, end: EndOfInput) -> Result<Vec<Value>, Stop> {
        let mut sources = SourceMap::new();
        let file = sources.add("case.sql", self.script());
        let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
        if let Some(error) = script.errors.first() {
            return Err(Stop::Refused(error.message.clone()));
        }
        let planned = keepstate::exec::plan_script_for(&[&script], target, keepstate::exec::Purpose::Collect);
        if let Some(error) = planned.errors.first() {
            let stop = match error.kind {
                keepstate::plan_error::PlanErrorKind::Unsupported => Stop::Unable,
                _ => Stop::Refused,
            };
            return Err(stop(error.message.clone()));
        }
        let plan = &planned.plans[0];
        let stop = |item: Box<keepstate::report::model::ErrorItem>| match item.code {
            ErrorCode::Run => Stop::Refused(item.message),
            _ => Stop::Unable(item.message),
        };
        let mut execution = Execution::new(plan, Clock { start: 0, tick: 1 }, &sources).map_err(stop)?;
        let inputs = execution.job.tables().to_vec();
        let mut opened = Vec::new();
        for (place, input) in inputs.iter().enumerate() {
            let schema = execution.schema(input);
            let names: Vec<String> = schema.columns.iter().map(|c| c.0.clone()).collect();
            let table = self.tables.iter().find(|t| t.name == *input.table.path.name).expect("a table of the case");
            let lines: String = table.rows.iter().map(|row| line(&names, row)).collect();
            let reader = JsonReader::new(std::io::Cursor::new(lines), &table.name, schema);
            opened.push(Source { table: place, rows: Box::new(reader), event_time: execution.event_time(input) });
        }
        let columns = sink_columns(plan, plan.sinks[0]);
        let zone = execution.session.zone.clone();
        let mut got = Vec::new();
        execution
            .run(&mut Interleave::files(opened), end, &sources, &mut |(_, change)| {
                let values = change.row.iter().zip(&columns).map(|(v, (_, ty))| json::write(v, ty, &zone));
                got.push([json!(change.kind.name())].into_iter().chain(values).collect());
            })
            .map_err(stop)?;
        Ok(got)
    }

    /// What differs from Flink; nothing if all is equal.
    fn differs(&self, target: Target, expected: &Expected) -> Option<String> {
        let (bounded, held) = match expected {
            Expected::Refused { error } => {
                return match self.run(target, EndOfInput::Fire) {
                    Err(Stop::Refused(_)) => None,
                    Err(Stop::Unable(message)) => Some(message),
                    Ok(_) => Some(format!("runs, where Flink says: {error}")),
                };
            }
            Expected::Left { left } => {
                let got = match self.run(target, EndOfInput::Fire) {
                    Ok(got) => got,
                    Err(Stop::Refused(message) | Stop::Unable(message)) => return Some(message),
                };
                let mut count: BTreeMap<String, i64> = BTreeMap::new();
                for row in &got {
                    let by = if matches!(row[0].as_str(), Some("+I" | "+U")) { 1 } else { -1 };
                    let values: Value = row.as_array().into_iter().flatten().skip(1).map(normal).collect();
                    *count.entry(values.to_string()).or_default() += by;
                }
                left.iter().for_each(|row| *count.entry(normal(row).to_string()).or_default() -= 1);
                count.retain(|_, n| *n != 0);
                return (!count.is_empty()).then(|| format!("left: {count:?}"));
            }
            Expected::Rows { bounded, held } => (bounded.as_slice(), held.map(|n| &bounded[..n])),
        };
        for (name, end, rows) in [("bounded", EndOfInput::Fire, Some(bounded)), ("held", EndOfInput::Hold, held)] {
            let Some(rows) = rows else { continue };
            let got = match self.run(target, end) {
                Ok(got) => got,
                Err(Stop::Refused(message) | Stop::Unable(message)) => return Some(message),
            };
            let (mut left, mut missing) = (got.iter().map(normal).collect::<Vec<_>>(), Vec::new());
            for row in rows {
                match left.iter().position(|l| *l == normal(row)) {
                    Some(i) => drop(left.swap_remove(i)),
                    None => missing.push(row.to_string()),
                }
            }
            if !left.is_empty() || !missing.is_empty() {
                let extra: Vec<String> = left.iter().map(Value::to_string).collect();
                return Some(format!("{name}: missing {} but has {}", missing.join(" "), extra.join(" ")));
            }
        }
        None
    }
}

/// A row as a line of JSON.
fn line(names: &[String], row: &InputRow) -> String {
    let (op, values) = match row {
        InputRow::Insert(values) => ("+I", values),
        InputRow::Change { op, v } => (op.as_str(), v),
    };
    let cells = names.iter().map(String::as_str).zip(values.iter().cloned());
    let object: serde_json::Map<String, Value> =
        cells.map(|(k, v)| (k.to_owned(), v)).chain([("op".to_owned(), json!(op))]).collect();
    format!("{}\n", Value::Object(object))
}

/// Numbers by value, and times without zeros at their end.
fn normal(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Number(n) => json!(n.as_f64()),
        Value::String(s) => match s.parse::<f64>() {
            Ok(number) if number.is_finite() => json!(number),
            _ => json!(time(s)),
        },
        other => other.clone(),
    }
}

fn time(text: &str) -> &str {
    let is_time = text.len() > 19 && text.as_bytes()[4] == b'-' && text.as_bytes()[13] == b':';
    if is_time && text.contains('.') {
        text.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.')
    } else {
        text.trim_end_matches('Z')
    }
}

/// `case engine: reason`
fn known() -> BTreeMap<String, String> {
    let lines = include_str!("executor/known.txt").lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines
        .map(|line| {
            let (name, reason) = line.split_once(": ").expect("a reason");
            (name.to_owned(), reason.to_owned())
        })
        .collect()
}

fn check(files: &[&str]) {
    let known = known();
    let mut listed: BTreeSet<&str> = known.keys().map(String::as_str).collect();
    let mut wrong = Vec::new();
    for line in files.iter().flat_map(|f| f.lines()) {
        let case: Case = serde_json::from_str(line).expect("a case");
        for (target, name) in [(Target::Vvr, "flink-1.20"), (Target::Flink22, "flink-2.2")] {
            let Some(expected) = case.results.get(name).or(case.results.get("both")) else { continue };
            let label = format!("{} {name}", case.id);
            let is_known = listed.remove(label.as_str());
            match case.differs(target, expected) {
                Some(difference) if !is_known => wrong.push(format!("{label}: {difference}")),
                None if is_known => wrong.push(format!("{label}: is equal now, take it off tests/executor/known.txt")),
                _ => {}
            }
        }
    }
    wrong.extend(listed.iter().map(|label| format!("{label}: no such case")));
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn runs_give_what_flink_gives() {
    check(&[
        include_str!("executor/various.jsonl"),
        include_str!("executor/aggregates.jsonl"),
        include_str!("executor/operators.jsonl"),
        include_str!("executor/ranks-and-bundles.jsonl"),
        include_str!("executor/documents.jsonl"),
        include_str!("executor/patterns.jsonl"),
        include_str!("executor/windows.jsonl"),
        include_str!("executor/joins.jsonl"),
        include_str!("executor/edges.jsonl"),
        include_str!("executor/split.jsonl"),
        include_str!("executor/table_functions.jsonl"),
    ]);
}
