//! The typed facts that `diff` states about two plans. Nothing here judges.
//!
//! Rules match a change by its kind and its flat facts ([`Change::facts`]); messages are filled from [`Change::args`].

pub use super::facts::{Fact, Facts};
use super::matching::Side;
use super::places::Places;
use crate::engine::{Engine, Step};
use crate::exec::NodeId;
use crate::source::Span;

/// The operator (or pair of matched operators) that a change is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorRef {
    /// The exec node's kind: the new side's, or the old side's if there is no new one.
    pub kind: &'static str,
    /// Its place from the sink: `Sink(top)/WindowRank`.
    pub path: String,
    /// The sinks that its results reach, that of the path among them.
    pub sinks: Vec<String>,
    /// Its id in the old plan.
    pub old: Option<NodeId>,
    /// Its id in the new plan.
    pub new: Option<NodeId>,
    /// The names of the state entries the operator keeps (new side, else old).
    pub state: Vec<String>,
}

/// What differs between the aggregate calls of two matched operators. Calls are compared as written (AVG is AVG),
/// after calls that compute the same have been paired, whatever their aliases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AggregatesChange {
    /// Aggregates of the old operator.
    pub old: usize,
    /// Aggregates of the new operator.
    pub new: usize,
    /// Aggregates that compute the same on both sides.
    pub survivors: usize,
    /// Non-DISTINCT aggregates that only the new side has.
    pub added: usize,
    /// Non-DISTINCT aggregates that only the old side has.
    pub removed: usize,
    /// Pairs with one output name and another function.
    pub changed: usize,
    /// Pairs with one function over a field that is computed differently.
    pub recomputed: usize,
    /// Pairs whose FILTER clause came, went or has another condition.
    pub filter_changed: usize,
    /// Aggregates among those that differ that have a FILTER clause.
    pub filtered: usize,
    /// The functions of the aggregates that differ or moved, in alphabetical order.
    pub functions: Vec<String>,
    /// The survivors that are not DISTINCT stand in another order.
    pub moved: bool,
    /// DISTINCT aggregates that only one side has, or that changed.
    pub distinct_changed: usize,
    /// The DISTINCT survivors stand in another order.
    pub distinct_moved: bool,
    /// The aggregate is split, and its rows are dealt into buckets by other values.
    pub buckets: bool,
}

/// What differs between the windows of two matched operators.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowChange {
    /// `TUMBLE`, `HOP`, `CUMULATE`, `SESSION` became another.
    pub window_type: bool,
    /// The size (CUMULATE: the maximum size).
    pub size: bool,
    /// The slide of HOP.
    pub slide: bool,
    /// The step of CUMULATE.
    pub step: bool,
    /// The gap of SESSION.
    pub gap: bool,
    /// The optional offset.
    pub offset: bool,
    /// The time attribute, or how it is computed.
    pub time_attribute: bool,
    /// The time attribute is the column that it was, and only what that is computed from differs.
    pub time_recomputed: bool,
    /// PARTITION BY of a SESSION window function.
    pub session_keys: bool,
}

/// What differs between two lists of keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeysChange {
    /// Keys that only the new side has.
    pub added: usize,
    /// Keys that only the old side has.
    pub removed: usize,
    /// Keys at one place (or with one name) that are computed differently.
    pub changed: usize,
    /// Those of them that have another type.
    pub retyped: usize,
    /// The common keys stand in another order. Of GROUP BY: the keys that are not window columns.
    pub moved: bool,
    /// Of GROUP BY: the window columns or the window function stand at other places. Of PARTITION BY: the window columns stand
    /// in another order among themselves.
    pub window_moved: bool,
}

/// What differs between two ORDER BY lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderChange {
    /// Fields added, removed, replaced or computed differently.
    pub fields: bool,
    /// A direction.
    pub direction: bool,
    /// NULLS FIRST / LAST.
    pub nulls: bool,
    /// The ordering time attribute is another one (OVER).
    pub time_attribute: bool,
}

/// What differs between the results of two matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeasuresChange {
    /// Measures that only the new side has.
    pub added: usize,
    /// Measures that only the old side has.
    pub removed: usize,
    /// Measures of one name that are computed otherwise.
    pub changed: usize,
    /// Those that both have stand in another order.
    pub moved: bool,
}

