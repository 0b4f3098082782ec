//! Flink's operators: the canonical plan that is compared, printed and run.
//!
//! One file per exec node, named after Flink's `StreamExec*` classes. A [`Plan`] is an arena of [`Node`]s in print order
//! (root first, depth first; a shared sub-plan once).

pub mod aggregate_text;
pub mod calc;
pub mod changelog;
pub mod changelog_normalize;
pub mod correlate;
pub mod deduplicate;
mod determinism;
pub mod drop_update_before;
pub mod exchange;
pub mod expand;
pub mod global_group_aggregate;
pub mod graph_text;
pub mod group_aggregate;
pub mod group_window_aggregate;
pub mod incremental_group_aggregate;
pub mod interval_join;
pub mod join;
mod json;
pub mod limit;
pub mod local_group_aggregate;
pub mod local_window_aggregate;
pub mod lookup_join;
mod lower;
pub mod match_recognize;
mod mini_batch;
pub mod mini_batch_assigner;
mod needed;
pub mod over_aggregate;
mod phases;
mod planner;
pub mod rank;
mod script;
pub mod sink;
pub mod sort_limit;
pub mod table_source_scan;
pub mod temporal_join;
pub mod temporal_sort;
pub mod union;
pub mod values;
pub mod watermark_assigner;
pub mod window_aggregate;
pub mod window_deduplicate;
pub mod window_join;
pub mod window_rank;
pub mod window_spec;
pub mod window_table_function;

use std::fmt::Write as _;
use std::sync::Arc;

use crate::catalog::types::{DataType, TimeAttribute};
use crate::logical::rel::Split;
use crate::logical::rex::Origins;
use crate::logical::state_ttl::StateTtl;
use crate::logical::time_bounds::TimeColumn;
pub use crate::target::Target;
pub use changelog::ChangelogMode;
pub use script::{PlannedScript, Purpose, plan_script, plan_script_for, plan_script_with};

/// Index of a [`Node`] in its [`Plan`]. In JSON ids count in print order from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The place in the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The id shown to people and in JSON.
    pub fn shown(self) -> u32 {
        self.0 + 1
    }
}

/// An output column of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name as Flink prints it.
    pub name: Arc<str>,
    /// Its type.
    pub ty: DataType,
    /// False if nothing above reads it: Flink carries it, the documented rules do not count it.
    pub needed: bool,
}

impl TimeColumn for Column {
    fn time_attribute(&self) -> TimeAttribute {
        self.ty.time_attribute()
    }
}

/// An operator of the plan.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it does.
    pub op: Operator,
    /// Its inputs.
    pub inputs: Vec<NodeId>,
    /// Its output row.
    pub columns: Vec<Column>,
    /// The kinds of changes it sends.
    pub changelog: ChangelogMode,
    /// Upsert keys of its output: sets of columns that identify a row.
    pub upsert_keys: Vec<Vec<usize>>,
    /// The clause it comes from.
    pub origins: Origins,
}

/// The plan of one job: its sinks and everything below them.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The engine it was planned for.
    pub target: Target,
    /// All operators in print order.
    pub nodes: Vec<Node>,
    /// The sinks, in statement order.
    pub sinks: Vec<NodeId>,
    /// The job's name, if `pipeline.name` is set.
    pub name: Option<String>,
    /// Options that bear on state, as set where the (last) INSERT stands.
    pub options: std::collections::BTreeMap<String, String>,
    /// Where these options are set.
    pub option_places: std::collections::BTreeMap<String, crate::source::Span>,
    /// Where the script has conditions of HAVING, which are filters like others in the plan.
    pub having: Vec<crate::source::Span>,
    /// The functions that the script declares, with what implements them.
    pub functions: std::collections::BTreeMap<String, String>,
    /// The TEMPORARY TABLEs that the script declares, in order of their names, whether the job uses them or not.
    pub temporary_tables: Vec<std::sync::Arc<crate::catalog::Table>>,
    /// The names of all tables that the script declares, whether the job uses them or not.
    pub tables: Arc<[Arc<str>]>,
}

impl Plan {
    /// The node of an id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All ids in print order.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The output columns of an operator's `i`-th input.
    pub fn input_columns(&self, id: NodeId, i: usize) -> &[Column] {
        self.node(id).inputs.get(i).map_or(&[], |input| &self.node(*input).columns)
    }

