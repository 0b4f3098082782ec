//! The last row per key, as `Deduplicate` and `ChangelogNormalize` keep it (`DeduplicateFunctionHelper`).

use super::build::Build;
use super::change::{Change, RowKind};
use super::error::RunResult;
use super::group_state::equal_values;
use super::store::{KeyId, KeyedState};
use super::task::Output;
use crate::catalog::options::parse_bool;
use crate::eval::Row;
use crate::target::Target;

/// Sends what changes when a row takes the place of the one before.
pub struct KeepLast {
    /// The row per key.
    pub kept: KeyedState<(), Row>,
    /// Somebody below needs `-U`.
    update_before: bool,
    /// A row that equals the one before is sent nevertheless: state with a time to live below would be forgotten otherwise.
    sends_equal: bool,
    /// `table.exec.deduplicate.insert-update-after-sensitive-enabled` is off: `+U` may stand for `+I`.
    upserts: bool,
    target: Target,
    /// The columns that are compared. The clock is not among them: Flink's rows do not hold it.
    compared: Vec<usize>,
}

impl KeepLast {
    /// Takes its entry from `build`.
    pub fn build(build: &mut Build<'_>) -> RunResult<KeepLast> {
        let sensitive =
            build.option("table.exec.deduplicate.insert-update-after-sensitive-enabled").and_then(parse_bool);
        Ok(KeepLast {
            kept: build.entries.keyed("deduplicate-state")?,
            update_before: build.node.changelog.update_before,
            sends_equal: build.state_ttl().is_some(),
            upserts: sensitive == Some(false),
            target: build.plan.target,
            compared: (0..build.input.len()).filter(|i| !build.input[*i].ty.is_proctime()).collect(),
        })
    }

    fn is_kept(&self, key: KeyId, row: &Row) -> bool {
        let same = |kept: &Row| self.compared.iter().all(|c| equal_values(&kept[*c..=*c], &row[*c..=*c]));
        self.kept.get(key, ()).is_some_and(same)
    }

    /// `row` comes instead of what is kept (`updateDeduplicateResult`).
    pub fn replace(&mut self, key: KeyId, row: Row, out: &mut Output) -> RunResult<()> {
        match self.kept.get(key, ()) {
            None if self.update_before || !self.upserts => out.send(RowKind::Insert, row.clone()),
            Some(before) if self.update_before => {
                out.send(RowKind::UpdateBefore, before.clone());
                out.send(RowKind::UpdateAfter, row.clone());
            }
            _ => out.send(RowKind::UpdateAfter, row.clone()),
        }
        self.kept.put(key, (), row)
    }

    /// A row of an input that only inserts (`processLastRowOnProcTime`).
    pub fn last(&mut self, key: KeyId, row: Row, out: &mut Output) -> RunResult<()> {
        let compares = !self.sends_equal && (self.update_before || !self.upserts);
        if compares && self.is_kept(key, &row) {
            return self.kept.put(key, (), row);
        }
        self.replace(key, row, out)
    }

    /// A change of an input with updates (`processLastRowOnChangelog`).
    pub fn change(&mut self, key: KeyId, change: Change, out: &mut Output) -> RunResult<()> {
        if !change.kind.adds() {
            // The row that is kept is whole; that of a tombstone may be its key alone.
            if let Some(before) = self.kept.remove(key, ()) {
                out.send(RowKind::Delete, before);
            }
            return Ok(());
        }
        match self.kept.get(key, ()) {
            None => out.send(RowKind::Insert, change.row.clone()),
            Some(before) => {
                // Flink 1.20 compares the kinds of changes, too, and rows are kept as inserts.
                let same_kind = change.kind == RowKind::Insert || self.target == Target::Flink22;
                if !(same_kind && !self.sends_equal && self.is_kept(key, &change.row)) {
                    if self.update_before {
                        out.send(RowKind::UpdateBefore, before.clone());
                    }
                    out.send(RowKind::UpdateAfter, change.row.clone());
                }
            }
        }
        self.kept.put(key, (), change.row)
    }
}
