//! Compares matched operators, from the sources up.

mod aggregate;
mod context;
mod ddl;
mod join;
mod kept_columns;
mod lookup_join;
mod match_recognize;
mod nulls;
mod over;
mod rank;
mod sort;
mod state_ttl;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::change::{Change, ChangeKind, Fact, Facts, Item};
use super::family::{family, is_join};
use super::filters;
use super::keys::{self, KeysDiff, Order};
use super::lineage::{Ident, IdentInfo, Interner};
use super::matching::{Matching, Pair, Side};
use super::nullability::Edits;
use super::places::{Places, lacking};
use super::table_functions;
use super::view::SideView;
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::correlate::TableFunction;
use crate::logical::rel::Split;
use crate::source::{SourceMap, Span};
use ddl::DdlColumn;

/// A change with the pair it is about, and the pair whose change brings it about.
pub struct Stated {
    /// The change.
    pub change: Change,
    /// Its pair.
    pub pair: usize,
    /// The pair (and there the index of the change, if known) that causes it.
    pub cause: Option<usize>,
    /// The column of a source whose definition it comes of.
    pub ddl_column: Option<String>,
    /// The columns that only one side reads for this.
    pub reads: Vec<Ident>,
    /// The columns that only one side keeps, if that is all there is to the change.
    pub keeps: Vec<Ident>,
}

/// Both plans with what has been found so far.
pub struct Comparison<'a> {
    /// The plan of the running job.
    pub old: SideView<'a>,
    /// The plan to deploy.
    pub new: SideView<'a>,
    /// Which operators stand for each other.
    pub matching: Matching,
    /// All idents.
    pub interner: Interner,
    /// The texts.
    pub sources: &'a SourceMap,
    /// The changes.
    pub stated: Vec<Stated>,
    /// Idents that operators produce, on the old side.
    pub produced_old: HashSet<Ident>,
    /// Idents that operators produce, on the new side.
    pub produced_new: HashSet<Ident>,
    /// GROUP BY entries that one side lacks, with the pair whose change says so.
    pub key_causes: HashMap<Ident, usize>,
    /// Columns that an operator keeps on one side only and sends on, with the pair of that operator.
    pub passed_on: HashMap<Ident, usize>,
    /// Source columns that the DDL of the two sides gives different types.
    pub retyped: HashSet<Ident>,
    /// Source columns that may be NULL on one side only, and the pairs of operators with state that differ by it.
    pub touched: BTreeMap<usize, Vec<(usize, bool)>>,
    /// `ignore-filter` of the new job.
    pub ignore_filter: bool,
}

impl<'a> Comparison<'a> {
    /// Compares every pair.
    pub fn run(&mut self) {
        self.interner.edits = Edits::between(&self.matching, self.old.plan, self.new.plan);
        self.collect_produced();
        // Results of aggregates that are NOT NULL on one side only are known once both sides have been seen.
        let mut known = 0;
        while !self.interner.edits.is_empty() && self.interner.never_null() > known {
            known = self.interner.never_null();
            self.old.forget();
            self.new.forget();
            self.collect_produced();
        }
        for pair in (0..self.matching.pairs.len()).rev() {
            self.pair(pair);
            let edges: Vec<Pair> = self.matching.more_ways(pair).cloned().collect();
            for edge in &edges {
                filters::compare(self, pair, edge, false);
                table_functions::compare(self, pair, edge);
            }
        }
        self.nullability();
    }

    fn collect_produced(&mut self) {
        for (side, out) in [(Side::Old, &mut self.produced_old), (Side::New, &mut self.produced_new)] {
            let view = if side == Side::Old { &mut self.old } else { &mut self.new };
            out.clear();
            for id in view.plan.ids() {
                let op = &view.plan.node(id).op;
                if op.is_stateful() && !matches!(op.split(), Split::Partial(_)) {
                    out.extend(view.idents(id, &self.matching, &mut self.interner));
                }
            }
        }
    }

