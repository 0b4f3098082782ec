//! State on its way into and out of a savepoint.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::state::StateEntry;

/// What a savepoint holds of one entry of an operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryImage {
    /// The entry's name.
    pub name: String,
    /// The form of it: `value`, `list`, `map`, `reducing`, `operator`, `timer`.
    pub kind: String,
    /// The type of the key; empty for state without one.
    pub key: String,
    /// The type of the namespace.
    pub namespace: String,
    /// The type of what it holds.
    pub value: String,
    /// What it holds, in the order of keys and namespaces.
    pub slots: Vec<SlotImage>,
}

impl EntryImage {
    /// An entry that holds nothing.
    pub fn empty(entry: &StateEntry) -> EntryImage {
        EntryImage {
            name: entry.name.clone(),
            kind: entry.kind.to_string(),
            key: entry.key.as_ref().map(ToString::to_string).unwrap_or_default(),
            namespace: entry.namespace.to_string(),
            value: entry.value.to_string(),
            slots: Vec::new(),
        }
    }
}

/// What an entry holds for one key and namespace: a timer's value is its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlotImage {
    /// The key.
    pub key: Value,
    /// The namespace.
    pub namespace: Value,
    /// What is kept.
    pub value: Value,
}

/// A savepoint that does not say what it should.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ImageError {
    /// What is wrong.
    pub message: String,
}

impl ImageError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> ImageError {
        ImageError { message: message.into() }
    }
}
