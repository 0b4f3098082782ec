//! `WindowRank`: the first rows of every window (Flink's `WindowRankProcessor`, `TopNRecordsCombiner`).

use std::cmp::Ordering;
use std::collections::BTreeMap;

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
use crate::state::types::StateType;

/// The rows of a window by sort key.
type Ranked = BTreeMap<Row, Vec<Row>>;

struct RankTask {
    keys: Keys,
    /// The columns of the sort key.
    sort_columns: Vec<usize>,
    /// The order of rows.
    row_order: Vec<SortKey>,
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
            row_order: order.clone(),
            order: order.iter().enumerate().map(|(i, k)| SortKey { column: i, ..k.clone() }).collect(),
            start: self.ranking.start,
            end: self.ranking.end.constant().ok_or_else(|| RunError::internal("a window has one last rank"))?,
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

/// Flink's `TopNBuffer`: takes rows as long as there are fewer than N, and then those that come before the last one.
#[derive(Default)]
struct TopN {
    rows: Vec<Row>,
    /// The place of the row that would come last.
    last: usize,
}

impl TopN {
    fn offer(&mut self, row: Row, n: i64, order: &[SortKey]) {
        let place = match self.rows.get(self.last) {
            Some(last) => order::compare(order, &row, last),
            None => Ordering::Greater,
        };
        if place.is_lt() || (self.rows.len() as i64) < n {
            if place.is_gt() {
                self.last = self.rows.len();
            }
            self.rows.push(row);
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
            groups[place].2.offer(change.row, self.end, &self.row_order);
        }
        for (key, window, mut top) in groups {
            // Stable: rows that share a sort key stay in the order of their arrival.
            top.rows.sort_by(|a, b| order::compare(&self.row_order, a, b));
            for row in top.rows {
                let sort_key = row.project(&self.sort_columns);
                if let StateType::Map(key_type, rows_type) = self.rows.declared()
                    && let StateType::List(row_type) = rows_type.as_ref()
                {
                    self.rows.check(&sort_key, key_type)?;
                    self.rows.check(&row, row_type)?;
                }
                // Few rows share a sort key, and a vector that grows begins with room for four.
                let kept = self.rows.entry_mut(key, window, Ranked::new);
                kept.entry(sort_key).or_insert_with(|| Vec::with_capacity(1)).push(row);
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
            if out.pauses() {
                return Ok(());
            }
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
