//! What kinds of operators stand for each other, under the names that rules give them.

use crate::exec::Operator;

/// The family of an operator, as rules name it.
pub fn family(op: &Operator) -> &'static str {
    match op {
        Operator::TableSourceScan(_) => "source",
        Operator::Values(_) => "values",
        Operator::Sink(_) => "sink",
        Operator::Union(_) => "union",
        Operator::Join(_) => "join",
        Operator::IntervalJoin(_) => "interval-join",
        Operator::WindowJoin(_) => "window-join",
        Operator::TemporalJoin(_) => "temporal-join",
        Operator::LookupJoin(_) => "lookup-join",
        Operator::WindowTableFunction(_) => "window-table-function",
        Operator::WindowAggregate(_) | Operator::GlobalWindowAggregate(_) | Operator::LocalWindowAggregate(_) => {
            "window-aggregate"
        }
        Operator::GroupWindowAggregate(_) => "group-window-aggregate",
        Operator::GroupAggregate(_)
        | Operator::GlobalGroupAggregate(_)
        | Operator::IncrementalGroupAggregate(_)
        | Operator::LocalGroupAggregate(_) => "group-aggregate",
        Operator::OverAggregate(_) => "over-aggregate",
        Operator::WindowRank(_) => "window-rank",
        Operator::WindowDeduplicate(_) => "window-deduplicate",
        Operator::Rank(_) => "rank",
        Operator::Deduplicate(_) => "deduplicate",
        Operator::ChangelogNormalize(_) => "changelog-normalize",
        Operator::Limit(_) => "limit",
        Operator::SortLimit(_) => "sort-limit",
        Operator::TemporalSort(_) => "temporal-sort",
        Operator::Match(_) => "match",
        Operator::Calc(_)
        | Operator::WatermarkAssigner(_)
        | Operator::Expand(_)
        | Operator::Correlate(_)
        | Operator::Exchange(_)
        | Operator::MiniBatchAssigner(_)
        | Operator::DropUpdateBefore(_) => "calc",
    }
}

/// True for joins that keep the rows of two inputs.
pub fn is_join(op: &Operator) -> bool {
    matches!(op, Operator::Join(_) | Operator::IntervalJoin(_) | Operator::WindowJoin(_) | Operator::TemporalJoin(_))
}