/// The kinds of change, each with what is to be known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// Aggregate calls of an aggregate, window aggregate or OVER operator.
    Aggregates(AggregatesChange),
    /// The window of a window operator.
    Window(WindowChange),
    /// GROUP BY.
    GroupKeys(KeysChange),
    /// GROUPING SETS, CUBE, ROLLUP appeared, disappeared or changed.
    GroupingSets {
        /// Both sides have sets, but not the same.
        on_both_sides: bool,
    },
    /// PARTITION BY of a rank, deduplication or OVER operator.
    PartitionKeys(KeysChange),
    /// ORDER BY of a rank, deduplication or OVER operator.
    OrderBy(OrderChange),
    /// The range of ranks that is kept.
    RankRange {
        /// The lower bound changed.
        start: bool,
        /// The upper bound, N, changed.
        end: bool,
    },
    /// LIMIT and OFFSET of a whole query.
    LimitRange {
        /// How many rows pass.
        fetch: bool,
        /// How many rows are skipped.
        offset: bool,
    },
    /// How long hints let the state of one input live.
    StateTtl {
        /// It was kept for ever, or is now.
        switched: bool,
    },
    /// ROW_NUMBER, RANK or DENSE_RANK became another.
    RankType,
    /// The columns that reach an operator which keeps its input rows (OVER, ranks, deduplication).
    InputColumns(KeysChange),
    /// ROWS or RANGE frame of OVER.
    Frame {
        /// ROWS became RANGE or back.
        units: bool,
        /// The bound is another value, or unbounded became bounded or back.
        bound: bool,
    },
    /// A step that computes fields appeared or disappeared between a window function and its GROUP BY.
    ProjectionStep {
        /// It appeared (false: it disappeared).
        appeared: bool,
        /// All it computes is conditions of FILTER clauses.
        conditions_only: bool,
    },
    /// A filter in front of, or behind, stateful operators.
    Filter {
        /// A stateful operator reads what the filter lets through.
        below_stateful: bool,
        /// Conditions only the new side has.
        added: usize,
        /// Conditions only the old side has.
        removed: usize,
        /// `table.optimizer.state-compatibility.ignore-filter` is on.
        ignored: bool,
        /// A condition that only one side has is written in HAVING.
        having: bool,
    },
    /// `UNNEST` or a table function that is called for each row came, went or is called with something else.
    TableFunction {
        /// A stateful operator reads what it makes.
        below_stateful: bool,
        /// Calls that only the new side has.
        added: usize,
        /// Calls that only the old side has.
        removed: usize,
    },
    /// window_start, window_end or window_time of a window operator are sent out, or no longer.
    WindowOutput {
        /// Window columns that only the new output has.
        added: usize,
        /// Window columns that only the old output has.
        removed: usize,
        /// window_time is among them.
        window_time: bool,
    },
    /// The rank number is sent out, or no longer.
    RankOutput {
        /// It is sent out now (false: no longer).
        added: bool,
    },
    /// Columns that an operator keeps on both sides are sent out, or no longer.
    OutputColumns {
        /// Columns that only the new output has.
        added: usize,
        /// Columns that only the old output has.
        removed: usize,
    },
    /// How a rank keeps its rows.
    RankStrategy {
        /// The key of its input, by which rows are updated in place, is another one.
        upsert_key: bool,
        /// The algorithm is another one: append, update-fast or retract.
        algorithm: bool,
    },
    /// Final output columns got other names.
    OutputNames {
        /// How many.
        renamed: usize,
    },
    /// Early or late firing of legacy group windows.
    EmitStrategy {
        /// Only the lateness that is allowed differs.
        lateness_only: bool,
    },
    /// An operator became another kind at the same place.
    OperatorReplaced {
        /// The old family.
        old_family: &'static str,
        /// The new family.
        new_family: &'static str,
        /// GROUP BY has both window_start and window_end on one side only.
        window_keys: bool,
    },
    /// A stateful operator that the old plan does not have.
    OperatorAdded,
    /// A stateful operator that the new plan does not have.
    OperatorRemoved,
    /// The inputs of UNION ALL.
    UnionInputs {
        /// Inputs only the new side has.
        added: usize,
        /// Inputs only the old side has.
        removed: usize,
        /// They stand in another order.
        moved: bool,
    },
    /// A regular or an interval join.
    Join {
        /// INNER, LEFT, RIGHT or FULL became another.
        join_type: bool,
        /// The condition, bounds of time left out.
        condition: bool,
        /// The same equalities stand in another order, so that rows are kept by another key.
        key_order: bool,
        /// The bounds of time of an interval join, or the times they bound.
        bounds: bool,
        /// The same bounds of time in other words, such as 60 minutes for an hour.
        reworded: bool,
        /// The two sides have changed places.
        sides: bool,
        /// The same tables are joined one after the other in another order.
        order: bool,
        /// The keys that tell the rows of a side apart.
        unique_keys: bool,
    },
    /// PATTERN of MATCH_RECOGNIZE: its variables, their order and how often they may occur.
    RowPattern,
    /// MEASURES of MATCH_RECOGNIZE.
    Measures(MeasuresChange),
    /// AFTER MATCH SKIP of MATCH_RECOGNIZE.
    AfterMatch,
    /// DEFINE of MATCH_RECOGNIZE.
    Definitions {
        /// How many variables of the pattern have another condition.
        changed: usize,
    },
    /// WITHIN of MATCH_RECOGNIZE.
    Within,
    /// A join that looks up rows of an external table.
    LookupJoin {
        /// Its type, its condition, its table or how that is asked differ.
        definition: bool,
        /// It is there on one side only.
        alone: bool,
        /// What it sends may be other rows, or another number of rows, and not only other values in the table's columns.
        rows: bool,
        /// The rows differ by what its conditions hold back, and `ignore-filter` is on.
        ignored: bool,
        /// It keeps other state than before, or keeps some on one side only.
        state: bool,
        /// It waits for several answers at once, so that rows are kept (on one side at least).
        asynchronous: bool,
        /// Updates reach it under `TRY_RESOLVE`, so that it may keep what it has sent (on one side at least).
        resolves_updates: bool,
    },
    /// A source table.
    Source {
        /// Another table is read at this place.
        renamed: bool,
        /// The connector is another one.
        connector: bool,
        /// Other WITH options.
        options: usize,
        /// WITH options that name the column by which the source cuts its table into pieces.
        sharding: usize,
        /// The kinds of changes that it sends (insert, update-before, update-after, delete).
        changelog: bool,
        /// The watermark expression.
        watermark: bool,
        /// The primary key.
        primary_key: bool,
        /// Columns that nothing reads and that only the new table has.
        unread_added: usize,
        /// Columns that nothing reads and that only the old table has, or that differ.
        unread_changed: usize,
    },
    /// A source column that something with state reads may be NULL on one side only. Stated for the first operator that reads
    /// it, the others are echoes.
    Nullability {
        /// It is NOT NULL now; false if it may be NULL now, or differs inside of a nested type.
        required: bool,
        /// The state is kept by it, or by what is computed from it.
        key: bool,
    },
    /// A sink table.
    Sink {
        /// Another table is written.
        renamed: bool,
        /// The connector is another one.
        connector: bool,
        /// Other WITH options.
        options: usize,
    },
    /// The materializer that brings updates into order in front of a sink came, went, or works by another key.
    SinkMaterializer,
    /// An INSERT that only the new job has.
    SinkAdded {
        /// Its query keeps state.
        stateful: bool,
    },
    /// An INSERT that only the old job has.
    SinkRemoved {
        /// Its query kept state.
        stateful: bool,
    },
    /// A function that the job calls is implemented by something else.
    UserFunction,
    /// The job is to run on another version of the engine.
    Engine {
        /// How the versions relate.
        step: Step,
        /// They are built on different versions of Apache Flink.
        flink: bool,
    },
    /// An option that bears on state or planning has another value.
    JobOption {
        /// The option's key.
        key: String,
    },
}

