//! OVER against its definition: what runs give, row by row as they come, is what the frames give when all rows lie there.
//!
//! Random small tables with disorder, late rows, ties, duplicates and NULLs. The definition is stated twice over: which rows are
//! taken ([`Model::taken`], Flink's rules of lateness) and what the frame of each of them is ([`Model::frame`]).

use std::collections::BTreeMap;

use keepstate::eval::{Datum, Row, Session};
use keepstate::exec::{Plan, plan_script};
use keepstate::run::{Change, Clock, EndOfInput, Job};
use keepstate::source::SourceMap;
use keepstate::target::Target;
use proptest::prelude::*;

/// Seconds are the unit of all times here.
const SECOND: i64 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    Rows(usize),
    Range(i64),
    UnboundedRows,
    UnboundedRange,
}

impl Frame {
    fn sql(self) -> String {
        match self {
            Frame::Rows(n) => format!("ROWS BETWEEN {n} PRECEDING AND CURRENT ROW"),
            Frame::Range(s) => format!("RANGE BETWEEN INTERVAL '{s}' SECOND PRECEDING AND CURRENT ROW"),
            Frame::UnboundedRows => "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW".to_owned(),
            Frame::UnboundedRange => "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW".to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Input {
    key: Option<i64>,
    value: Option<i64>,
    /// Event time.
    time: i64,
}

/// What is sent for a row: its number and the results over it.
type Sent = (usize, Vec<Datum>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// By event time; watermarks lag by so much.
    Event { delay: i64 },
    /// By processing time; each row takes so many milliseconds.
    Processing { tick: i64 },
}

struct Model<'a> {
    rows: &'a [Input],
    frame: Frame,
    order: Order,
}

/// A row that was taken.
#[derive(Debug, Clone, Copy)]
struct Taken {
    row: usize,
    time: i64,
    /// After how many rows it is sent; none before the end of the input.
    sent: Option<usize>,
    /// How often the state of its key was forgotten before.
    epoch: usize,
}

/// What Flink remembers of a key to tell which rows are late.
#[derive(Default)]
struct Lateness {
    last_timer: Option<i64>,
    forget_at: Option<i64>,
    timers: Vec<i64>,
    epoch: usize,
}

impl Lateness {
    /// All timers up to `watermark`.
    fn advance(&mut self, watermark: i64) {
        self.timers.sort_unstable();
        self.timers.dedup();
        let (due, left) = self.timers.iter().partition(|t| **t <= watermark);
        self.timers = left;
        let due: Vec<i64> = due;
        for timer in due {
            if self.forget_at.is_some_and(|at| at <= timer) {
                (self.last_timer, self.forget_at) = (None, None);
                self.epoch += 1;
            } else {
                self.last_timer = Some(timer);
            }
        }
    }
}

impl Model<'_> {
    /// The watermark after each row.
    fn watermarks(&self, delay: i64) -> Vec<i64> {
        let mut watermark = 0;
        self.rows
            .iter()
            .map(|r| {
                watermark = watermark.max(r.time - delay);
                watermark
            })
            .collect()
    }

    fn taken(&self) -> BTreeMap<Option<i64>, Vec<Taken>> {
        let mut out: BTreeMap<Option<i64>, Vec<Taken>> = BTreeMap::new();
        match self.order {
            Order::Processing { tick } => {
                for (row, input) in self.rows.iter().enumerate() {
                    let time = row as i64 * tick;
                    let waits = matches!(self.frame, Frame::Range(_));
                    let sent = (!waits || tick > 0).then_some(row);
                    // What the clock has not passed when the input ends is never sent.
                    if sent.is_some() {
                        out.entry(input.key).or_default().push(Taken { row, time, sent, epoch: 0 });
                    }
                }
            }
            Order::Event { delay } => {
                let watermarks = self.watermarks(delay);
                let mut keys: BTreeMap<Option<i64>, Lateness> = BTreeMap::new();
                for (row, input) in self.rows.iter().enumerate() {
                    let before = if row == 0 { 0 } else { watermarks[row - 1] };
                    let key = keys.entry(input.key).or_default();
                    let late = match self.frame {
                        Frame::UnboundedRows | Frame::UnboundedRange => input.time <= before,
                        Frame::Rows(_) | Frame::Range(_) => key.last_timer.is_some_and(|t| input.time <= t),
                    };
                    if !late {
                        key.timers.push(input.time);
                        if let Frame::Range(seconds) = self.frame {
                            let range = seconds * SECOND;
                            if key.forget_at.is_none_or(|at| at < input.time + range + 1) {
                                key.forget_at = Some(input.time + range + range / 2 + 1);
                                key.timers.extend(key.forget_at);
                            }
                        }
                        let rises = |i: &usize| watermarks[*i] > if *i == 0 { 0 } else { watermarks[*i - 1] };
                        let sent = (row..self.rows.len()).filter(rises).find(|i| watermarks[*i] >= input.time);
                        let taken = Taken { row, time: input.time, sent, epoch: key.epoch };
                        out.entry(input.key).or_default().push(taken);
                    }
                    if watermarks[row] > before {
                        keys.values_mut().for_each(|k| k.advance(watermarks[row]));
                    }
                }
            }
        }
        // In the order in which they are sent. A state that was forgotten is built anew from older rows.
        out.values_mut().for_each(|taken| taken.sort_by_key(|t| (t.epoch, t.time, t.row)));
        out
    }

    /// The rows in the frame of the row at place `at` among those taken of its key.
    fn frame<'t>(&self, taken: &'t [Taken], at: usize) -> Vec<&'t Taken> {
        let current = &taken[at];
        let up_to_here = taken[..=at].iter();
        match (self.frame, self.order) {
            (Frame::Rows(n), _) => taken[at.saturating_sub(n)..=at].iter().collect(),
            (Frame::UnboundedRows, _) | (Frame::UnboundedRange, Order::Processing { .. }) => up_to_here.collect(),
            (Frame::UnboundedRange, _) => taken.iter().filter(|t| t.time <= current.time).collect(),
            (Frame::Range(seconds), _) => {
                let range = current.time - seconds * SECOND..=current.time;
                taken.iter().filter(|t| t.epoch == current.epoch && range.contains(&t.time)).collect()
            }
        }
    }

    /// What is to be sent, by key and in order.
    fn sends(&self, end: EndOfInput) -> BTreeMap<Option<i64>, Vec<Sent>> {
        let mut out = BTreeMap::new();
        for (key, taken) in self.taken() {
            let sent = |t: &Taken| end == EndOfInput::Fire || t.sent.is_some();
            let results = |at: usize| {
                let values: Vec<Option<i64>> = self.frame(&taken, at).iter().map(|t| self.rows[t.row].value).collect();
                results(&values)
            };
            let rows: Vec<Sent> =
                taken.iter().enumerate().filter(|(_, t)| sent(t)).map(|(at, t)| (t.row, results(at))).collect();
            if !rows.is_empty() {
                out.insert(key, rows);
            }
        }
        out
    }
}

