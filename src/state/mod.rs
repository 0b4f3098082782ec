//! What each operator keeps: the entries of its state, named and typed as a savepoint holds them.
//!
//! One file per exec node, under the name it has in `exec`. A restore finds a state by the operator's id and the entry's name,
//! and takes it if the types are equal by position; so an entry says exactly that much. What a source or a sink keeps for itself
//! (offsets, transactions) belongs to the connector and is not listed.

pub mod accumulators;
mod changelog_normalize;
mod deduplicate;
mod global_group_aggregate;
mod group_aggregate;
mod group_window_aggregate;
mod incremental_group_aggregate;
mod interval_join;
mod join;
mod limit;
mod lookup_join;
mod match_recognize;
mod over_aggregate;
mod rank;
mod sink;
mod sort_limit;
mod temporal_join;
mod temporal_sort;
pub mod text;
pub mod types;
mod window_aggregate;
mod window_deduplicate;
mod window_join;
mod window_rank;
mod window_table_function;

use std::fmt;

use serde_json::{Value, json};

use crate::catalog::options::{parse_bool, parse_duration};
use crate::exec::{Column, Node, NodeId, Operator, Plan};
use accumulators::AccumulatorLayout;
pub use group_window_aggregate::late_firing;
use types::{RowType, StateType};

/// One named piece of an operator's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateEntry {
    /// Its name in savepoints: `accState`.
    pub name: String,
    /// The name that COMPILE PLAN gives the state it belongs to: `groupAggregateState`. Only state with a time to live has one.
    pub compiled_name: Option<&'static str>,
    /// How it is kept.
    pub kind: StateKind,
    /// The key it is kept under. None for [`StateKind::Operator`].
    pub key: Option<RowType>,
    /// The namespace it is kept under.
    pub namespace: StateType,
    /// What it holds; for a map the type of the map, for a list that of the list.
    pub value: StateType,
    /// How long it lives untouched, in milliseconds; none is for ever, or until the operator clears it itself. Entries with and
    /// without one differ in their serializers.
    pub ttl: Option<i64>,
    /// The input whose rows it holds, where an operator has two.
    pub input: usize,
}

/// The forms of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateKind {
    /// One value per key and namespace.
    Value,
    /// A list.
    List,
    /// A map.
    Map,
    /// A value into which others are folded.
    Reducing,
    /// State of the operator, without a key.
    Operator,
    /// Timers that wait to fire.
    Timer,
}

impl StateKind {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            StateKind::Value => "value",
            StateKind::List => "list",
            StateKind::Map => "map",
            StateKind::Reducing => "reducing",
            StateKind::Operator => "operator",
            StateKind::Timer => "timer",
        }
    }
}

impl fmt::Display for StateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl StateEntry {
    /// The entry with a time to live.
    fn with_ttl(mut self, ttl: Option<i64>) -> StateEntry {
        self.ttl = ttl;
        self
    }

    /// The entry of the rows of an input.
    fn of_input(mut self, input: usize) -> StateEntry {
        self.input = input;
        self
    }

    /// The entry with its name in compiled plans.
    fn compiled(mut self, name: &'static str) -> StateEntry {
        self.compiled_name = Some(name);
        self
    }

    /// The entry in `plan --format json`.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "kind": self.kind.name(),
            "key": self.key.as_ref().map(ToString::to_string).unwrap_or_default(),
            "namespace": self.namespace.to_string(),
            "value": self.value.to_string(),
            "compiled_name": self.compiled_name,
            "ttl": self.ttl,
        })
    }

    /// True if a savepoint with `self` restores into an operator that registers `new` under the same name: what Flink's
    /// serializers compare.
    pub fn restores_into(&self, new: &StateEntry) -> bool {
        self.kind == new.kind
            && self.key == new.key
            && self.namespace == new.namespace
            && self.value == new.value
            && self.ttl.is_some() == new.ttl.is_some()
    }
}

/// What an exec node keeps; each node's file implements it.
trait Stateful {
    /// The entries in the order in which the operator registers them, timers last.
    fn entries(&self, context: &StateContext<'_>) -> Vec<StateEntry>;

    /// The accumulator row of an aggregate.
    fn layout(&self, _: &StateContext<'_>) -> Option<AccumulatorLayout> {
        None
    }
}

/// What an operator's state depends on beside the operator itself.
struct StateContext<'a> {
    plan: &'a Plan,
    id: NodeId,
    node: &'a Node,
    /// The columns of its (first) input.
    input: &'a [Column],
}

impl<'a> StateContext<'a> {
    fn of(plan: &'a Plan, id: NodeId) -> StateContext<'a> {
        StateContext { plan, id, node: plan.node(id), input: plan.input_columns(id, 0) }
    }

    /// What the local aggregate below a global one reads.
    fn local_input(&self) -> &'a [Column] {
        self.plan.local_input(self.id)
    }

    /// `table.exec.state.ttl`, if it is on.
    fn ttl(&self) -> Option<i64> {
        time_to_live(self.plan)
    }

    /// What holds for the state of input `side`: what a hint says, or the option.
    fn ttl_of(&self, side: usize) -> Option<i64> {
        let hint = self.node.op.state_ttl().get(side).copied().flatten();
        crate::logical::state_ttl::time_to_live(hint, self.ttl())
    }

