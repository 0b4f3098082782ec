//! A plan at work: tasks, and how events go from one to the next.

use super::build;
use super::change::{Change, Event, MAX_WATERMARK};
use super::error::RunResult;
use super::task::{Output, States, Task};
use super::watermark;
use crate::eval::Session;
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rex::Origins;

/// How finely a plan looks at the clock. The caller need not move it more often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockUse {
    /// It looks at it with every row: processing time, or a function such as `NOW()`.
    EveryRow,
    /// Watermarks are sent at least this often, in milliseconds.
    Interval(i64),
    /// Not at all.
    Never,
}

/// A change that left the job: the number of the sink, in the order of [`Plan::sinks`], and the change.
pub type Emitted = (usize, Change);

/// A plan at work.
pub struct Pipeline {
    stages: Vec<Stage>,
    /// The sources with the names of their tables.
    scans: Vec<(usize, String)>,
    leaves: Vec<usize>,
    clock_use: ClockUse,
    /// No operator sends to two others, so rows may go through in batches.
    pub(super) is_chain: bool,
}

/// A task with its surroundings.
struct Stage {
    id: NodeId,
    task: Box<dyn Task>,
    consumers: Vec<(usize, usize)>,
    /// The watermark of each input.
    inputs: Vec<i64>,
    out: Output,
    /// What it was doing when it paused.
    pausing: Pausing,
    /// The last watermark that it sent.
    sent: i64,
    /// It makes watermarks: a watermark assigner, or a source that does its work.
    generates_watermarks: bool,
    /// The number of the sink, if it is one.
    sink: Option<usize>,
    /// The clause it comes from, for errors.
    origins: Origins,
}

/// What a task was doing when it paused.
#[derive(Debug, Clone, Copy)]
enum Pausing {
    Row,
    Watermark,
    Clock,
}

impl Pipeline {
    /// Makes the tasks of a plan.
    pub fn build(plan: &Plan, session: &Session) -> RunResult<Pipeline> {
        let mut stages = Vec::with_capacity(plan.nodes.len());
        let mut scans = Vec::new();
        for id in plan.ids() {
            let node = plan.node(id);
            if let Operator::TableSourceScan(scan) = &node.op {
                scans.push((id.index(), scan.table.path.to_string()));
            }
            stages.push(Stage {
                id,
                task: build::task(plan, id, session)?,
                consumers: Vec::new(),
                inputs: vec![i64::MIN; node.inputs.len().max(1)],
                out: Output::new(),
                pausing: Pausing::Row,
                sent: i64::MIN,
                generates_watermarks: match &node.op {
                    Operator::WatermarkAssigner(_) => true,
                    Operator::TableSourceScan(scan) => scan.watermark.is_some(),
                    _ => false,
                },
                sink: plan.sinks.iter().position(|s| *s == id),
                origins: node.origins.clone(),
            });
        }
        for id in plan.ids().filter(|id| !is_skipped(plan, *id)) {
            for (i, input) in plan.node(id).inputs.iter().enumerate() {
                let mut from = *input;
                while is_skipped(plan, from) {
                    from = plan.node(from).inputs[0];
                }
                stages[from.index()].consumers.push((id.index(), i));
            }
        }
        let leaves: Vec<usize> = plan.ids().filter(|id| plan.node(*id).inputs.is_empty()).map(NodeId::index).collect();
        let is_chain = leaves.len() == 1 && stages.iter().all(|s| s.consumers.len() <= 1);
        Ok(Pipeline { stages, scans, leaves, clock_use: clock_use(plan), is_chain })
    }

