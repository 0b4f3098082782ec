//! From the trees of all sinks to one numbered plan: update kinds are settled, equal sub-plans shared, ids given in print order.

use std::collections::HashMap;

use super::determinism::resolve_updates;
use super::drop_update_before::DropUpdateBefore;
use super::lower::Tree;
use super::mini_batch::mini_batches;
use super::rank::RankStrategy;
use super::script::Purpose;
use super::{Node, NodeId, Operator, Plan, Target, TextContext};
use crate::catalog::connectors::{Connector, SinkAccepts};
use crate::logical::rex::Origins;

/// Builds the plan of a job from its sinks.
pub fn assemble(
    (target, purpose): (Target, Purpose),
    trees: Vec<Tree>,
    share: bool,
    share_sources: bool,
    mini_batch: Option<i64>,
    name: Option<String>,
    options: std::collections::BTreeMap<String, String>,
) -> Plan {
    let mut plan = Plan {
        target,
        nodes: Vec::new(),
        sinks: Vec::new(),
        name,
        options,
        option_places: Default::default(),
        having: Vec::new(),
        functions: Default::default(),
        temporary_tables: Vec::new(),
        tables: std::sync::Arc::default(),
    };
    let several_leaves = trees.iter().map(leaves).sum::<usize>() > 1;
    let mut shared = Sharing { known: HashMap::new(), on: share && several_leaves, sources: share_sources };
    let roots: Vec<NodeId> = trees
        .into_iter()
        .map(|t| {
            add(
                &mut plan,
                resolve_updates(settle(mini_batches(t, mini_batch), purpose == Purpose::Collect)),
                &mut shared,
            )
        })
        .collect();
    number(&mut plan, roots);
    super::needed::mark(&mut plan);
    plan
}

fn leaves(tree: &Tree) -> usize {
    if tree.inputs.is_empty() { 1 } else { tree.inputs.iter().map(leaves).sum() }
}

/// Who needs `-U` rows, top down (the second half of Flink's `FlinkChangelogModeInferenceProgram`).
/// A bare SELECT needs them if its rows are collected.
fn settle(mut tree: Tree, before: bool) -> Tree {
    let has_updates = tree.changelog.has_updates();
    let below = match &tree.op {
        // A materializer compares whole rows: it needs the old ones too.
        Operator::Sink(sink) => {
            sink.upsert_materialize
                || sink
                    .table
                    .as_ref()
                    .map_or(before, |t| matches!(Connector::of(t).sink, SinkAccepts::All { update_before: true }))
        }
        Operator::GroupAggregate(_)
        | Operator::WindowAggregate(_)
        | Operator::GroupWindowAggregate(_)
        | Operator::LocalWindowAggregate(_)
        | Operator::GlobalWindowAggregate(_)
        | Operator::LocalGroupAggregate(_)
        | Operator::Limit(_)
        | Operator::OverAggregate(_)
        | Operator::Match(_) => true,
        Operator::SortLimit(sort) => sort.strategy == RankStrategy::Retract,
        Operator::Rank(rank) => rank.strategy == RankStrategy::Retract,
        Operator::ChangelogNormalize(_) => false,
        Operator::Join(_) => before || !spares_before(&tree),
        // A condition on other columns than the key needs the old row to retract what it let through before.
        Operator::Calc(calc) => before || (!calc.conditions.is_empty() && !reads_only_keys(&tree)),
        _ => before,
    };
    // Of versions the last one of a time counts, whatever it took the place of.
    let versions = matches!(tree.op, Operator::TemporalJoin(_));
    let inputs = tree.inputs.into_iter().enumerate();
    tree.inputs = inputs.map(|(side, i)| settle(i, below && !(versions && side == 1))).collect();
    let from_input = tree.inputs.first().map(|i| i.changelog);
    match &tree.op {
        Operator::TableSourceScan(_) | Operator::Values(_) => {
            if tree.changelog.update_before && !before {
                return drop_update_before(tree);
            }
        }
        Operator::GroupAggregate(_)
        | Operator::GlobalGroupAggregate(_)
        | Operator::Limit(_)
        | Operator::SortLimit(_)
        | Operator::Rank(_)
        | Operator::Deduplicate(_)
        | Operator::ChangelogNormalize(_)
        | Operator::GroupWindowAggregate(_) => tree.changelog.update_before = before && has_updates,
        Operator::Join(_) => tree.changelog.update_before = below && has_updates,
        Operator::Union(_) => {
            tree.changelog.update_before = tree.inputs.iter().any(|i| i.changelog.update_before);
        }
        Operator::WindowAggregate(_)
        | Operator::GlobalWindowAggregate(_)
        | Operator::LocalWindowAggregate(_)
        | Operator::LocalGroupAggregate(_)
        | Operator::OverAggregate(_)
        | Operator::Match(_) => {}
        Operator::Exchange(_) => {
            if let Some(changelog) = from_input {
                tree.changelog = changelog;
            }
        }
        _ => {
            if let Some(changelog) = from_input {
                tree.changelog.update_before = changelog.update_before;
            }
        }
    }
    tree
}

