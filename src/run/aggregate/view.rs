//! Maps and lists of accumulators (Flink's `DataView`s): in state for accumulators that are in state, else in memory.

use rustc_hash::FxHashMap;

use super::Scope;
use crate::run::error::RunResult;
use crate::run::store::{Entries, KeyedState, Namespace, StateData, StateTable};
use crate::state::types::StateType;

/// A map or list per accumulator.
pub(super) struct View<N, T> {
    /// Its state; a local aggregate has none.
    state: Option<KeyedState<N, T>>,
    memory: FxHashMap<Scope<N>, T>,
}

impl<N: Namespace, T: StateData> View<N, T> {
    /// The view whose state has this name.
    pub fn build(name: &str, entries: Option<&mut Entries>) -> RunResult<View<N, T>> {
        let state = entries.map(|e| e.keyed(name)).transpose()?;
        Ok(View { state, memory: FxHashMap::default() })
    }

    /// What an accumulator keeps.
    pub fn get(&self, at: &Scope<N>) -> Option<&T> {
        match (&self.state, &at.namespace) {
            (Some(state), Some(namespace)) => state.get(at.key, namespace.clone()),
            _ => self.memory.get(at),
        }
    }

    /// What an accumulator keeps, to be changed in place. The caller checks what it adds with [`View::check`].
    pub fn get_mut(&mut self, at: &Scope<N>) -> Option<&mut T> {
        match (&mut self.state, &at.namespace) {
            (Some(state), Some(namespace)) => state.get_mut(at.key, namespace.clone()),
            _ => self.memory.get_mut(at),
        }
    }

    /// As [`View::get_mut`]; what is not there yet begins empty.
    pub fn entry_mut(&mut self, at: &Scope<N>) -> &mut T
    where
        T: Default,
    {
        match (&mut self.state, &at.namespace) {
            (Some(state), Some(namespace)) => state.entry_mut(at.key, namespace.clone(), T::default),
            _ => self.memory.entry(at.clone()).or_default(),
        }
    }

    /// Forgets what an accumulator keeps and gives it back.
    pub fn remove(&mut self, at: &Scope<N>) -> Option<T> {
        match (&mut self.state, &at.namespace) {
            (Some(state), Some(namespace)) => state.remove(at.key, namespace.clone()),
            _ => self.memory.remove(at),
        }
    }

    /// Checks a key that is about to be added to a map.
    pub fn check_key(&self, key: &impl StateData) -> RunResult<()> {
        match &self.state {
            Some(state) => match state.declared() {
                StateType::Map(of, _) => state.check(key, of),
                other => state.check(key, other),
            },
            None => Ok(()),
        }
    }

    /// Checks an element that is about to be added to a list, or a value that is to be put into a map or a value state.
    pub fn check(&self, element: &impl StateData) -> RunResult<()> {
        match &self.state {
            Some(state) => match state.declared() {
                StateType::Map(_, of) | StateType::List(of) => state.check(element, of),
                other => state.check(element, other),
            },
            None => Ok(()),
        }
    }

    /// Its state, if it has one.
    pub fn table<'a>(&'a mut self, out: &mut Vec<&'a mut dyn StateTable>)
    where
        N: 'static,
        T: 'static,
    {
        if let Some(state) = &mut self.state {
            out.push(state);
        }
    }
}
