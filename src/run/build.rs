//! From exec nodes to tasks.

use super::error::RunResult;
use super::pass::Pass;
use super::store::Entries;
use super::task::Task;
use crate::catalog::options::parse_duration;
use crate::eval::{Evaluator, Session, compile};
use crate::exec::{Column, Node, NodeId, Operator, Plan};
use crate::logical::rex::Rex;
use crate::logical::state_ttl::time_to_live;
use crate::state;

/// What a task is made from.
pub struct Build<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The operator's id.
    pub id: NodeId,
    /// The operator.
    pub node: &'a Node,
    /// The columns of its (first) input.
    pub input: &'a [Column],
    /// What expressions depend on.
    pub session: &'a Session,
    /// The state that the plan gives the operator.
    pub entries: Entries,
}

impl Build<'_> {
    /// Compiles expressions over the input.
    pub fn compile(&self, exprs: &[Rex]) -> RunResult<Vec<Evaluator>> {
        exprs.iter().map(|e| Ok(compile(e, self.session)?)).collect()
    }

    /// An option of the job.
    pub fn option(&self, key: &str) -> Option<&str> {
        self.plan.options.get(key).map(String::as_str)
    }

    /// The time to live of the operator's state, by a hint or by `table.exec.state.ttl`, in milliseconds.
    pub fn state_ttl(&self) -> Option<i64> {
        let hint = self.node.op.state_ttl().first().copied().flatten();
        time_to_live(hint, self.option("table.exec.state.ttl").and_then(parse_duration))
    }
}

/// What an exec node does with rows; each node's file implements it.
pub trait Runnable {
    /// The task, which has to take every state entry of `build`.
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>>;
}

/// The task of an operator.
pub fn task(plan: &Plan, id: NodeId, session: &Session) -> RunResult<Box<dyn Task>> {
    let node = plan.node(id);
    let mut build = Build {
        plan,
        id,
        node,
        input: plan.input_columns(id, 0),
        session,
        entries: Entries::new(state::entries(plan, id)),
    };
    let runnable: &dyn Runnable = match &node.op {
        Operator::TableSourceScan(op) => op,
        Operator::Values(op) => op,
        Operator::WatermarkAssigner(op) => op,
        Operator::Calc(op) => op,
        Operator::Expand(op) => op,
        Operator::Correlate(op) => op,
        Operator::DropUpdateBefore(op) => op,
        Operator::Rank(op) => op,
        Operator::Deduplicate(op) => op,
        Operator::Limit(op) => op,
        Operator::SortLimit(op) => op,
        Operator::TemporalSort(op) => op,
        Operator::Match(op) => op,
        Operator::ChangelogNormalize(op) => op,
        Operator::GroupAggregate(op) => op,
        Operator::MiniBatchAssigner(op) => op,
        Operator::LocalGroupAggregate(op) => op,
        Operator::GlobalGroupAggregate(op) => op,
        Operator::IncrementalGroupAggregate(op) => op,
        Operator::OverAggregate(op) => op,
        Operator::WindowTableFunction(op) => op,
        Operator::WindowAggregate(op) => op,
        Operator::LocalWindowAggregate(op) => op,
        Operator::GlobalWindowAggregate(op) => op,
        Operator::GroupWindowAggregate(op) => op,
        Operator::WindowRank(op) => op,
        Operator::WindowDeduplicate(op) => op,
        Operator::Join(op) => op,
        Operator::IntervalJoin(op) => op,
        Operator::WindowJoin(op) => op,
        Operator::TemporalJoin(op) => op,
        Operator::LookupJoin(op) => op,
        Operator::Sink(op) => op,
        // Without parallelism an exchange has nothing to do, and a union only lets its inputs through.
        Operator::Exchange(_) | Operator::Union(_) => &Pass,
    };
    let task = runnable.task(&mut build).map_err(|e| e.at(&node.origins))?;
    build.entries.finish()?;
    Ok(task)
}
