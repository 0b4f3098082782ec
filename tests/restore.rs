//! Lost state shows: a job that is stopped with a savepoint anywhere, and restored into the same query, sends what it would have sent
//! without the stop. Random tables with disorder, duplicates, late rows and NULLs; every stateful operator.
//!
//! Each split is tried twice: through a savepoint file, and through the rehearsal, which carries state over part by part.

use std::collections::BTreeMap;
use std::sync::Arc;

use keepstate::check::{Options, Text, check};
use keepstate::eval::{Datum, Decimal, Row};
use keepstate::exec::{Plan, Purpose, plan_script_for};
use keepstate::execution::{Execution, Savepoint};
use keepstate::rehearsal::{Rows, Setting, Side, Split, rehearse};
use keepstate::run::{Change, Clock, Emitted, EndOfInput, RowKind};
use keepstate::source::SourceMap;
use keepstate::target::Target;
use proptest::prelude::*;

const DDL: &str = "SET 'pipeline.auto-watermark-interval' = '0';
CREATE TABLE T (k STRING, j INT, v BIGINT, d DOUBLE, n DECIMAL(10, 2), s STRING, ts TIMESTAMP(3), p AS PROCTIME(),
    WATERMARK FOR ts AS ts - INTERVAL '3' SECOND) WITH ('connector' = 'stub');
CREATE VIEW U AS SELECT k, j, MAX(v) AS v, COUNT(*) AS c FROM T GROUP BY k, j;
";

const TUMBLE: &str = "TABLE(TUMBLE(TABLE T, DESCRIPTOR(ts), INTERVAL '10' SECOND))";
const HOP: &str = "TABLE(HOP(TABLE T, DESCRIPTOR(ts), INTERVAL '4' SECOND, INTERVAL '12' SECOND))";
const CUMULATE: &str = "TABLE(CUMULATE(TABLE T, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND))";
const SESSION: &str = "TABLE(SESSION(TABLE T PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND))";