    /// One operator in Flink's EXPLAIN notation.
    pub fn text(&self, id: NodeId) -> String {
        let node = self.node(id);
        node.op.text(&TextContext { plan: self, node, input: self.input_columns(id, 0) })
    }

    /// The plan as a tree in Flink's EXPLAIN notation. A sub-plan that is used again is printed once and referred to.
    pub fn tree_text(&self) -> String {
        let mut out = String::new();
        let mut printed = vec![false; self.nodes.len()];
        for (i, sink) in self.sinks.iter().enumerate() {
            if i > 0 {
                out.push('\n');
            }
            self.write_tree(&mut out, *sink, "", "", &mut printed);
        }
        out
    }

    fn write_tree(&self, out: &mut String, id: NodeId, head: &str, tail: &str, printed: &mut [bool]) {
        if std::mem::replace(&mut printed[id.index()], true) {
            let _ = writeln!(out, "{head}Reused(reference_id=[{}])", id.shown());
            return;
        }
        let _ = writeln!(out, "{head}{}", self.text(id));
        let inputs = &self.node(id).inputs;
        for (i, input) in inputs.iter().enumerate() {
            let last = i + 1 == inputs.len();
            let (head, next) = if last { ("+- ", "   ") } else { (":- ", ":  ") };
            self.write_tree(out, *input, &format!("{tail}{head}"), &format!("{tail}{next}"), printed);
        }
    }
}

/// What an operator's text depends on.
pub struct TextContext<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The operator.
    pub node: &'a Node,
    /// The columns of its (first) input.
    pub input: &'a [Column],
}

impl TextContext<'_> {
    /// The name of an input column.
    pub fn name(&self, i: usize) -> &str {
        &self.input[i].name
    }

    /// The names of input columns, joined by `, `.
    pub fn names(&self, columns: &[usize]) -> String {
        join(columns.iter().map(|i| self.name(*i)))
    }

    /// The phase below a global aggregate, behind the exchange.
    fn phase_below(&self) -> Option<&Operator> {
        let exchange = self.plan.node(*self.node.inputs.first()?);
        Some(&self.plan.node(*exchange.inputs.first()?).op)
    }

    /// All input names, for printing expressions.
    pub fn input_names(&self) -> Vec<&str> {
        self.input.iter().map(|c| &*c.name).collect()
    }

    /// The names of the operator's own columns, joined by `, `.
    pub fn output_names(&self) -> String {
        join(self.node.columns.iter().map(|c| &*c.name))
    }
}

/// Joins words by `, `.
pub fn join<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let mut out = String::new();
    for (i, w) in words.into_iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        out.push_str(w.as_ref());
    }
    out
}

/// What an exec node is called and how Flink prints it; each node's file implements it.
pub trait ExecNode {
    /// The node's name in EXPLAIN.
    fn kind(&self) -> &'static str;
    /// The text between the parentheses of EXPLAIN, as name and value; a value without a name has an empty one.
    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)>;
}

