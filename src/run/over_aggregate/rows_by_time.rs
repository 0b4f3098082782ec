//! Rows in the order of their time.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use serde_json::Value;

use crate::eval::Row;
use crate::run::store::{ImageError, StateData, map_types};
use crate::state::types::StateType;

/// The rows of one key by time, those of one moment in the order of their arrival: what Flink keeps as a map from times to lists.
///
/// Rows come nearly in order and leave in order, so they stand in one queue: a late row moves a few others, and nothing is
/// allocated per row.
#[derive(Debug, Default)]
pub(super) struct RowsByTime(VecDeque<(i64, Row)>);

/// A queue below this many rows keeps the space that it has.
const SMALL: usize = 32;

impl RowsByTime {
    /// Puts a row behind those of its time; true if it is the first one.
    pub fn push(&mut self, time: i64, row: Row) -> bool {
        let at = match self.0.back() {
            Some((last, _)) if *last > time => self.0.partition_point(|(t, _)| *t <= time),
            _ => self.0.len(),
        };
        let is_first = at == 0 || self.0[at - 1].0 != time;
        self.0.insert(at, (time, row));
        is_first
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The earliest time.
    pub fn first_time(&self) -> Option<i64> {
        self.0.front().map(|(time, _)| *time)
    }

    /// The latest time.
    pub fn last_time(&self) -> Option<i64> {
        self.0.back().map(|(time, _)| *time)
    }

    /// The places of the rows of a time.
    pub fn places(&self, time: i64) -> Range<usize> {
        let start = if self.first_time() == Some(time) { 0 } else { self.0.partition_point(|(t, _)| *t < time) };
        let tied = self.0.range(start..).take_while(|(t, _)| *t == time).count();
        start..start + tied
    }

    /// The row at a place.
    pub fn row(&self, place: usize) -> &Row {
        &self.0[place].1
    }

    /// The rows at some places.
    pub fn rows(&self, places: Range<usize>) -> impl Iterator<Item = &Row> {
        self.0.range(places).map(|(_, row)| row)
    }

    /// Takes the first row out.
    pub fn pop(&mut self) -> Option<Row> {
        self.take(0)
    }

    /// Takes the row at a place out.
    pub fn take(&mut self, place: usize) -> Option<Row> {
        let (_, row) = self.0.remove(place)?;
        // Memory follows the rows that are kept, not those that were.
        if self.0.capacity() > SMALL && self.0.len() < self.0.capacity() / 4 {
            self.0.shrink_to(self.0.len() * 2);
        }
        Some(row)
    }

    /// As the map that it stands for.
    fn by_time(&self) -> BTreeMap<i64, Vec<Row>> {
        let mut map = BTreeMap::<i64, Vec<Row>>::new();
        for (time, row) in &self.0 {
            map.entry(*time).or_default().push(row.clone());
        }
        map
    }
}

impl StateData for RowsByTime {
    fn fits(&self, ty: &StateType) -> bool {
        match map_types(ty) {
            Some((time, StateType::List(of))) => self.0.iter().all(|(t, row)| t.fits(time) && row.fits(of)),
            _ => false,
        }
    }

    fn to_json(&self, ty: &StateType) -> Value {
        self.by_time().to_json(ty)
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        let map = BTreeMap::<i64, Vec<Row>>::from_json(value, ty)?;
        Ok(RowsByTime(map.into_iter().flat_map(|(time, rows)| rows.into_iter().map(move |row| (time, row))).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Datum;

    #[test]
    fn rows_stand_in_order_of_time_and_arrival() {
        let row = |i| Row::new(vec![Datum::Int(i)]);
        let mut rows = RowsByTime::default();
        let firsts: Vec<bool> =
            [(5, 0), (9, 1), (5, 2), (7, 3), (1, 4)].map(|(time, i)| rows.push(time, row(i))).to_vec();
        assert_eq!(firsts, [true, true, false, true, true]);
        assert_eq!((rows.first_time(), rows.last_time()), (Some(1), Some(9)));
        assert_eq!((rows.places(5), rows.places(6), rows.places(9)), (1..3, 3..3, 4..5));
        assert_eq!(rows.rows(rows.places(5)).cloned().collect::<Vec<_>>(), [row(0), row(2)]);
        assert_eq!((rows.pop(), rows.take(2)), (Some(row(4)), Some(row(3))));
        assert_eq!(rows.row(2), &row(1));
    }
}
