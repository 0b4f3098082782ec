//! `Match`: rows in the order of their time go through a state machine per key (Flink's `CepOperator`).

mod buffer;
mod expressions;
mod heap;
mod machine;
mod nfa;
mod state;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use self::buffer::{Buffer, Counts, Entries, Events};
use self::expressions::{Expression, Scene};
use self::machine::Machine;
use self::nfa::{Found, Nfa};
use self::state::NfaState;
use super::build::{Build, Runnable};
use super::change::{Change, RowKind};
use super::error::{RunError, RunResult};
use super::order;
use super::store::{KeyId, KeyedState, Keys, Timers};
use super::task::{Output, States, Task};
use crate::eval::Row;
use crate::exec::match_recognize::Match;
use crate::logical::rel::SortKey;
use crate::state::types::StateType;

/// The rows of one moment.
type Queues = HashMap<i64, Vec<Row>, FxBuildHasher>;

struct MatchTask {
    keys: Keys,
    /// The column of event time; none for processing time.
    rowtime: Option<usize>,
    /// The sort keys behind the time.
    order: Vec<SortKey>,
    nfa: Nfa,
    measures: Vec<Expression>,
    /// The type of a row.
    row: StateType,
    states: KeyedState<(), NfaState>,
    queues: KeyedState<(), Queues>,
    events: KeyedState<(), Events>,
    entries: KeyedState<(), Entries>,
    counts: KeyedState<(), Counts>,
    timers: Timers<()>,
    watermark: i64,
}

impl Runnable for Match {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let p = &self.pattern;
        let queues: KeyedState<(), Queues> = build.entries.keyed("eventQueuesStateName")?;
        let row = match queues.declared() {
            StateType::Map(_, list) => match list.as_ref() {
                StateType::List(row) => row.as_ref().clone(),
                other => other.clone(),
            },
            other => other.clone(),
        };
        let conditions = p.steps.iter().map(|step| {
            let definition = p.condition(step.variable);
            definition.map(|d| Expression::build(&d.condition, p, Some(step.variable), build)).transpose()
        });
        let conditions = conditions.collect::<RunResult<Vec<_>>>()?;
        let measures =
            p.measures.iter().map(|m| Expression::build(&m.expr, p, None, build)).collect::<RunResult<Vec<_>>>()?;
        Ok(Box::new(MatchTask {
            keys: Keys::of(p.partition.as_slice()),
            rowtime: (!self.proctime).then_some(p.order[0].column),
            order: p.order[1..].to_vec(),
            nfa: Nfa::new(Machine::of(p)?, conditions, p),
            measures,
            row,
            states: build.entries.keyed("nfaStateName")?,
            queues,
            events: build.entries.keyed("sharedBuffer-events")?,
            entries: build.entries.keyed("sharedBuffer-entries-with-lockable-edges")?,
            counts: build.entries.keyed("sharedBuffer-events-count")?,
            timers: if self.proctime { build.entries.processing_timers()? } else { build.entries.event_timers()? },
            watermark: i64::MIN,
        }))
    }
}

impl MatchTask {
    /// Lets the machine of a key work, and sends what it finds.
    fn work(
        &mut self,
        key: KeyId,
        out: &mut Output,
        steps: impl FnOnce(&mut Worker<'_>) -> RunResult<()>,
    ) -> RunResult<()> {
        let known = self.states.remove(key, ());
        let was_known = known.is_some();
        let state = known.unwrap_or_else(|| self.nfa.initial());
        let buffer = Buffer {
            events: self.events.entry_mut(key, (), HashMap::default),
            entries: self.entries.entry_mut(key, (), HashMap::default),
            counts: self.counts.entry_mut(key, (), HashMap::default),
        };
        let mut worker = Worker {
            key,
            nfa: &mut self.nfa,
            state,
            buffer,
            measures: &mut self.measures,
            key_row: self.keys.key(key).clone(),
            out,
        };
        steps(&mut worker)?;
        let mut state = worker.state;
        if std::mem::take(&mut state.changed) || was_known {
            self.states.put(key, (), state)?;
        }
        if self.events.get(key, ()).is_some_and(HashMap::is_empty) {
            self.events.remove(key, ());
        }
        if self.entries.get(key, ()).is_some_and(HashMap::is_empty) {
            self.entries.remove(key, ());
        }
        if self.counts.get(key, ()).is_some_and(HashMap::is_empty) {
            self.counts.remove(key, ());
        }
        Ok(())
    }

    /// A row waits for its time.
    fn queue(&mut self, key: KeyId, time: i64, row: Row) -> RunResult<()> {
        self.queues.check(&row, &self.row)?;
        let queues = self.queues.entry_mut(key, (), HashMap::default);
        let is_new = !queues.contains_key(&time);
        queues.entry(time).or_default().push(row);
        if is_new {
            let due = if self.rowtime.is_some() { time } else { time.saturating_add(1) };
            self.timers.set(due, key, ());
        }
        Ok(())
    }

    /// The waiting rows of a key up to a moment, moment by moment.
    fn take_due(&mut self, key: KeyId, until: i64) -> Vec<(i64, Vec<Row>)> {
        let Some(queues) = self.queues.get_mut(key, ()) else { return Vec::new() };
        let mut times: Vec<i64> = queues.keys().copied().filter(|t| *t <= until).collect();
        times.sort_unstable();
        let mut due: Vec<(i64, Vec<Row>)> =
            times.into_iter().filter_map(|t| queues.remove(&t).map(|rows| (t, rows))).collect();
        if queues.is_empty() {
            self.queues.remove(key, ());
        }
        for (_, rows) in &mut due {
            rows.sort_by(|a, b| order::compare(&self.order, a, b));
        }
        due
    }
}

/// The machine of one key at work.
struct Worker<'a> {
    key: KeyId,
    nfa: &'a mut Nfa,
    state: NfaState,
    buffer: Buffer<'a>,
    measures: &'a mut [Expression],
    key_row: Row,
    out: &'a mut Output,
}

