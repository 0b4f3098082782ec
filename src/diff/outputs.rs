//! What differs in the rows that leave the job: window columns, the rank number, names; and the fate of each output column.

use std::collections::{BTreeSet, HashMap};

use rustc_hash::FxHashSet;

use super::change::{ChangeKind, ColumnFate, Fact, Facts, Fate, Item};
use super::compare::Comparison;
use super::family::family;
use super::lineage::Ident;
use crate::exec::sink::Sink;
use crate::exec::{NodeId, Operator, Plan};

/// Compares the outputs of two matched sinks.
pub fn compare(c: &mut Comparison<'_>, number: usize, o: NodeId, n: NodeId) {
    let old = c.old.input_idents(o, &c.matching, &mut c.interner);
    let new = c.new.input_idents(n, &c.matching, &mut c.interner);
    // What is sent out inside an expression, such as a cast for the sink, is sent out.
    let (all_old, all_new) = (with_parts(c, &old), with_parts(c, &new));
    window_columns(c, &all_old, &all_new);
    rank_numbers(c, &all_old, &all_new);
    names(c, number, o, n, &old, &new);
    kept_columns(c, &all_old, &all_new);
}

/// Columns that a deduplication or a sort keeps on both sides, and that are sent out on one side only.
fn kept_columns(c: &mut Comparison<'_>, old: &[Ident], new: &[Ident]) {
    // This runs for every sink: most send what they sent, and need no look at every pair.
    let (sent_old, sent_new): (FxHashSet<Ident>, FxHashSet<Ident>) =
        (old.iter().copied().collect(), new.iter().copied().collect());
    if sent_old == sent_new {
        return;
    }
    for number in 0..c.matching.pairs.len() {
        let pair = &c.matching.pairs[number];
        let (Some(o), Some(n)) = (pair.old, pair.new) else { continue };
        let keeps = |op: &Operator| matches!(op, Operator::Deduplicate(_) | Operator::TemporalSort(_));
        let input_stated =
            c.stated.iter().any(|s| s.pair == number && matches!(s.change.kind, ChangeKind::InputColumns(_)));
        if !keeps(&c.old.plan.node(o).op) || !keeps(&c.new.plan.node(n).op) {
            continue;
        }
        if input_stated || c.stateful_above(number) {
            continue;
        }
        let kept = c.new.input_idents(n, &c.matching, &mut c.interner);
        let only = |a: &[Ident], b: &[Ident]| -> Vec<String> {
            let sent = a.iter().filter(|id| kept.contains(id) && !b.contains(id));
            sent.map(|id| c.named(*id)).collect()
        };
        let (added, removed) = (only(new, old), only(old, new));
        if added.is_empty() && removed.is_empty() {
            continue;
        }
        let kind = ChangeKind::OutputColumns { added: added.len(), removed: removed.len() };
        let mut args = Vec::new();
        if !added.is_empty() {
            args.push(("added_names", super::aggregates::quoted(&added)));
        }
        if !removed.is_empty() {
            args.push(("removed_names", super::aggregates::quoted(&removed)));
        }
        let places = sink_places(c, number);
        c.state(number, kind, args, places, Item::Other, None);
    }
}

/// Idents with everything they are computed from, down to what operators produce.
fn with_parts(c: &Comparison<'_>, idents: &[Ident]) -> Vec<Ident> {
    let mut out: Vec<Ident> = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack: Vec<Ident> = idents.iter().rev().copied().collect();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        out.push(id);
        let info = c.interner.info(id);
        if info.producer.is_none() {
            stack.extend(&info.parts);
        }
    }
    out
}