/// One query or more for every operator that keeps state, in every form that keeps other state.
fn queries() -> Vec<String> {
    let calls = "COUNT(*), COUNT(v), SUM(v), AVG(n), MIN(d), MAX(s), COUNT(DISTINCT j), SUM(v) FILTER (WHERE j > 1)";
    let mut out = Vec::new();
    for window in [TUMBLE, HOP, CUMULATE] {
        out.push(format!("SELECT k, {calls}, window_start FROM {window} GROUP BY k, window_start, window_end"));
    }
    out.push(format!(
        "SELECT k, COUNT(*), SUM(v), MAX(d), window_end FROM {SESSION} GROUP BY k, window_start, window_end"
    ));
    out.push(format!(
        "SELECT k, COUNT(*) FROM {TUMBLE} GROUP BY GROUPING SETS ((k, window_start, window_end), (window_start, window_end))"
    ));
    out.push(format!(
        "SELECT FIRST_VALUE(v), LAST_VALUE(v), LISTAGG(s), window_start FROM {TUMBLE} GROUP BY window_start, window_end"
    ));
    for window in [
        "TUMBLE(ts, INTERVAL '7' SECOND)",
        "HOP(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND)",
        "HOP(ts, INTERVAL '9' SECOND, INTERVAL '4' SECOND)",
        "SESSION(ts, INTERVAL '3' SECOND)",
        "TUMBLE(p, INTERVAL '0.007' SECOND(1, 3))",
    ] {
        out.push(format!("SELECT k, COUNT(*), SUM(v), MIN(n), COUNT(DISTINCT j) FROM T GROUP BY k, {window}"));
    }
    for frame in [
        "ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
        "ORDER BY ts RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW",
        "ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
        "ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
        "ORDER BY p ROWS BETWEEN 3 PRECEDING AND CURRENT ROW",
        "ORDER BY p RANGE BETWEEN INTERVAL '0.005' SECOND(1, 3) PRECEDING AND CURRENT ROW",
        "ORDER BY p ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    ] {
        out.push(format!(
            "SELECT k, v, COUNT(*) OVER w, SUM(v) OVER w, AVG(d) OVER w, MAX(s) OVER w, MIN(n) OVER w, COUNT(DISTINCT j) OVER w
             FROM T WINDOW w AS (PARTITION BY k {frame})"
        ));
    }
    out.push("SELECT k, LAG(v) OVER (PARTITION BY k ORDER BY ts) FROM T".to_owned());
    out.push("SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) FROM T".to_owned());
    out.push(format!("SELECT {calls}, k FROM T GROUP BY k"));
    out.push("SELECT COUNT(*), SUM(v), FIRST_VALUE(s), LAST_VALUE(v), STDDEV_POP(d), LISTAGG(s) FROM T".to_owned());
    out.push(
        "SELECT k, SUM(v), MAX(v), MIN(c), COUNT(DISTINCT v), LISTAGG(CAST(v AS STRING)) FROM U GROUP BY k".to_owned(),
    );
    out.push("SELECT DISTINCT k, j FROM T".to_owned());
    let rank = |from: &str, by: &str, order: &str, top: &str| {
        format!(
            "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order}) AS rn FROM {from}) WHERE rn {top}"
        )
    };
    let plain = "(SELECT k, j, v, s FROM T)";
    out.push(rank(plain, "k", "v DESC, s", "<= 2"));
    out.push(rank(plain, "k", "v", "= 1"));
    out.push(rank(plain, "k", "v", "BETWEEN 2 AND 3"));
    out.push(rank("U", "k", "v DESC", "<= 2"));
    out.push(rank("(SELECT k, j, COUNT(*) AS c FROM T GROUP BY k, j)", "k", "c DESC", "<= 2"));
    out.push(rank("(SELECT k, v, ts FROM T)", "k", "ts", "= 1"));
    out.push(rank("(SELECT k, v, ts FROM T)", "k", "ts DESC", "= 1"));
    out.push(rank("(SELECT k, v, p FROM T)", "k", "p", "= 1"));
    out.push(rank("(SELECT k, v, p FROM T)", "k", "p DESC", "= 1"));
    out.push(rank(
        &format!("(SELECT k, v, window_start, window_end FROM {TUMBLE})"),
        "window_start, window_end, k",
        "v DESC",
        "<= 2",
    ));
    out.push(rank(
        &format!("(SELECT k, v, ts, window_start, window_end FROM {TUMBLE})"),
        "window_start, window_end, k",
        "ts DESC",
        "= 1",
    ));
    out.push(rank(
        &format!(
            "(SELECT k, window_start, window_end, SUM(v) AS v FROM {TUMBLE} GROUP BY k, window_start, window_end)"
        ),
        "window_start, window_end",
        "v DESC, k",
        "<= 2",
    ));
    joins(&mut out);
    for (order, pattern, after) in [
        ("ts", "A B+ C", "PAST LAST ROW"),
        ("ts", "A B{1,2}? C?", "TO NEXT ROW"),
        ("ts, s DESC", "A B*? C", "TO LAST C"),
        ("p", "A B+ C", "TO FIRST B"),
        ("p, v", "A+? B C", "TO NEXT ROW"),
    ] {
        out.push(format!(
            "SELECT * FROM T MATCH_RECOGNIZE (PARTITION BY k ORDER BY {order}
             MEASURES FIRST(A.v) AS a, LAST(B.v) AS b, COUNT(B.s) AS n, SUM(C.j) AS c AFTER MATCH SKIP {after}
             PATTERN ({pattern}) WITHIN INTERVAL '20' SECOND
             DEFINE A AS A.j > 0, B AS B.v > 1 OR B.s = A.s, C AS SUM(B.v) > C.v)"
        ));
    }
    out.push("SELECT k, v FROM T ORDER BY ts, v".to_owned());
    out.push("SELECT k, v FROM T ORDER BY v DESC LIMIT 3".to_owned());
    out.push("SELECT k, v FROM T LIMIT 4".to_owned());
    out.push(
        "SELECT k, SUM(v) FROM (SELECT k, v FROM T UNION ALL SELECT s, v FROM T WHERE j = 1) GROUP BY k".to_owned(),
    );
    out
}

