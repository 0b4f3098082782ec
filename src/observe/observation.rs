//! The kinds of observations with their facts.

use crate::diff::change::{Fact, Facts};
use crate::exec::NodeId;
use crate::source::Span;

/// Something seen in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// What.
    pub kind: ObservationKind,
    /// The operator it is about.
    pub operator: ObservedOperator,
    /// Words for messages, such as `keys` = `` `user_id` ``.
    pub args: Vec<(&'static str, String)>,
    /// Where it is written.
    pub at: Option<Span>,
    /// The uses of the views that it is written in.
    pub chain: Vec<Span>,
}

/// The operator of an observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedOperator {
    /// Its id.
    pub id: NodeId,
    /// Its kind, such as `GroupAggregate`.
    pub kind: &'static str,
    /// Its place from the sink.
    pub path: String,
    /// The names of the state entries that it keeps.
    pub state: Vec<String>,
}

/// What state is kept for each key until something clears it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptState {
    /// The family of the operator: `group-aggregate`, `over-aggregate`, `rank`, `deduplicate`, `join`, `match`.
    pub family: &'static str,
    /// How long it lives untouched: `none` (for ever), `default` (the engine has one), `set`.
    pub ttl: &'static str,
    /// The keys that state is kept by: `none`, `finite` (their types or expressions have few values), `open`.
    pub keys: &'static str,
    /// What comes in: `ends` (bounded), `appends` (rows that are never taken back), `updates` (a result that follows its source).
    pub input: &'static str,
    /// How many of window_start, window_end and window_time are among the keys.
    pub window_keys: usize,
    /// How many accumulators hold a value per distinct input, or all inputs.
    pub collecting: usize,
    /// Of OVER: `unbounded`, `rows`, `range`.
    pub frame: &'static str,
    /// Of OVER: `time`, `value`.
    pub order: &'static str,
    /// Of a join: how many of its sides append rows for ever.
    pub appending_sides: usize,
    /// It removes duplicates: SELECT DISTINCT, UNION.
    pub distinct_rows: bool,
}

/// The kinds of observations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservationKind {
    /// An operator whose state no window and no watermark clears.
    KeptState(KeptState),
    /// Stored rows have columns that nothing above reads.
    UnreadColumns {
        /// How many.
        columns: usize,
        /// The family of the operator.
        family: &'static str,
    },
    /// Each row belongs to several windows.
    WindowSlices {
        /// `HOP`, `CUMULATE`.
        window: &'static str,
        /// To how many.
        slices: u64,
        /// Each row is sent once for each; else windows share what overlaps.
        copies: bool,
    },
    /// A window by processing time.
    ProcessingTimeWindow,
    /// A window function of the old `GROUP BY TUMBLE(...)` kind.
    LegacyWindow {
        /// It fires early or late, which window functions in FROM do not.
        emits: bool,
        /// HOP by a slide that does not divide the size.
        gaps: bool,
        /// What comes in: `appends`, `updates`, `ends`.
        input: &'static str,
    },
    /// A window with an offset.
    WindowOffset {
        /// Flink looks for its rows where they are not.
        loses_rows: bool,
    },
    /// A Top-N, or ORDER BY with LIMIT.
    Order {
        /// The family of the operator.
        family: &'static str,
        /// The plan knows a key that tells its input rows apart.
        key_known: bool,
        /// The order, with the partition, holds such a key.
        total: bool,
        /// Other columns than those of the order and the partition are read above.
        visible: bool,
    },
    /// A rank number over all rows: no bound on it became a Top-N.
    UnlimitedRank {
        /// `time`, `value`.
        order: &'static str,
    },
    /// A key that is computed by a function that gives something else each time.
    NondeterministicKey {
        /// `group`, `partition`, `join`.
        role: &'static str,
        /// The functions.
        functions: Vec<String>,
        /// What comes in: `appends`, `updates`, `ends`.
        input: &'static str,
    },
    /// A value in state that the planner has cast to a wider type.
    ImplicitCast {
        /// `group`, `partition`, `join`, `argument`.
        role: &'static str,
    },
    /// A time attribute was cast to an ordinary value, and what needs a time attribute became something else.
    LostTimeAttribute {
        /// What it became: `rank`, `join`, `over-aggregate`.
        family: &'static str,
    },
    /// A watermark that leaves no time for rows that are late, where late rows are dropped.
    WatermarkWithoutDelay,
    /// A sink whose primary key is not the key of the changes that it gets.
    SinkKey {
        /// The changes have a key at all.
        key_known: bool,
        /// The options ask for the materializer.
        forced: bool,
    },
}

