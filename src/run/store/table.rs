//! Values, lists and maps by key and namespace.

use std::sync::Arc;

use super::data::{Namespace, StateData};
use super::image::{EntryImage, ImageError, SlotImage};
use super::keys::{KeyId, Keys};
use super::slots::Slots;
use crate::eval::Row;
use crate::run::error::{RunError, RunResult};
use crate::state::StateEntry;
use crate::state::types::StateType;

/// An entry with what it holds, whatever that is: how savepoints see it.
pub trait StateTable {
    /// The entry.
    fn entry(&self) -> &StateEntry;
    /// True if it holds something for the key.
    fn holds(&self, key: KeyId) -> bool;
    /// What it holds.
    fn slots(&self, keys: &Keys) -> Vec<SlotImage>;
    /// Takes over what a savepoint holds. What was there is forgotten.
    fn restore(&mut self, slots: &[SlotImage], keys: &mut Keys) -> Result<(), ImageError>;

    /// The entry as it stands in a savepoint.
    fn image(&self, keys: &Keys) -> EntryImage {
        EntryImage { slots: self.slots(keys), ..self.image_header() }
    }

    /// The same with nothing in it.
    fn image_header(&self) -> EntryImage {
        EntryImage::empty(self.entry())
    }
}

/// Counts what is held per key.
#[derive(Debug, Default)]
pub(super) struct Counts(Vec<u32>);

impl Counts {
    pub fn add(&mut self, key: KeyId) {
        if self.0.len() <= key.index() {
            self.0.resize(key.index() + 1, 0);
        }
        self.0[key.index()] += 1;
    }

    pub fn remove(&mut self, key: KeyId) {
        self.0[key.index()] -= 1;
    }

    pub fn any(&self, key: KeyId) -> bool {
        self.0.get(key.index()).is_some_and(|n| *n > 0)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Where a value stands: the JSON of its key.
pub(super) fn key_json(entry: &StateEntry, keys: &Keys, id: KeyId) -> serde_json::Value {
    match &entry.key {
        Some(ty) => StateData::to_json(keys.key(id), &StateType::Row(ty.clone())),
        None => serde_json::Value::Null,
    }
}

/// The key that a savepoint names.
pub(super) fn key_of(entry: &StateEntry, keys: &mut Keys, value: &serde_json::Value) -> Result<KeyId, ImageError> {
    let ty = StateType::Row(entry.key.clone().unwrap_or_default());
    Ok(keys.of_key(&Row::from_json(value, &ty)?))
}

/// A value, list or map by key and namespace. Lists are `Vec`s and maps are maps: one slot holds the whole of it.
#[derive(Debug)]
pub struct KeyedState<N, T> {
    entry: Arc<StateEntry>,
    slots: Slots<N, T>,
}

impl<N: Namespace, T: StateData> KeyedState<N, T> {
    pub(super) fn new(entry: Arc<StateEntry>) -> KeyedState<N, T> {
        KeyedState { entry, slots: Slots::new() }
    }

    /// What is kept.
    pub fn get(&self, key: KeyId, namespace: N) -> Option<&T> {
        self.slots.get(key, &namespace)
    }

    /// Keeps `value`, which must be of the declared type.
    pub fn put(&mut self, key: KeyId, namespace: N, value: T) -> RunResult<()> {
        if !value.fits(&self.entry.value) {
            return Err(self.misfit());
        }
        self.slots.insert(key, namespace, value);
        Ok(())
    }

    /// Changes in place what is kept, or first what `empty` gives; afterwards it must be of the declared type.
    pub fn update<R>(
        &mut self,
        key: KeyId,
        namespace: N,
        empty: impl FnOnce() -> T,
        change: impl FnOnce(&mut T) -> RunResult<R>,
    ) -> RunResult<R> {
        let value = self.slots.entry(key, namespace, empty);
        let result = change(value)?;
        if value.fits(&self.entry.value) { Ok(result) } else { Err(self.misfit()) }
    }

    /// What is kept, or else what `empty` gives, to be changed in place. For large maps and lists, where checking the whole after
    /// each change would cost too much: the caller checks what it adds with [`KeyedState::check`].
    pub fn entry_mut(&mut self, key: KeyId, namespace: N, empty: impl FnOnce() -> T) -> &mut T {
        self.slots.entry(key, namespace, empty)
    }

    /// The keys that have values, in no order.
    pub fn keys(&self) -> impl Iterator<Item = KeyId> {
        self.slots.iter().map(|(key, ..)| key)
    }

    /// How many values the key has.
    pub fn count(&self, key: KeyId) -> usize {
        self.slots.count(key)
    }

    /// The namespaces under which the key has values, in no order.
    pub fn namespaces(&self, key: KeyId) -> impl Iterator<Item = &N> {
        self.slots.namespaces(key)
    }

    /// The namespaces of all keys, in no order.
    pub fn all_namespaces(&self) -> impl Iterator<Item = &N> {
        self.slots.iter().map(|(_, namespace, _)| namespace)
    }

    /// What is kept, to be changed in place: see [`KeyedState::entry_mut`].
    pub fn get_mut(&mut self, key: KeyId, namespace: N) -> Option<&mut T> {
        self.slots.get_mut(key, &namespace)
    }

    /// All that is kept, whatever the key, to be changed in place: see [`KeyedState::entry_mut`].
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.values_mut()
    }

    /// The type that the entry declares: that of the whole value, list or map.
    pub fn declared(&self) -> &StateType {
        &self.entry.value
    }

    /// Checks something that is about to be written into a part of the value, against the type of that part.
    pub fn check(&self, part: &impl StateData, ty: &StateType) -> RunResult<()> {
        if part.fits(ty) { Ok(()) } else { Err(self.misfit()) }
    }

    /// Forgets what is kept and gives it back.
    pub fn remove(&mut self, key: KeyId, namespace: N) -> Option<T> {
        self.slots.remove(key, &namespace)
    }

    pub(super) fn misfit(&self) -> Box<RunError> {
        RunError::internal(format!(
            "something was written to the state `{}` that is not {}",
            self.entry.name, self.entry.value
        ))
    }
}

impl<N: Namespace, T: StateData> StateTable for KeyedState<N, T> {
    fn entry(&self) -> &StateEntry {
        &self.entry
    }

    fn holds(&self, key: KeyId) -> bool {
        self.slots.any(key)
    }

    fn slots(&self, keys: &Keys) -> Vec<SlotImage> {
        let mut sorted: Vec<_> = self.slots.iter().collect();
        sorted.sort_by(|(a, n, _), (b, m, _)| (keys.key(*a), n).cmp(&(keys.key(*b), m)));
        sorted
            .into_iter()
            .map(|(key, namespace, value)| SlotImage {
                key: key_json(&self.entry, keys, key),
                namespace: namespace.to_json(&self.entry.namespace),
                value: value.to_json(&self.entry.value),
            })
            .collect()
    }

    fn restore(&mut self, slots: &[SlotImage], keys: &mut Keys) -> Result<(), ImageError> {
        self.slots.clear();
        for slot in slots {
            let key = key_of(&self.entry, keys, &slot.key)?;
            let namespace = N::from_json(&slot.namespace, &self.entry.namespace)?;
            let value = T::from_json(&slot.value, &self.entry.value)?;
            if !self.slots.insert(key, namespace, value) {
                return Err(ImageError::new("two values stand under one key"));
            }
        }
        Ok(())
    }
}
