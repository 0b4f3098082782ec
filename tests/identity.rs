//! Operator ids against those of real Flink 1.20.5 and 2.2.1.
//!
//! `tests/identity/shapes.jsonl` are stream graphs as Flink made them, one a line: its operators in the order in which their in-edges are made, each as
//! `[name, id, in-edges, uid]`, an in-edge as "index partitioner chain-if-chainable". The function that makes ids has to give each of them from
//! its own shape.
//!
//! `tests/identity/graphs.jsonl` are scripts with what they became: `config`, `sql`, and per version the lines of `shapes.jsonl`, one for each job.
//! Each operator has to be there, with its id or without one. `tests/identity/connectors.toml` says what the connectors of the tests consist of.
//! `unplanned.txt`, `differ.txt` and `unknown.txt` list the scripts that are not planned, whose plan or graph differs from Flink's, and of which not all
//! ids are known; a list that is wrong in either direction fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use keepstate::catalog::connectors::Connectors;
use keepstate::exec::{Purpose, plan_script_with};
use keepstate::identity::graph::{
    Chaining, Edge, Extent, JobSettings, Naming, Parallelism, Partitioner, StreamGraph, StreamNode,
};
use keepstate::identity::{Identities, Process};
use keepstate::source::SourceMap;
use keepstate::target::Target;
use serde_json::Value;

const SHAPES: &str = include_str!("identity/shapes.jsonl");
const GRAPHS: &str = include_str!("identity/graphs.jsonl");