impl Worker<'_> {
    fn advance(&mut self, time: i64) -> RunResult<()> {
        let found = self.nfa.advance(&mut self.state, &mut self.buffer, time)?;
        self.send(found, time)
    }

    fn row(&mut self, row: &Row, time: i64) -> RunResult<()> {
        let (key, now) = (self.key, self.out.now);
        let found = self.nfa.process(&mut self.state, &mut self.buffer, row, time, key, now)?;
        self.send(found, time)
    }

    fn send(&mut self, found: Vec<Found>, time: i64) -> RunResult<()> {
        for found in found {
            let scene = Scene { found: &found, current: None, time, now: self.out.now, key: self.key };
            let mut values: Vec<_> = self.key_row.iter().cloned().collect();
            for measure in self.measures.iter_mut() {
                values.push(measure.value(&scene)?);
            }
            self.out.send(RowKind::Insert, Row::new(values));
        }
        Ok(())
    }
}

impl Task for MatchTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let row = change.row;
        if let Some(column) = self.rowtime {
            let Some(time) = row[column].as_millis() else {
                return Err(RunError::job("Rowtime field is null, please convert it to a non-null long value"));
            };
            if time <= self.watermark {
                return Ok(());
            }
            let key = self.keys.of_row(&row);
            return self.queue(key, time, row);
        }
        let (key, now) = (self.keys.of_row(&row), out.now);
        if !self.order.is_empty() {
            return self.queue(key, now, row);
        }
        // What is kept of a row is checked where the row comes in.
        self.queues.check(&row, &self.row)?;
        self.work(key, out, |worker| {
            worker.advance(now)?;
            worker.row(&row, now)
        })
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        self.watermark = watermark;
        if self.rowtime.is_some() {
            while let Some((_, key, ())) = self.timers.due(watermark) {
                let due = self.take_due(key, watermark);
                self.work(key, out, |worker| {
                    for (time, rows) in &due {
                        worker.advance(*time)?;
                        for row in rows {
                            worker.row(row, *time)?;
                        }
                    }
                    worker.advance(watermark)
                })?;
                if out.pauses() {
                    return Ok(());
                }
            }
        }
        out.advance(watermark);
        Ok(())
    }

    fn clock(&mut self, out: &mut Output) -> RunResult<()> {
        if self.rowtime.is_some() {
            return Ok(());
        }
        while let Some((_, key, ())) = self.timers.due(out.now) {
            let due = self.take_due(key, i64::MAX);
            self.work(key, out, |worker| {
                for (time, rows) in &due {
                    worker.advance(*time)?;
                    for row in rows {
                        worker.row(row, *time)?;
                    }
                }
                Ok(())
            })?;
            if out.pauses() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn resume(&mut self, watermark: i64) {
        self.watermark = watermark;
    }

    fn states(&mut self) -> Option<States<'_>> {
        Some(States {
            keys: &mut self.keys,
            tables: vec![
                &mut self.states,
                &mut self.queues,
                &mut self.events,
                &mut self.entries,
                &mut self.counts,
                &mut self.timers,
            ],
        })
    }
}
