//! The facts that rules may ask for: a rule that asks for anything else is a mistake, and a test says so.

use crate::diff::change::{
    AggregatesChange, ChangeKind, Fact, Facts, KeysChange, MeasuresChange, OrderChange, WindowChange,
};

/// Families of operators, as in the fact `family`.
pub const FAMILIES: &[&str] = &[
    "window-aggregate",
    "group-window-aggregate",
    "group-aggregate",
    "over-aggregate",
    "window-rank",
    "window-deduplicate",
    "rank",
    "deduplicate",
    "join",
    "interval-join",
    "temporal-join",
    "lookup-join",
    "window-join",
    "match",
    "temporal-sort",
    "sort-limit",
    "limit",
    "changelog-normalize",
    "calc",
    "source",
    "sink",
    "union",
    "window-table-function",
];

/// Facts about the place of a change, which `diff` puts into its context, and what they mean.
pub const CONTEXT: &[(&str, &str)] = &[
    ("operator", "the kind of the operator"),
    ("family", "the family of the operator"),
    ("feeds_window_rank", "the result of the window aggregate feeds a WindowRank"),
    ("stateful_above", "a stateful operator consumes the result"),
    ("time", "`rowtime` or `proctime`"),
    ("sort_keys", "by how many columns a `TemporalSort` sorts"),
    ("keep", "a deduplication keeps the `first` or the `last` row"),
    ("strategy", "of a rank: `append`, `update-fast`, `retract`"),
    ("old_aggregates", "how many aggregates the old window aggregate has"),
    ("new_aggregates", "how many aggregates the new window aggregate has"),
    ("source_column", "the cause is a column of a source table that is computed otherwise"),
    ("source_retyped", "the cause is a column of a source table that has another type"),
    ("reader", "of a filter: the family of the next operator with state that reads what it lets through"),
    ("watermark_interval", "of the watermark only the delay differs"),
    ("stateful_changed", "the change of a source or sink alters the state or the input of a stateful operator"),
    ("sinks_checked", "`table.optimizer.state-compatibility.ignore-sink` is off"),
    ("temporary_table_changed", "the definition of a TEMPORARY TABLE changes in the same edit"),
    ("ttl_switched", "the state TTL goes from 0 to a positive time, or back"),
];

/// Facts about all findings of a job, and what they mean.
pub const JOB: &[(&str, &str)] = &[
    ("items", "how many items of the job change: its aggregates, its sinks, its filters"),
    ("incompatible", "how many findings are incompatible"),
    ("unknown", "how many findings are unknown"),
    ("partially_compatible", "how many findings are partially compatible"),
    ("ignored_filter", "one of the items is a filter that the options tell to ignore"),
];

/// Facts of a kind that describe the change but are no difference by themselves.
const DESCRIPTIVE: &[&str] = &[
    "old",
    "new",
    "survivors",
    "appeared",
    "below_stateful",
    "ignored",
    "rows",
    "stateful",
    "old_family",
    "new_family",
    "window_keys",
    "key",
    "asynchronous",
    "resolves_updates",
    "required",
    "filtered",
    "functions",
    "time_recomputed",
    "retyped",
    "conditions_only",
    "having",
    "window_time",
    "lateness_only",
    "on_both_sides",
];

/// True for facts that say what a change is about, not what differs.
pub fn is_descriptive(fact: &str) -> bool {
    fact == "change" || DESCRIPTIVE.contains(&fact) || CONTEXT.iter().any(|(name, _)| *name == fact)
}

/// The single differences that a change consists of: its own facts that are true or more than zero.
pub fn aspects(kind: &ChangeKind) -> Vec<&'static str> {
    let differs = |fact: &Fact| match fact {
        Fact::Bool(b) => *b,
        Fact::Count(n) => *n > 0,
        Fact::Word(_) | Fact::Words(_) => false,
    };
    kind.facts()
        .into_iter()
        .filter(|(name, fact)| !DESCRIPTIVE.contains(name) && differs(fact))
        .map(|(name, _)| name)
        .collect()
}

/// One change of every kind, all of whose differences are absent.
pub fn kinds() -> Vec<ChangeKind> {
    let keys = KeysChange::default;
    vec![
        ChangeKind::Aggregates(AggregatesChange::default()),
        ChangeKind::Window(WindowChange::default()),
        ChangeKind::GroupKeys(keys()),
        ChangeKind::GroupingSets { on_both_sides: false },
        ChangeKind::PartitionKeys(keys()),
        ChangeKind::OrderBy(OrderChange::default()),
        ChangeKind::RankRange { start: false, end: false },
        ChangeKind::LimitRange { fetch: false, offset: false },
        ChangeKind::StateTtl { switched: false },
        ChangeKind::RankType,
        ChangeKind::InputColumns(keys()),
        ChangeKind::Frame { units: false, bound: false },
        ChangeKind::ProjectionStep { appeared: false, conditions_only: false },
        ChangeKind::Filter { below_stateful: false, added: 0, removed: 0, ignored: false, having: false },
        ChangeKind::TableFunction { below_stateful: false, added: 0, removed: 0 },
        ChangeKind::WindowOutput { added: 0, removed: 0, window_time: false },
        ChangeKind::RankOutput { added: false },
        ChangeKind::OutputColumns { added: 0, removed: 0 },
        ChangeKind::RankStrategy { upsert_key: false, algorithm: false },
        ChangeKind::OutputNames { renamed: 0 },
        ChangeKind::EmitStrategy { lateness_only: false },
        ChangeKind::OperatorReplaced { old_family: "", new_family: "", window_keys: false },
        ChangeKind::OperatorAdded,
        ChangeKind::OperatorRemoved,
        ChangeKind::UnionInputs { added: 0, removed: 0, moved: false },
        ChangeKind::Join {
            join_type: false,
            condition: false,
            key_order: false,
            bounds: false,
            reworded: false,
            sides: false,
            order: false,
            unique_keys: false,
        },
        ChangeKind::RowPattern,
        ChangeKind::Measures(MeasuresChange::default()),
        ChangeKind::AfterMatch,
        ChangeKind::Definitions { changed: 0 },
        ChangeKind::Within,
        ChangeKind::LookupJoin {
            definition: false,
            alone: false,
            rows: false,
            ignored: false,
            state: false,
            asynchronous: false,
            resolves_updates: false,
        },
        ChangeKind::Source {
            renamed: false,
            connector: false,
            options: 0,
            sharding: 0,
            changelog: false,
            watermark: false,
            primary_key: false,
            unread_added: 0,
            unread_changed: 0,
        },
        ChangeKind::Nullability { required: false, key: false },
        ChangeKind::Sink { renamed: false, connector: false, options: 0 },
        ChangeKind::SinkMaterializer,
        ChangeKind::UserFunction,
        ChangeKind::SinkAdded { stateful: false },
        ChangeKind::SinkRemoved { stateful: false },
        ChangeKind::Engine { step: crate::engine::Step::Minor, flink: false },
        ChangeKind::JobOption { key: String::new() },
    ]
}

/// The facts that a rule about a kind of change may ask for.
pub fn facts_of(change: &str) -> Option<Vec<&'static str>> {
    let kind = kinds().into_iter().find(|k| k.name() == change)?;
    let own: Facts = kind.facts();
    Some(own.into_iter().map(|(n, _)| n).chain(CONTEXT.iter().map(|(n, _)| *n)).chain(["change"]).collect())
}