fn lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines().map(|l| serde_json::from_str(l).expect("a line of JSON"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The measured graph as one of ours.
fn graph(shape: &[Value]) -> StreamGraph {
    let edge = |text: &str| {
        let (from, how) = text.split_once(' ').expect("an index");
        // What is measured is whether the edge chains; any partitioner but the forward one says that it does not.
        let partitioner = if how.ends_with(" chain") { Partitioner::Forward } else { Partitioner::Hash };
        Edge { from: from.parse().expect("an index"), partitioner }
    };
    let node = |operator: &Value| StreamNode {
        name: text(&operator[0]).to_owned(),
        transformation: None,
        naming: operator.get(3).map_or(Naming::Place, |uid| Naming::Uid(text(uid).to_owned())),
        extent: Extent::One,
        inputs: operator[2].as_array().expect("in-edges").iter().map(text).map(edge).collect(),
        parallelism: Parallelism::Default,
        chaining: Chaining::Always,
    };
    let settings = JobSettings { default_parallelism: None, chaining: true, chain_across_max_parallelism: true };
    StreamGraph { nodes: shape.iter().map(node).collect(), settings }
}

#[test]
fn ids_follow_from_shapes() {
    let mut count = 0;
    for (line, shape) in lines(SHAPES).enumerate() {
        let operators = shape.as_array().expect("operators");
        let ids: Vec<&str> = operators.iter().map(|o| text(&o[1])).collect();
        let ours = graph(operators).ids();
        let ours: Vec<String> = ours.iter().map(|id| id.map(|id| id.to_string()).unwrap_or_default()).collect();
        assert_eq!(ours, ids, "line {}", line + 1);
        count += ids.len();
    }
    println!("{count} ids");
}

/// What differs between a job and Flink's; none if nothing does. Counts the ids that are known.
fn compare_job(ours: &Identities, shape: &Value, known: &mut usize, unknown: &mut usize) -> Option<String> {
    let mut theirs: Vec<(String, String)> = Vec::new();
    for operator in shape.as_array().expect("operators") {
        theirs.push((text(&operator[0]).to_owned(), text(&operator[1]).to_owned()));
    }
    let all = theirs.clone();
    let mut problems = String::new();
    for operator in ours.operators() {
        let Some(id) = operator.id.map(|id| id.to_string()) else { continue };
        match theirs.iter().position(|(_, theirs)| *theirs == id) {
            Some(i) if theirs[i].0 == operator.name => _ = theirs.remove(i),
            Some(i) => _ = writeln!(problems, "  {id} is {}, not {}", theirs[i].0, operator.name),
            None => _ = writeln!(problems, "  {id} ({}) is none of Flink's", operator.name),
        }
        *known += 1;
    }
    // Nothing is restored into what shows the rows of a bare SELECT.
    let shown = theirs.iter().any(|(name, _)| name == "Sink: Collect table sink");
    let counts = |name: &str| !shown || !matches!(name, "Sink: Collect table sink" | "ConstraintEnforcer");
    *unknown += theirs.iter().filter(|(name, _)| counts(name)).count();
    if !problems.is_empty() {
        all.iter().for_each(|(name, id)| _ = writeln!(problems, "    {id} {name}"));
    }
    (!problems.is_empty()).then_some(problems)
}

#[derive(Default)]
struct Outcome {
    scripts: usize,
    known: usize,
    differ: BTreeMap<String, String>,
    unplanned: BTreeMap<String, String>,
    unknown: BTreeMap<String, String>,
}

fn run(graphs: &str, shapes: &str) -> Outcome {
    let connectors = Connectors::default().extended(include_str!("identity/connectors.toml")).expect("connectors");
    let shapes: Vec<Value> = lines(shapes).collect();
    let mut outcome = Outcome::default();
    for case in lines(graphs) {
        let mut sql = String::new();
        for (k, v) in case["config"].as_object().into_iter().flatten() {
            let _ = writeln!(sql, "SET '{k}' = '{}';", text(v));
        }
        case["sql"]
            .as_array()
            .into_iter()
            .flatten()
            .for_each(|s| _ = writeln!(sql, "{};", text(s).trim_end_matches(';')));
        for (version, target) in [("1.20.5", Target::Flink120), ("2.2.1", Target::Flink22)] {
            let Some(jobs) = case.get(version).and_then(Value::as_array) else { continue };
            let name = format!("{} {target}", text(&case["id"]));
            outcome.scripts += 1;
            let mut sources = SourceMap::new();
            let file = sources.add("case.sql", &*sql);
            let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
            let planned = plan_script_with(&[&script], target, Purpose::Collect, &connectors);
            let syntax = script.errors.first().map(|e| e.message.clone());
            if let Some(error) = syntax.or(planned.errors.first().map(|e| e.message.clone())) {
                outcome.unplanned.insert(name, format!("  {error}"));
                continue;
            }
            let (mut unknown, mut problems) = (0, String::new());
            if jobs.len() != planned.plans.len() {
                let _ = writeln!(problems, "  {} jobs, not {}", planned.plans.len(), jobs.len());
            }
            for (i, (job, plan)) in jobs.iter().zip(&planned.plans).enumerate() {
                let ours = Identities::of(plan, if i == 0 { Process::Fresh } else { Process::Used });
                let shape = &shapes[job.as_u64().expect("a line") as usize];
                problems.extend(compare_job(&ours, shape, &mut outcome.known, &mut unknown));
            }
            if !problems.is_empty() {
                let plans: String = planned.plans.iter().map(|p| p.tree_text()).collect();
                outcome.differ.insert(name, format!("{problems}{plans}"));
            } else if unknown > 0 {
                outcome.unknown.insert(name, format!("  {unknown} ids are not known"));
            }
        }
    }
    outcome
}

/// The ids of the operators of a script's only job, as `name: id`, or `name: none`.
fn ids(sql: &str) -> Vec<String> {
    let mut sources = SourceMap::new();
    let file = sources.add("case.sql", sql);
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    let connectors = Connectors::default();
    let planned = plan_script_with(&[&script], Target::Flink120, Purpose::Collect, &connectors);
    assert!(script.errors.is_empty() && planned.errors.is_empty(), "{:?} {:?}", script.errors, planned.errors);
    let ours = Identities::of(&planned.plans[0], Process::Fresh);
    let line = |o: &keepstate::identity::StreamOperator| match o.id {
        Some(_) => format!("{}: known", o.name),
        None => format!("{}: none", o.name),
    };
    ours.operators().iter().map(line).collect()
}

#[test]
fn what_the_script_does_not_say_is_not_guessed() {
    let tables = "CREATE TABLE s (k STRING, v BIGINT) WITH ('connector' = 'datagen');
        CREATE TABLE w (k STRING, v BIGINT) WITH ('connector' = 'print');
        CREATE TABLE x (k STRING, v BIGINT) WITH ('connector' = 'who-knows');";
    let keyed = format!("{tables} INSERT INTO w SELECT k, SUM(v) FROM s GROUP BY k;");
    assert_eq!(ids(&keyed), ["Source: s: known", "GroupAggregate: known", "Sink: w: known"]);
    let union =
        format!("{tables} INSERT INTO w SELECT k, v FROM s WHERE v > 1 UNION ALL SELECT MAX(k), MAX(v) FROM s;");
    assert!(ids(&union).iter().all(|line| line.ends_with("known")), "{:?}", ids(&union));
    let file =
        "CREATE TABLE f (k STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '/p', 'format' = 'json');
        CREATE TABLE q (k STRING, v BIGINT) WITH ('connector' = 'kafka', 'format' = 'json');";
    let file = |set: &str| format!("{set} {file} INSERT INTO f SELECT k, v FROM q;");
    // A writer of one subtask ends the sink.
    let unsaid = ids(&file(""));
    assert_eq!(unsaid, ["Source: q: known", "StreamingFileWriter: none", "end: Writer: none"]);
    assert!(ids(&file("SET 'parallelism.default' = '4';")).iter().all(|line| line.ends_with("known")));
    // Nothing is known behind a source that is not; before a sink that is not, all but what might be chained to it.
    let source = format!("{tables} INSERT INTO w SELECT k, SUM(v) FROM x GROUP BY k;");
    assert_eq!(ids(&source), ["Source: x: none", "GroupAggregate: none", "Sink: w: none"]);
    let sink = format!("{tables} INSERT INTO x SELECT k, SUM(v) FROM s GROUP BY k;");
    assert_eq!(ids(&sink), ["Source: s: known", "GroupAggregate: none", "x: none"]);
}

/// What a list has too little or too much; lines that start with `#` say why.
fn compare(list: &str, text: &str, found: &BTreeMap<String, String>) -> Vec<String> {
    let known: BTreeSet<&str> = text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let names: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    let missing = names.difference(&known).map(|n| format!("{n}: not in {list}\n{}", found[*n]));
    let fixed = known.difference(&names).map(|n| format!("{n}: strike it from {list}"));
    missing.chain(fixed).collect()
}

#[test]
fn ids_of_scripts_are_those_of_flink() {
    let outcome = run(GRAPHS, SHAPES);
    println!(
        "{} scripts: {} differ, {} are not planned, {} are not wholly known; {} ids",
        outcome.scripts,
        outcome.differ.len(),
        outcome.unplanned.len(),
        outcome.unknown.len(),
        outcome.known
    );
    let mut problems = compare("unplanned.txt", include_str!("identity/unplanned.txt"), &outcome.unplanned);
    problems.extend(compare("differ.txt", include_str!("identity/differ.txt"), &outcome.differ));
    problems.extend(compare("unknown.txt", include_str!("identity/unknown.txt"), &outcome.unknown));
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}