const CALLS: [&str; 9] = [
    "COUNT(*)",
    "COUNT(v)",
    "SUM(v)",
    "MIN(v)",
    "MAX(v)",
    "COUNT(DISTINCT v)",
    "SUM(DISTINCT v)",
    "COUNT(CASE WHEN v > 1 THEN v END)",
    "SUM(3)",
];

fn results(values: &[Option<i64>]) -> Vec<Datum> {
    let present: Vec<i64> = values.iter().copied().flatten().collect();
    let mut distinct = present.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let count = |n: usize| Datum::Int(n as i64);
    let sum = |v: &[i64]| if v.is_empty() { Datum::Null } else { Datum::Int(v.iter().sum()) };
    let or_null = |v: Option<&i64>| v.map_or(Datum::Null, |v| Datum::Int(*v));
    vec![
        count(values.len()),
        count(present.len()),
        sum(&present),
        or_null(present.iter().min()),
        or_null(present.iter().max()),
        count(distinct.len()),
        sum(&distinct),
        count(present.iter().filter(|v| **v > 1).count()),
        Datum::Int(3 * values.len() as i64),
    ]
}

fn plan(frame: Frame, order: Order, target: Target) -> Plan {
    let (column, clock, delay) = match order {
        Order::Event { delay } => ("ts", "", delay / SECOND),
        Order::Processing { .. } => ("p", ", p AS PROCTIME()", 0),
    };
    let calls: Vec<String> = CALLS
        .iter()
        .enumerate()
        .map(|(i, call)| format!("{call} OVER (PARTITION BY k ORDER BY {column} {}) AS c{i}", frame.sql()))
        .collect();
    let sql = format!(
        "SET 'pipeline.auto-watermark-interval' = '0';
        CREATE TABLE t (id BIGINT, k BIGINT, v BIGINT, ts TIMESTAMP(3){clock},
            WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND) WITH ('connector' = 'stub');
        SELECT id, k, {} FROM t;",
        calls.join(", ")
    );
    let mut sources = SourceMap::new();
    let file = sources.add("over.sql", sql);
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    assert!(script.errors.is_empty(), "{:?}", script.errors);
    let mut planned = plan_script(&[&script], target);
    assert!(planned.errors.is_empty(), "{:?}", planned.errors);
    planned.plans.remove(0)
}

