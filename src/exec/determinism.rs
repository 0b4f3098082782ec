//! Updates that meet what changes by itself: under `TRY_RESOLVE` a lookup join above updates remembers what it has sent, if somebody
//! above has to take it back exactly (the part of Flink's `StreamNonDeterministicUpdatePlanVisitor` that changes plans).

use super::Operator;
use super::join::InputSpec;
use super::lower::Tree;
use super::rank::RankStrategy;
use crate::logical::rex::Rex;

/// Marks the lookup joins of a sink's tree.
pub fn resolve_updates(tree: Tree) -> Tree {
    visit(tree, &[])
}

/// `required` are the columns of the tree's rows that have to be the same when a row is taken back.
fn visit(mut tree: Tree, required: &[usize]) -> Tree {
    let required = if tree.changelog.is_insert_only() { &[] } else { required };
    let below: Vec<Vec<usize>> = (0..tree.inputs.len()).map(|side| of_input(&tree, side, required)).collect();
    if let (Operator::LookupJoin(join), Some(input)) = (&mut tree.op, tree.inputs.first()) {
        let width = input.columns.len();
        if join.resolves_updates && required.iter().any(|c| *c >= width) {
            join.upsert_materialize = true;
            // It has to know an answer before it takes the next row.
            join.asynchronous = None;
        }
    }
    tree.inputs = tree.inputs.into_iter().zip(below).map(|(input, required)| visit(input, &required)).collect();
    tree
}

fn of_input(tree: &Tree, side: usize, required: &[usize]) -> Vec<usize> {
    let input = &tree.inputs[side];
    let width = input.columns.len();
    let all = || (0..width).collect::<Vec<usize>>();
    if input.changelog.is_insert_only() {
        return Vec::new();
    }
    match &tree.op {
        Operator::Sink(sink) => match &sink.table {
            None => Vec::new(),
            Some(_) if sink.upsert_materialize => all(),
            Some(table) => match &table.primary_key {
                Some(key) => key.columns.clone(),
                None => all(),
            },
        },
        Operator::Calc(calc) => {
            let mut out = Vec::new();
            let read = |e: &Rex, out: &mut Vec<usize>| e.visit(&mut |r| out.extend(r.as_input()));
            required.iter().filter_map(|c| calc.exprs.get(*c)).for_each(|e| read(e, &mut out));
            out
        }
        Operator::Join(join) => match &join.inputs[side] {
            InputSpec::NoUniqueKey => all(),
            InputSpec::HasUniqueKey(key) | InputSpec::JoinKeyContainsUniqueKey(key) => {
                let first = if side == 0 { 0 } else { tree.inputs[0].columns.len() };
                let own = required.iter().filter_map(|c| c.checked_sub(first).filter(|c| *c < width));
                own.chain(key.iter().copied()).collect()
            }
        },
        Operator::LookupJoin(_) | Operator::TemporalJoin(_) if side == 0 => {
            required.iter().copied().filter(|c| *c < width).collect()
        }
        Operator::TemporalJoin(_) | Operator::ChangelogNormalize(_) => Vec::new(),
        Operator::Rank(rank) if rank.strategy != RankStrategy::Retract => {
            let mut out: Vec<usize> = required.iter().copied().filter(|c| *c < width).collect();
            out.extend(&rank.ranking.partition);
            out.extend(rank.ranking.order.iter().map(|k| k.column));
            out
        }
        Operator::Exchange(_)
        | Operator::Union(_)
        | Operator::WatermarkAssigner(_)
        | Operator::MiniBatchAssigner(_)
        | Operator::DropUpdateBefore(_) => required.to_vec(),
        // What works on updates takes back whole rows.
        _ => all(),
    }
}
