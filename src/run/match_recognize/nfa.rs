//! The machine at work (Flink's `NFA`): every row moves the matches that have begun, and may begin one more.

use std::sync::Arc;

use super::buffer::{Buffer, Path};
use super::expressions::{Expression, Scene};
use super::heap::{Heap, Ordered};
use super::machine::{Action, END, Guard, Machine, Transition};
use super::state::{EventId, NfaState, Partial, Version};
use crate::eval::Row;
use crate::logical::pattern::{AfterMatch, Match, Variables};
use crate::run::error::{RunError, RunResult};
use crate::run::store::KeyId;

/// The rows of a match, by variable.
#[derive(Debug, Default)]
pub struct Found {
    /// The rows of each variable; those of [`Variables::ANY`] are all of them.
    pub rows: Vec<Vec<Row>>,
}

/// The machine of a pattern.
pub struct Nfa {
    machine: Machine,
    /// The condition of each step; none lets every row through.
    conditions: Vec<Option<Expression>>,
    variables: Variables,
    /// The variable of each step.
    steps: Vec<usize>,
    after: AfterMatch,
    /// WITHIN, if it limits anything.
    within: Option<i64>,
}

/// One row on its way through the machine.
struct Event<'a> {
    row: &'a Row,
    time: i64,
    key: KeyId,
    now: i64,
    /// Its place in the buffer, once something takes it.
    id: Option<EventId>,
}

/// A match that looks at a row: its rows are only put together if a condition asks for them.
struct Look<'a> {
    partial: &'a Partial,
    found: Option<Found>,
    /// What each step's condition says of the row.
    known: Vec<Option<bool>>,
}

/// The variables that take a row, with the states they lead to.
type Takes = Vec<(Arc<str>, usize)>;

impl Nfa {
    pub fn new(machine: Machine, conditions: Vec<Option<Expression>>, pattern: &Match) -> Nfa {
        Nfa {
            machine,
            conditions,
            variables: pattern.variables.clone(),
            steps: pattern.steps.iter().map(|s| s.variable).collect(),
            after: pattern.after,
            within: pattern.within.filter(|w| *w > 0),
        }
    }

    /// The state of a key that has seen nothing.
    pub fn initial(&self) -> NfaState {
        let mut partial = Heap::new();
        partial.push(self.begin(Version(vec![1])));
        NfaState { partial, complete: Heap::new(), changed: false }
    }

    fn begin(&self, version: Version) -> Partial {
        let state = self.machine.states[self.machine.start].name.clone();
        Partial { state, version, start_time: -1, previous_time: -1, previous: None, start: None }
    }

    fn state_of(&self, partial: &Partial) -> RunResult<usize> {
        self.machine
            .find(&partial.state)
            .ok_or_else(|| RunError::job(format!("State {} does not exist in the NFA", partial.state)))
    }

    /// Time goes on: matches that took too long are given up, which can let complete ones out.
    pub fn advance(&mut self, state: &mut NfaState, buffer: &mut Buffer<'_>, time: i64) -> RunResult<Vec<Found>> {
        let mut left = Heap::new();
        for partial in std::mem::replace(&mut state.partial, Heap::new()).into_items() {
            let begun = self.state_of(&partial)? != self.machine.start;
            let late = self.within.is_some_and(|w| time.wrapping_sub(partial.start_time) >= w);
            if !(begun && late) {
                left.push(partial);
                continue;
            }
            state.changed = true;
            if let Some(previous) = &partial.previous {
                buffer.release(previous, &partial.version);
            }
        }
        let found = self.complete(state, buffer, &mut left, Heap::new())?;
        state.partial = left;
        buffer.advance(time);
        Ok(found)
    }

    /// A row comes.
    pub fn process(
        &mut self,
        state: &mut NfaState,
        buffer: &mut Buffer<'_>,
        row: &Row,
        time: i64,
        key: KeyId,
        now: i64,
    ) -> RunResult<Vec<Found>> {
        let mut event = Event { row, time, key, now, id: None };
        let (mut left, mut complete) = (Heap::new(), Heap::new());
        for partial in std::mem::replace(&mut state.partial, Heap::new()).into_items() {
            let next = self.next(buffer, &partial, &mut event)?;
            state.changed |= !matches!(next.as_slice(), [same] if *same == partial);
            for next in next {
                if *next.state == *self.machine.states[END].name {
                    complete.push(next);
                } else {
                    left.push(next);
                }
            }
        }
        state.changed |= complete.peek().is_some();
        let found = self.complete(state, buffer, &mut left, complete)?;
        state.partial = left;
        if let Some(id) = event.id {
            buffer.release_event(id);
        }
        Ok(found)
    }

