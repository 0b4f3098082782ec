//! How long an operator keeps the rows of one input, where a STATE_TTL hint says it (Flink's `StateTtlHint`).

use crate::source::Span;

/// A time to live of its own.
#[derive(Debug, Clone, Copy)]
pub struct StateTtl {
    /// In milliseconds; 0 is for ever.
    pub millis: i64,
    /// Where it is written.
    pub at: Span,
}

/// Two are equal if they say the same, wherever they are written.
impl PartialEq for StateTtl {
    fn eq(&self, other: &StateTtl) -> bool {
        self.millis == other.millis
    }
}

impl Eq for StateTtl {}

/// What holds of a hint and of the whole job: none keeps for ever.
pub fn time_to_live(hint: Option<StateTtl>, job: Option<i64>) -> Option<i64> {
    hint.map_or(job, |hint| Some(hint.millis)).filter(|millis| *millis > 0)
}
