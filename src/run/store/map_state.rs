//! Maps by key that are read and written entry by entry (Flink's `MapState`).

use super::data::{StateData, map_types};
use super::java_map::{JavaKey, JavaMap};
use super::keys::KeyId;
use super::table::{KeyedState, StateTable};
use crate::run::error::{RunError, RunResult};
use crate::state::types::StateType;

/// A map per key, in the order of Flink's; what is written is checked entry by entry. A map without entries is forgotten.
#[derive(Debug)]
pub struct MapState<K, V> {
    state: KeyedState<(), JavaMap<K, V>>,
    key: StateType,
    value: StateType,
}

impl<K: JavaKey, V: StateData> MapState<K, V> {
    pub(super) fn new(state: KeyedState<(), JavaMap<K, V>>) -> RunResult<MapState<K, V>> {
        let Some((key, value)) = map_types(state.declared()) else {
            return Err(RunError::internal(format!("{} is no map", state.declared())));
        };
        let (key, value) = (key.clone(), value.clone());
        Ok(MapState { state, key, value })
    }

    /// All entries of a key, in order.
    pub fn iter(&self, key: KeyId) -> impl Iterator<Item = (&K, &V)> {
        self.state.get(key, ()).into_iter().flat_map(JavaMap::iter)
    }

    /// Keeps a value in the place of any other.
    pub fn put(&mut self, key: KeyId, of: K, value: V) -> RunResult<()> {
        self.state.check(&of, &self.key)?;
        self.state.check(&value, &self.value)?;
        self.state.entry_mut(key, (), JavaMap::default).insert(of, &self.key, value);
        Ok(())
    }

    /// Changes the value of `of` in place, or first what `empty` gives.
    pub fn update(
        &mut self,
        key: KeyId,
        of: K,
        empty: impl FnOnce() -> V,
        change: impl FnOnce(&mut V),
    ) -> RunResult<()> {
        let map = self.state.entry_mut(key, (), JavaMap::default);
        let Some(value) = map.get_mut(&of, &self.key) else {
            let mut value = empty();
            change(&mut value);
            return self.put(key, of, value);
        };
        change(value);
        if value.fits(&self.value) { Ok(()) } else { Err(self.state.misfit()) }
    }

    /// Takes a value back, or a part of it: `stays` changes it and says whether it is still kept.
    pub fn reduce(&mut self, key: KeyId, of: &K, stays: impl FnOnce(&mut V) -> bool) {
        let Some(map) = self.state.get_mut(key, ()) else { return };
        if map.get_mut(of, &self.key).is_some_and(|value| !stays(value)) {
            map.remove(of, &self.key);
        }
        if map.is_empty() {
            self.state.remove(key, ());
        }
    }

    /// Goes through all entries of a key in order and forgets those for which `keep` says so.
    pub fn retain(&mut self, key: KeyId, keep: impl FnMut(&K, &mut V) -> bool) {
        let Some(map) = self.state.get_mut(key, ()) else { return };
        map.retain(keep);
        if map.is_empty() {
            self.state.remove(key, ());
        }
    }

    /// For savepoints.
    pub fn table(&mut self) -> &mut dyn StateTable
    where
        K: 'static,
        V: 'static,
    {
        &mut self.state
    }
}
