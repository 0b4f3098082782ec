//! The keys of an operator, each with a small number, so that state is found without hashing the key again and again.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::eval::{Datum, Row};

/// The number of a key in its operator. Numbers of forgotten keys are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(u32);

/// The keys that an operator has state for, and some that it had.
#[derive(Debug, Default)]
pub struct Keys {
    /// The key columns of the input.
    columns: Vec<usize>,
    table: HashTable<KeyId>,
    rows: Vec<Row>,
    free: Vec<KeyId>,
    /// How many keys may be known before those without state are looked for.
    limit: usize,
}

const FIRST_LIMIT: usize = 4096;

fn hash_of<'a>(values: impl Iterator<Item = &'a Datum>) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    values.for_each(|v| v.hash(&mut hasher));
    hasher.finish()
}

impl Keys {
    /// Keys made of these columns of the input.
    pub fn of(columns: impl Into<Vec<usize>>) -> Keys {
        Keys { columns: columns.into(), limit: FIRST_LIMIT, ..Keys::default() }
    }

    /// The columns of the input that make the key.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The number of the key of an input row.
    pub fn of_row(&mut self, row: &[Datum]) -> KeyId {
        let hash = hash_of(self.columns.iter().map(|c| &row[*c]));
        let equal = |id: &KeyId| {
            let key = &self.rows[id.0 as usize];
            self.columns.iter().zip(key.iter()).all(|(c, k)| row[*c] == *k)
        };
        match self.table.find(hash, equal) {
            Some(id) => *id,
            None => self.insert(hash, self.columns.iter().map(|c| row[*c].clone()).collect()),
        }
    }

    /// The number of a key.
    pub fn of_key(&mut self, key: &Row) -> KeyId {
        let hash = hash_of(key.iter());
        match self.table.find(hash, |id| self.rows[id.0 as usize] == *key) {
            Some(id) => *id,
            None => self.insert(hash, key.clone()),
        }
    }

    fn insert(&mut self, hash: u64, key: Row) -> KeyId {
        let id = match self.free.pop() {
            Some(id) => {
                self.rows[id.0 as usize] = key;
                id
            }
            None => {
                self.rows.push(key);
                KeyId(self.rows.len() as u32 - 1)
            }
        };
        let rows = &self.rows;
        self.table.insert_unique(hash, id, |id| hash_of(rows[id.0 as usize].iter()));
        id
    }

    /// The key of a number.
    pub fn key(&self, id: KeyId) -> &Row {
        &self.rows[id.0 as usize]
    }

    /// True if so many keys are known that it is worth looking for those without state.
    pub(crate) fn is_crowded(&self) -> bool {
        self.table.len() > self.limit
    }

    /// Forgets all keys for which `live` is false.
    pub(crate) fn sweep(&mut self, live: impl Fn(KeyId) -> bool) {
        let free = &mut self.free;
        let rows = &mut self.rows;
        self.table.retain(|id| {
            let keep = live(*id);
            if !keep {
                rows[id.0 as usize] = Row::empty();
                free.push(*id);
            }
            keep
        });
        self.limit = FIRST_LIMIT.max(self.table.len() * 2);
    }
}

impl KeyId {
    /// The key that came at this place into an empty [`Keys`].
    pub(in crate::run) fn at(index: usize) -> KeyId {
        KeyId(index as u32)
    }

    pub(in crate::run) fn index(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(i: i64) -> Row {
        Row::new(vec![Datum::Null, Datum::Int(i)])
    }

    #[test]
    fn a_key_keeps_its_number_until_it_is_forgotten() {
        let mut keys = Keys::of([1]);
        let (one, two) = (keys.of_row(&row(1)), keys.of_row(&row(2)));
        assert_ne!(one, two);
        assert_eq!(keys.of_row(&row(1)), one);
        assert_eq!(keys.of_key(&Row::new(vec![Datum::Int(2)])), two);
        keys.sweep(|id| id == two);
        assert_eq!(keys.of_row(&row(2)), two);
        assert_eq!(keys.of_row(&row(3)), one, "the number of a forgotten key is used again");
        assert_eq!(keys.key(one), &Row::new(vec![Datum::Int(3)]));
    }
}