/// Every type of join over rows that are told apart in every way, and interval joins in both times. Their bounds are wider than rows
/// are late: what Flink does with later ones depends on what it remembers of other keys, and that is no state.
fn joins(out: &mut Vec<String>) {
    for join in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
        for (columns, left, right, on) in [
            ("a.k, a.v, b.j, b.v", "T", "(SELECT * FROM T WHERE j > 0)", "a.k = b.s AND a.v < b.v"),
            ("a.k, a.v, b.v", "T", "T", "a.k IS NOT DISTINCT FROM b.s AND a.j = b.j"),
            ("a.k, a.c, b.k, b.v", "U", "U", "a.k = b.k AND a.v <> b.v"),
            ("a.k, a.c, b.v", "U", "T", "a.k = b.s"),
            (
                "a.k, a.x, b.s, b.x",
                "(SELECT k, SUM(v) AS x FROM T GROUP BY k)",
                "(SELECT s, COUNT(*) AS x FROM T GROUP BY s)",
                "a.k = b.s",
            ),
            (
                "a.k, a.v, b.j, b.d",
                "T",
                "T",
                "a.k = b.s AND a.j <> b.j AND a.ts BETWEEN b.ts - INTERVAL '12' SECOND AND b.ts + INTERVAL '11' SECOND",
            ),
            (
                "a.k, b.v",
                "(SELECT k, v, p FROM T)",
                "(SELECT s, v, p FROM T)",
                "a.k = b.s AND a.p BETWEEN b.p - INTERVAL '0.005' SECOND(1, 3) AND b.p + INTERVAL '0.002' SECOND(1, 3)",
            ),
        ] {
            out.push(format!("SELECT {columns} FROM {left} AS a {join} {right} AS b ON {on}"));
        }
    }
    for not in ["", "NOT "] {
        out.push(format!("SELECT k, v FROM T WHERE j {not}IN (SELECT v FROM T WHERE s = 'a')"));
        out.push(format!(
            "SELECT k, j, c FROM U WHERE {not}EXISTS (SELECT 1 FROM U AS o WHERE o.j = U.j AND o.v > U.v)"
        ));
        out.push(format!(
            "SELECT k, v, window_end FROM {TUMBLE} AS a WHERE {not}EXISTS (SELECT 1 FROM {TUMBLE} AS b
             WHERE a.k = b.s AND a.window_start = b.window_start AND a.window_end = b.window_end)"
        ));
    }
    for join in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
        out.push(format!(
            "SELECT a.k, a.v, b.n, a.window_start FROM {HOP} AS a {join} {HOP} AS b
             ON a.k = b.s AND a.v <> b.v AND a.window_start = b.window_start AND a.window_end = b.window_end"
        ));
    }
    out.push("SELECT k, v, (SELECT MAX(v) FROM T) FROM T".to_owned());
    out.push("SELECT k, (SELECT COUNT(*) FROM T AS o WHERE o.s = T.k) FROM T".to_owned());
    out.push(
        "SELECT a.v, b.n FROM (SELECT v FROM T WHERE k = 'a') AS a, (SELECT n FROM T WHERE k = 'b') AS b".to_owned(),
    );
}

fn plan(sql: &str) -> (Plan, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add("job.sql", sql.to_owned());
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    assert!(script.errors.is_empty(), "{sql}: {:?}", script.errors);
    let planned = plan_script_for(&[&script], Target::Vvr, Purpose::Collect);
    assert!(planned.errors.is_empty(), "{sql}: {:?}", planned.errors);
    (planned.plans.into_iter().next().expect("a job"), sources)
}

const START: i64 = 1_700_000_000_000;