/// Window columns in the output, by the operator whose page judges them: the rank above the window aggregate, if there is one.
fn window_columns(c: &mut Comparison<'_>, old: &[Ident], new: &[Ident]) {
    let is_bound = |c: &Comparison<'_>, id: Ident| {
        let info = c.interner.info(id);
        info.name.starts_with("window_") || matches!(info.name.as_str(), "proctime")
    };
    let added: Vec<Ident> = new.iter().copied().filter(|id| is_bound(c, *id) && !old.contains(id)).collect();
    let removed: Vec<Ident> = old.iter().copied().filter(|id| is_bound(c, *id) && !new.contains(id)).collect();
    // Bounds that no matched operator makes: sent out as before where it was another operator that made them.
    let mut no_owner: Vec<String> = Vec::new();
    let mut by_pair: HashMap<usize, (Vec<String>, Vec<String>)> = HashMap::new();
    for (list, is_added) in [(&added, true), (&removed, false)] {
        for id in list {
            let name = c.interner.info(*id).name.clone();
            let Some(pair) = owner(c, *id) else {
                no_owner.push(name);
                continue;
            };
            let entry = by_pair.entry(pair).or_default();
            if is_added { entry.0.push(name) } else { entry.1.push(name) }
        }
    }
    let mut pairs: Vec<_> = by_pair.into_iter().collect();
    pairs.sort_by_key(|(p, _)| *p);
    for (pair, (added, removed)) in pairs {
        // A bound of a window that changed is another computation, but it is sent out as before.
        let both = |name: &String| (added.contains(name) && removed.contains(name)) || no_owner.contains(name);
        let (added, removed): (Vec<String>, Vec<String>) = (
            added.iter().filter(|n| !both(n)).cloned().collect(),
            removed.iter().filter(|n| !both(n)).cloned().collect(),
        );
        if added.is_empty() && removed.is_empty() {
            continue;
        }
        let window_time = added.iter().chain(&removed).any(|name| name == "window_time");
        let kind = ChangeKind::WindowOutput { added: added.len(), removed: removed.len(), window_time };
        let mut args = Vec::new();
        if !added.is_empty() {
            args.push(("added_names", super::aggregates::quoted(&added)));
        }
        if !removed.is_empty() {
            args.push(("removed_names", super::aggregates::quoted(&removed)));
        }
        let mut context: Facts = Vec::new();
        let below = lowest_aggregate(c, pair);
        let count = |plan: &Plan, id: Option<NodeId>| id.map_or(0, |id| written_calls(plan, id));
        let pair_below = &c.matching.pairs[below];
        context.push(("old_aggregates", Fact::Count(count(c.old.plan, pair_below.old) as u64)));
        context.push(("new_aggregates", Fact::Count(count(c.new.plan, pair_below.new) as u64)));
        let places = sink_places(c, pair);
        c.state_with(pair, kind, args, places, Item::Other, None, context);
    }
}

/// The pair that a window column belongs to: its aggregate, or the window rank that reads it.
fn owner(c: &Comparison<'_>, id: Ident) -> Option<usize> {
    let producer = c.interner.info(id).producer.filter(|p| *p < c.matching.pairs.len());
    let mut at = match producer {
        Some(p) => p,
        // A window function without an aggregate: the rank or deduplication above it.
        None => (0..c.matching.pairs.len()).rev().find(|p| {
            let pair = &c.matching.pairs[*p];
            let is_rank = |plan: &Plan, id: Option<NodeId>| {
                id.is_some_and(|id| matches!(family(&plan.node(id).op), "window-rank" | "window-deduplicate"))
            };
            is_rank(c.new.plan, pair.new) && is_rank(c.old.plan, pair.old)
        })?,
    };
    while let Some(parent) = c.matching.pairs[at].parent {
        let pair = &c.matching.pairs[parent];
        let is_rank = |plan: &Plan, id: Option<NodeId>| {
            id.is_some_and(|id| matches!(plan.node(id).op, Operator::WindowRank(_) | Operator::WindowDeduplicate(_)))
        };
        if is_rank(c.new.plan, pair.new) || is_rank(c.old.plan, pair.old) {
            at = parent;
        } else {
            break;
        }
    }
    Some(at)
}

fn lowest_aggregate(c: &Comparison<'_>, pair: usize) -> usize {
    let mut at = pair;
    loop {
        let p = &c.matching.pairs[at];
        let ranks = p.new.is_some_and(|id| {
            matches!(c.new.plan.node(id).op, Operator::WindowRank(_) | Operator::WindowDeduplicate(_))
        });
        let child = (0..c.matching.pairs.len()).find(|i| c.matching.pairs[*i].parent == Some(at));
        match child {
            Some(child) if ranks => at = child,
            _ => return at,
        }
    }
}

fn written_calls(plan: &Plan, id: NodeId) -> usize {
    match &plan.node(plan.partial_half(id).unwrap_or(id)).op {
        Operator::WindowAggregate(a) => a.origin.written.len(),
        Operator::GlobalWindowAggregate(g) => g.aggregate.origin.written.len(),
        Operator::GroupWindowAggregate(a) => a.written.len(),
        _ => 0,
    }
}

/// The statement heads of the sinks above a pair.
fn sink_places(c: &Comparison<'_>, pair: usize) -> (Option<crate::source::Span>, Option<crate::source::Span>) {
    let mut at = pair;
    while let Some(parent) = c.matching.pairs[at].parent {
        at = parent;
    }
    let sink = &c.matching.pairs[at];
    (
        sink.old.and_then(|id| c.old.plan.node(id).origins.first()),
        sink.new.and_then(|id| c.new.plan.node(id).origins.first()),
    )
}

