//! A map by sort key, in the order of ORDER BY.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::eval::Row;
use crate::logical::rel::SortKey;
use crate::run::order;
use crate::run::store::{ImageError, StateData, map_types};
use crate::state::types::StateType;

/// A sort key with its order. What comes from a savepoint has none yet, and stands in the order of values.
#[derive(Debug, Clone)]
struct Ordered {
    key: Row,
    order: Option<Arc<[SortKey]>>,
}

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> Ordering {
        match &self.order {
            Some(order) => order::compare(order, &self.key, &other.key),
            None => self.key.cmp(&other.key),
        }
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Ordered) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

/// What stands under a sort key.
pub(super) trait Group: StateData {
    /// How many rows that are.
    fn rows(&self) -> i64;
}

impl Group for Vec<Row> {
    fn rows(&self) -> i64 {
        self.len() as i64
    }
}

impl Group for i64 {
    fn rows(&self) -> i64 {
        *self
    }
}

/// Rows, or numbers of rows, by sort key (Flink's `TopNBuffer`, and the sorted map of `RetractableTopNFunction`).
#[derive(Debug)]
pub(super) struct Sorted<G> {
    order: Option<Arc<[SortKey]>>,
    groups: BTreeMap<Ordered, G>,
    rows: i64,
}

impl<G: Group> Sorted<G> {
    /// An empty map in this order.
    pub fn new(order: &Arc<[SortKey]>) -> Sorted<G> {
        Sorted { order: Some(order.clone()), groups: BTreeMap::new(), rows: 0 }
    }

    /// Puts what a savepoint held into this order.
    pub fn arrange(&mut self, order: &Arc<[SortKey]>) {
        if self.order.is_none() {
            let groups = std::mem::take(&mut self.groups);
            self.order = Some(order.clone());
            self.groups = groups.into_iter().map(|(k, g)| (self.ordered(k.key), g)).collect();
        }
    }

    /// True if it is in the order of ORDER BY already.
    pub fn is_arranged(&self) -> bool {
        self.order.is_some()
    }

    fn ordered(&self, key: Row) -> Ordered {
        Ordered { key, order: self.order.clone() }
    }

    /// How many rows there are.
    pub fn rows(&self) -> i64 {
        self.rows
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The last sort key with its group.
    pub fn last(&self) -> Option<(&Row, &G)> {
        self.groups.last_key_value().map(|(k, g)| (&k.key, g))
    }

    /// All sort keys with their groups.
    pub fn iter(&self) -> impl Iterator<Item = (&Row, &G)> {
        self.groups.iter().map(|(k, g)| (&k.key, g))
    }

    /// What stands under a sort key.
    pub fn get(&self, key: &Row) -> Option<&G> {
        self.groups.get(&self.ordered(key.clone()))
    }

    /// Changes the group of a sort key, which is new and empty if there was none. Empty groups go away.
    pub fn change<R>(&mut self, key: &Row, change: impl FnOnce(&mut G) -> R) -> R
    where
        G: Default,
    {
        use std::collections::btree_map::Entry;
        match self.groups.entry(Ordered { key: key.clone(), order: self.order.clone() }) {
            Entry::Vacant(place) => {
                let mut group = G::default();
                let result = change(&mut group);
                self.rows += group.rows();
                if group.rows() != 0 {
                    place.insert(group);
                }
                result
            }
            Entry::Occupied(mut place) => {
                let before = place.get().rows();
                let result = change(place.get_mut());
                let now = place.get().rows();
                self.rows += now - before;
                if now == 0 {
                    place.remove();
                }
                result
            }
        }
    }

    /// Takes out the groups behind a sort key.
    pub fn split_off(&mut self, key: &Row) -> Vec<G> {
        let ordered = self.ordered(key.clone());
        let mut behind = self.groups.split_off(&ordered);
        if let Some((first, _)) = behind.first_key_value()
            && *first == ordered
            && let Some((first, group)) = behind.pop_first()
        {
            self.groups.insert(first, group);
        }
        self.rows -= behind.values().map(Group::rows).sum::<i64>();
        behind.into_values().collect()
    }
}

impl<G: Group> StateData for Sorted<G> {
    fn fits(&self, ty: &StateType) -> bool {
        map_types(ty).is_some_and(|(k, v)| self.groups.iter().all(|(a, b)| a.key.fits(k) && b.fits(v)))
    }

    fn to_json(&self, ty: &StateType) -> Value {
        let Some((k, v)) = map_types(ty) else { return Value::Null };
        let mut sorted: Vec<_> = self.iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(b.0));
        Value::Array(sorted.into_iter().map(|(a, b)| serde_json::json!([a.to_json(k), b.to_json(v)])).collect())
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        let groups = BTreeMap::<Row, G>::from_json(value, ty)?;
        let rows = groups.values().map(Group::rows).sum();
        let groups = groups.into_iter().map(|(key, group)| (Ordered { key, order: None }, group)).collect();
        Ok(Sorted { order: None, groups, rows })
    }
}