    /// Where one match goes with a row.
    fn next(&mut self, buffer: &mut Buffer<'_>, partial: &Partial, event: &mut Event<'_>) -> RunResult<Vec<Partial>> {
        let at = self.state_of(partial)?;
        let starts = at == self.machine.start && partial.start.is_none();
        let mut look = Look { partial, found: None, known: vec![None; self.conditions.len()] };
        let taken = self.takes(at, buffer, &mut look, event)?;
        let total = i32::try_from(taken.len()).unwrap_or(i32::MAX);
        let mut to_visit = (total - 1).max(0);
        let mut out = Vec::new();
        for (page, target) in taken {
            let version = partial.version.increased(to_visit);
            to_visit -= 1;
            let id = *event.id.get_or_insert_with(|| buffer.register(event.row, event.time));
            let node = buffer.put(&page, id, partial.previous.as_ref(), &version);
            let version = version.with_stage();
            let (start_time, start) = if starts { (event.time, Some(id)) } else { (partial.start_time, partial.start) };
            let ends = self.ends_after(target, buffer, &mut look, event)?;
            for target in [Some(target), ends.then_some(END)].into_iter().flatten() {
                let state = self.machine.states[target].name.clone();
                let (version, previous) = (version.clone(), Some(node.clone()));
                buffer.lock(&node, &version);
                out.push(Partial { state, version, start_time, previous_time: event.time, previous, start });
            }
        }
        if starts {
            let by = if total == 0 { 0 } else { total };
            out.push(self.begin(partial.version.increased(by)));
        }
        if let Some(previous) = &partial.previous {
            buffer.release(previous, &partial.version);
        }
        Ok(out)
    }

    /// The states that take a row from here, through those that only pass it on.
    fn takes(&mut self, from: usize, buffer: &Buffer<'_>, look: &mut Look<'_>, event: &Event<'_>) -> RunResult<Takes> {
        let mut taken = Vec::new();
        let mut stack = vec![from];
        while let Some(at) = stack.pop() {
            for i in 0..self.machine.states[at].transitions.len() {
                let Transition { action, target, guard } = self.machine.states[at].transitions[i].clone();
                if !self.holds(&guard, buffer, look, event)? {
                    continue;
                }
                match action {
                    Action::Proceed => stack.push(target),
                    Action::Take => taken.push((self.machine.states[at].page.clone(), target)),
                }
            }
        }
        Ok(taken)
    }