    /// The tables that the plan reads, by full name, one per scan.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.scans.iter().map(|(_, table)| table.as_str())
    }

    /// How finely the plan looks at the clock.
    pub fn clock_use(&self) -> ClockUse {
        self.clock_use
    }

    /// Processing time goes on to `now`. To be called once before the first row.
    pub fn clock(&mut self, now: i64, emit: &mut dyn FnMut(Emitted)) -> RunResult<()> {
        for i in 0..self.leaves.len() {
            self.send(self.leaves[i], 0, vec![Event::Clock(now)], emit)?;
        }
        Ok(())
    }

    /// Events of scan number `scan`, in the order of [`Pipeline::tables`]. More than one at a time only for a plan with one scan.
    pub fn source(&mut self, scan: usize, events: Vec<Event>, emit: &mut dyn FnMut(Emitted)) -> RunResult<()> {
        self.send(self.scans[scan].0, 0, events, emit)
    }

    /// All sources have ended: everything that waits for time is due.
    pub fn end(&mut self, emit: &mut dyn FnMut(Emitted)) -> RunResult<()> {
        for i in 0..self.leaves.len() {
            self.send(self.leaves[i], 0, vec![Event::Watermark(MAX_WATERMARK)], emit)?;
        }
        Ok(())
    }

    /// The event time of the job: the least watermark that its sources have sent; none before the first.
    pub fn event_time(&self) -> Option<i64> {
        let generators = self.stages.iter().filter(|s| s.generates_watermarks);
        generators.map(|s| s.sent).min().filter(|w| *w != i64::MIN)
    }

    /// The last watermark of every operator that makes watermarks.
    pub fn watermarks(&self) -> Vec<(NodeId, i64)> {
        let generators = self.stages.iter().filter(|s| s.generates_watermarks && s.sent != i64::MIN);
        generators.map(|s| (s.id, s.sent)).collect()
    }

    /// Event time goes on from these watermarks. (A restored Flink job starts without event time, so that a late row right after
    /// the restore may be taken; that is a chance of the moment, not a matter of the state, and would only blur comparisons.)
    ///
    /// Nothing fires: what was due by these watermarks has fired before the savepoint, and what came late waits for the next one.
    pub fn resume(&mut self, watermarks: &[(NodeId, i64)]) {
        for at in self.sources_first() {
            let stage = &mut self.stages[at];
            let own = watermarks.iter().find(|(id, _)| *id == stage.id && stage.generates_watermarks);
            let sent = match own {
                Some((_, watermark)) => *watermark,
                None => stage.inputs.iter().copied().min().unwrap_or(i64::MIN),
            };
            if sent == i64::MIN {
                continue;
            }
            stage.task.resume(sent);
            stage.out.watermark = stage.out.watermark.max(sent);
            if own.is_some() {
                stage.sent = sent;
            }
            for (consumer, input) in stage.consumers.clone() {
                let input = &mut self.stages[consumer].inputs[input];
                *input = (*input).max(sent);
            }
        }
    }

    /// The state that was restored came from another plan and was migrated.
    pub fn migrated(&mut self) {
        self.stages.iter_mut().for_each(|stage| stage.task.migrated());
    }

    /// Sends what is buffered outside of state, from the sources down, as Flink does before it takes a savepoint.
    pub fn before_savepoint(&mut self, emit: &mut dyn FnMut(Emitted)) -> RunResult<()> {
        for at in self.sources_first() {
            let stage = &mut self.stages[at];
            stage.task.before_savepoint(&mut stage.out)?;
            let events = std::mem::take(&mut stage.out.events);
            self.forward(at, events, emit)?;
        }
        Ok(())
    }

    /// The tasks with their ids, for savepoints.
    pub(super) fn tasks(&mut self) -> impl Iterator<Item = (NodeId, &mut dyn Task)> {
        self.stages.iter_mut().map(|s| (s.id, s.task.as_mut() as &mut dyn Task))
    }

    /// All stages, inputs before their consumers.
    fn sources_first(&self) -> Vec<usize> {
        let mut open: Vec<usize> = vec![0; self.stages.len()];
        for (consumer, _) in self.stages.iter().flat_map(|s| &s.consumers) {
            open[*consumer] += 1;
        }
        let mut order = self.leaves.clone();
        let mut next = 0;
        while let Some(at) = order.get(next).copied() {
            next += 1;
            for (consumer, _) in &self.stages[at].consumers {
                open[*consumer] -= 1;
                if open[*consumer] == 0 {
                    order.push(*consumer);
                }
            }
        }
        order
    }

    /// Events go into stage `at` and on from there. A chain of stages takes them as a whole, which is the same as one by one; where
    /// ways part, each event goes all the way down before the next one moves, as records do in Flink's chained operators.
    /// A stage that has much to send passes it on before it goes on: what one event causes need not fit into memory.
    fn send(
        &mut self,
        mut at: usize,
        mut input: usize,
        mut events: Vec<Event>,
        emit: &mut dyn FnMut(Emitted),
    ) -> RunResult<()> {
        loop {
            for event in events.drain(..) {
                let stage = &mut self.stages[at];
                stage.take(input, event).map_err(|e| e.at(&stage.origins))?;
                if stage.out.is_full() {
                    self.relieve(at, emit)?;
                }
            }
            let stage = &mut self.stages[at];
            stage.forget_keys();
            // The emptied vector serves the next batch of this stage.
            let sent = stage.sent_events(events);
            match (stage.sink, stage.consumers.as_slice()) {
                (Some(sink), _) => {
                    for event in sent {
                        if let Event::Row(change) = event {
                            emit((sink, change));
                        }
                    }
                    return Ok(());
                }
                (None, [(next, next_input)]) if !sent.is_empty() => {
                    (at, input, events) = (*next, *next_input, sent);
                }
                _ => return self.forward(at, sent, emit),
            }
        }
    }

    /// Sends on what waits behind stage `at`, and lets it go on, until it has taken its event and little waits.
    fn relieve(&mut self, at: usize, emit: &mut dyn FnMut(Emitted)) -> RunResult<()> {
        while self.stages[at].out.is_full() {
            let sent = self.stages[at].sent_events(Vec::new());
            match (self.stages[at].sink, self.stages[at].consumers.as_slice()) {
                (None, [(next, input)]) => self.send(*next, *input, sent, emit)?,
                (None, _) => self.forward(at, sent, emit)?,
                (Some(sink), _) => sent.into_iter().for_each(|event| {
                    if let Event::Row(change) = event {
                        emit((sink, change));
                    }
                }),
            }
            let stage = &mut self.stages[at];
            stage.proceed().map_err(|e| e.at(&stage.origins))?;
        }
        Ok(())
    }

    fn forward(&mut self, at: usize, events: Vec<Event>, emit: &mut dyn FnMut(Emitted)) -> RunResult<()> {
        let consumers = self.stages[at].consumers.clone();
        for event in events {
            for (consumer, input) in &consumers {
                self.send(*consumer, *input, vec![event.clone()], emit)?;
            }
        }
        Ok(())
    }
}

