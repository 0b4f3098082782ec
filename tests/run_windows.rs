//! Windows against their definition: what runs give, row by row as they come, is what the windows hold when all rows lie there.
//!
//! Random small tables with disorder, late rows, ties, duplicates and NULLs, before and after 1970. The definition: a row belongs
//! to every window that its time is in and that was not due when it came; a session is what its rows, each as long as the gap,
//! cover without a break. [`Model`] states it without slices, panes, timers and accumulators.

use std::collections::{BTreeMap, BTreeSet};

use keepstate::eval::{Datum, Row, Session};
use keepstate::exec::{Plan, plan_script};
use keepstate::run::{Change, Clock, EndOfInput, Job};
use keepstate::source::SourceMap;
use keepstate::target::Target;
use proptest::prelude::*;

/// Seconds are the unit of all times in SQL here.
const SECOND: i64 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Windows {
    Tumble { size: i64 },
    Hop { size: i64, slide: i64 },
    Cumulate { max_size: i64, step: i64 },
    Session { gap: i64 },
}

fn interval(millis: i64) -> String {
    format!("INTERVAL '{}' SECOND", millis / SECOND)
}

impl Windows {
    fn function(self) -> String {
        let (name, lengths) = match self {
            Windows::Tumble { size } => ("TUMBLE", interval(size)),
            Windows::Hop { size, slide } => ("HOP", format!("{}, {}", interval(slide), interval(size))),
            Windows::Cumulate { max_size, step } => ("CUMULATE", format!("{}, {}", interval(step), interval(max_size))),
            Windows::Session { gap } => ("SESSION", interval(gap)),
        };
        let partition = if name == "SESSION" { " PARTITION BY k" } else { "" };
        format!("TABLE({name}(TABLE t{partition}, DESCRIPTOR(ts), {lengths}))")
    }

    /// `TUMBLE(ts, ...)`, and `TUMBLE_START(ts, ...), TUMBLE_END(ts, ...)`.
    fn legacy(self) -> (String, String) {
        let (name, lengths) = match self {
            Windows::Tumble { size } => ("TUMBLE", interval(size)),
            Windows::Hop { size, slide } => ("HOP", format!("{}, {}", interval(slide), interval(size))),
            Windows::Session { gap } => ("SESSION", interval(gap)),
            Windows::Cumulate { .. } => unreachable!("there is no such legacy window"),
        };
        let call = |suffix: &str| format!("{name}{suffix}(ts, {lengths})");
        (call(""), format!("{}, {}", call("_START"), call("_END")))
    }