/// Rows whose time mostly goes on, and sometimes back, now and then past the watermark.
fn rows() -> impl Strategy<Value = Rows> {
    let text = || prop_oneof![1 => Just(Datum::Null), 6 => prop::sample::select(vec!["", "a", "b", "c"]).prop_map(Datum::string)];
    let int = |most: i64| prop_oneof![1 => Just(Datum::Null), 8 => (-2..most).prop_map(Datum::Int)];
    let row = (text(), int(3), int(9), int(9), text(), 0i64..2500, prop_oneof![8 => 0i64..3000, 1 => 3000i64..20_000]);
    prop::collection::vec(row, 0..40).prop_map(|parts| {
        let mut now = START;
        let row = |(k, j, v, d, s, step, back): (Datum, Datum, Datum, Datum, Datum, i64, i64)| {
            now += step;
            let double = d.as_int().map_or(Datum::Null, |i| Datum::Double(i as f64 / 4.0));
            let decimal = d.as_int().map_or(Datum::Null, |i| Decimal { unscaled: i128::from(i) * 25, scale: 2 }.into());
            (0, Change::insert(Row::new(vec![k, j, v, double, decimal, s, Datum::timestamp(now - back)])))
        };
        parts.into_iter().map(row).collect()
    })
}

const CLOCK: Clock = Clock { start: 0, tick: 1 };

fn feed(execution: &mut Execution<'_>, rows: &[(usize, Change)], end: EndOfInput) -> Vec<Emitted> {
    let mut out = Vec::new();
    for (table, change) in rows {
        execution.job.row(*table, change.clone(), &mut |e| out.push(e)).expect("the row runs");
    }
    execution.job.end(end, &mut |e| out.push(e)).expect("the end is reached");
    out
}

/// What is sent after the split, with a stop there and without one.
fn through_a_file(plan: &Plan, sources: &SourceMap, rows: &Rows, split: usize) -> (Vec<Emitted>, Vec<Emitted>) {
    let mut before = Execution::new(plan, CLOCK, sources).expect("the plan runs");
    feed(&mut before, &rows[..split], EndOfInput::Hold);
    let text = Savepoint::of(&mut before).to_text();
    let mut after = Execution::new(plan, CLOCK, sources).expect("the plan runs");
    Savepoint::from_text("s.json", &text).expect("it is whole").restore("s.json", &mut after).expect("it fits");
    let restored = feed(&mut after, &rows[split..], EndOfInput::Fire);
    let fresh = feed(&mut before, &rows[split..], EndOfInput::Fire);
    (restored, fresh)
}

/// The rows of a failure, short enough to be read: the columns and the time since the first moment.
fn short(rows: &Rows) -> String {
    let cell = |d: &Datum| match d {
        Datum::Timestamp { millis, .. } => (millis - START).to_string(),
        Datum::Null => "-".to_owned(),
        Datum::String(s) => format!("{s:?}"),
        Datum::Int(i) => i.to_string(),
        other => format!("{other:?}"),
    };
    rows.iter().map(|(_, c)| c.row.iter().map(cell).collect::<Vec<_>>().join(" ") + "\n").collect()
}

fn count(emitted: &[Emitted]) -> BTreeMap<(usize, RowKind, Row), usize> {
    let mut out = BTreeMap::new();
    for (sink, change) in emitted {
        *out.entry((*sink, change.kind, change.row.clone())).or_default() += 1;
    }
    out
}

#[test]
fn a_stop_changes_nothing() {
    let plans: Vec<(String, Plan, SourceMap)> = queries()
        .into_iter()
        .map(|q| {
            let (plan, sources) = plan(&format!("{DDL}{q};"));
            (q, plan, sources)
        })
        .collect();
    let config =
        ProptestConfig { cases: 40, failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default() };
    proptest!(config, |(rows in rows(), at in 0.0f64..1.0)| {
        let split = (rows.len() as f64 * at) as usize;
        for (query, plan, sources) in &plans {
            let (restored, fresh) = through_a_file(plan, sources, &rows, split);
            prop_assert_eq!(count(&restored), count(&fresh), "{} split at {}:\n{}", query, split, short(&rows));
        }
    });
}