/// The items of a job, in the sense of the documents' limit on changing several at once (OL-03).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// The aggregates (of all operators together).
    Aggregates,
    /// A sink.
    Sink,
    /// A filter that bears on state.
    Filter,
    /// None of these.
    Other,
}

/// One difference between two plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What differs.
    pub kind: ChangeKind,
    /// The operator it is about; none for options of the job.
    pub operator: Option<OperatorRef>,
    /// Facts about the place: `family` of the operator, `feeds_window_rank`, `stateful_above`, `last_stateful`, ...
    pub context: Facts,
    /// Words for messages, such as `old` = `2`, `new` = `3`, `names` = `` `a`, `b` ``.
    pub args: Vec<(&'static str, String)>,
    /// Which item of the job changed.
    pub item: Item,
    /// The clause in the old text.
    pub old: Option<Span>,
    /// The clause in the new text.
    pub new: Option<Span>,
    /// The side that does not have the thing, and shows what stands around it.
    pub beside: Option<Side>,
    /// Places of single differences, by the fact that states them, where the change is made of several.
    pub spots: Vec<(&'static str, Places)>,
    /// More places of the same change, outermost use last (for suppressions and related places).
    pub chain: Vec<Span>,
    /// Changes of operators downstream that this change alone brings about.
    pub echoes: Vec<Change>,
}

impl Change {
    /// The change from one version of the engine to another; none if they are the same.
    pub fn of_engines(old: &Engine, new: &Engine) -> Option<Change> {
        let kind = ChangeKind::Engine { step: old.step_to(new)?, flink: old.flink != new.flink };
        Some(Change::of_job(kind, vec![("old", old.to_string()), ("new", new.to_string())]))
    }

    /// A change of the job as a whole, which no operator and no clause stands for.
    pub fn of_job(kind: ChangeKind, args: Vec<(&'static str, String)>) -> Change {
        Change {
            kind,
            operator: None,
            context: Vec::new(),
            args,
            item: Item::Other,
            old: None,
            new: None,
            beside: None,
            spots: Vec::new(),
            chain: Vec::new(),
            echoes: Vec::new(),
        }
    }

    /// All facts for rules to match: `change`, the kind's own, then those of the place.
    pub fn facts(&self) -> Facts {
        let mut facts: Facts = vec![("change", self.kind.name().into())];
        if let Some(operator) = &self.operator {
            facts.push(("operator", operator.kind.into()));
        }
        facts.extend(self.kind.facts());
        facts.extend(self.context.iter().cloned());
        facts
    }

    /// Where the first of these differences stands; the change's own place, if they have none.
    pub fn places(&self, asks: impl Fn(&str) -> bool) -> Places {
        let spot = self.spots.iter().find(|(fact, _)| asks(fact)).map(|(_, places)| *places);
        spot.unwrap_or_else(|| Places::beside(self.old, self.new, self.beside))
    }
}

/// What becomes of an output column of the new query, as far as the plan tells (rules may make it worse).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Its values go on as if nothing had happened.
    Kept,
    /// It starts from nothing at the restore.
    FromZero,
    /// Its state is lost with the operator's.
    Lost,
    /// Not known.
    Undetermined,
}

/// An output column of the new job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnFate {
    /// The sink.
    pub sink: String,
    /// The column's name there.
    pub name: String,
    /// Its fate if the state is carried over.
    pub fate: Fate,
}

/// How one pair of operators compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MatchStatus {
    /// The same on both sides.
    Same,
    /// Matched, with changes.
    Changed,
    /// Only in the new plan.
    Added,
    /// Only in the old plan.
    Removed,
}

/// A matched (or unmatched) operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorMatch {
    /// Its id in the old plan.
    pub old: Option<NodeId>,
    /// Its id in the new plan.
    pub new: Option<NodeId>,
    /// How it compares.
    pub status: MatchStatus,
}

/// All differences between the old and the new plan of one job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobDiff {
    /// The causes; what they bring about downstream is folded into their echoes.
    pub changes: Vec<Change>,
    /// Every operator, in print order of the new plan, removed ones last.
    pub operators: Vec<OperatorMatch>,
    /// The new query's outputs.
    pub columns: Vec<ColumnFate>,
    /// A filter of the new query reads what starts from zero: until that has caught up, rows may be missing or too many.
    pub filters_by_new: bool,
}