impl ObservationKind {
    /// The kind's name in rules.
    pub fn name(&self) -> &'static str {
        match self {
            ObservationKind::KeptState(_) => "kept-state",
            ObservationKind::UnreadColumns { .. } => "unread-columns",
            ObservationKind::WindowSlices { .. } => "window-slices",
            ObservationKind::ProcessingTimeWindow => "processing-time-window",
            ObservationKind::LegacyWindow { .. } => "legacy-window",
            ObservationKind::WindowOffset { .. } => "window-offset",
            ObservationKind::Order { .. } => "order",
            ObservationKind::UnlimitedRank { .. } => "unlimited-rank",
            ObservationKind::NondeterministicKey { .. } => "nondeterministic-key",
            ObservationKind::ImplicitCast { .. } => "implicit-cast",
            ObservationKind::LostTimeAttribute { .. } => "lost-time-attribute",
            ObservationKind::WatermarkWithoutDelay => "watermark-without-delay",
            ObservationKind::SinkKey { .. } => "sink-key",
        }
    }

    /// What is to be known of it, flat, for rules to match.
    pub fn facts(&self) -> Facts {
        match self {
            ObservationKind::KeptState(s) => vec![
                ("family", s.family.into()),
                ("ttl", s.ttl.into()),
                ("keys", s.keys.into()),
                ("input", s.input.into()),
                ("window_keys", s.window_keys.into()),
                ("collecting", s.collecting.into()),
                ("frame", s.frame.into()),
                ("order", s.order.into()),
                ("appending_sides", s.appending_sides.into()),
                ("distinct_rows", s.distinct_rows.into()),
            ],
            ObservationKind::UnreadColumns { columns, family } => {
                vec![("columns", (*columns).into()), ("family", (*family).into())]
            }
            ObservationKind::WindowSlices { window, slices, copies } => {
                vec![("window", (*window).into()), ("slices", Fact::Count(*slices)), ("copies", (*copies).into())]
            }
            ObservationKind::LegacyWindow { emits, gaps, input } => {
                vec![("emits", (*emits).into()), ("gaps", (*gaps).into()), ("input", (*input).into())]
            }
            ObservationKind::WindowOffset { loses_rows } => vec![("loses_rows", (*loses_rows).into())],
            ObservationKind::Order { family, key_known, total, visible } => {
                vec![
                    ("family", (*family).into()),
                    ("key_known", (*key_known).into()),
                    ("total", (*total).into()),
                    ("visible", (*visible).into()),
                ]
            }
            ObservationKind::UnlimitedRank { order } => vec![("order", (*order).into())],
            ObservationKind::NondeterministicKey { role, functions, input } => {
                vec![("role", (*role).into()), ("functions", functions.as_slice().into()), ("input", (*input).into())]
            }
            ObservationKind::ImplicitCast { role } => vec![("role", (*role).into())],
            ObservationKind::LostTimeAttribute { family } => vec![("family", (*family).into())],
            ObservationKind::SinkKey { key_known, forced } => {
                vec![("key_known", (*key_known).into()), ("forced", (*forced).into())]
            }
            ObservationKind::ProcessingTimeWindow | ObservationKind::WatermarkWithoutDelay => Vec::new(),
        }
    }
}

impl Observation {
    /// All facts for rules to match: `observation`, `operator`, then the kind's own.
    pub fn facts(&self) -> Facts {
        let mut facts: Facts = vec![("observation", self.kind.name().into()), ("operator", self.operator.kind.into())];
        facts.extend(self.kind.facts());
        facts
    }
}

/// Facts that every observation states, and what they mean.
pub const CONTEXT: &[(&str, &str)] =
    &[("observation", "the kind of the observation"), ("operator", "the kind of the operator")];

/// One observation of every kind.
pub fn kinds() -> Vec<ObservationKind> {
    vec![
        ObservationKind::KeptState(KeptState::default()),
        ObservationKind::UnreadColumns { columns: 0, family: "" },
        ObservationKind::WindowSlices { window: "", slices: 0, copies: false },
        ObservationKind::ProcessingTimeWindow,
        ObservationKind::LegacyWindow { emits: false, gaps: false, input: "" },
        ObservationKind::WindowOffset { loses_rows: false },
        ObservationKind::Order { family: "", key_known: false, total: false, visible: false },
        ObservationKind::UnlimitedRank { order: "" },
        ObservationKind::NondeterministicKey { role: "", functions: Vec::new(), input: "" },
        ObservationKind::ImplicitCast { role: "" },
        ObservationKind::LostTimeAttribute { family: "" },
        ObservationKind::WatermarkWithoutDelay,
        ObservationKind::SinkKey { key_known: false, forced: false },
    ]
}

/// The facts that a rule about a kind of observation may ask for.
pub fn facts_of(observation: &str) -> Option<Vec<&'static str>> {
    let kind = kinds().into_iter().find(|k| k.name() == observation)?;
    Some(kind.facts().into_iter().map(|(name, _)| name).chain(CONTEXT.iter().map(|(name, _)| *name)).collect())
}