#[test]
fn the_same_query_rehearses_as_compatible() {
    let text = |sql: &str| Text { name: "job.sql".to_owned(), text: Arc::from(sql) };
    let options = Options { purpose: Purpose::Collect, ..Options::default() };
    let checked: Vec<_> = queries()
        .into_iter()
        .map(|q| {
            let sql = format!("{DDL}{q};");
            (q, check(text(&sql), text(&sql), &options))
        })
        .collect();
    let config =
        ProptestConfig { cases: 20, failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default() };
    proptest!(config, |(rows in rows(), at in 0.0f64..1.0)| {
        let split = Split::Rows((rows.len() as f64 * at) as u64);
        for (query, checked) in &checked {
            let pair = &checked.plans[0];
            let (Some(old), Some(new)) = (&pair.old, &pair.new) else { panic!("{query} is planned") };
            let (old, new) = (Side { plan: old, rows: &rows }, Side { plan: new, rows: &rows });
            let setting = Setting { split, clock: CLOCK, end: EndOfInput::Fire };
            let seen = rehearse(&old, &new, &checked.report.jobs[0], setting, &checked.sources);
            let seen = seen.unwrap_or_else(|e| panic!("{query}: {}", e.message)).comparison;
            prop_assert!(seen.first.is_empty(), "{:?}", seen.first);
            let counts = seen.counts;
            prop_assert_eq!((counts.different, counts.missing, counts.extra), (0, 0, 0), "{} split at {:?}:\n{}", query, split, short(&rows));
        }
    });
}

/// What is in a savepoint under a window that no row makes is refused: no one knows what it is, and it could go on for ever.
#[test]
fn windows_that_cannot_be_are_refused() {
    let tumble = "TUMBLE(ts, INTERVAL '7' SECOND)";
    let hop = "HOP(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND)";
    let session = "SESSION(ts, INTERVAL '3' SECOND)";
    let mut queries: Vec<(String, serde_json::Value)> = Vec::new();
    for window in [TUMBLE, HOP, CUMULATE] {
        let query = format!("SELECT k, SUM(v) FROM {window} GROUP BY k, window_start, window_end");
        queries.extend([1, i64::MAX, i64::MIN].map(|end| (query.clone(), end.into())));
    }
    for window in [tumble, hop, session] {
        let query = format!("SELECT k, SUM(v) FROM T GROUP BY k, {window}");
        queries.push((query.clone(), serde_json::json!([i64::MIN, i64::MAX])));
        queries.push((query.clone(), serde_json::json!([5, 5])));
        if window != session {
            queries.push((query.clone(), serde_json::json!([1, 2])));
        }
    }
    for (query, namespace) in queries {
        let (plan, sources) = plan(&format!("{DDL}{query};"));
        let row = vec![
            Datum::string("a"),
            Datum::Int(1),
            Datum::Int(1),
            Datum::Double(1.0),
            Decimal { unscaled: 25, scale: 2 }.into(),
            Datum::string("s"),
            Datum::timestamp(START),
        ];
        let mut execution = Execution::new(&plan, CLOCK, &sources).expect("the plan runs");
        feed(&mut execution, &[(0, Change::insert(Row::new(row)))], EndOfInput::Hold);
        let image = execution.job.pipeline().image(&plan);
        assert!(execution.job.pipeline().restore(&plan, &image).is_ok(), "{query}");
        let mut found = 0;
        for (operator, entry) in (0..image.len()).flat_map(|o| (0..image[o].entries.len()).map(move |e| (o, e))) {
            let mut changed = image.clone();
            for slot in changed[operator].entries[entry].slots.iter_mut().filter(|s| !s.namespace.is_null()) {
                slot.namespace = namespace.clone();
                found += 1;
            }
            if changed != image {
                let error = execution.job.pipeline().restore(&plan, &changed).expect_err(&query);
                assert!(error.message.starts_with("operator "), "{}", error.message);
            }
        }
        assert!(found > 0, "{query}");
    }
}
