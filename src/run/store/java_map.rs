//! Maps that are gone through in the order of a Java `HashMap`, as those of Flink's `MapState` are on its heap: what an operator
//! sends per entry is sent in that order.

use super::data::{StateData, map_types};
use super::image::ImageError;
use crate::eval::{Datum, Row};
use crate::run::hash_order;
use crate::state::types::StateType;
use serde_json::{Value, json};

/// What can be a key of a [`JavaMap`].
pub trait JavaKey: StateData + Eq {
    /// Java's `hashCode` of a key of this type.
    fn java_hash(&self, ty: &StateType) -> u32;
}

impl JavaKey for i64 {
    fn java_hash(&self, _: &StateType) -> u32 {
        hash_order::hash_of_long(*self)
    }
}

impl JavaKey for Row {
    fn java_hash(&self, ty: &StateType) -> u32 {
        let fields = match ty {
            StateType::Row(row) => row.fields.as_slice(),
            _ => &[],
        };
        hash_order::hash(self as &[Datum], fields.iter().map(|f| &f.ty))
    }
}

/// A map in Java's order: by bucket, and in a bucket by arrival. The table grows with the number of entries and does not shrink.
#[derive(Debug)]
pub struct JavaMap<K, V> {
    /// In order.
    entries: Vec<Entry<K, V>>,
    /// The number of buckets.
    table: usize,
}

#[derive(Debug)]
struct Entry<K, V> {
    /// The spread hash.
    hash: u32,
    key: K,
    value: V,
}

impl<K, V> Default for JavaMap<K, V> {
    fn default() -> JavaMap<K, V> {
        JavaMap { entries: Vec::new(), table: 16 }
    }
}

impl<K: JavaKey, V> JavaMap<K, V> {
    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.table - 1)
    }

    /// The place of a key, or where it would be put.
    fn place(&self, hash: u32, key: &K) -> Result<usize, usize> {
        let bucket = self.bucket(hash);
        let first = self.entries.partition_point(|e| self.bucket(e.hash) < bucket);
        let mut at = first;
        while let Some(entry) = self.entries.get(at).filter(|e| self.bucket(e.hash) == bucket) {
            if entry.hash == hash && entry.key == *key {
                return Ok(at);
            }
            at += 1;
        }
        Err(at)
    }

    fn spread(key: &K, ty: &StateType) -> u32 {
        hash_order::spread(key.java_hash(ty))
    }

    /// The value of a key of type `ty`.
    pub fn get(&self, key: &K, ty: &StateType) -> Option<&V> {
        let place = self.place(Self::spread(key, ty), key).ok()?;
        Some(&self.entries[place].value)
    }

    /// The value of a key of type `ty`, to be changed in place.
    pub fn get_mut(&mut self, key: &K, ty: &StateType) -> Option<&mut V> {
        let place = self.place(Self::spread(key, ty), key).ok()?;
        Some(&mut self.entries[place].value)
    }

    /// The value of a key of type `ty`, or first what `empty` gives.
    pub fn entry(&mut self, key: K, ty: &StateType, empty: impl FnOnce() -> V) -> &mut V
    where
        K: Clone,
    {
        if self.get(&key, ty).is_none() {
            self.insert(key.clone(), ty, empty());
        }
        self.get_mut(&key, ty).expect("it has been put there")
    }

    /// The values, in order.
    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.entries.into_iter().map(|e| e.value)
    }

    /// Keeps a value in the place of any other.
    pub fn insert(&mut self, key: K, ty: &StateType, value: V) {
        let hash = Self::spread(&key, ty);
        match self.place(hash, &key) {
            Ok(at) => self.entries[at].value = value,
            Err(at) => {
                self.entries.insert(at, Entry { hash, key, value });
                // The table doubles when it is more than three quarters full.
                if self.entries.len() * 4 > self.table * 3 {
                    self.table *= 2;
                    let mask = self.table - 1;
                    self.entries.sort_by_key(|e| e.hash as usize & mask);
                }
            }
        }
    }

    /// Forgets a key.
    pub fn remove(&mut self, key: &K, ty: &StateType) -> Option<V> {
        let place = self.place(Self::spread(key, ty), key).ok()?;
        Some(self.entries.remove(place).value)
    }

    /// All entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|e| (&e.key, &e.value))
    }

    /// Goes through all entries in order and forgets those for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain_mut(|e| keep(&e.key, &mut e.value));
    }

    /// True if there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Written in its order, so that what shares a bucket stays in the order of arrival.
impl<K: JavaKey, V: StateData> StateData for JavaMap<K, V> {
    fn fits(&self, ty: &StateType) -> bool {
        map_types(ty).is_some_and(|(k, v)| self.iter().all(|(a, b)| a.fits(k) && b.fits(v)))
    }

    fn to_json(&self, ty: &StateType) -> Value {
        let Some((k, v)) = map_types(ty) else { return Value::Null };
        Value::Array(self.iter().map(|(a, b)| json!([a.to_json(k), b.to_json(v)])).collect())
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        let Some((k, _)) = map_types(ty) else { return Err(ImageError::new(format!("{ty} is no map"))) };
        let entries: Vec<(K, V)> = super::data::entries_from_json(value, ty)?;
        let mut map = JavaMap::default();
        for (key, value) in entries {
            map.insert(key, k, value);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_the_order_of_buckets_and_of_arrival() {
        let ty = StateType::bigint();
        let mut map = JavaMap::<i64, &str>::default();
        // 17 and 1 share a bucket of 16.
        for (key, value) in [(17, "a"), (3, "b"), (1, "c"), (17, "d")] {
            map.insert(key, &ty, value);
        }
        assert_eq!(map.iter().map(|(k, v)| (*k, *v)).collect::<Vec<_>>(), [(17, "d"), (1, "c"), (3, "b")]);
        assert_eq!(map.get_mut(&1, &ty).copied(), Some("c"));
        assert_eq!(map.remove(&17, &ty), Some("d"));
        assert_eq!(map.remove(&17, &ty), None);
        for key in (100..112).rev() {
            map.insert(key, &ty, "");
        }
        let keys: Vec<i64> = map.iter().map(|(k, _)| *k).collect();
        assert_eq!(keys, [1, 3, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111], "32 buckets by now");
    }
}
