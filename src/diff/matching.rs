//! Which operator of the new plan stands where which operator of the old plan stood, seen from each sink.
//!
//! Only operators that say something are matched: sinks, stateful operators, unions and sources. Chains between branching points are
//! aligned by family with least edits; branches of unions by what they read.

use std::collections::{HashMap, HashSet, VecDeque};

use super::descent::{Step, below, chain_to, shape, significant_below, sources, text};
use super::family::{family, is_join};
use crate::exec::{NodeId, Operator, Plan};

/// Which plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The plan of the running job.
    Old,
    /// The plan to deploy.
    New,
}

/// A place in both plans, or in one of them.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The old operator.
    pub old: Option<NodeId>,
    /// The new operator.
    pub new: Option<NodeId>,
    /// The pair that reads it.
    pub parent: Option<usize>,
    /// What stands between the old operator and its reader, top down.
    pub old_path: Vec<NodeId>,
    /// What stands between the new operator and its reader, top down.
    pub new_path: Vec<NodeId>,
}

/// All pairs, readers before what they read.
#[derive(Debug, Default)]
pub struct Matching {
    /// The pairs.
    pub pairs: Vec<Pair>,
    /// More readers of pairs in shared sub-plans: the number of the pair, and the way to that reader.
    pub more_readers: Vec<(usize, Pair)>,
    /// Which of `more_readers` are about a pair.
    ways: HashMap<usize, Vec<usize>>,
    old_number: HashMap<NodeId, usize>,
    new_number: HashMap<NodeId, usize>,
}

impl Matching {
    /// The number that a node shares with its partner; nodes that are not matched have one of their own.
    pub fn number(&self, side: Side, id: NodeId) -> usize {
        let (map, own) = match side {
            Side::Old => (&self.old_number, 1_000_000),
            Side::New => (&self.new_number, 2_000_000),
        };
        map.get(&id).copied().unwrap_or(own + id.index())
    }

    /// The pair of a node.
    pub fn pair_of(&self, side: Side, id: NodeId) -> Option<usize> {
        match side {
            Side::Old => self.old_number.get(&id).copied(),
            Side::New => self.new_number.get(&id).copied(),
        }
    }

    /// Adds a way from a pair to one more of its readers.
    pub fn add_reader(&mut self, number: usize, way: Pair) {
        self.ways.entry(number).or_default().push(self.more_readers.len());
        self.more_readers.push((number, way));
    }

    /// The ways from a pair to its readers after the first.
    pub fn more_ways(&self, number: usize) -> impl Iterator<Item = &Pair> {
        self.ways.get(&number).into_iter().flatten().map(|at| &self.more_readers[*at].1)
    }

    /// The pairs that read a pair.
    pub fn readers(&self, number: usize) -> impl Iterator<Item = usize> {
        self.pairs[number].parent.into_iter().chain(self.more_ways(number).filter_map(|way| way.parent))
    }

    /// Everything that a pair's results reach, nearest first.
    pub fn above(&self, number: usize) -> Vec<usize> {
        self.upwards(number).collect()
    }

    /// The same, found as it is asked for: a table that thousands of INSERTs read has as many operators above it.
    pub fn upwards(&self, number: usize) -> impl Iterator<Item = usize> {
        let mut seen: HashSet<usize> = HashSet::new();
        let mut next: VecDeque<usize> = VecDeque::from([number]);
        let mut found: VecDeque<usize> = VecDeque::new();
        std::iter::from_fn(move || {
            while found.is_empty() {
                let at = next.pop_front()?;
                for reader in self.readers(at) {
                    if seen.insert(reader) {
                        found.push_back(reader);
                        next.push_back(reader);
                    }
                }
            }
            found.pop_front()
        })
    }

    /// The pair that the first operator of note below a branch belongs to.
    pub fn branch_number(&self, side: Side, plan: &Plan, branch: NodeId) -> usize {
        self.number(side, significant_below(plan, branch).node)
    }

    /// Orders the branches of a union: those that both sides have come first, in the order of their pairs.
    pub fn branch_rank(&self, side: Side, plan: &Plan, branch: NodeId) -> (bool, usize) {
        let first = significant_below(plan, branch).node;
        match self.pair_of(side, first).map(|p| (p, &self.pairs[p])) {
            Some((p, pair)) => (pair.old.is_none() || pair.new.is_none(), p),
            None => (true, usize::MAX),
        }
    }

    fn add(&mut self, pair: Pair) -> usize {
        let number = self.pairs.len();
        if let Some(id) = pair.old {
            self.old_number.entry(id).or_insert(number);
        }
        if let Some(id) = pair.new {
            self.new_number.entry(id).or_insert(number);
        }
        self.pairs.push(pair);
        number
    }
}