fn rank_numbers(c: &mut Comparison<'_>, old: &[Ident], new: &[Ident]) {
    let senders = |c: &Comparison<'_>, list: &[Ident]| -> BTreeSet<usize> {
        let infos = list.iter().map(|id| c.interner.info(*id)).filter(|info| info.name == "the rank number");
        infos.filter_map(|info| info.producer).collect()
    };
    let (was, is) = (senders(c, old), senders(c, new));
    for number in was.symmetric_difference(&is).copied() {
        let Some((Some(o), Some(n))) = c.matching.pairs.get(number).map(|p| (p.old, p.new)) else { continue };
        let ranks = |op: &Operator| matches!(op, Operator::Rank(_) | Operator::WindowRank(_));
        // With one rank only, the number is a constant above the operator, and nothing to state.
        if ranks(&c.old.plan.node(o).op) && ranks(&c.new.plan.node(n).op) {
            let places = sink_places(c, number);
            let kind = ChangeKind::RankOutput { added: is.contains(&number) };
            c.state(number, kind, Vec::new(), places, Item::Other, None);
        }
    }
}

/// Final names: those of a bare query's columns, or the columns of the sink.
fn names(c: &mut Comparison<'_>, number: usize, o: NodeId, n: NodeId, old: &[Ident], new: &[Ident]) {
    let (Some(a), Some(b)) = (sink(c.old.plan, o), sink(c.new.plan, n)) else { return };
    if a.table.as_ref().map(|t| &t.path) != b.table.as_ref().map(|t| &t.path) {
        return;
    }
    let mut renamed = Vec::new();
    for (i, id) in new.iter().enumerate() {
        let Some(after) = b.target_columns.get(i) else { continue };
        // The columns of a table have their places; those of a bare query may stand anywhere.
        let same = |j: usize| if b.table.is_some() { j == i && old[j] == *id } else { old[j] == *id };
        let before: Vec<&String> =
            (0..old.len()).filter(|j| same(*j)).filter_map(|j| a.target_columns.get(j)).collect();
        let at_place = before.iter().find(|_| old.get(i) == Some(id)).and_then(|_| a.target_columns.get(i));
        let names_now = |was: &String| (0..new.len()).any(|j| new[j] == *id && b.target_columns.get(j) == Some(was));
        let was = at_place.or(before.first().copied()).filter(|_| !before.contains(&after));
        if let Some(was) = was.filter(|was| !names_now(was)) {
            renamed.push(format!("`{was}` to `{after}`"));
        }
    }
    if renamed.is_empty() {
        return;
    }
    let kind = ChangeKind::OutputNames { renamed: renamed.len() };
    let places = (c.old.plan.node(o).origins.first(), c.new.plan.node(n).origins.first());
    c.state(number, kind, vec![("names", renamed.join(", "))], places, Item::Other, None);
}

fn sink(plan: &Plan, id: NodeId) -> Option<&Sink> {
    match &plan.node(id).op {
        Operator::Sink(s) => Some(s),
        _ => None,
    }
}

/// The fate of every output column of a new sink, as far as the plan tells.
pub fn fates(c: &mut Comparison<'_>, new_sink: NodeId) -> Vec<ColumnFate> {
    let idents = c.new.input_idents(new_sink, &c.matching, &mut c.interner);
    let Some(node) = sink(c.new.plan, new_sink) else { return Vec::new() };
    idents
        .iter()
        .enumerate()
        .map(|(i, id)| ColumnFate {
            sink: node.name.clone(),
            name: node.target_columns.get(i).cloned().unwrap_or_else(|| format!("EXPR${i}")),
            fate: fate(c, *id),
        })
        .collect()
}

/// True if a filter in front of a new sink reads what starts from zero: which rows are sent depends on it, though the values of the
/// other columns go on.
pub fn filters_by_new(c: &mut Comparison<'_>, new_sink: NodeId) -> bool {
    let plan = c.new.plan;
    let mut branches = vec![new_sink];
    while let Some(branch) = branches.pop() {
        let conditions = c.new.lineage.conditions(branch, &c.matching, &mut c.interner);
        if conditions.iter().any(|id| fate(c, *id) != Fate::Kept) {
            return true;
        }
        let mut at = branch;
        while let [input] = plan.node(at).inputs.as_slice() {
            at = *input;
        }
        branches.extend(&plan.node(at).inputs);
    }
    false
}

fn fate(c: &Comparison<'_>, id: Ident) -> Fate {
    let info = c.interner.info(id);
    if let Some(producer) = info.producer
        && c.produced_new.contains(&id)
        && !c.produced_old.contains(&id)
    {
        let alone = c.matching.pairs.get(producer).is_none_or(|p| p.old.is_none());
        let bound = info.name.starts_with("window_") || info.name == "the rank number";
        if !bound || alone {
            return Fate::FromZero;
        }
    }
    info.parts.iter().map(|p| fate(c, *p)).max_by_key(|f| *f as u8).unwrap_or(Fate::Kept)
}