    fn pair(&mut self, number: usize) {
        let pair = self.matching.pairs[number].clone();
        match (pair.old, pair.new) {
            (Some(o), Some(n)) => {
                self.matched(number, &pair, o, n);
                self.state_ttl(number, o, n);
                self.stored_nulls(number, o, n);
                table_functions::compare(self, number, &pair);
                filters::compare(self, number, &pair, true);
            }
            (Some(o), None) => self.one_sided(number, Side::Old, o),
            (None, Some(n)) => self.one_sided(number, Side::New, n),
            (None, None) => {}
        }
    }

    fn one_sided(&mut self, number: usize, side: Side, id: NodeId) {
        let (plan, kind) = match side {
            Side::Old => (self.old.plan, ChangeKind::OperatorRemoved),
            Side::New => (self.new.plan, ChangeKind::OperatorAdded),
        };
        let node = plan.node(id);
        let is_union = matches!(node.op, Operator::Union(_));
        if let Operator::LookupJoin(join) = &node.op {
            return self.lookup_join_alone(number, join, side, id);
        }
        if !node.op.is_stateful() && !is_union {
            return;
        }
        // A whole INSERT that one side lacks is one change, stated for its sink.
        let above = self.matching.above(number);
        let mut sinks = above.iter().map(|p| &self.matching.pairs[*p]).filter(|p| p.parent.is_none()).peekable();
        if sinks.peek().is_some() && sinks.all(|p| p.old.is_none() || p.new.is_none()) {
            return;
        }
        let span = node.origins.first();
        if is_union {
            // One input stands where the other side has several.
            let more = super::descent::union_branches(plan, id).len().saturating_sub(1);
            let (added, removed) = if side == Side::New { (more, 0) } else { (0, more) };
            let kind = ChangeKind::UnionInputs { added, removed, moved: false };
            let here = self.surviving(number);
            // What reads it sees other columns because of this.
            let view = if side == Side::Old { &mut self.old } else { &mut self.new };
            for node in super::descent::union_branches(view.plan, id).into_iter().chain([id]) {
                let idents = view.idents(node, &self.matching, &mut self.interner);
                self.key_causes.extend(idents.into_iter().map(|i| (i, number)));
            }
            let places = match side {
                Side::New => Places::from((None, span)),
                Side::Old => Places::beside(span, here, Some(Side::New)),
            };
            self.state(number, kind, Vec::new(), places, Item::Other, None);
            return;
        }
        let word = (if side == Side::Old { "old" } else { "new" }, node.op.kind().to_owned());
        let places = match side {
            Side::Old => Places::beside(span, self.surviving(number), Some(Side::New)),
            Side::New => Places::from((None, span)),
        };
        let cause = if is_join(&node.op) { self.order_above(number) } else { None };
        self.state(number, kind, vec![word], places, Item::Other, cause);
    }

    fn matched(&mut self, number: usize, _pair: &Pair, o: NodeId, n: NodeId) {
        let (a, b) = (&self.old.plan.node(o).op, &self.new.plan.node(n).op);
        let (family_old, family_new) = (family(a), family(b));
        if family_old != family_new {
            self.replaced(number, o, n);
            return;
        }
        match family_new {
            "window-aggregate" | "group-window-aggregate" | "group-aggregate" => self.aggregates(number, o, n),
            "over-aggregate" => self.over(number, o, n),
            "window-rank" | "window-deduplicate" | "rank" | "deduplicate" => self.rank(number, o, n),
            "window-table-function" => self.window_table_function(number, o, n),
            "limit" | "sort-limit" | "temporal-sort" => self.sorted(number, o, n),
            "match" => self.match_recognize(number, o, n),
            "source" => super::sources::compare(self, number, o, n),
            "union" => self.union(number, o, n),
            "join" | "interval-join" | "window-join" | "temporal-join" => self.join(number, o, n),
            "lookup-join" => self.lookup_join(number, o, n),
            "changelog-normalize" => {
                let input = |op: &Operator| match op {
                    Operator::ChangelogNormalize(c) => c.keys.clone(),
                    _ => Vec::new(),
                };
                let (keys_old, keys_new) = (input(a), input(b));
                let old = self.old.partition(o, &keys_old, &[], &self.matching, &mut self.interner);
                let new = self.new.partition(n, &keys_new, &[], &self.matching, &mut self.interner);
                let before = self.stated.len();
                if let Some(diff) = keys::compare(&old, &new, Order::Free) {
                    self.keys(number, ChangeKind::PartitionKeys(diff.change.clone()), &diff);
                }
                self.input_columns(number, o, n, &[]);
                // Its keys are the primary key of the source below, and it stores them.
                let source = self.stated.iter().find(|s| {
                    matches!(s.change.kind, ChangeKind::Source { primary_key: true, .. })
                        && self.is_below(s.pair, number)
                });
                let source = source.map(|s| s.pair);
                for stated in &mut self.stated[before..] {
                    stated.cause = stated.cause.or(source);
                }
            }
            _ => {}
        }
    }