macro_rules! operators {
    ($($variant:ident($path:path)),+ $(,)?) => {
        /// The exec nodes, each described in its own file.
        #[derive(Debug, Clone)]
        pub enum Operator {
            $(#[doc = concat!("`", stringify!($variant), "`")] $variant($path)),+
        }

        impl Operator {
            /// The names of all exec nodes.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($variant)),+];

            /// The node behind the variant.
            pub fn node(&self) -> &dyn ExecNode {
                match self { $(Operator::$variant(node) => node),+ }
            }
        }
    };
}

operators! {
    TableSourceScan(table_source_scan::TableSourceScan),
    WatermarkAssigner(watermark_assigner::WatermarkAssigner),
    Calc(calc::Calc),
    Expand(expand::Expand),
    Correlate(correlate::Correlate),
    Exchange(exchange::Exchange),
    Union(union::Union),
    Join(join::Join),
    IntervalJoin(interval_join::IntervalJoin),
    WindowJoin(window_join::WindowJoin),
    TemporalJoin(temporal_join::TemporalJoin),
    LookupJoin(lookup_join::LookupJoin),
    Values(values::Values),
    WindowTableFunction(window_table_function::WindowTableFunction),
    WindowAggregate(window_aggregate::WindowAggregate),
    LocalWindowAggregate(local_window_aggregate::LocalWindowAggregate),
    GlobalWindowAggregate(window_aggregate::GlobalWindowAggregate),
    GroupWindowAggregate(group_window_aggregate::GroupWindowAggregate),
    GroupAggregate(group_aggregate::GroupAggregate),
    OverAggregate(over_aggregate::OverAggregate),
    WindowRank(window_rank::WindowRank),
    WindowDeduplicate(window_deduplicate::WindowDeduplicate),
    Rank(rank::Rank),
    Deduplicate(deduplicate::Deduplicate),
    ChangelogNormalize(changelog_normalize::ChangelogNormalize),
    Limit(limit::Limit),
    SortLimit(sort_limit::SortLimit),
    TemporalSort(temporal_sort::TemporalSort),
    MiniBatchAssigner(mini_batch_assigner::MiniBatchAssigner),
    LocalGroupAggregate(local_group_aggregate::LocalGroupAggregate),
    GlobalGroupAggregate(global_group_aggregate::GlobalGroupAggregate),
    IncrementalGroupAggregate(incremental_group_aggregate::IncrementalGroupAggregate),
    Match(match_recognize::Match),
    DropUpdateBefore(drop_update_before::DropUpdateBefore),
    Sink(sink::Sink),
}

impl Operator {
    /// The node's name in EXPLAIN.
    pub fn kind(&self) -> &'static str {
        self.node().kind()
    }

    /// The node in EXPLAIN notation.
    pub fn text(&self, context: &TextContext<'_>) -> String {
        let attributes = self.node().attributes(context);
        if attributes.is_empty() {
            return self.kind().to_owned();
        }
        let inner = join(attributes.iter().map(|(name, value)| format!("{name}=[{value}]")));
        format!("{}({inner})", self.kind())
    }

    /// How long the rows of each input are kept, where hints say it.
    pub fn state_ttl(&self) -> &[Option<StateTtl>] {
        match self {
            Operator::Join(join) => &join.ttl,
            Operator::GroupAggregate(aggregate) => std::slice::from_ref(&aggregate.ttl),
            Operator::GlobalGroupAggregate(global) => std::slice::from_ref(&global.aggregate.ttl),
            Operator::IncrementalGroupAggregate(halves) => std::slice::from_ref(&halves.partial.aggregate.ttl),
            _ => &[],
        }
    }

    /// Which half of a split aggregate the operator is, if it is one.
    pub fn split(&self) -> &Split {
        match self {
            Operator::GroupAggregate(a) => &a.split,
            Operator::GlobalGroupAggregate(g) => &g.aggregate.split,
            Operator::IncrementalGroupAggregate(i) => &i.partial.aggregate.split,
            Operator::WindowAggregate(a) => &a.split,
            Operator::GlobalWindowAggregate(g) => &g.aggregate.split,
            _ => &Split::None,
        }
    }

    /// Where the keys of an aggregate by GROUP BY are written.
    pub fn group_key_origins(&self) -> &[Origins] {
        match self {
            Operator::GroupAggregate(a) => &a.key_origins,
            Operator::GlobalGroupAggregate(g) => &g.aggregate.key_origins,
            Operator::IncrementalGroupAggregate(i) => &i.partial.aggregate.key_origins,
            Operator::WindowAggregate(a) => &a.origin.key_origins,
            Operator::GlobalWindowAggregate(g) => &g.aggregate.origin.key_origins,
            _ => &[],
        }
    }

    /// True if the operator keeps state that a savepoint holds (sources and sinks aside).
    pub fn is_stateful(&self) -> bool {
        matches!(
            self,
            Operator::WindowTableFunction(window_table_function::WindowTableFunction { keyed: true, .. })
                | Operator::WindowAggregate(_)
                | Operator::GlobalWindowAggregate(_)
                | Operator::GroupWindowAggregate(_)
                | Operator::GroupAggregate(_)
                | Operator::OverAggregate(_)
                | Operator::WindowRank(_)
                | Operator::WindowDeduplicate(_)
                | Operator::Rank(_)
                | Operator::Deduplicate(_)
                | Operator::ChangelogNormalize(_)
                | Operator::Limit(_)
                | Operator::SortLimit(_)
                | Operator::GlobalGroupAggregate(_)
                | Operator::IncrementalGroupAggregate(_)
                | Operator::Join(_)
                | Operator::IntervalJoin(_)
                | Operator::WindowJoin(_)
                | Operator::Match(_)
                | Operator::TemporalJoin(_)
        ) || matches!(self, Operator::TemporalSort(sort) if sort.is_stateful())
            || matches!(self, Operator::LookupJoin(join) if join.is_stateful())
    }
}