    /// All aligned windows that a time is in.
    fn of(self, time: i64) -> Vec<(i64, i64)> {
        let floor = |size: i64| time.div_euclid(size) * size;
        match self {
            Windows::Tumble { size } => vec![(floor(size), floor(size) + size)],
            Windows::Hop { size, slide } => (0..=size / slide)
                .map(|i| floor(slide) - i * slide)
                .filter(|start| time < start + size)
                .map(|start| (start, start + size))
                .collect(),
            Windows::Cumulate { max_size, step } => {
                let start = floor(max_size);
                (1..=max_size / step).map(|i| start + i * step).filter(|end| time < *end).map(|e| (start, e)).collect()
            }
            Windows::Session { .. } => unreachable!("sessions depend on other rows"),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Input {
    key: Option<i64>,
    value: Option<i64>,
    time: i64,
}

type Key = Option<i64>;

/// The rows of a window.
#[derive(Debug, Clone)]
struct Filled {
    key: Key,
    start: i64,
    end: i64,
    rows: Vec<usize>,
}

struct Model<'a> {
    rows: &'a [Input],
    windows: Windows,
    delay: i64,
}

impl Model<'_> {
    /// The watermark when each row comes, and that after the last. None is sent before 1970.
    fn watermarks(&self) -> Vec<i64> {
        let mut latest = 0;
        let mut out = vec![i64::MIN];
        for row in self.rows {
            latest = latest.max(row.time - self.delay);
            out.push(if latest > 0 { latest } else { i64::MIN });
        }
        out
    }

    /// All windows that are sent.
    fn filled(&self, end: EndOfInput) -> Vec<Filled> {
        let watermarks = self.watermarks();
        let last = if end == EndOfInput::Fire { i64::MAX } else { watermarks[self.rows.len()] };
        let all = match self.windows {
            Windows::Session { gap } => self.sessions(gap, &watermarks),
            _ => self.aligned(&watermarks),
        };
        all.into_iter().filter(|w| w.end - 1 <= last).collect()
    }

    fn aligned(&self, watermarks: &[i64]) -> Vec<Filled> {
        let mut out: BTreeMap<(Key, i64, i64), Vec<usize>> = BTreeMap::new();
        for (number, row) in self.rows.iter().enumerate() {
            for (start, end) in self.windows.of(row.time) {
                if end - 1 > watermarks[number] {
                    out.entry((row.key, start, end)).or_default().push(number);
                }
            }
        }
        out.into_iter().map(|((key, start, end), rows)| Filled { key, start, end, rows }).collect()
    }

    fn sessions(&self, gap: i64, watermarks: &[i64]) -> Vec<Filled> {
        let mut open: Vec<usize> = Vec::new();
        let mut out = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            // What is due is sent, and takes no more rows.
            for session in self.components(&open, gap) {
                if session.end - 1 <= watermarks[number] {
                    open.retain(|r| !session.rows.contains(r));
                    out.push(session);
                }
            }
            open.push(number);
            let mine = self.components(&open, gap).into_iter().find(|s| s.key == row.key && s.rows.contains(&number));
            if mine.is_some_and(|s| s.end - 1 <= watermarks[number]) {
                open.pop();
            }
        }
        out.extend(self.components(&open, gap));
        out
    }

    /// What rows cover without a break.
    fn components(&self, rows: &[usize], gap: i64) -> Vec<Filled> {
        let mut sorted = rows.to_vec();
        sorted.sort_by_key(|r| (self.rows[*r].key, self.rows[*r].time));
        let mut out: Vec<Filled> = Vec::new();
        for number in sorted {
            let row = self.rows[number];
            match out.last_mut() {
                Some(session) if session.key == row.key && row.time <= session.end => {
                    session.end = session.end.max(row.time + gap);
                    session.rows.push(number);
                }
                _ => out.push(Filled { key: row.key, start: row.time, end: row.time + gap, rows: vec![number] }),
            }
        }
        out
    }

    /// `COUNT(*), COUNT(v), SUM(v), MIN(v), MAX(v), AVG(v), COUNT(DISTINCT v)` of every window.
    fn aggregates(&self, end: EndOfInput) -> Vec<Vec<Datum>> {
        let result = |w: Filled| {
            let values: Vec<i64> = w.rows.iter().filter_map(|r| self.rows[*r].value).collect();
            let sum = (!values.is_empty()).then(|| values.iter().sum::<i64>());
            let distinct: BTreeSet<i64> = values.iter().copied().collect();
            vec![
                or_null(w.key),
                Datum::timestamp(w.start),
                Datum::timestamp(w.end),
                Datum::Int(w.rows.len() as i64),
                Datum::Int(values.len() as i64),
                or_null(sum),
                or_null(values.iter().copied().min()),
                or_null(values.iter().copied().max()),
                or_null(sum.map(|s| s / values.len() as i64)),
                Datum::Int(distinct.len() as i64),
            ]
        };
        sorted(self.filled(end).into_iter().map(result).collect())
    }

    /// The windows of every row.
    fn assigned(&self, end: EndOfInput) -> Vec<Vec<Datum>> {
        let rows = self.filled(end).into_iter().flat_map(|w| {
            let row = move |r: &usize| vec![Datum::Int(*r as i64), Datum::timestamp(w.start), Datum::timestamp(w.end)];
            w.rows.iter().map(row).collect::<Vec<_>>()
        });
        sorted(rows.collect())
    }