    fn holds(&mut self, guard: &Guard, buffer: &Buffer<'_>, look: &mut Look<'_>, event: &Event<'_>) -> RunResult<bool> {
        if let Some(step) = guard.step
            && !self.is_one_of(step, buffer, look, event)?
        {
            return Ok(false);
        }
        for step in &guard.not {
            if self.is_one_of(*step, buffer, look, event)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if the row may be one of a step.
    fn is_one_of(
        &mut self,
        step: usize,
        buffer: &Buffer<'_>,
        look: &mut Look<'_>,
        event: &Event<'_>,
    ) -> RunResult<bool> {
        if let Some(known) = look.known[step] {
            return Ok(known);
        }
        let Some(condition) = &mut self.conditions[step] else { return Ok(true) };
        if condition.looks_back && look.found.is_none() {
            let path = look.partial.previous.as_ref().and_then(|p| buffer.path(p, &look.partial.version));
            look.found = Some(gather(&self.variables, &self.steps, buffer, &path.unwrap_or_default()));
        }
        let nothing = Found::default();
        let found = look.found.as_ref().unwrap_or(&nothing);
        let scene = Scene { found, current: Some(event.row), time: event.time, now: event.now, key: event.key };
        let holds = condition.holds(&scene)?;
        look.known[step] = Some(holds);
        Ok(holds)
    }

    /// True if the end can be reached from a state without another row, as seen with the row at hand.
    fn ends_after(
        &mut self,
        state: usize,
        buffer: &Buffer<'_>,
        look: &mut Look<'_>,
        event: &Event<'_>,
    ) -> RunResult<bool> {
        let mut stack = vec![state];
        while let Some(at) = stack.pop() {
            for i in 0..self.machine.states[at].transitions.len() {
                let Transition { action, target, guard } = self.machine.states[at].transitions[i].clone();
                if action != Action::Proceed || !self.holds(&guard, buffer, look, event)? {
                    continue;
                }
                if target == END {
                    return Ok(true);
                }
                stack.push(target);
            }
        }
        Ok(false)
    }

    /// Lets complete matches out, the earliest first, as long as none that began before is still going on; each takes away those
    /// that the strategy skips.
    fn complete(
        &self,
        state: &mut NfaState,
        buffer: &mut Buffer<'_>,
        going_on: &mut Heap<Partial>,
        complete: Heap<Partial>,
    ) -> RunResult<Vec<Found>> {
        for partial in complete.into_items() {
            state.complete.push(partial);
        }
        let mut out = Vec::new();
        while let Some(first) = state.complete.peek() {
            if going_on.peek().is_some_and(|p| p.key() < first.key()) {
                break;
            }
            state.changed = true;
            let Some(first) = state.complete.pop() else { break };
            let Some(last) = first.previous.clone() else { continue };
            let path = buffer.path(&last, &first.version).unwrap_or_default();
            let (until, included) = self.skipped(&path)?;
            let skips = |p: &Partial| p.start.is_some_and(|start| start < until || included && start == until);
            for heap in [&mut *going_on, &mut state.complete] {
                for gone in heap.take(skips) {
                    if let Some(previous) = &gone.previous {
                        buffer.release(previous, &gone.version);
                    }
                }
            }
            out.push(gather(&self.variables, &self.steps, buffer, &path));
            buffer.release(&last, &first.version);
        }
        Ok(out)
    }

    /// Matches that began before this row are skipped, and those that began with it if so said.
    fn skipped(&self, path: &Path) -> RunResult<(EventId, bool)> {
        let all = || path.iter().flat_map(|(_, events)| events.iter().copied());
        let none = || RunError::internal("a match without rows");
        let (variable, first) = match self.after {
            AfterMatch::PastLastRow => return Ok((all().max().ok_or_else(none)?, true)),
            AfterMatch::ToNextRow => return Ok((all().min().ok_or_else(none)?, true)),
            AfterMatch::ToFirst(variable) => (variable, true),
            AfterMatch::ToLast(variable) => (variable, false),
        };
        let name = &self.variables.names[variable];
        let rows = path.iter().find(|(page, _)| page == name).map(|(_, events)| events.as_slice());
        let row = rows.and_then(|events| if first { events.first() } else { events.last() });
        let Some(row) = row else {
            return Err(RunError::job(format!("Could not skip to {name}. No such element in the found match")));
        };
        if path.first().and_then(|(_, events)| events.first()) == Some(row) {
            return Err(RunError::job("Could not skip to first element of a match"));
        }
        Ok((*row, false))
    }
}

/// The rows of a match.
fn gather(variables: &Variables, steps: &[usize], buffer: &Buffer<'_>, path: &Path) -> Found {
    let mut rows: Vec<Vec<Row>> = vec![Vec::new(); variables.names.len()];
    let row = |id: &EventId| buffer.events.get(id).map(|e| e.of.clone());
    for variable in steps {
        let name = &variables.names[*variable];
        let Some((_, events)) = path.iter().find(|(page, _)| page == name) else { continue };
        let own: Vec<Row> = events.iter().filter_map(row).collect();
        rows[Variables::ANY].extend(own.iter().cloned());
        rows[*variable] = own;
    }
    Found { rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_tell_matches_apart() {
        let version = |digits: &[i32]| Version(digits.to_vec());
        assert!(version(&[1, 0]).fits(&version(&[1])));
        assert!(version(&[2]).fits(&version(&[1])));
        assert!(!version(&[1]).fits(&version(&[2])));
        assert!(!version(&[1, 2, 0]).fits(&version(&[1, 1])));
        assert!(!version(&[1]).fits(&version(&[1, 0])));
    }

    #[test]
    fn rows_are_dropped_with_their_last_match() {
        let (mut events, mut entries, mut counts) = Default::default();
        let mut buffer = Buffer { events: &mut events, entries: &mut entries, counts: &mut counts };
        let id = buffer.register(&Row::empty(), 1);
        let version = Version(vec![1]);
        let first = buffer.put(&"A".into(), id, None, &version);
        assert_eq!((first.event, &*first.page), (id, "A"));
        let version = version.with_stage();
        buffer.lock(&first, &version);
        buffer.release_event(id);
        assert_eq!(buffer.path(&first, &version), Some(vec![("A".into(), vec![id])]));
        buffer.release(&first, &version);
        assert!(buffer.events.is_empty() && buffer.entries.is_empty());
    }
}