/// Matches two sinks and everything below them.
pub fn match_sinks(matching: &mut Matching, old: &Plan, old_sink: NodeId, new: &Plan, new_sink: NodeId) {
    let root = matching.add(Pair {
        old: Some(old_sink),
        new: Some(new_sink),
        parent: None,
        old_path: Vec::new(),
        new_path: Vec::new(),
    });
    let olds = below(old, old_sink);
    let news = below(new, new_sink);
    match_children(matching, root, old, olds, new, news);
}

/// Adds one side alone: what only it has.
pub fn one_sided(matching: &mut Matching, plan: &Plan, side: Side, sink: NodeId) {
    let root = matching.add(Pair {
        old: (side == Side::Old).then_some(sink),
        new: (side == Side::New).then_some(sink),
        parent: None,
        old_path: Vec::new(),
        new_path: Vec::new(),
    });
    for step in below(plan, sink) {
        add_alone(matching, root, plan, side, step);
    }
}

fn add_alone(matching: &mut Matching, parent: usize, plan: &Plan, side: Side, step: Step) {
    if matching.pair_of(side, step.node).is_some() {
        return;
    }
    let (node, path) = (step.node, step.path);
    let old = side == Side::Old;
    let number = matching.add(Pair {
        old: old.then_some(node),
        new: (!old).then_some(node),
        parent: Some(parent),
        old_path: if old { path.clone() } else { Vec::new() },
        new_path: if old { Vec::new() } else { path },
    });
    for child in below(plan, node) {
        add_alone(matching, number, plan, side, child);
    }
}

fn match_children(
    matching: &mut Matching,
    parent: usize,
    old: &Plan,
    mut olds: Vec<Step>,
    new: &Plan,
    mut news: Vec<Step>,
) {
    if olds.len() == 1 && news.len() == 1 {
        let (o, n) = (olds.remove(0), news.remove(0));
        match_chains(matching, parent, old, o, new, n);
        return;
    }
    // Branches: the same first, then those over the same tables, then by place.
    let signature = |plan: &Plan, step: &Step| (shape(plan, step.node), sources(plan, step.node));
    let mut left: Vec<Option<Step>> = olds.into_iter().map(Some).collect();
    let mut partners: Vec<Option<usize>> = vec![None; news.len()];
    for round in 0..3 {
        for (i, n) in news.iter().enumerate().filter(|(i, _)| partners[*i].is_none()).collect::<Vec<_>>() {
            let wanted = signature(new, n);
            let found = left.iter().enumerate().position(|(j, o)| {
                o.as_ref().is_some_and(|o| {
                    let have = signature(old, o);
                    !partners.contains(&Some(j))
                        && match round {
                            0 => have == wanted && text(old, o) == text(new, n),
                            1 => have == wanted,
                            _ => have.1 == wanted.1,
                        }
                })
            });
            partners[i] = found;
        }
    }
    let mut taken: Vec<usize> = partners.iter().flatten().copied().collect();
    // A side of a join has one place or the other: what is left stands for what is left. Not so if the same tables are joined in
    // another order.
    if joins(matching, parent, old, new) && !reordered(matching, parent, old, new) {
        for partner in partners.iter_mut().filter(|p| p.is_none()) {
            *partner = left.iter().enumerate().position(|(j, o)| o.is_some() && !taken.contains(&j));
            taken.extend(*partner);
        }
    }
    for (n, partner) in news.drain(..).zip(partners) {
        match partner.and_then(|p| left[p].take()) {
            Some(o) => match_chains(matching, parent, old, o, new, n),
            None => add_alone(matching, parent, new, Side::New, n),
        }
    }
    for o in left.into_iter().flatten() {
        add_alone(matching, parent, old, Side::Old, o);
    }
}

/// True if a pair is a join on both sides.
fn joins(matching: &Matching, number: usize, old: &Plan, new: &Plan) -> bool {
    let joins = |plan: &Plan, id: Option<NodeId>| id.is_some_and(|id| is_join(&plan.node(id).op));
    let pair = &matching.pairs[number];
    joins(old, pair.old) && joins(new, pair.new)
}