impl Stage {
    fn take(&mut self, input: usize, event: Event) -> RunResult<()> {
        match event {
            Event::Row(change) => {
                self.pausing = Pausing::Row;
                self.task.row(input, change, &mut self.out)
            }
            Event::Watermark(watermark) => {
                self.task.input_watermark(&mut self.out)?;
                self.inputs[input] = self.inputs[input].max(watermark);
                let least = match self.inputs.as_slice() {
                    [only] => *only,
                    several => several.iter().copied().min().unwrap_or(watermark),
                };
                if least > self.out.watermark {
                    self.out.watermark = least;
                    self.pausing = Pausing::Watermark;
                    self.task.watermark(least, &mut self.out)?;
                }
                Ok(())
            }
            Event::Clock(now) => {
                if now > self.out.now {
                    self.out.now = now;
                    self.pausing = Pausing::Clock;
                    // What a timer sends is younger than the timer, so those who get it have to know the time by then.
                    self.out.events.push(Event::Clock(now));
                    self.task.clock(&mut self.out)?;
                }
                Ok(())
            }
        }
    }

    /// Goes on with the event at which the task paused.
    fn proceed(&mut self) -> RunResult<()> {
        if !std::mem::take(&mut self.out.paused) {
            return Ok(());
        }
        match self.pausing {
            Pausing::Row => self.task.proceed(&mut self.out),
            Pausing::Watermark => self.task.watermark(self.out.watermark, &mut self.out),
            Pausing::Clock => self.task.clock(&mut self.out),
        }
    }

    /// What waits to be sent; `empty` takes its place.
    fn sent_events(&mut self, empty: Vec<Event>) -> Vec<Event> {
        let sent = std::mem::replace(&mut self.out.events, empty);
        if self.generates_watermarks {
            for event in &sent {
                if let Event::Watermark(watermark) = event {
                    self.sent = *watermark;
                }
            }
        }
        sent
    }

    /// Keys without state are forgotten now and then, so that memory follows the state and not the rows.
    fn forget_keys(&mut self) {
        if let Some(States { keys, tables }) = self.task.states()
            && keys.is_crowded()
        {
            keys.sweep(|key| tables.iter().any(|t| t.holds(key)));
        }
    }
}

/// Without parallelism an exchange has nothing to do, so events go past it.
fn is_skipped(plan: &Plan, id: NodeId) -> bool {
    matches!(plan.node(id).op, Operator::Exchange(_)) && plan.node(id).inputs.len() == 1
}

fn clock_use(plan: &Plan) -> ClockUse {
    let reads_clock = |id: NodeId| {
        let node = plan.node(id);
        let volatile = match &node.op {
            Operator::Calc(calc) => calc.exprs.iter().chain(&calc.conditions).any(|e| !e.is_deterministic()),
            Operator::Correlate(c) => c.call.args.iter().chain(&c.call.conditions).any(|e| !e.is_deterministic()),
            _ => false,
        };
        volatile || node.columns.iter().any(|c| c.ty.is_proctime())
    };
    let ttl = plan.options.contains_key("table.exec.state.ttl");
    let mini_batch = plan.nodes.iter().any(|n| matches!(n.op, Operator::MiniBatchAssigner(_)));
    if ttl || mini_batch || plan.ids().any(reads_clock) {
        return ClockUse::EveryRow;
    }
    match watermark::interval(&plan.options) {
        0 => ClockUse::Never,
        interval => ClockUse::Interval(interval),
    }
}
