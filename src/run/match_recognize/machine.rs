//! From the steps of a pattern to the states of a machine (Flink's `NFACompiler` for strictly consecutive patterns).

use std::sync::Arc;

use crate::logical::pattern::{Match, PatternStep};
use crate::run::error::{RunError, RunResult};

/// More states are not built: `A{2000000000}` would need as many.
const MAX_STATES: u64 = 10_000;

/// When a transition may be gone: the row is one of a step, and is none of others.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// The step whose condition must hold.
    pub step: Option<usize>,
    /// The steps whose conditions must not hold: greedy ones before it take the row for themselves.
    pub not: Vec<usize>,
}

/// What a transition does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The row is taken into the match.
    Take,
    /// Another state looks at the row.
    Proceed,
}

/// A transition.
#[derive(Debug, Clone)]
pub struct Transition {
    /// What it does.
    pub action: Action,
    /// The state it leads to.
    pub target: usize,
    /// When it may be gone.
    pub guard: Guard,
}

/// A state of the machine.
#[derive(Debug, Clone)]
pub struct State {
    /// Its name in savepoints: that of its variable, numbered.
    pub name: Arc<str>,
    /// The variable's name.
    pub page: Arc<str>,
    /// The ways out.
    pub transitions: Vec<Transition>,
}

/// A state machine.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The states; the first one made is the end.
    pub states: Vec<State>,
    /// Where every match begins.
    pub start: usize,
}

/// The state of a complete match.
pub const END: usize = 0;

impl Machine {
    /// The machine of a pattern, built from its end.
    pub fn of(pattern: &Match) -> RunResult<Machine> {
        let rows = pattern.steps.iter().map(|s| u64::from(s.to.unwrap_or(s.from).max(1)) + 1);
        if rows.sum::<u64>() > MAX_STATES {
            return Err(RunError::unsupported("a pattern of so many rows").at(&pattern.pattern_origins));
        }
        let end = State { name: "$endState$".into(), page: "$endState$".into(), transitions: Vec::new() };
        let mut machine = Machine { states: vec![end], start: END };
        for (i, step) in pattern.steps.iter().enumerate().rev() {
            let page = &pattern.variables.names[step.variable];
            machine.start = machine.step(i, step, page, machine.start);
        }
        Ok(machine)
    }

    /// The state of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.states.iter().position(|s| *s.name == *name)
    }

    /// The states of a step in front of `sink`; the first of them.
    fn step(&mut self, i: usize, step: &PatternStep, page: &Arc<str>, sink: usize) -> usize {
        let greedy = step.greedy && step.to != Some(step.from);
        match (step.from, step.to) {
            (1, Some(1)) if !step.quantified => self.single(i, page, sink, None),
            (0, Some(1)) => self.single(i, page, sink, Some(sink)),
            (from, Some(to)) => {
                if greedy && from.max(1) != to {
                    self.leave_to(i, sink);
                }
                self.times(i, page, (from.max(1), to), sink, sink, step.optional())
            }
            (from, None) => {
                let looping = self.state(page);
                let proceed = Transition { action: Action::Proceed, target: sink, guard: Guard::default() };
                self.states[looping].transitions.push(proceed);
                if greedy {
                    self.leave_to(i, sink);
                }
                self.states[looping].transitions.push(take(i, looping));
                let least = from.max(1);
                self.times(i, page, (least, least), looping, sink, step.optional())
            }
        }
    }

    /// What a greedy step can take goes nowhere else.
    fn leave_to(&mut self, greedy: usize, sink: usize) {
        for transition in &mut self.states[sink].transitions {
            transition.guard.not.push(greedy);
        }
    }

    /// `from` to `to` rows of a step, then `sink`; from where it may end early the machine goes on at `proceed`.
    fn times(
        &mut self,
        i: usize,
        page: &Arc<str>,
        (from, to): (u32, u32),
        sink: usize,
        proceed: usize,
        optional: bool,
    ) -> usize {
        let mut last = sink;
        for _ in from..to {
            last = self.single(i, page, last, Some(proceed));
        }
        for _ in 1..from {
            last = self.single(i, page, last, None);
        }
        self.single(i, page, last, optional.then_some(proceed))
    }

    fn single(&mut self, i: usize, page: &Arc<str>, sink: usize, proceed: Option<usize>) -> usize {
        let state = self.state(page);
        self.states[state].transitions.push(take(i, sink));
        if let Some(target) = proceed {
            let transition = Transition { action: Action::Proceed, target, guard: Guard::default() };
            self.states[state].transitions.push(transition);
        }
        state
    }

    fn state(&mut self, page: &Arc<str>) -> usize {
        let mut counter = self.states.iter().filter(|s| s.page == *page).count();
        let mut name = match counter.checked_sub(1) {
            Some(n) => format!("{page}:{n}").into(),
            None => page.clone(),
        };
        while self.find(&name).is_some() {
            name = format!("{page}:{counter}").into();
            counter += 1;
        }
        self.states.push(State { name, page: page.clone(), transitions: Vec::new() });
        self.states.len() - 1
    }
}

fn take(step: usize, target: usize) -> Transition {
    Transition { action: Action::Take, target, guard: Guard { step: Some(step), not: Vec::new() } }
}
