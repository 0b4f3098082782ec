//! Semi and anti joins: rows of the left side that have a partner, or none (`StreamingSemiAntiJoinOperator`).

use super::{Sides, count};
use crate::run::change::{Change, RowKind};
use crate::run::error::RunResult;
use crate::run::task::{Output, States, Task};

/// Sends left rows as they come, and when their first partner comes or the last one goes.
pub(super) struct SemiAntiTask {
    pub sides: Sides,
    /// Rows without a partner are sent, not those with one.
    pub is_anti: bool,
}

impl Task for SemiAntiTask {
    fn row(&mut self, side: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let Change { kind, row } = change;
        let (key, found) = self.sides.partners(side, &row, out.now)?;
        let [left, right] = &mut self.sides.records;
        if side == 0 {
            if found.is_empty() == self.is_anti {
                out.send(kind, row.clone());
            }
            if kind.adds() {
                return left.add(key, row, count(&found));
            }
            left.retract(key, &row);
            return Ok(());
        }
        // With the first partner a left row of an anti join goes and one of a semi join comes, in the kind of change that brings
        // the partner; with the last one it is the other way round.
        let (turning, step, sent) = match (kind.adds(), self.is_anti) {
            (true, true) => (0, 1, RowKind::Delete),
            (true, false) => (0, 1, kind),
            (false, true) => (1, -1, RowKind::Insert),
            (false, false) => (1, -1, kind),
        };
        if kind.adds() {
            right.add(key, row, 0)?;
        } else {
            right.retract(key, &row);
        }
        for partner in found {
            if partner.partners == turning {
                out.send(sent, partner.row.clone());
            }
            left.set_partners(key, &partner.row, partner.partners + step)?;
        }
        Ok(())
    }

    fn states(&mut self) -> Option<States<'_>> {
        Some(self.sides.states())
    }
}