    /// `table.exec.mini-batch.enabled`: operators work in bundles and need no timers.
    fn mini_batch(&self) -> bool {
        self.plan.options.get("table.exec.mini-batch.enabled").and_then(|v| parse_bool(v)).unwrap_or_default()
    }

    /// A row of some input columns.
    fn row_of(&self, columns: impl IntoIterator<Item = usize>) -> RowType {
        row_of(columns.into_iter().filter_map(|i| self.input.get(i)))
    }

    /// A whole input row.
    fn input_row(&self) -> RowType {
        row_of(self.input)
    }

    /// State under a key of some input columns.
    fn keyed(&self, key: impl IntoIterator<Item = usize>, namespace: StateType) -> Keyed {
        Keyed { key: self.row_of(key), namespace }
    }
}

fn row_of<'a>(columns: impl IntoIterator<Item = &'a Column>) -> RowType {
    RowType::new(columns.into_iter().map(|c| (&*c.name, c.ty.clone())))
}

/// Makes entries that share key and namespace.
struct Keyed {
    key: RowType,
    namespace: StateType,
}

impl Keyed {
    fn entry(&self, name: impl Into<String>, kind: StateKind, value: StateType) -> StateEntry {
        StateEntry {
            name: name.into(),
            compiled_name: None,
            kind,
            key: Some(self.key.clone()),
            namespace: self.namespace.clone(),
            value,
            ttl: None,
            input: 0,
        }
    }

    fn value(&self, name: impl Into<String>, value: impl Into<StateType>) -> StateEntry {
        self.entry(name, StateKind::Value, value.into())
    }

    fn list(&self, name: impl Into<String>, element: impl Into<StateType>) -> StateEntry {
        self.entry(name, StateKind::List, element.into().list())
    }

    fn map(&self, name: impl Into<String>, key: impl Into<StateType>, value: impl Into<StateType>) -> StateEntry {
        self.entry(name, StateKind::Map, StateType::Map(Box::new(key.into()), Box::new(value.into())))
    }

    /// The two queues of a timer service. Flink's operators register both, whatever they use.
    fn timers(&self, service: &str) -> [StateEntry; 2] {
        ["processing", "event"]
            .map(|time| self.entry(format!("_timer_state/{time}_{service}"), StateKind::Timer, StateType::bigint()))
    }

    /// As [`Keyed::timers`] of the process functions' own service.
    fn user_timers(&self) -> [StateEntry; 2] {
        self.timers("user-timers")
    }
}

/// The state of an operator; empty if it keeps none.
pub fn entries(plan: &Plan, id: NodeId) -> Vec<StateEntry> {
    stateful(&plan.node(id).op).map(|op| op.entries(&StateContext::of(plan, id))).unwrap_or_default()
}

/// `table.exec.state.ttl` in milliseconds, if it is on.
pub fn time_to_live(plan: &Plan) -> Option<i64> {
    plan.options.get("table.exec.state.ttl").and_then(|v| parse_duration(v)).filter(|ttl| *ttl > 0)
}

/// The names of the entries that hold an operator's data; its timers and marks follow from them.
pub fn kept(plan: &Plan, id: NodeId) -> Vec<String> {
    let holds_data = |e: &StateEntry| !matches!(e.kind, StateKind::Timer | StateKind::Operator);
    entries(plan, id).into_iter().filter(holds_data).map(|e| e.name).collect()
}

/// Where the calls of an aggregate stand in its accumulator row; none for operators that do not aggregate. The rows of
/// `GlobalWindowAggregate` are laid out over the input of its local aggregate.
pub fn accumulators(plan: &Plan, id: NodeId) -> Option<AccumulatorLayout> {
    stateful(&plan.node(id).op)?.layout(&StateContext::of(plan, id))
}

fn stateful(op: &Operator) -> Option<&dyn Stateful> {
    Some(match op {
        Operator::WindowTableFunction(op) => op,
        Operator::WindowAggregate(op) => op,
        Operator::GlobalWindowAggregate(op) => op,
        Operator::GroupWindowAggregate(op) => op,
        Operator::GroupAggregate(op) => op,
        Operator::GlobalGroupAggregate(op) => op,
        Operator::IncrementalGroupAggregate(op) => op,
        Operator::OverAggregate(op) => op,
        Operator::WindowRank(op) => op,
        Operator::WindowDeduplicate(op) => op,
        Operator::Rank(op) => op,
        Operator::Deduplicate(op) => op,
        Operator::Limit(op) => op,
        Operator::SortLimit(op) => op,
        Operator::TemporalSort(op) => op,
        Operator::ChangelogNormalize(op) => op,
        Operator::Join(op) => op,
        Operator::IntervalJoin(op) => op,
        Operator::WindowJoin(op) => op,
        Operator::Match(op) => op,
        Operator::TemporalJoin(op) => op,
        Operator::LookupJoin(op) => op,
        Operator::Sink(op) => op,
        Operator::TableSourceScan(_)
        | Operator::Values(_)
        | Operator::Calc(_)
        | Operator::WatermarkAssigner(_)
        | Operator::MiniBatchAssigner(_)
        | Operator::Expand(_)
        | Operator::Correlate(_)
        | Operator::Exchange(_)
        | Operator::DropUpdateBefore(_)
        | Operator::Union(_)
        | Operator::LocalWindowAggregate(_)
        | Operator::LocalGroupAggregate(_) => return None,
    })
}
