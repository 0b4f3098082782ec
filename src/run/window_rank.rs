//! `WindowRank`: the first rows of every window (Flink's `WindowRankProcessor`, `TopNRecordsCombiner`).

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rustc_hash::FxHashMap;

use super::build::{Build, Runnable};
use super::change::{Change, RowKind};
use super::error::{RunError, RunResult};
use super::order;
use super::store::{KeyId, KeyedState, Keys, OperatorState, StateTable, Timers};
use super::task::{Output, States, Task};
use super::window::{RowBuffer, Shift, event_time, time_type, window_column};
use crate::eval::{Datum, Row};
use crate::exec::window_rank::WindowRank;
use crate::logical::rel::SortKey;

/// The rows of a window by sort key.
type Ranked = BTreeMap<Row, Vec<Row>>;

struct RankTask {
    keys: Keys,
    /// The columns of the sort key.
    sort_columns: Vec<usize>,
    /// The order of sort keys: columns count in the sort key.
    order: Vec<SortKey>,
    start: i64,
    end: i64,
    output_number: bool,
    window_end: usize,
    shift: Shift,
    rows: KeyedState<i64, Ranked>,
    timers: Timers<i64>,
    watermark: OperatorState<i64>,
    /// Rows wait here, as in Flink: a row that cannot be among the first of those that wait with it never reaches the state, so
    /// what state holds depends on it.
    buffer: RowBuffer,
}

impl Runnable for WindowRank {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let Some(window_end) = window_column(&self.window) else {
            return Err(RunError::internal("a window rank has no window columns"));
        };
        let order = &self.ranking.order;
        Ok(Box::new(RankTask {
            keys: Keys::of(self.ranking.partition.as_slice()),
            sort_columns: order.iter().map(|k| k.column).collect(),
            order: order.iter().enumerate().map(|(i, k)| SortKey { column: i, ..k.clone() }).collect(),
            start: self.ranking.start,
            end: self.ranking.end,
            output_number: self.ranking.output_number,
            window_end,
            shift: Shift::of(time_type(build.plan, build.id, &self.window), &build.session.zone),
            rows: build.entries.keyed("window_rank")?,
            timers: build.entries.event_timers()?,
            watermark: build.entries.operator("watermark")?,
            buffer: RowBuffer::new(),
        }))
    }
}

/// A sort key with its order.
struct Ordered<'a> {
    key: Row,
    order: &'a [SortKey],
}

impl Ord for Ordered<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        order::compare(self.order, &self.key, &other.key)
    }
}

impl PartialOrd for Ordered<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered<'_> {}

/// Flink's `TopNBuffer`: takes rows as long as there are fewer than N, and then those that come before the last one.
#[derive(Default)]
struct TopN<'a> {
    rows: BTreeMap<Ordered<'a>, Vec<Row>>,
    count: i64,
}

impl<'a> TopN<'a> {
    fn offer(&mut self, key: Ordered<'a>, row: Row, n: i64) {
        let better = self.rows.last_key_value().is_some_and(|(last, _)| key < *last);
        if better || self.count < n {
            // Few rows share a sort key, and a vector that grows begins with room for four.
            self.rows.entry(key).or_insert_with(|| Vec::with_capacity(1)).push(row);
            self.count += 1;
        }
    }
}

impl RankTask {
    /// Puts rows that waited into state.
    fn flush(&mut self, rows: Vec<(i64, Change)>) -> RunResult<()> {
        let mut places: FxHashMap<(KeyId, i64), usize> = FxHashMap::default();
        let mut groups: Vec<(KeyId, i64, TopN)> = Vec::new();
        for (window, change) in rows {
            let key = self.keys.of_row(&change.row);
            let place = *places.entry((key, window)).or_insert_with(|| {
                groups.push((key, window, TopN::default()));
                groups.len() - 1
            });
            let sort_key = Ordered { key: change.row.project(&self.sort_columns), order: &self.order };
            groups[place].2.offer(sort_key, change.row, self.end);
        }
        for (key, window, top) in groups {
            if let crate::state::types::StateType::Map(key_type, rows_type) = self.rows.declared() {
                for (sort_key, rows) in &top.rows {
                    self.rows.check(&sort_key.key, key_type)?;
                    self.rows.check(rows, rows_type)?;
                }
            }
            let kept = self.rows.entry_mut(key, window, Ranked::new);
            for (sort_key, rows) in top.rows {
                match kept.entry(sort_key.key) {
                    Entry::Vacant(place) => {
                        place.insert(rows);
                    }
                    Entry::Occupied(mut place) => place.get_mut().extend(rows),
                }
            }
            self.timers.set(self.shift.timer(window - 1), key, window);
        }
        Ok(())
    }

    fn fire(&mut self, key: KeyId, window: i64, out: &mut Output) {
        let mut kept: Vec<(Row, Vec<Row>)> = self.rows.remove(key, window).unwrap_or_default().into_iter().collect();
        kept.sort_by(|(a, _), (b, _)| order::compare(&self.order, a, b));
        for (number, row) in (1..=self.end).zip(kept.into_iter().flat_map(|(_, rows)| rows)) {
            if number >= self.start {
                let number = self.output_number.then(|| row.extended([Datum::Int(number)].into_iter()));
                out.send(RowKind::Insert, number.unwrap_or(row));
            }
        }
    }
}

impl Task for RankTask {
    fn row(&mut self, _: usize, change: Change, _: &mut Output) -> RunResult<()> {
        if !change.kind.adds() {
            return Err(RunError::job(format!("Window rank does not support input RowKind: {}", change.kind)));
        }
        let window = event_time(&change.row, self.window_end)?;
        if !self.shift.is_fired(window, self.watermark.get().copied().unwrap_or(i64::MIN)) {
            self.buffer.add(window, change);
        }
        Ok(())
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        let watermark = self.watermark.get().map_or(watermark, |before| watermark.max(*before));
        self.watermark.put(watermark)?;
        let due = self.buffer.due(watermark, &self.shift);
        self.flush(due)?;
        while let Some((_, key, window)) = self.timers.due(watermark) {
            self.fire(key, window, out);
        }
        out.advance(watermark);
        Ok(())
    }

    fn before_savepoint(&mut self, _: &mut Output) -> RunResult<()> {
        let rows = self.buffer.take();
        self.flush(rows)
    }

    fn states(&mut self) -> Option<States<'_>> {
        let tables: Vec<&mut dyn StateTable> = vec![&mut self.rows, &mut self.watermark, &mut self.timers];
        Some(States { keys: &mut self.keys, tables })
    }
}
