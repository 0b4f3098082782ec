//! `IntervalJoin`: a join of rows whose times lie within bounds of each other. Keeps rows until time has passed these.

use super::join::{condition, side_keys};
use super::{ExecNode, TextContext};
use crate::logical::join::{JoinKey, JoinType};
use crate::logical::rex::{Origins, Rex};
use crate::logical::time_bounds::Interval;

/// Joins rows by a condition that bounds the time between them.
#[derive(Debug, Clone)]
pub struct IntervalJoin {
    /// What becomes of rows without a partner.
    pub join_type: JoinType,
    /// The bounds.
    pub interval: Interval,
    /// Conjuncts over both rows side by side, those on time among them.
    pub conditions: Vec<Rex>,
    /// The equalities among them, by whose columns rows are exchanged and kept.
    pub keys: Vec<JoinKey>,
    /// Where the condition is written.
    pub condition_origins: Origins,
}

impl IntervalJoin {
    /// The join keys of one side, as columns of its row.
    pub fn side_keys(&self, side: usize) -> Vec<usize> {
        side_keys(&self.keys, side)
    }
}

impl ExecNode for IntervalJoin {
    fn kind(&self) -> &'static str {
        "IntervalJoin"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let Interval { event_time, lower, upper, left_time, right_time } = self.interval;
        let bounds = format!(
            "isRowTime={event_time}, leftLowerBound={lower}, leftUpperBound={upper}, leftTimeIndex={left_time}, \
             rightTimeIndex={right_time}"
        );
        vec![
            ("joinType", self.join_type.name().to_owned()),
            ("windowBounds", bounds),
            ("where", condition(&self.conditions, context)),
            ("select", context.output_names()),
        ]
    }
}