    /// Of every key and window the rows from `first` to `last` in an order.
    fn top(&self, end: EndOfInput, order: TopOrder, first: usize, last: usize) -> Vec<Vec<Datum>> {
        let mut out = Vec::new();
        for mut window in self.filled(end) {
            // Rows that are equal stand in the order of their arrival; of the last row of one time, the one that came last counts.
            match order {
                TopOrder::Value { descending, nulls_first } => window.rows.sort_by_key(|r| {
                    let value = self.rows[*r].value;
                    (value.is_none() != nulls_first, value.map(|v| if descending { -v } else { v }), *r)
                }),
                TopOrder::FirstTime => window.rows.sort_by_key(|r| (self.rows[*r].time, *r)),
                TopOrder::LastTime => window.rows.sort_by_key(|r| std::cmp::Reverse((self.rows[*r].time, *r))),
            }
            let ranked = window.rows.iter().enumerate().map(|(i, r)| (i + 1, *r));
            out.extend(ranked.filter(|(i, _)| (first..=last).contains(i)).map(|(i, r)| {
                vec![
                    Datum::Int(r as i64),
                    Datum::timestamp(window.start),
                    Datum::timestamp(window.end),
                    Datum::Int(i as i64),
                ]
            }));
        }
        sorted(out)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TopOrder {
    Value { descending: bool, nulls_first: bool },
    FirstTime,
    LastTime,
}

impl TopOrder {
    fn sql(self) -> String {
        match self {
            TopOrder::Value { descending, nulls_first } => {
                let direction = if descending { "DESC" } else { "ASC" };
                format!("v {direction} NULLS {}", if nulls_first { "FIRST" } else { "LAST" })
            }
            TopOrder::FirstTime => "ts ASC".to_owned(),
            TopOrder::LastTime => "ts DESC".to_owned(),
        }
    }
}

fn or_null(value: Option<i64>) -> Datum {
    value.map_or(Datum::Null, Datum::Int)
}

fn sorted(mut rows: Vec<Vec<Datum>>) -> Vec<Vec<Datum>> {
    rows.sort();
    rows
}

const CALLS: &str = "COUNT(*), COUNT(v), SUM(v), MIN(v), MAX(v), AVG(v), COUNT(DISTINCT v)";

fn plan(query: &str, delay: i64, one_phase: bool) -> Plan {
    let phase = if one_phase { "ONE_PHASE" } else { "AUTO" };
    let sql = format!(
        "SET 'pipeline.auto-watermark-interval' = '0';
        SET 'table.optimizer.agg-phase-strategy' = '{phase}';
        CREATE TABLE t (id BIGINT, k BIGINT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - {})
            WITH ('connector' = 'stub');
        {query};",
        interval(delay)
    );
    let mut sources = SourceMap::new();
    let file = sources.add("windows.sql", sql);
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    assert!(script.errors.is_empty(), "{:?}", script.errors);
    let mut planned = plan_script(&[&script], Target::Flink120);
    assert!(planned.errors.is_empty(), "{:?}", planned.errors);
    planned.plans.remove(0)
}

fn run(plan: &Plan, rows: &[Input], end: EndOfInput) -> Vec<Vec<Datum>> {
    let session = Session { zone: jiff::tz::TimeZone::UTC };
    let mut job = Job::new(plan, &session, Clock { start: 0, tick: 1 }).expect("a job");
    let mut out = Vec::new();
    let mut emit = |(_, change): (usize, Change)| {
        assert!(change.kind.adds());
        out.push(change.row.to_vec());
    };
    for (number, row) in rows.iter().enumerate() {
        let values = vec![Datum::Int(number as i64), or_null(row.key), or_null(row.value), Datum::timestamp(row.time)];
        job.row(0, Change::insert(Row::new(values)), &mut emit).expect("a row");
    }
    job.end(end, &mut emit).expect("the end");
    sorted(out)
}

/// Rows whose times go on slowly, but with jumps back and forth.
fn rows() -> impl Strategy<Value = Vec<Input>> {
    let step = prop_oneof![9 => 0..3000i64, 1 => 10_000..40_000i64];
    let row =
        (proptest::option::weighted(0.8, 0..2i64), proptest::option::weighted(0.8, -2..4i64), step, -12_000..3000i64);
    let first = prop_oneof![3 => Just(1_000_000 * SECOND), 1 => -30 * SECOND..5 * SECOND];
    (first, prop::collection::vec(row, 0..50), any::<bool>()).prop_map(|(mut now, rows, whole)| {
        let input = |(key, value, step, jump): (_, _, i64, i64)| {
            now += step;
            // Whole seconds make for ties and for rows that stand just on a bound.
            let time = now + jump;
            Input { key, value, time: if whole { time.div_euclid(SECOND) * SECOND } else { time } }
        };
        rows.into_iter().map(input).collect()
    })
}

fn aligned() -> impl Strategy<Value = Windows> {
    prop_oneof![
        (1..12i64).prop_map(|s| Windows::Tumble { size: s * SECOND }),
        (1..5i64, 1..5i64).prop_map(|(s, n)| Windows::Hop { size: s * n * SECOND, slide: s * SECOND }),
        (1..5i64, 1..5i64).prop_map(|(s, n)| Windows::Cumulate { max_size: s * n * SECOND, step: s * SECOND }),
    ]
}

fn session() -> impl Strategy<Value = Windows> {
    (1..8i64).prop_map(|s| Windows::Session { gap: s * SECOND })
}

fn legacy() -> impl Strategy<Value = Windows> {
    prop_oneof![
        (1..12i64).prop_map(|s| Windows::Tumble { size: s * SECOND }),
        // Sizes that are no multiple of the slide, and gaps.
        (1..12i64, 1..12i64).prop_map(|(size, slide)| Windows::Hop { size: size * SECOND, slide: slide * SECOND }),
        session(),
    ]
}

fn orders() -> impl Strategy<Value = (TopOrder, usize, usize)> {
    let by_value =
        (any::<bool>(), any::<bool>(), 1..3usize, 0..3usize).prop_map(|(descending, nulls_first, first, more)| {
            (TopOrder::Value { descending, nulls_first }, first, first + more)
        });
    prop_oneof![3 => by_value, 1 => Just((TopOrder::FirstTime, 1, 1)), 1 => Just((TopOrder::LastTime, 1, 1))]
}

const ENDS: [EndOfInput; 2] = [EndOfInput::Fire, EndOfInput::Hold];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn aggregates_over_window_functions_are_as_defined(
        rows in rows(),
        windows in prop_oneof![3 => aligned(), 1 => session()],
        delay in 0..8i64,
        one_phase in any::<bool>(),
        attached in any::<bool>(),
    ) {
        let delay = delay * SECOND;
        // A condition on the bounds keeps the window function apart from the aggregate.
        let condition = match windows {
            Windows::Session { .. } => "",
            _ if attached => " WHERE window_start < TIMESTAMP '2100-01-01 00:00:00'",
            _ => "",
        };
        let query = format!(
            "SELECT k, window_start, window_end, {CALLS} FROM {}{condition} GROUP BY k, window_start, window_end",
            windows.function(),
        );
        let (plan, model) = (plan(&query, delay, one_phase), Model { rows: &rows, windows, delay });
        for end in ENDS {
            prop_assert_eq!(run(&plan, &rows, end), model.aggregates(end));
        }
    }

    #[test]
    fn legacy_windows_are_as_defined(rows in rows(), windows in legacy(), delay in 0..8i64) {
        let delay = delay * SECOND;
        let (group, bounds) = windows.legacy();
        let query = format!("SELECT k, {bounds}, {CALLS} FROM t GROUP BY k, {group}");
        let (plan, model) = (plan(&query, delay, false), Model { rows: &rows, windows, delay });
        for end in ENDS {
            prop_assert_eq!(run(&plan, &rows, end), model.aggregates(end));
        }
    }

    #[test]
    fn sessions_of_rows_are_as_defined(rows in rows(), windows in session(), delay in 0..8i64) {
        let delay = delay * SECOND;
        let query = format!("SELECT id, window_start, window_end FROM {}", windows.function());
        let (plan, model) = (plan(&query, delay, false), Model { rows: &rows, windows, delay });
        for end in ENDS {
            prop_assert_eq!(run(&plan, &rows, end), model.assigned(end));
        }
    }

    #[test]
    fn window_top_n_is_as_defined(
        rows in rows(),
        windows in aligned(),
        delay in 0..8i64,
        (order, first, last) in orders(),
    ) {
        let delay = delay * SECOND;
        let query = format!(
            "SELECT id, window_start, window_end, rk FROM (
                SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end ORDER BY {}) AS rk FROM {}
            ) WHERE rk BETWEEN {first} AND {last}",
            order.sql(),
            windows.function(),
        );
        let (plan, model) = (plan(&query, delay, false), Model { rows: &rows, windows, delay });
        for end in ENDS {
            prop_assert_eq!(run(&plan, &rows, end), model.top(end, order, first, last));
        }
    }
}

