//! Where bundles are closed: an assigner above each source that feeds operators with bundles
//! (Flink's `MiniBatchIntervalInferRule`).
//!
//! An assigner stands above every watermark assigner, and above a bare source if an aggregate or a join above it bundles. It follows
//! the watermark if any operator above works on event time. Legacy windows know no bundles: nothing is added below them.

use super::Operator;
use super::lower::Tree;
use super::mini_batch_assigner::MiniBatchAssigner;
use crate::logical::rex::Origins;

/// Adds the assigners of one sink's tree, if mini-batch is on (`interval` in milliseconds).
pub fn mini_batches(tree: Tree, interval: Option<i64>) -> Tree {
    match interval {
        Some(interval) => visit(tree, Needs { interval, rowtime: false, bundles: false }),
        None => tree,
    }
}

/// What the operators above a place ask for.
#[derive(Clone, Copy)]
struct Needs {
    interval: i64,
    rowtime: bool,
    bundles: bool,
}

fn visit(mut tree: Tree, mut needs: Needs) -> Tree {
    match &tree.op {
        Operator::GroupWindowAggregate(_) => return tree,
        Operator::WatermarkAssigner(_) => return assigner(tree, needs),
        Operator::TableSourceScan(_) if needs.bundles || needs.rowtime => return assigner(tree, needs),
        Operator::GroupAggregate(_)
        | Operator::LocalGroupAggregate(_)
        | Operator::GlobalGroupAggregate(_)
        | Operator::IncrementalGroupAggregate(_)
        | Operator::Join(_) => {
            needs.bundles = true;
        }
        op => needs.rowtime |= needs_watermark(op),
    }
    tree.inputs = tree.inputs.into_iter().map(|i| visit(i, needs)).collect();
    tree
}

fn needs_watermark(op: &Operator) -> bool {
    match op {
        Operator::WindowAggregate(a) => !a.window.proctime,
        Operator::LocalWindowAggregate(_)
        | Operator::GlobalWindowAggregate(_)
        | Operator::WindowRank(_)
        | Operator::WindowDeduplicate(_) => true,
        Operator::WindowTableFunction(w) => !w.window.proctime,
        Operator::OverAggregate(o) => !o.proctime,
        Operator::Deduplicate(d) => !d.proctime,
        Operator::TemporalSort(s) => !s.proctime,
        Operator::Match(m) => !m.proctime,
        Operator::IntervalJoin(j) => j.interval.event_time,
        Operator::WindowJoin(_) | Operator::TemporalJoin(_) => true,
        _ => false,
    }
}

fn assigner(input: Tree, needs: Needs) -> Tree {
    let op = Operator::MiniBatchAssigner(MiniBatchAssigner { interval: needs.interval, rowtime: needs.rowtime });
    Tree {
        op,
        columns: input.columns.clone(),
        changelog: input.changelog,
        upsert_keys: input.upsert_keys.clone(),
        monotonic: input.monotonic.clone(),
        origins: Origins::none(),
        inputs: vec![input],
    }
}
