//! The state of running operators, built from the entries that `state` lists.
//!
//! An operator takes its entries by name ([`Entries`]) and gets typed handles: [`KeyedState`] for values, lists and maps,
//! [`Timers`], [`OperatorState`]. What is written must be of the type that the entry declares; anything else is an error, so a
//! plan, its state and its execution vouch for each other.

mod data;
mod image;
mod java_map;
mod keys;
mod map_state;
mod operator_state;
mod slots;
mod table;
mod timers;

use std::sync::Arc;

use super::error::{RunError, RunResult};
use crate::state::{StateEntry, StateKind};
pub(in crate::run) use data::map_types;
pub use data::{IN_TIME, Namespace, StateData, Window};
pub use image::{EntryImage, ImageError, SlotImage};
pub use java_map::{JavaKey, JavaMap};
pub use keys::{KeyId, Keys};
pub use map_state::MapState;
pub use operator_state::OperatorState;
pub use table::{KeyedState, StateTable};
pub use timers::Timers;

/// The entries of one operator, to be taken one by one.
#[derive(Debug)]
pub struct Entries {
    left: Vec<Arc<StateEntry>>,
}

impl Entries {
    /// The entries that the plan gives an operator.
    pub fn new(entries: Vec<StateEntry>) -> Entries {
        Entries { left: entries.into_iter().map(Arc::new).collect() }
    }

    fn take(&mut self, name: &str, fits: impl Fn(StateKind) -> bool) -> RunResult<Arc<StateEntry>> {
        match self.left.iter().position(|e| e.name == name && fits(e.kind)) {
            Some(i) => Ok(self.left.remove(i)),
            None => Err(RunError::internal(format!("the plan declares no state `{name}`"))),
        }
    }

    /// A value, list or map by key and namespace.
    pub fn keyed<N: Namespace, T: StateData>(&mut self, name: &str) -> RunResult<KeyedState<N, T>> {
        let kinds = [StateKind::Value, StateKind::List, StateKind::Map, StateKind::Reducing];
        Ok(KeyedState::new(self.take(name, |k| kinds.contains(&k))?))
    }

    /// A map by key, read and written entry by entry.
    pub fn map<K: JavaKey, V: StateData>(&mut self, name: &str) -> RunResult<MapState<K, V>> {
        let state: KeyedState<(), JavaMap<K, V>> = self.keyed(name)?;
        MapState::new(state)
    }

    /// State without a key.
    pub fn operator<T: StateData>(&mut self, name: &str) -> RunResult<OperatorState<T>> {
        Ok(OperatorState::new(self.take(name, |k| k == StateKind::Operator)?))
    }

    /// The timers of event time: those of the service whose queue is named `_timer_state/event_...`.
    pub fn event_timers<N: Namespace>(&mut self) -> RunResult<Timers<N>> {
        self.timers("_timer_state/event_")
    }

    /// The timers of processing time.
    pub fn processing_timers<N: Namespace>(&mut self) -> RunResult<Timers<N>> {
        self.timers("_timer_state/processing_")
    }

    fn timers<N: Namespace>(&mut self, prefix: &str) -> RunResult<Timers<N>> {
        let place = self.left.iter().position(|e| e.kind == StateKind::Timer && e.name.starts_with(prefix));
        match place {
            Some(i) => Ok(Timers::new(self.left.remove(i))),
            None => Err(RunError::internal(format!("the plan declares no timers `{prefix}...`"))),
        }
    }

    /// What no one took, timers aside: Flink's operators register both queues whether they use them or not.
    pub fn finish(self) -> RunResult<()> {
        match self.left.iter().find(|e| e.kind != StateKind::Timer) {
            Some(entry) => Err(RunError::internal(format!("nothing uses the state `{}` of the plan", entry.name))),
            None => Ok(()),
        }
    }
}
