//! Bundles of rows under mini-batch (Flink's `AbstractMapBundleOperator`): something per key until the bundle ends, which is with
//! a watermark, before a savepoint, or after a number of rows.

use super::build::Build;
use super::hash_order;
use super::store::{KeyId, Keys};
use crate::catalog::options::parse_bool;
use crate::catalog::types::DataType;
use crate::eval::{Datum, Row};

/// What is collected per key.
pub struct Bundle<T> {
    columns: Vec<usize>,
    keys: Keys,
    /// By the number of the key, which is the order of first rows.
    values: Vec<T>,
    /// The types of the key.
    types: Vec<DataType>,
    rows: usize,
    /// `table.exec.mini-batch.size`
    limit: usize,
}

/// True if operators work in bundles.
pub fn is_on(build: &Build<'_>) -> bool {
    build.option("table.exec.mini-batch.enabled").and_then(parse_bool).unwrap_or_default()
}

impl<T> Bundle<T> {
    /// An empty bundle of rows with their keys in these columns.
    pub fn of(build: &Build<'_>, columns: &[usize]) -> Bundle<T> {
        let limit = build.option("table.exec.mini-batch.size").and_then(|v| v.trim().parse().ok()).filter(|n| *n > 0);
        Bundle {
            columns: columns.to_vec(),
            keys: Keys::of(columns),
            values: Vec::new(),
            types: columns.iter().map(|c| build.input[*c].ty.clone()).collect(),
            rows: 0,
            limit: limit.unwrap_or(usize::MAX),
        }
    }

    /// The number in the bundle of a row's key, and what is collected for it, which begins as `empty`.
    pub fn of_row(&mut self, row: &[Datum], empty: impl FnOnce() -> T) -> (KeyId, &mut T) {
        let id = self.keys.of_row(row);
        self.rows += 1;
        if id.index() == self.values.len() {
            self.values.push(empty());
        }
        (id, &mut self.values[id.index()])
    }

    /// True if the bundle has as many rows as a bundle may have.
    pub fn is_full(&self) -> bool {
        self.rows >= self.limit
    }

    /// Ends the bundle: the keys with what was collected, in Flink's order. The numbers of keys begin anew.
    pub fn take(&mut self) -> Vec<(KeyId, Row, T)> {
        let keys = std::mem::replace(&mut self.keys, Keys::of(self.columns.as_slice()));
        self.rows = 0;
        let with_key = |(i, value)| {
            let id = KeyId::at(i);
            (id, keys.key(id).clone(), value)
        };
        let mut entries: Vec<_> = self.values.drain(..).enumerate().map(with_key).collect();
        hash_order::sort(&mut entries, &self.types, |(_, key, _)| key);
        entries
    }
}
