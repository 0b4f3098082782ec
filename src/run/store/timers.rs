//! Timers by key and namespace (Flink's `InternalTimerService`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::data::{Namespace, StateData};
use super::image::{ImageError, SlotImage};
use super::keys::{KeyId, Keys};
use super::table::{Counts, StateTable, key_json, key_of};
use crate::state::StateEntry;

/// Timers of one time domain. A timer is set once per time, key and namespace, however often it is asked for; timers of one time
/// fire in the order in which they were set.
#[derive(Debug)]
pub struct Timers<N> {
    entry: Arc<StateEntry>,
    queue: BinaryHeap<Reverse<(i64, u64, KeyId, N)>>,
    set: FxHashSet<(i64, KeyId, N)>,
    counts: Counts,
    sequence: u64,
}

impl<N: Namespace> Timers<N> {
    pub(super) fn new(entry: Arc<StateEntry>) -> Timers<N> {
        let (queue, set) = (BinaryHeap::new(), FxHashSet::default());
        Timers { entry, queue, set, counts: Counts::default(), sequence: 0 }
    }

    /// Sets a timer.
    pub fn set(&mut self, time: i64, key: KeyId, namespace: N) {
        if self.set.insert((time, key, namespace.clone())) {
            self.queue.push(Reverse((time, self.sequence, key, namespace)));
            self.sequence += 1;
            self.counts.add(key);
        }
    }

    /// Takes a timer back.
    pub fn delete(&mut self, time: i64, key: KeyId, namespace: N) {
        // The queue still has it; it is passed over when its time comes.
        if self.set.remove(&(time, key, namespace)) {
            self.counts.remove(key);
        }
    }

    /// The next timer that is due at `now`, with its time.
    pub fn due(&mut self, now: i64) -> Option<(i64, KeyId, N)> {
        while let Some(Reverse((time, ..))) = self.queue.peek() {
            if *time > now {
                return None;
            }
            let Reverse((time, _, key, namespace)) = self.queue.pop()?;
            if self.set.remove(&(time, key, namespace.clone())) {
                self.counts.remove(key);
                return Some((time, key, namespace));
            }
        }
        None
    }
}

impl<N> Timers<N> {
    /// The namespaces of all timers, in no order.
    pub fn all_namespaces(&self) -> impl Iterator<Item = &N> {
        self.set.iter().map(|(_, _, namespace)| namespace)
    }
}

impl<N: Namespace> StateTable for Timers<N> {
    fn entry(&self) -> &StateEntry {
        &self.entry
    }

    fn holds(&self, key: KeyId) -> bool {
        self.counts.any(key)
    }

    fn slots(&self, keys: &Keys) -> Vec<SlotImage> {
        // In the order in which they will fire, which is kept by a restore. The queue also has what was deleted, and what was
        // deleted and set again more than once.
        let mut sorted: Vec<_> = self.queue.iter().map(|Reverse(timer)| timer).collect();
        sorted.sort_unstable_by_key(|(time, sequence, ..)| (*time, *sequence));
        let mut seen = FxHashSet::default();
        sorted
            .into_iter()
            .map(|(time, _, key, namespace)| (*time, *key, namespace.clone()))
            .filter(|timer| self.set.contains(timer) && seen.insert(timer.clone()))
            .map(|(time, key, namespace)| SlotImage {
                key: key_json(&self.entry, keys, key),
                namespace: namespace.to_json(&self.entry.namespace),
                value: time.into(),
            })
            .collect()
    }

    fn restore(&mut self, slots: &[SlotImage], keys: &mut Keys) -> Result<(), ImageError> {
        self.queue.clear();
        self.set.clear();
        self.counts.clear();
        for slot in slots {
            let key = key_of(&self.entry, keys, &slot.key)?;
            let namespace = N::from_json(&slot.namespace, &self.entry.namespace)?;
            let time = i64::from_json(&slot.value, &crate::state::types::StateType::bigint())?;
            self.set(time, key, namespace);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Row;
    use crate::state::StateKind;
    use crate::state::types::{RowType, StateType};

    #[test]
    fn timers_fire_once_in_order_of_time() {
        let entry = StateEntry {
            name: "_timer_state/event_user-timers".to_owned(),
            compiled_name: None,
            kind: StateKind::Timer,
            key: Some(RowType::default()),
            namespace: StateType::Void,
            value: StateType::bigint(),
            ttl: None,
            input: 0,
        };
        let mut keys = Keys::of([]);
        let key = keys.of_key(&Row::empty());
        let mut timers = Timers::<()>::new(Arc::new(entry));
        for time in [5, 3, 3, 9] {
            timers.set(time, key, ());
        }
        timers.delete(5, key, ());
        assert_eq!(timers.due(8).map(|t| t.0), Some(3));
        assert_eq!(timers.due(8), None);
        assert!(timers.holds(key));
        assert_eq!(timers.due(9).map(|t| t.0), Some(9));
        assert!(!timers.holds(key));
    }
}