fn run(plan: &Plan, order: Order, rows: &[Input], end: EndOfInput) -> BTreeMap<Option<i64>, Vec<Sent>> {
    let tick = match order {
        Order::Event { .. } => 1,
        Order::Processing { tick } => tick,
    };
    let session = Session { zone: jiff::tz::TimeZone::UTC };
    let mut job = Job::new(plan, &session, Clock { start: 0, tick }).expect("a job");
    let mut out: BTreeMap<Option<i64>, Vec<Sent>> = BTreeMap::new();
    let mut emit = |(_, change): (usize, Change)| {
        assert!(change.kind.adds());
        let number = usize::try_from(change.row[0].as_int().expect("a number")).expect("a number");
        out.entry(change.row[1].as_int()).or_default().push((number, change.row[2..].to_vec()));
    };
    let or_null = |v: Option<i64>| v.map_or(Datum::Null, Datum::Int);
    for (number, row) in rows.iter().enumerate() {
        let values = vec![Datum::Int(number as i64), or_null(row.key), or_null(row.value), Datum::timestamp(row.time)];
        job.row(0, Change::insert(Row::new(values)), &mut emit).expect("a row");
    }
    job.end(end, &mut emit).expect("the end");
    out
}

/// Rows whose times go on slowly, but with jumps back and forth; some steps are long enough for state to be forgotten.
fn rows() -> impl Strategy<Value = Vec<Input>> {
    let step = prop_oneof![9 => 0..3i64, 1 => 10..40i64];
    let row = (proptest::option::weighted(0.8, 0..2i64), proptest::option::weighted(0.8, -2..4i64), step, -9..3i64);
    prop::collection::vec(row, 0..40).prop_map(|rows| {
        let mut now = 1_000_000 * SECOND;
        let input = |(key, value, step, jump): (_, _, i64, i64)| {
            now += step * SECOND;
            Input { key, value, time: now + jump * SECOND }
        };
        rows.into_iter().map(input).collect()
    })
}

fn frames() -> impl Strategy<Value = Frame> {
    prop_oneof![
        (0..5usize).prop_map(Frame::Rows),
        (0..12i64).prop_map(Frame::Range),
        Just(Frame::UnboundedRows),
        Just(Frame::UnboundedRange),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn event_time_frames_are_as_defined(
        rows in rows(),
        frame in frames(),
        delay in 0..8i64,
        target in prop_oneof![Just(Target::Flink120), Just(Target::Flink22)],
    ) {
        let order = Order::Event { delay: delay * SECOND };
        let (plan, model) = (plan(frame, order, target), Model { rows: &rows, frame, order });
        for end in [EndOfInput::Fire, EndOfInput::Hold] {
            prop_assert_eq!(run(&plan, order, &rows, end), model.sends(end));
        }
    }

    #[test]
    fn processing_time_frames_are_as_defined(
        rows in rows(),
        frame in prop_oneof![
            // A frame of one row is another matter: Flink forgets to take rows back.
            (1..5usize).prop_map(Frame::Rows),
            (1..4i64).prop_map(Frame::Range),
            Just(Frame::UnboundedRows),
            Just(Frame::UnboundedRange),
        ],
        tick in 0..900i64,
    ) {
        let order = Order::Processing { tick };
        let (plan, model) = (plan(frame, order, Target::Flink120), Model { rows: &rows, frame, order });
        prop_assert_eq!(run(&plan, order, &rows, EndOfInput::Fire), model.sends(EndOfInput::Fire));
    }
}