/// A window of many slices takes what its rows take, and what one event causes is sent on in pieces.
#[test]
fn many_slices_are_no_matter() {
    let row = |time: i64| Input { key: Some(1), value: Some(2), time };
    let hop = "INTERVAL '0.01' SECOND, INTERVAL '1' MINUTE";
    let tvf = format!("TABLE(HOP(TABLE t, DESCRIPTOR(ts), {hop}))");
    let of_rows = format!("SELECT v, window_start FROM {tvf}");
    let of_window = format!("SELECT SUM(v), window_start FROM {tvf} GROUP BY window_start, window_end");
    let legacy = format!("SELECT SUM(v), HOP_START(ts, {hop}) FROM t GROUP BY HOP(ts, {hop})");
    let top = format!(
        "SELECT v, window_start FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v) r \
         FROM {tvf}) WHERE r = 1"
    );
    for query in [of_rows, of_window, legacy, top] {
        let got = run(&plan(&query, 0, false), &[row(0)], EndOfInput::Fire);
        let windows = (1..=6000).map(|i| vec![Datum::Int(2), Datum::timestamp(-60_000 + 10 * i)]);
        assert_eq!(got, sorted(windows.collect()), "{query}");
    }
    let cumulate = "TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '0.01' SECOND, INTERVAL '1' MINUTE))";
    let query = format!("SELECT SUM(v), window_end FROM {cumulate} GROUP BY window_start, window_end");
    let got = run(&plan(&query, 0, false), &[row(0), row(30_000)], EndOfInput::Fire);
    let windows = (1..=6000).map(|i| vec![Datum::Int(if i > 3000 { 4 } else { 2 }), Datum::timestamp(10 * i)]);
    assert_eq!(got, sorted(windows.collect()));
    // A late row that some windows are still open for.
    let query = format!("SELECT SUM(v), window_end FROM {tvf} GROUP BY window_start, window_end");
    let got = run(&plan(&query, 0, false), &[row(40_000), row(0)], EndOfInput::Fire);
    let sum = |end: i64| i64::from(end > 40_000) + i64::from(end > 40_000 && end <= 60_000);
    let ends = (1..=10_000).map(|i| 10 * i).filter(|end| sum(*end) > 0);
    assert_eq!(got, sorted(ends.map(|end| vec![Datum::Int(2 * sum(end)), Datum::timestamp(end)]).collect()));
}

/// The steps of a year in seconds: nothing is as large as the number of slices.
#[test]
fn slices_are_not_counted() {
    let window = "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '365' DAY(3))";
    let query = format!("SELECT SUM(v) FROM TABLE({window}) GROUP BY window_start, window_end");
    let row = |time: i64| Input { key: None, value: Some(1), time };
    let rows = [row(0), row(3_600_000), row(1_800_000)];
    let got = run(&plan(&query, 0, false), &rows, EndOfInput::Hold);
    assert_eq!(got.len(), 3600);
}