/// True if the tables below a pair of joins are the same, and neither side of the one is over the tables of a side of the other.
pub fn reordered(matching: &Matching, number: usize, old: &Plan, new: &Plan) -> bool {
    let pair = &matching.pairs[number];
    let (Some(o), Some(n)) = (pair.old, pair.new) else { return false };
    if !is_join(&old.node(o).op) || !is_join(&new.node(n).op) {
        return false;
    }
    let sorted = |plan: &Plan, id: NodeId| {
        let mut tables = sources(plan, id);
        tables.sort_unstable();
        tables
    };
    let sides = |plan: &Plan, id: NodeId| below(plan, id).iter().map(|s| sorted(plan, s.node)).collect::<Vec<_>>();
    let (olds, news) = (sides(old, o), sides(new, n));
    sorted(old, o) == sorted(new, n) && !news.iter().any(|side| olds.contains(side))
}

/// Aligns two chains of operators with one input each.
fn match_chains(matching: &mut Matching, parent: usize, old: &Plan, o: Step, new: &Plan, n: Step) {
    let (read_old, read_new) = (sources(old, o.node), sources(new, n.node));
    let mut olds = chain_to(old, o, &read_new);
    let mut news = chain_to(new, n, &read_old);
    let is_union =
        |plan: &Plan, chain: &[Step]| chain.last().is_some_and(|s| matches!(plan.node(s.node).op, Operator::Union(_)));
    let (old_union, new_union) = (is_union(old, &olds), is_union(new, &news));
    // A union on one side only: what stands in its place on the other side is matched with its branches.
    let lone_union = match (old_union, new_union) {
        (true, false) => olds.pop().map(|u| (Side::Old, u)),
        (false, true) => news.pop().map(|u| (Side::New, u)),
        _ => None,
    };
    if let Some((side, union)) = lone_union {
        match_lone_union(matching, parent, old, olds, new, news, side, union);
        return;
    }
    let plan = align(old, &olds, new, &news);
    let (mut olds, mut news) = (olds.into_iter(), news.into_iter());
    let mut above = parent;
    let (mut old_rest, mut new_rest): (Vec<NodeId>, Vec<NodeId>) = (Vec::new(), Vec::new());
    let mut last = (None, None);
    for edit in plan {
        let o = matches!(edit, Edit::Match | Edit::Delete).then(|| olds.next()).flatten();
        let n = matches!(edit, Edit::Match | Edit::Insert).then(|| news.next()).flatten();
        let already = match (&o, &n) {
            (Some(o), Some(n)) => {
                let (a, b) = (matching.pair_of(Side::Old, o.node), matching.pair_of(Side::New, n.node));
                a.filter(|a| Some(*a) == b)
            }
            _ => None,
        };
        if let (Some(number), Some(o), Some(n)) = (already, &o, &n) {
            // A shared sub-plan that another reader has matched: only the way to this reader is new.
            old_rest.extend(&o.path);
            new_rest.extend(&n.path);
            let edge = Pair {
                old: Some(o.node),
                new: Some(n.node),
                parent: Some(above),
                old_path: old_rest,
                new_path: new_rest,
            };
            matching.add_reader(number, edge);
            return;
        }
        let (old_node, new_node) = (o.as_ref().map(|s| s.node), n.as_ref().map(|s| s.node));
        let mut beside = Vec::new();
        if let Some(o) = o {
            old_rest.extend(o.path);
            beside.extend(o.beside.into_iter().flatten().map(|s| (old, Side::Old, s)));
        }
        if let Some(n) = n {
            new_rest.extend(n.path);
            beside.extend(n.beside.into_iter().flatten().map(|s| (new, Side::New, s)));
        }
        above = matching.add(Pair {
            old: old_node,
            new: new_node,
            parent: Some(above),
            old_path: if old_node.is_some() { std::mem::take(&mut old_rest) } else { Vec::new() },
            new_path: if new_node.is_some() { std::mem::take(&mut new_rest) } else { Vec::new() },
        });
        last = (old_node.or(last.0), new_node.or(last.1));
        for (plan, side, step) in beside {
            add_alone(matching, above, plan, side, step);
        }
    }
    let olds = last.0.map_or_else(Vec::new, |id| below(old, id));
    let news = last.1.map_or_else(Vec::new, |id| below(new, id));
    if !olds.is_empty() || !news.is_empty() {
        match_children(matching, above, old, olds, new, news);
    }
}

