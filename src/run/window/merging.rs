//! SESSION windows that grow together (Flink's `MergingWindowSet`, `SessionWindowAssigner`).

use std::collections::BTreeMap;

use crate::run::error::RunResult;
use crate::run::store::{Entries, KeyId, KeyedState, StateTable, Window};

/// The open windows of every key. What is kept of a window stands under one of the windows that it grew from, its state window.
pub struct MergingWindows {
    mapping: KeyedState<(), BTreeMap<Window, Window>>,
}

/// Windows that became one.
#[derive(Debug, PartialEq, Eq)]
pub struct Merge {
    /// The open windows that are gone.
    pub merged: Vec<Window>,
    /// The state window of the result.
    pub target: Window,
    /// The other state windows: what they keep goes into the target.
    pub others: Vec<Window>,
}

impl MergingWindows {
    /// Takes the entry.
    pub fn new(entries: &mut Entries) -> RunResult<MergingWindows> {
        Ok(MergingWindows { mapping: entries.keyed("session-window-mapping")? })
    }

    /// Adds a window: the open window that it is in afterwards, and what was merged on the way.
    pub fn add(&mut self, key: KeyId, new: Window) -> RunResult<(Window, Option<Merge>)> {
        let open = self.mapping.get(key, ());
        let neighbours = |w: Window| {
            let ceiling = open.and_then(|m| m.range(w..).next()).map(|(w, _)| *w);
            let floor = open.and_then(|m| m.range(..=w).next_back()).map(|(w, _)| *w);
            [ceiling, floor]
        };
        let mut result = new;
        let mut merged: Vec<Window> = Vec::new();
        for other in neighbours(new).into_iter().flatten() {
            // Windows that only touch merge as well (`TimeWindow.intersects`).
            if result.start <= other.end && result.end >= other.start && !merged.contains(&other) {
                result = Window { start: result.start.min(other.start), end: result.end.max(other.end) };
                merged.push(other);
            }
        }
        if merged.contains(&new) {
            // It is open already. (No other window touches it: they would be one.)
            return Ok((new, None));
        }
        if merged.is_empty() {
            self.mapping.update(key, (), BTreeMap::new, |m| Ok(m.insert(new, new)))?;
            return Ok((new, None));
        }
        in_hash_order(&mut merged);
        let (target, others) = self.mapping.update(key, (), BTreeMap::new, |m| {
            let mut states = merged.iter().filter_map(|w| m.remove(w));
            let target = states.next().unwrap_or(new);
            let others: Vec<Window> = states.collect();
            m.insert(result, target);
            Ok((target, others))
        })?;
        // A window that another is within stays as it is.
        let unchanged = merged == [result];
        Ok((result, (!unchanged).then_some(Merge { merged, target, others })))
    }

    /// Adds a window that is complete: it merges with no other.
    pub fn add_whole(&mut self, key: KeyId, new: Window) -> RunResult<Window> {
        self.mapping.update(key, (), BTreeMap::new, |m| Ok(m.insert(new, new)))?;
        Ok(new)
    }

    /// The state window of an open one.
    pub fn state_window(&self, key: KeyId, window: Window) -> Option<Window> {
        self.mapping.get(key, ()).and_then(|m| m.get(&window)).copied()
    }

    /// Forgets an open window.
    pub fn retire(&mut self, key: KeyId, window: Window) {
        if let Some(open) = self.mapping.get_mut(key, ()) {
            open.remove(&window);
            if open.is_empty() {
                self.mapping.remove(key, ());
            }
        }
    }

    /// The state.
    pub fn table(&mut self) -> &mut dyn StateTable {
        &mut self.mapping
    }
}

/// The order in which Java's `HashSet` goes through a few windows. It decides which of them keeps the state, and so in which
/// order values come together where that matters (LISTAGG).
fn in_hash_order(windows: &mut [Window]) {
    windows.sort_by_key(|w| bucket(*w));
}

/// The place in a table of 16 (`HashMap.hash` over `TimeWindow.hashCode`).
fn bucket(window: Window) -> u32 {
    // `modInverse`: Newton's steps towards the inverse of an odd number.
    let odd = (window.end.wrapping_shl(1) as i32).wrapping_add(1);
    let mut inverse = odd.wrapping_mul(odd).wrapping_mul(odd);
    for _ in 0..3 {
        inverse = inverse.wrapping_mul(2_i32.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    let hash = window.start.wrapping_add(i64::from(inverse)) as u32;
    (hash ^ (hash >> 16)) & 15
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Row;
    use crate::run::store::Keys;
    use crate::state::types::{RowType, StateType};
    use crate::state::{StateEntry, StateKind};

    fn window(start: i64, end: i64) -> Window {
        Window { start, end }
    }

    fn windows() -> (MergingWindows, KeyId) {
        let entry = StateEntry {
            name: "session-window-mapping".to_owned(),
            compiled_name: None,
            kind: StateKind::Map,
            key: Some(RowType::default()),
            namespace: StateType::Void,
            value: StateType::Map(StateType::Window.into(), StateType::Window.into()),
            ttl: None,
            input: 0,
        };
        let key = Keys::of([]).of_key(&Row::empty());
        (MergingWindows::new(&mut Entries::new(vec![entry])).unwrap(), key)
    }

    #[test]
    fn windows_that_touch_become_one() {
        let (mut set, key) = windows();
        assert_eq!(set.add(key, window(0, 10)).unwrap(), (window(0, 10), None));
        assert_eq!(set.add(key, window(20, 30)).unwrap(), (window(20, 30), None));
        let (result, merge) = set.add(key, window(10, 20)).unwrap();
        let merge = merge.unwrap();
        assert_eq!(result, window(0, 30));
        assert_eq!(merge.merged.len(), 2);
        assert_eq!(merge.others.len(), 1);
        assert_eq!(set.state_window(key, result), Some(merge.target));
        set.retire(key, result);
        assert_eq!(set.state_window(key, result), None);
    }

    #[test]
    fn a_window_within_another_changes_nothing() {
        let (mut set, key) = windows();
        set.add(key, window(0, 10)).unwrap();
        set.add(key, window(5, 15)).unwrap();
        assert_eq!(set.add(key, window(2, 12)).unwrap(), (window(0, 15), None));
        assert_eq!(set.add(key, window(0, 15)).unwrap(), (window(0, 15), None));
        assert_eq!(set.state_window(key, window(0, 15)), Some(window(0, 10)));
    }
}