/// True if a plan can do without `-U` rows: a join only if each updating side has a key that holds the join key, and a filter
/// only on columns that are keys by themselves. What keeps results of its own sends what it is asked for.
fn spares_before(tree: &Tree) -> bool {
    match &tree.op {
        Operator::Join(join) => tree.inputs.iter().enumerate().all(|(side, input)| {
            let keys = join.side_keys(side);
            let holds = input.upsert_keys.iter().any(|key| keys.iter().all(|k| key.contains(k)));
            !input.changelog.has_updates() || holds && spares_before(input)
        }),
        Operator::Calc(calc) => {
            (calc.conditions.is_empty() || reads_only_keys(tree)) && tree.inputs.iter().all(spares_before)
        }
        Operator::Exchange(_)
        | Operator::WatermarkAssigner(_)
        | Operator::Expand(_)
        | Operator::Correlate(_)
        | Operator::MiniBatchAssigner(_)
        | Operator::Union(_)
        | Operator::WindowTableFunction(_) => tree.inputs.iter().all(spares_before),
        _ => true,
    }
}

fn reads_only_keys(tree: &Tree) -> bool {
    let (Operator::Calc(calc), Some(input)) = (&tree.op, tree.inputs.first()) else { return false };
    let mut only = true;
    for c in &calc.conditions {
        c.visit(&mut |r| {
            if let Some(i) = r.as_input() {
                only &= input.upsert_keys.iter().any(|k| k.as_slice() == [i]);
            }
        });
    }
    only || !input.changelog.has_updates()
}

fn drop_update_before(input: Tree) -> Tree {
    let mut changelog = input.changelog;
    changelog.update_before = false;
    Tree {
        op: Operator::DropUpdateBefore(DropUpdateBefore),
        columns: input.columns.clone(),
        upsert_keys: input.upsert_keys.clone(),
        monotonic: input.monotonic.clone(),
        origins: Origins::none(),
        changelog,
        inputs: vec![input],
    }
}

/// Sub-plans by what they do: text, changes and inputs (Flink's `SubplanReuser` compares digests).
struct Sharing {
    known: HashMap<(String, String, Vec<NodeId>), NodeId>,
    on: bool,
    /// Scans are shared too.
    sources: bool,
}

fn add(plan: &mut Plan, tree: Tree, shared: &mut Sharing) -> NodeId {
    let Tree { op, inputs, columns, changelog, upsert_keys, origins, .. } = tree;
    let inputs: Vec<NodeId> = inputs.into_iter().map(|i| add(plan, i, shared)).collect();
    let node = Node { op, inputs, columns, changelog, upsert_keys, origins };
    let alone =
        matches!(node.op, Operator::Sink(_)) || (!shared.sources && matches!(node.op, Operator::TableSourceScan(_)));
    if shared.on && !alone {
        let input = node.inputs.first().map_or(&[][..], |i| &plan.node(*i).columns);
        let text = node.op.text(&TextContext { plan, node: &node, input });
        let types: String = node.columns.iter().map(|c| format!("{} {},", c.name, c.ty)).collect();
        // Hints are not printed, but part of what operators are.
        let ttl: Vec<_> = node.op.state_ttl().iter().map(|ttl| ttl.map(|ttl| ttl.millis)).collect();
        let key = (format!("{text} {types} {ttl:?}"), node.changelog.to_string(), node.inputs.clone());
        if let Some(id) = shared.known.get(&key) {
            return *id;
        }
        shared.known.insert(key, NodeId(plan.nodes.len() as u32));
    }
    plan.nodes.push(node);
    NodeId(plan.nodes.len() as u32 - 1)
}

/// Renumbers in print order: root first, depth first.
fn number(plan: &mut Plan, roots: Vec<NodeId>) {
    let mut order: Vec<NodeId> = Vec::with_capacity(plan.nodes.len());
    let mut place: Vec<Option<NodeId>> = vec![None; plan.nodes.len()];
    let mut stack: Vec<NodeId> = Vec::new();
    for root in &roots {
        stack.push(*root);
        while let Some(id) = stack.pop() {
            if place[id.index()].is_some() {
                continue;
            }
            place[id.index()] = Some(NodeId(order.len() as u32));
            order.push(id);
            stack.extend(plan.nodes[id.index()].inputs.iter().rev());
        }
    }
    let moved = |id: NodeId| place[id.index()].expect("every node is reached from a sink");
    let mut old: Vec<Option<Node>> = std::mem::take(&mut plan.nodes).into_iter().map(Some).collect();
    plan.nodes = order
        .iter()
        .map(|id| {
            let mut node = old[id.index()].take().expect("each node is placed once");
            node.inputs = node.inputs.iter().map(|i| moved(*i)).collect();
            node
        })
        .collect();
    plan.sinks = roots.into_iter().map(moved).collect();
}
