//! State of an operator without a key.

use std::sync::Arc;

use super::data::StateData;
use super::image::{ImageError, SlotImage};
use super::keys::{KeyId, Keys};
use super::table::StateTable;
use crate::run::error::{RunError, RunResult};
use crate::state::StateEntry;

/// One value of an operator.
#[derive(Debug)]
pub struct OperatorState<T> {
    entry: Arc<StateEntry>,
    value: Option<T>,
}

impl<T: StateData> OperatorState<T> {
    pub(super) fn new(entry: Arc<StateEntry>) -> OperatorState<T> {
        OperatorState { entry, value: None }
    }

    /// What is kept.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    /// Keeps `value`, which must be of the declared type.
    pub fn put(&mut self, value: T) -> RunResult<()> {
        if !value.fits(&self.entry.value) {
            let message =
                format!("something was written to the state `{}` that is not {}", self.entry.name, self.entry.value);
            return Err(RunError::internal(message));
        }
        self.value = Some(value);
        Ok(())
    }
}

impl<T: StateData> StateTable for OperatorState<T> {
    fn entry(&self) -> &StateEntry {
        &self.entry
    }

    fn holds(&self, _: KeyId) -> bool {
        false
    }

    fn slots(&self, _: &Keys) -> Vec<SlotImage> {
        let slot = |value: &T| SlotImage {
            key: serde_json::Value::Null,
            namespace: serde_json::Value::Null,
            value: value.to_json(&self.entry.value),
        };
        self.value.iter().map(slot).collect()
    }

    fn restore(&mut self, slots: &[SlotImage], _: &mut Keys) -> Result<(), ImageError> {
        self.value = match slots {
            [] => None,
            [one] => Some(T::from_json(&one.value, &self.entry.value)?),
            _ => return Err(ImageError::new("an operator has one value")),
        };
        Ok(())
    }
}