/// Chains of which one ends in a union: aligned down to it, then the rest of the other is matched with its branches.
#[allow(clippy::too_many_arguments)]
fn match_lone_union(
    matching: &mut Matching,
    parent: usize,
    old: &Plan,
    olds: Vec<Step>,
    new: &Plan,
    news: Vec<Step>,
    side: Side,
    union: Step,
) {
    let edits = align(old, &olds, new, &news);
    let only = if side == Side::Old { Edit::Insert } else { Edit::Delete };
    let above_union = edits.iter().rposition(|e| *e != only).map_or(0, |p| p + 1);
    let (mut olds, mut news) = (olds.into_iter(), news.into_iter());
    let mut above = parent;
    for edit in &edits[..above_union] {
        let o = matches!(edit, Edit::Match | Edit::Delete).then(|| olds.next()).flatten();
        let n = matches!(edit, Edit::Match | Edit::Insert).then(|| news.next()).flatten();
        let (old_node, new_node) = (o.as_ref().map(|s| s.node), n.as_ref().map(|s| s.node));
        let (old_path, beside_old) = o.map_or_else(Default::default, |s| (s.path, s.beside));
        let (new_path, beside_new) = n.map_or_else(Default::default, |s| (s.path, s.beside));
        above = matching.add(Pair { old: old_node, new: new_node, parent: Some(above), old_path, new_path });
        for step in beside_old.into_iter().flatten() {
            add_alone(matching, above, old, Side::Old, step);
        }
        for step in beside_new.into_iter().flatten() {
            add_alone(matching, above, new, Side::New, step);
        }
    }
    let is_old = side == Side::Old;
    let number = matching.add(Pair {
        old: is_old.then_some(union.node),
        new: (!is_old).then_some(union.node),
        parent: Some(above),
        old_path: if is_old { union.path.clone() } else { Vec::new() },
        new_path: if is_old { Vec::new() } else { union.path },
    });
    let branches = below(if is_old { old } else { new }, union.node);
    let (rest_old, rest_new): (Vec<Step>, Vec<Step>) = (olds.take(1).collect(), news.take(1).collect());
    if is_old {
        match_children(matching, number, old, branches, new, rest_new);
    } else {
        match_children(matching, number, old, rest_old, new, branches);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Match,
    Insert,
    Delete,
}

/// The cheapest way from one chain to the other.
fn align(old: &Plan, olds: &[Step], new: &Plan, news: &[Step]) -> Vec<Edit> {
    let (a, b) = (olds.len(), news.len());
    let mut cost = vec![vec![0u32; b + 1]; a + 1];
    for i in (0..=a).rev() {
        for j in (0..=b).rev() {
            cost[i][j] = match (i == a, j == b) {
                (true, true) => 0,
                (true, false) => cost[i][j + 1] + 10,
                (false, true) => cost[i + 1][j] + 10,
                (false, false) => {
                    let matched = cost[i + 1][j + 1] + distance(old, &olds[i], new, &news[j]);
                    matched.min(cost[i + 1][j] + 10).min(cost[i][j + 1] + 10)
                }
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut edits = Vec::new();
    while i < a || j < b {
        if i < a && j < b {
            let matched = cost[i + 1][j + 1] + distance(old, &olds[i], new, &news[j]);
            if matched == cost[i][j] {
                edits.push(Edit::Match);
                (i, j) = (i + 1, j + 1);
                continue;
            }
        }
        if j < b && cost[i][j] == cost[i][j + 1] + 10 {
            edits.push(Edit::Insert);
            j += 1;
        } else {
            edits.push(Edit::Delete);
            i += 1;
        }
    }
    edits
}

/// How far apart two operators are: next to nothing for one family, less than an insertion and a deletion for kinds that replace each other.
fn distance(old: &Plan, o: &Step, new: &Plan, n: &Step) -> u32 {
    // Never cheaper than taking one away and putting the other in.
    const NEVER: u32 = 30;
    if o.beside.is_some() || n.beside.is_some() {
        return NEVER;
    }
    let (o, n) = (o.node, n.node);
    let (a, b) = (family(&old.node(o).op), family(&new.node(n).op));
    let group = |f: &str| match f {
        "window-aggregate" | "group-window-aggregate" | "group-aggregate" | "over-aggregate" => 1,
        "window-rank" | "window-deduplicate" | "rank" | "deduplicate" => 2,
        "limit" | "sort-limit" | "temporal-sort" => 4,
        "source" | "values" => 3,
        "join" | "interval-join" | "window-join" | "temporal-join" => 5,
        _ => 0,
    };
    if a == b {
        // Of several that could stand here, the one that is the same does, or asks the same table.
        let table = |plan: &Plan, id: NodeId| match &plan.node(id).op {
            Operator::LookupJoin(j) => Some(j.table.path.to_string()),
            _ => None,
        };
        match () {
            () if old.text(o) == new.text(n) => 0,
            () if table(old, o) != table(new, n) => 5,
            () => 2,
        }
    } else if group(a) != 0 && group(a) == group(b) {
        12
    } else {
        NEVER
    }
}
