//! A row of values, shared between operators and state without copying.

use std::ops::Deref;
use std::sync::Arc;

use super::Datum;

/// A row.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Row(Arc<[Datum]>);

impl Row {
    /// A row of these values.
    pub fn new(values: Vec<Datum>) -> Row {
        Row(values.into())
    }

    /// The row without columns: the key of operators that have none.
    pub fn empty() -> Row {
        Row(Arc::from([]))
    }

    /// Some of its columns as a row.
    pub fn project(&self, columns: &[usize]) -> Row {
        columns.iter().map(|c| self.0[*c].clone()).collect()
    }

    /// This row with further columns behind it.
    pub fn extended(&self, more: impl ExactSizeIterator<Item = Datum>) -> Row {
        // Iterators that know their length fill the row where it will stand, without a vector in between.
        Row(self.0.iter().cloned().chain(more).collect())
    }
}

impl Deref for Row {
    type Target = [Datum];

    fn deref(&self) -> &[Datum] {
        &self.0
    }
}

impl FromIterator<Datum> for Row {
    fn from_iter<I: IntoIterator<Item = Datum>>(values: I) -> Row {
        Row(values.into_iter().collect())
    }
}