    fn replaced(&mut self, number: usize, o: NodeId, n: NodeId) {
        let (old, new) = (self.old.plan.node(o), self.new.plan.node(n));
        let (old_family, new_family) = (family(&old.op), family(&new.op));
        // Without a window function below it is another query, and not one that lacks a window column among its keys.
        let window_keys = match (old_family, new_family) {
            ("window-aggregate", "group-aggregate") => on_window_function(self.new.plan, n),
            ("group-aggregate", "window-aggregate") => on_window_function(self.old.plan, o),
            _ => false,
        };
        let places = (old.origins.first(), new.origins.first());
        let args = vec![("old", old_family.to_owned()), ("new", new_family.to_owned())];
        let kind = ChangeKind::OperatorReplaced { old_family, new_family, window_keys };
        self.state(number, kind, args, places, Item::Other, None);
    }

    fn union(&mut self, number: usize, o: NodeId, n: NodeId) {
        let Comparison { old, new, matching, interner, .. } = self;
        let mut branches = |view: &mut SideView<'_>, union: NodeId, side: Side| -> Vec<(usize, Vec<Ident>)> {
            super::descent::union_branches(view.plan, union)
                .into_iter()
                .map(|b| (matching.branch_number(side, view.plan, b), view.idents(b, matching, interner)))
                .collect()
        };
        let (old, new) = (branches(old, o, Side::Old), branches(new, n, Side::New));
        let rest = |list: &[(usize, Vec<Ident>)], other: &[(usize, Vec<Ident>)]| -> usize {
            let mut other: Vec<usize> = other.iter().map(|(n, _)| *n).collect();
            let mut left = 0;
            for (n, _) in list {
                match other.iter().position(|m| m == n) {
                    Some(at) => drop(other.remove(at)),
                    None => left += 1,
                }
            }
            left
        };
        let (mut added, mut removed) = (rest(&new, &old), rest(&old, &new));
        if added + removed == 0 {
            // Branches over one input that exchange their columns are other branches.
            let exchanged = self.exchanged_columns(o, n);
            (added, removed) = (exchanged, exchanged);
        }
        if added + removed > 0 {
            // What reads the union sees other columns because of its inputs.
            let idents = |list: &[(usize, Vec<Ident>)]| list.iter().flat_map(|(_, i)| i.clone()).collect::<Vec<_>>();
            let (all_old, all_new) = (idents(&old), idents(&new));
            let union_old = self.old.idents(o, &self.matching, &mut self.interner);
            let union_new = self.new.idents(n, &self.matching, &mut self.interner);
            let lone = union_old.iter().chain(&union_new).filter(|i| !(union_old.contains(i) && union_new.contains(i)));
            let lone =
                lone.chain(all_old.iter().chain(&all_new).filter(|i| !(all_old.contains(i) && all_new.contains(i))));
            self.key_causes.extend(lone.map(|i| (*i, number)));
        }
        let (mut sorted_old, mut sorted_new) = (old.clone(), new.clone());
        sorted_old.sort_unstable();
        sorted_new.sort_unstable();
        let numbers = |list: &[(usize, Vec<Ident>)]| list.iter().map(|(n, _)| *n).collect::<Vec<_>>();
        let moved =
            added + removed == 0 && (numbers(&old) != numbers(&new) || (old != new && sorted_old == sorted_new));
        if added + removed == 0 && !moved {
            return;
        }
        // The sides of a set operation are no inputs in any order: each is counted for itself.
        let sides = counts_sides(self.old.plan, o) && counts_sides(self.new.plan, n);
        if moved && sides {
            (added, removed) = (old.len(), new.len());
        }
        let moved = moved && !sides;
        // The inputs that only one side has are pointed at.
        let place = |plan: &Plan, union: NodeId, side: Side, others: &[(usize, Vec<Ident>)]| {
            let mut others: Vec<usize> = others.iter().map(|(number, _)| *number).collect();
            let lone = super::descent::union_branches(plan, union).into_iter().find(|b| {
                let number = self.matching.branch_number(side, plan, *b);
                let partner = others.iter().position(|other| *other == number);
                partner.map(|at| others.swap_remove(at)).is_none()
            });
            lone.and_then(|b| plan.node(b).origins.first()).or(plan.node(union).origins.first())
        };
        let places = Places::beside(
            place(self.old.plan, o, Side::Old, &new),
            place(self.new.plan, n, Side::New, &old),
            lacking(removed, added),
        );
        let mut args = Vec::new();
        for (name, count) in [("added_inputs", added), ("removed_inputs", removed)] {
            if count > 0 {
                args.push((name, count.to_string()));
            }
        }
        let kind = ChangeKind::UnionInputs { added, removed, moved };
        self.state(number, kind, args, places, Item::Other, None);
    }

    /// How many branches of a union have the columns that another one with other conditions had.
    fn exchanged_columns(&mut self, o: NodeId, n: NodeId) -> usize {
        let Comparison { old, new, matching, interner, .. } = self;
        let mut branches =
            |view: &mut SideView<'_>, union: NodeId, side: Side| -> Vec<(usize, Vec<Ident>, Vec<Ident>)> {
                let mut out: Vec<_> = super::descent::union_branches(view.plan, union)
                    .into_iter()
                    .map(|b| {
                        let conditions = view.lineage.conditions(b, matching, interner);
                        (matching.branch_number(side, view.plan, b), conditions, view.idents(b, matching, interner))
                    })
                    .collect();
                out.sort_unstable();
                out
            };
        let (old, new) = (branches(old, o, Side::Old), branches(new, n, Side::New));
        let by_columns = |list: &[(usize, Vec<Ident>, Vec<Ident>)]| {
            let mut out: Vec<(usize, Vec<Ident>)> = list.iter().map(|(n, _, c)| (*n, c.clone())).collect();
            out.sort_unstable();
            out
        };
        let same_conditions = old.iter().map(|b| (b.0, &b.1)).eq(new.iter().map(|b| (b.0, &b.1)));
        if old == new || !same_conditions || by_columns(&old) != by_columns(&new) {
            return 0;
        }
        old.iter().zip(&new).filter(|(a, b)| a != b).count()
    }

    /// States a difference of keys or columns, with what causes it.
    pub(super) fn keys(&mut self, number: usize, kind: ChangeKind, diff: &KeysDiff) {
        let differing: Vec<Ident> = diff.differing().collect();
        let reordered = matches!(
            &kind,
            ChangeKind::PartitionKeys(k) | ChangeKind::GroupKeys(k) if k.moved || k.window_moved
        );
        let stored = matches!(kind, ChangeKind::InputColumns(_));
        let cause = if differing.is_empty() || reordered { None } else { self.cause_of(&differing, number) };
        let cause = cause.or_else(|| if stored { self.stored_below(&differing, number) } else { None });
        let mut context: Facts = Vec::new();
        let ddl_column = self.computed_in_ddl(&differing);
        if ddl_column.is_some() {
            context.push(("source_column", Fact::Bool(true)));
            context.push(("source_retyped", Fact::Bool(self.retyped_in_ddl(&differing))));
        }
        let lacking = if reordered { None } else { lacking(diff.only_old.len(), diff.only_new.len()) };
        // A key that is computed otherwise is shown where it is computed, the others where they stand.
        let computed = |only: &[Ident]| {
            let infos = only.iter().map(|id| self.interner.info(*id));
            let shown = |id: &Ident, info: &IdentInfo| !info.is_source || self.retyped.contains(id);
            only.iter().zip(infos).filter(|(id, i)| shown(id, i) && i.producer.is_none()).find_map(|(_, i)| i.origin)
        };
        let recomputed = matches!(&kind, ChangeKind::PartitionKeys(k) | ChangeKind::GroupKeys(k) if k.changed > 0);
        let (old_at, new_at) =
            if recomputed { (computed(&diff.only_old), computed(&diff.only_new)) } else { (None, None) };
        let place = |side: Side, at: Option<Span>| match (&kind, lacking) {
            // The clause stands for a key that is not in it, and the select list for a column.
            (ChangeKind::GroupKeys(_), Some(s)) if s == side => self.clause(side, number).or(at),
            (ChangeKind::InputColumns(_), Some(s)) if s == side => self.around(side, number).or(at),
            _ => at.or_else(|| self.clause(side, number)),
        };
        let places =
            Places::beside(place(Side::Old, old_at.or(diff.old)), place(Side::New, new_at.or(diff.new)), lacking);
        self.state_of_column(number, kind, diff.args.clone(), places, Item::Other, cause, context, ddl_column);
        if stored {
            self.passes_on(&differing, number);
        }
        if let Some(stated) = self.stated.last_mut() {
            *(if stored { &mut stated.keeps } else { &mut stated.reads }) = differing;
        }
    }

    /// States a change that comes of a column that a CREATE TABLE defines otherwise, if there is one: there it is written.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn state_of_column(
        &mut self,
        number: usize,
        kind: ChangeKind,
        mut args: Vec<(&'static str, String)>,
        places: Places,
        item: Item,
        cause: Option<usize>,
        context: Facts,
        column: Option<DdlColumn>,
    ) {
        let places = column.as_ref().map_or(places, |c| c.places(places));
        args.extend(column.as_ref().map(|c| ("column", format!("`{}`", c.name))));
        self.state_with(number, kind, args, places, item, cause, context);
        if let Some(stated) = self.stated.last_mut() {
            stated.ddl_column = column.map(|c| c.name);
        }
    }

    /// The pair whose own change makes these idents differ, if that is all there is to them.
    pub fn cause_of(&self, differing: &[Ident], number: usize) -> Option<usize> {
        let mut cause = None;
        for id in differing {
            match self.cause(*id, number) {
                Some(c) if c != number => cause = Some(c),
                _ => return None,
            }
        }
        cause
    }

    fn cause(&self, id: Ident, number: usize) -> Option<usize> {
        // A key that one side does not group by reaches what reads the aggregate because of that.
        if let Some(pair) = self.key_causes.get(&id).filter(|p| number == usize::MAX || self.is_below(**p, number)) {
            return Some(*pair);
        }
        let info = self.interner.info(id);
        if let Some(producer) = info.producer {
            let one_sided = self.produced_old.contains(&id) != self.produced_new.contains(&id);
            if one_sided {
                return self
                    .pair_with_change(producer)
                    .or_else(|| info.parts.iter().find_map(|p| self.cause(*p, number)));
            }
        }
        info.parts.iter().find_map(|p| self.cause(*p, number))
    }

    /// The pair of a producer's number, if a change of it is stated or it stands on one side only.
    fn pair_with_change(&self, producer: usize) -> Option<usize> {
        let pair = self.matching.pairs.get(producer)?;
        let alone = pair.old.is_none() || pair.new.is_none();
        (alone || self.stated.iter().any(|s| s.pair == producer)).then_some(producer)
    }

    /// States a change that is made of several differences, each with its place; the first one's is that of the change.
    pub fn state_spots(
        &mut self,
        number: usize,
        kind: ChangeKind,
        args: Vec<(&'static str, String)>,
        spots: Vec<(&'static str, Places)>,
        item: Item,
        context: Facts,
    ) {
        let places = spots.first().map(|(_, places)| *places).unwrap_or_default();
        self.state_with(number, kind, args, places, item, None, context);
        if let Some(stated) = self.stated.last_mut() {
            stated.change.spots = spots;
        }
    }

    /// States a change of what stands on the way from a pair to one of its readers and keeps nothing itself: it is about the nearest
    /// operator that does, on the way up from that reader.
    #[allow(clippy::too_many_arguments)]
    pub fn state_on_way(
        &mut self,
        number: usize,
        way: &Pair,
        kind: ChangeKind,
        args: Vec<(&'static str, String)>,
        places: impl Into<Places>,
        item: Item,
        cause: Option<usize>,
        more: Facts,
    ) {
        let keeper = way.parent.and_then(|reader| {
            let mut up = std::iter::once(reader).chain(self.matching.upwards(reader));
            up.find(|p| self.keeps_state(*p))
        });
        let other_reader = way.parent.filter(|reader| self.matching.pairs[number].parent != Some(*reader));
        let operator = keeper.or(other_reader).map(|p| self.operator(p));
        self.state_with(number, kind, args, places, item, cause, more);
        if let (Some(operator), Some(stated)) = (operator, self.stated.last_mut()) {
            stated.change.operator = Some(operator);
        }
    }

    /// States a change of a pair.
    pub fn state(
        &mut self,
        number: usize,
        kind: ChangeKind,
        args: Vec<(&'static str, String)>,
        places: impl Into<Places>,
        item: Item,
        cause: Option<usize>,
    ) {
        self.state_with(number, kind, args, places, item, cause, Vec::new());
    }

    /// States a change with more facts about its place.
    #[allow(clippy::too_many_arguments)]
    pub fn state_with(
        &mut self,
        number: usize,
        kind: ChangeKind,
        args: Vec<(&'static str, String)>,
        places: impl Into<Places>,
        item: Item,
        cause: Option<usize>,
        more: Facts,
    ) {
        let mut context = self.context(number);
        context.extend(more);
        // A union keeps nothing itself: it is about the nearest operator that does.
        let passes_on = matches!(kind, ChangeKind::UnionInputs { .. });
        let keeper = if passes_on { self.matching.upwards(number).find(|p| self.keeps_state(*p)) } else { None };
        let operator = Some(self.operator(keeper.unwrap_or(number)));
        let chain = self.matching.pairs[number]
            .new
            .map(|id| self.new.plan.node(id).origins.iter().collect())
            .unwrap_or_default();
        let Places { old, new, beside } = places.into();
        let (spots, echoes) = (Vec::new(), Vec::new());
        let change = Change { kind, operator, context, args, item, old, new, beside, spots, chain, echoes };
        self.stated.push(Stated {
            change,
            pair: number,
            cause,
            ddl_column: None,
            reads: Vec::new(),
            keeps: Vec::new(),
        });
    }
}

/// True if a window function is the next thing below an operator, but for what has no state.
fn on_window_function(plan: &Plan, id: NodeId) -> bool {
    let mut at = plan.first_phase(id);
    while let [input] = plan.node(at).inputs.as_slice() {
        at = *input;
        match &plan.node(at).op {
            Operator::WindowTableFunction(_) => return true,
            op if op.is_stateful() => return false,
            _ => {}
        }
    }
    false
}

/// True if the operator's state is held in savepoints by keepstate's account (connectors' own state is not).
pub fn is_stateful(plan: &Plan, id: NodeId) -> bool {
    match &plan.node(id).op {
        Operator::Sink(s) => s.upsert_materialize,
        op => op.is_stateful(),
    }
}

/// True if a union brings the sides of INTERSECT ALL or EXCEPT ALL together, to be counted.
fn counts_sides(plan: &Plan, union: NodeId) -> bool {
    let feeds = |call: NodeId| {
        let mut at = call;
        loop {
            let [below] = plan.node(at).inputs.as_slice() else { return false };
            match &plan.node(*below).op {
                Operator::Union(_) => return *below == union,
                Operator::Calc(_)
                | Operator::Exchange(_)
                | Operator::GroupAggregate(_)
                | Operator::LocalGroupAggregate(_)
                | Operator::GlobalGroupAggregate(_) => at = *below,
                _ => return false,
            }
        }
    };
    plan.ids().any(|id| {
        matches!(&plan.node(id).op, Operator::Correlate(c) if c.call.function == TableFunction::ReplicateRows)
            && feeds(id)
    })
}
