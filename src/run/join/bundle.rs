//! Joins in bundles: rows wait until the bundle ends, and changes that take each other back are not joined at all
//! (`MiniBatchStreamingJoinOperator` with `BufferBundle` and its kinds).

use super::{JoinTask, Sides};
use crate::eval::Row;
use crate::exec::join::{InputSpec, Join};
use crate::logical::join::JoinType;
use crate::run::build::Build;
use crate::run::change::Change;
use crate::run::error::RunResult;
use crate::run::store::JavaMap;
use crate::run::task::{Output, States, Task};
use crate::state::types::{RowType, StateType};

/// The changes of one join key, by what tells its rows apart.
type Waiting = JavaMap<Row, Vec<Change>>;

/// The changes of one side that wait.
struct SideBundle {
    /// The columns that tell rows apart; none if it is the whole row.
    unique: Option<Vec<usize>>,
    /// The type of these columns.
    row: StateType,
    /// The type of the join key.
    key: StateType,
    waiting: JavaMap<Row, Waiting>,
}

impl SideBundle {
    fn build(join: &Join, side: usize, build: &Build<'_>) -> SideBundle {
        let columns = build.plan.input_columns(build.id, side);
        let of = |places: &[usize]| {
            StateType::Row(RowType::new(places.iter().map(|c| (&*columns[*c].name, columns[*c].ty.clone()))))
        };
        let unique = match &join.inputs[side] {
            InputSpec::NoUniqueKey => None,
            InputSpec::HasUniqueKey(key) => Some(key.clone()),
            // One row at most: nothing has to tell it apart.
            InputSpec::JoinKeyContainsUniqueKey(_) => Some(Vec::new()),
        };
        let all: Vec<usize> = (0..columns.len()).collect();
        SideBundle {
            row: of(unique.as_ref().unwrap_or(&all)),
            unique,
            key: of(&join.side_keys(side)),
            waiting: JavaMap::default(),
        }
    }

    fn add(&mut self, key: Row, change: Change) {
        let of = self.unique.as_ref().map_or_else(|| change.row.clone(), |columns| change.row.project(columns));
        let of_key = self.waiting.entry(key.clone(), &self.key, Waiting::default);
        let list = of_key.entry(of.clone(), &self.row, Vec::new);
        if self.unique.is_some() {
            // Of rows in a row only the last one counts, and one that is taken back does not count at all.
            let folds = match list.last() {
                Some(last) if last.kind.adds() => {
                    list.pop();
                    !change.kind.adds()
                }
                Some(_) if !change.kind.adds() => {
                    list.pop();
                    false
                }
                _ => false,
            };
            if !folds {
                list.push(change);
            }
        } else {
            match list.iter().rposition(|c| c.kind.adds() != change.kind.adds()) {
                Some(at) => drop(list.remove(at)),
                None => list.push(change),
            }
        }
        if list.is_empty() {
            of_key.remove(&of, &self.row);
            if of_key.is_empty() {
                self.waiting.remove(&key, &self.key);
            }
        }
    }
}

/// A join that works in bundles.
pub(super) struct BundledTask {
    join: JoinTask,
    bundles: [SideBundle; 2],
    /// The side that is joined first.
    first: usize,
    rows: usize,
    /// `table.exec.mini-batch.size`
    limit: usize,
}

impl BundledTask {
    pub fn build(join: &Join, sides: Sides, build: &Build<'_>) -> BundledTask {
        let limit = build.option("table.exec.mini-batch.size").and_then(|v| v.trim().parse().ok()).filter(|n| *n > 0);
        BundledTask {
            bundles: [0, 1].map(|side| SideBundle::build(join, side, build)),
            join: JoinTask { sides },
            // The side whose rows are sent alone comes last, so that it finds its partners.
            first: if join.join_type == JoinType::Right { 0 } else { 1 },
            rows: 0,
            limit: limit.unwrap_or(usize::MAX),
        }
    }

    fn finish(&mut self, out: &mut Output) -> RunResult<()> {
        self.rows = 0;
        for side in [self.first, 1 - self.first] {
            let suppresses = self.bundles[side].unique.is_some();
            let waiting = std::mem::take(&mut self.bundles[side].waiting);
            for changes in waiting.into_values().flat_map(JavaMap::into_values) {
                let mut changes = changes.into_iter().peekable();
                while let Some(change) = changes.next() {
                    // An update in one: the row stays, and what it has been joined with does not stand alone in between.
                    let update = suppresses && !change.kind.adds();
                    match changes.next_if(|next| update && next.kind.adds()) {
                        Some(next) => {
                            self.join.process(side, change, true, out)?;
                            self.join.process(side, next, true, out)?;
                        }
                        None => self.join.process(side, change, false, out)?,
                    }
                }
            }
        }
        Ok(())
    }
}

impl Task for BundledTask {
    fn row(&mut self, side: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let key = change.row.project(&self.join.sides.key_columns[side]);
        self.bundles[side].add(key, change);
        self.rows += 1;
        if self.rows >= self.limit { self.finish(out) } else { Ok(()) }
    }

    fn input_watermark(&mut self, out: &mut Output) -> RunResult<()> {
        self.finish(out)
    }

    fn before_savepoint(&mut self, out: &mut Output) -> RunResult<()> {
        self.finish(out)
    }

    fn states(&mut self) -> Option<States<'_>> {
        self.join.states()
    }
}
