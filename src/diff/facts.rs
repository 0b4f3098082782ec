//! Changes as flat facts, which rules match by their names.

use std::borrow::Cow;

use super::change::{ChangeKind, KeysChange};

/// A value of a fact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// Yes or no.
    Bool(bool),
    /// A count.
    Count(u64),
    /// A word, such as an operator kind or a window type.
    Word(Cow<'static, str>),
    /// Several words, such as the functions of aggregates; a rule may ask for one of them.
    Words(Vec<String>),
}

impl From<bool> for Fact {
    fn from(b: bool) -> Self {
        Fact::Bool(b)
    }
}
impl From<usize> for Fact {
    fn from(n: usize) -> Self {
        Fact::Count(n as u64)
    }
}
impl From<&'static str> for Fact {
    fn from(s: &'static str) -> Self {
        Fact::Word(Cow::Borrowed(s))
    }
}
impl From<String> for Fact {
    fn from(s: String) -> Self {
        Fact::Word(Cow::Owned(s))
    }
}

impl From<&[String]> for Fact {
    fn from(words: &[String]) -> Self {
        Fact::Words(words.to_vec())
    }
}

/// Named facts in a stable order.
pub type Facts = Vec<(&'static str, Fact)>;

impl ChangeKind {
    /// The kind's name in rules.
    pub fn name(&self) -> &'static str {
        match self {
            ChangeKind::Aggregates(_) => "aggregates",
            ChangeKind::Window(_) => "window",
            ChangeKind::GroupKeys(_) => "group-keys",
            ChangeKind::GroupingSets { .. } => "grouping-sets",
            ChangeKind::PartitionKeys(_) => "partition-keys",
            ChangeKind::OrderBy(_) => "order-by",
            ChangeKind::RankRange { .. } => "rank-range",
            ChangeKind::LimitRange { .. } => "limit-range",
            ChangeKind::StateTtl { .. } => "state-ttl",
            ChangeKind::RankType => "rank-type",
            ChangeKind::InputColumns(_) => "input-columns",
            ChangeKind::Frame { .. } => "frame",
            ChangeKind::ProjectionStep { .. } => "projection-step",
            ChangeKind::Filter { .. } => "filter",
            ChangeKind::TableFunction { .. } => "table-function",
            ChangeKind::WindowOutput { .. } => "window-output",
            ChangeKind::RankOutput { .. } => "rank-output",
            ChangeKind::OutputColumns { .. } => "output-columns",
            ChangeKind::RankStrategy { .. } => "rank-strategy",
            ChangeKind::OutputNames { .. } => "output-names",
            ChangeKind::EmitStrategy { .. } => "emit-strategy",
            ChangeKind::OperatorReplaced { .. } => "operator-replaced",
            ChangeKind::OperatorAdded => "operator-added",
            ChangeKind::OperatorRemoved => "operator-removed",
            ChangeKind::UnionInputs { .. } => "union-inputs",
            ChangeKind::Join { .. } => "join",
            ChangeKind::RowPattern => "row-pattern",
            ChangeKind::Measures(_) => "measures",
            ChangeKind::AfterMatch => "after-match",
            ChangeKind::Definitions { .. } => "definitions",
            ChangeKind::Within => "within",
            ChangeKind::LookupJoin { .. } => "lookup-join",
            ChangeKind::Source { .. } => "source",
            ChangeKind::Nullability { .. } => "nullability",
            ChangeKind::Sink { .. } => "sink",
            ChangeKind::SinkMaterializer => "sink-materializer",
            ChangeKind::SinkAdded { .. } => "sink-added",
            ChangeKind::SinkRemoved { .. } => "sink-removed",
            ChangeKind::UserFunction => "user-function",
            ChangeKind::Engine { .. } => "engine",
            ChangeKind::JobOption { .. } => "job-option",
        }
    }

    /// What is to be known of it, flat, for rules to match.
    pub fn facts(&self) -> Facts {
        let keys = |k: &KeysChange| -> Facts {
            vec![
                ("added", k.added.into()),
                ("removed", k.removed.into()),
                ("changed", k.changed.into()),
                ("retyped", k.retyped.into()),
                ("moved", k.moved.into()),
                ("window_moved", k.window_moved.into()),
            ]
        };
        match self {
            ChangeKind::Aggregates(a) => vec![
                ("old", a.old.into()),
                ("new", a.new.into()),
                ("survivors", a.survivors.into()),
                ("added", a.added.into()),
                ("removed", a.removed.into()),
                ("changed", a.changed.into()),
                ("recomputed", a.recomputed.into()),
                ("filter_changed", a.filter_changed.into()),
                ("filtered", a.filtered.into()),
                ("functions", a.functions.as_slice().into()),
                ("moved", a.moved.into()),
                ("distinct_changed", a.distinct_changed.into()),
                ("distinct_moved", a.distinct_moved.into()),
                ("buckets", a.buckets.into()),
            ],
            ChangeKind::Window(w) => vec![
                ("window_type", w.window_type.into()),
                ("size", w.size.into()),
                ("slide", w.slide.into()),
                ("step", w.step.into()),
                ("gap", w.gap.into()),
                ("offset", w.offset.into()),
                ("time_attribute", w.time_attribute.into()),
                ("time_recomputed", w.time_recomputed.into()),
                ("session_keys", w.session_keys.into()),
            ],
            ChangeKind::GroupKeys(k) | ChangeKind::PartitionKeys(k) | ChangeKind::InputColumns(k) => keys(k),
            ChangeKind::OrderBy(o) => vec![
                ("fields", o.fields.into()),
                ("direction", o.direction.into()),
                ("nulls", o.nulls.into()),
                ("time_attribute", o.time_attribute.into()),
            ],
            ChangeKind::RankRange { start, end } => vec![("start", (*start).into()), ("end", (*end).into())],
            ChangeKind::LimitRange { fetch, offset } => vec![("fetch", (*fetch).into()), ("offset", (*offset).into())],
            ChangeKind::Frame { units, bound } => vec![("units", (*units).into()), ("bound", (*bound).into())],
            ChangeKind::ProjectionStep { appeared, conditions_only } => {
                vec![("appeared", (*appeared).into()), ("conditions_only", (*conditions_only).into())]
            }
            ChangeKind::Filter { below_stateful, added, removed, ignored, having } => vec![
                ("below_stateful", (*below_stateful).into()),
                ("added", (*added).into()),
                ("removed", (*removed).into()),
                ("ignored", (*ignored).into()),
                ("having", (*having).into()),
            ],
            ChangeKind::RankStrategy { upsert_key, algorithm } => {
                vec![("upsert_key", (*upsert_key).into()), ("algorithm", (*algorithm).into())]
            }
            ChangeKind::WindowOutput { added, removed, window_time } => {
                vec![("added", (*added).into()), ("removed", (*removed).into()), ("window_time", (*window_time).into())]
            }
            ChangeKind::OutputColumns { added, removed } => {
                vec![("added", (*added).into()), ("removed", (*removed).into())]
            }
            ChangeKind::RankOutput { added } => vec![("added", (*added).into())],
            ChangeKind::OutputNames { renamed } => vec![("renamed", (*renamed).into())],
            ChangeKind::TableFunction { below_stateful, added, removed } => vec![
                ("below_stateful", (*below_stateful).into()),
                ("added", (*added).into()),
                ("removed", (*removed).into()),
            ],
            ChangeKind::OperatorReplaced { old_family, new_family, window_keys } => vec![
                ("old_family", (*old_family).into()),
                ("new_family", (*new_family).into()),
                ("window_keys", (*window_keys).into()),
            ],
            ChangeKind::Join { join_type, condition, key_order, bounds, reworded, sides, order, unique_keys } => vec![
                ("join_type", (*join_type).into()),
                ("condition", (*condition).into()),
                ("key_order", (*key_order).into()),
                ("bounds", (*bounds).into()),
                ("reworded", (*reworded).into()),
                ("sides", (*sides).into()),
                ("order", (*order).into()),
                ("unique_keys", (*unique_keys).into()),
            ],
            ChangeKind::LookupJoin { definition, alone, rows, ignored, state, asynchronous, resolves_updates } => vec![
                ("definition", (*definition).into()),
                ("alone", (*alone).into()),
                ("rows", (*rows).into()),
                ("ignored", (*ignored).into()),
                ("state", (*state).into()),
                ("asynchronous", (*asynchronous).into()),
                ("resolves_updates", (*resolves_updates).into()),
            ],
            ChangeKind::UnionInputs { added, removed, moved } => {
                vec![("added", (*added).into()), ("removed", (*removed).into()), ("moved", (*moved).into())]
            }
            ChangeKind::Source {
                renamed,
                connector,
                options,
                sharding,
                changelog,
                watermark,
                primary_key,
                unread_added,
                unread_changed,
            } => vec![
                ("renamed", (*renamed).into()),
                ("connector", (*connector).into()),
                ("options", (*options).into()),
                ("sharding", (*sharding).into()),
                ("changelog", (*changelog).into()),
                ("watermark", (*watermark).into()),
                ("primary_key", (*primary_key).into()),
                ("unread_added", (*unread_added).into()),
                ("unread_changed", (*unread_changed).into()),
            ],
            ChangeKind::Nullability { required, key } => {
                vec![("required", (*required).into()), ("key", (*key).into())]
            }
            ChangeKind::Sink { renamed, connector, options } => {
                vec![("renamed", (*renamed).into()), ("connector", (*connector).into()), ("options", (*options).into())]
            }
            ChangeKind::SinkAdded { stateful } | ChangeKind::SinkRemoved { stateful } => {
                vec![("stateful", (*stateful).into())]
            }
            ChangeKind::Engine { step, flink } => vec![("step", step.name().into()), ("flink", (*flink).into())],
            ChangeKind::JobOption { key } => vec![("key", key.clone().into())],
            ChangeKind::GroupingSets { on_both_sides } => vec![("on_both_sides", (*on_both_sides).into())],
            ChangeKind::EmitStrategy { lateness_only } => vec![("lateness_only", (*lateness_only).into())],
            ChangeKind::Measures(m) => vec![
                ("added", m.added.into()),
                ("removed", m.removed.into()),
                ("changed", m.changed.into()),
                ("moved", m.moved.into()),
            ],
            ChangeKind::Definitions { changed } => vec![("changed", (*changed).into())],
            ChangeKind::StateTtl { switched } => vec![("switched", (*switched).into())],
            ChangeKind::RankType
            | ChangeKind::RowPattern
            | ChangeKind::AfterMatch
            | ChangeKind::Within
            | ChangeKind::SinkMaterializer
            | ChangeKind::UserFunction
            | ChangeKind::OperatorAdded
            | ChangeKind::OperatorRemoved => Vec::new(),
        }
    }
}
