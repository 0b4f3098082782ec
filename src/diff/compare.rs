//! Compares matched operators, from the sources up.

use std::collections::HashSet;

use super::aggregates;
use super::change::{Change, ChangeKind, Fact, Facts, Item, OperatorRef, OrderChange, WindowChange};
use super::filters;
use super::keys::{self, KeysDiff, Order};
use super::lineage::{Ident, Interner};
use super::matching::{Matching, Pair, Side, family};
use super::view::{AggregateView, SideView, WindowView, frame_text, order, window_text};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rel::WindowKind;
use crate::source::Span;

/// A change with the pair it is about, and the pair whose change brings it about.
pub struct Stated {
    /// The change.
    pub change: Change,
    /// Its pair.
    pub pair: usize,
    /// The pair (and there the index of the change, if known) that causes it.
    pub cause: Option<usize>,
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
    /// The changes.
    pub stated: Vec<Stated>,
    /// Idents that operators produce, on the old side.
    pub produced_old: HashSet<Ident>,
    /// Idents that operators produce, on the new side.
    pub produced_new: HashSet<Ident>,
    /// `ignore-filter` of the new job.
    pub ignore_filter: bool,
}

impl<'a> Comparison<'a> {
    /// Compares every pair.
    pub fn run(&mut self) {
        self.collect_produced();
        for pair in (0..self.matching.pairs.len()).rev() {
            self.pair(pair);
        }
    }

    fn collect_produced(&mut self) {
        for (side, out) in [(Side::Old, &mut self.produced_old), (Side::New, &mut self.produced_new)] {
            let view = if side == Side::Old { &mut self.old } else { &mut self.new };
            for id in view.plan.ids() {
                if view.plan.node(id).op.is_stateful() {
                    out.extend(view.idents(id, &self.matching, &mut self.interner));
                }
            }
        }
    }

    fn pair(&mut self, number: usize) {
        let pair = self.matching.pairs[number].clone();
        match (pair.old, pair.new) {
            (Some(_), Some(_)) if pair.shared => filters::compare(self, number, &pair),
            (Some(o), Some(n)) => {
                self.matched(number, &pair, o, n);
                filters::compare(self, number, &pair);
            }
            _ if pair.shared => {}
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
        if !node.op.is_stateful() {
            return;
        }
        // A whole INSERT that one side lacks is one change, stated for its sink.
        let mut above = self.matching.pairs[number].parent;
        while let Some(p) = above {
            let pair = &self.matching.pairs[p];
            if pair.parent.is_none() && (pair.old.is_none() || pair.new.is_none()) {
                return;
            }
            above = pair.parent;
        }
        let span = node.origins.first();
        let word = (if side == Side::Old { "old" } else { "new" }, node.op.kind().to_owned());
        let (old, new) = if side == Side::Old { (span, self.surviving(number)) } else { (None, span) };
        self.state(number, kind, vec![word], (old, new), Item::Other, None);
    }

    /// The clause of the new side around a place that is gone.
    fn surviving(&self, number: usize) -> Option<Span> {
        let mut at = self.matching.pairs[number].parent;
        while let Some(p) = at {
            let pair = &self.matching.pairs[p];
            if let Some(id) = pair.new {
                if let Some(span) = self.new.plan.node(id).origins.first() {
                    return Some(span);
                }
            }
            at = pair.parent;
        }
        None
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
            "source" => super::sources::compare(self, number, o, n),
            "union" => self.union(number, o, n),
            "changelog-normalize" => {
                let input = |op: &Operator| match op {
                    Operator::ChangelogNormalize(c) => c.keys.clone(),
                    _ => Vec::new(),
                };
                let (keys_old, keys_new) = (input(a), input(b));
                let old = self.old.partition(o, &keys_old, &[], &self.matching, &mut self.interner);
                let new = self.new.partition(n, &keys_new, &[], &self.matching, &mut self.interner);
                if let Some(diff) = keys::compare(&old, &new, Order::Free) {
                    self.keys(number, ChangeKind::PartitionKeys(diff.change.clone()), &diff);
                }
                self.input_columns(number, o, n, &[]);
            }
            _ => {}
        }
    }

    fn replaced(&mut self, number: usize, o: NodeId, n: NodeId) {
        let (old, new) = (self.old.plan.node(o), self.new.plan.node(n));
        let (old_family, new_family) = (family(&old.op), family(&new.op));
        let window_keys = matches!(
            (old_family, new_family),
            ("window-aggregate", "group-aggregate") | ("group-aggregate", "window-aggregate")
        );
        let places = (old.origins.first(), new.origins.first());
        let args = vec![("old", old_family.to_owned()), ("new", new_family.to_owned())];
        let kind = ChangeKind::OperatorReplaced { old_family, new_family, window_keys };
        self.state(number, kind, args, places, Item::Other, None);
    }

    fn aggregates(&mut self, number: usize, o: NodeId, n: NodeId) {
        let Some(old) = self.old.aggregate(o, &self.matching, &mut self.interner) else { return };
        let Some(new) = self.new.aggregate(n, &self.matching, &mut self.interner) else { return };
        if let (Some(a), Some(b)) = (&old.window, &new.window) {
            self.window(number, a, b);
        }
        let sets = (&old.grouping_sets, &new.grouping_sets);
        let sets_changed = sets.0 != sets.1;
        if sets_changed {
            let places = (old.grouping_span, new.grouping_span);
            self.state(number, ChangeKind::GroupingSets, Vec::new(), places, Item::Other, None);
        }
        if let Some(diff) = keys::compare_group_keys(&old, &new) {
            // Keys that are only in some sets belong to the change of the sets.
            let only_sets = sets_changed && diff.only_old.is_empty() && diff.only_new.is_empty();
            if !only_sets {
                self.keys(number, ChangeKind::GroupKeys(diff.change.clone()), &diff);
            }
        }
        if old.emit != new.emit {
            let args = vec![("old", format!("{:?}", old.emit)), ("new", format!("{:?}", new.emit))];
            let at = new.window.as_ref().and_then(|w| w.origins.call.first());
            let old_at = old.window.as_ref().and_then(|w| w.origins.call.first());
            self.state(number, ChangeKind::EmitStrategy, args, (old_at, at), Item::Other, None);
        }
        let aggregates = self.aggregate_calls(number, &old, &new);
        if old.step.is_some() != new.step.is_some() {
            let appeared = new.step.is_some();
            let places = (old.step.as_ref().and_then(|s| s.first()), new.step.as_ref().and_then(|s| s.first()));
            let kind = ChangeKind::ProjectionStep { appeared };
            if self.feeds_window_rank(number) && aggregates {
                // The Window Top-N page counts it as a changed aggregate, which is stated already.
                return;
            }
            self.state(number, kind, Vec::new(), places, Item::Aggregates, None);
        }
    }

    fn aggregate_calls(&mut self, number: usize, old: &AggregateView, new: &AggregateView) -> bool {
        let Some(diff) = aggregates::compare(old, new) else { return false };
        let cause = self.cause_of(&diff.differing, number);
        let mut context: Facts = Vec::new();
        if let Some(table) = self.computed_in_ddl(&diff.differing) {
            context.push(("source_column", Fact::Bool(table)));
        }
        let kind = ChangeKind::Aggregates(diff.change);
        self.state_with(number, kind, diff.args, (diff.old, diff.new), Item::Aggregates, cause, context);
        true
    }

    /// True if a column that differs is computed in a CREATE TABLE.
    pub fn computed_in_ddl(&self, idents: &[Ident]) -> Option<bool> {
        let in_ddl = |id: &Ident| {
            let info = self.interner.info(*id);
            let Some(origin) = info.origin else { return false };
            !info.is_source
                && [self.old.plan, self.new.plan].iter().any(|plan| {
                    plan.nodes.iter().any(|n| match &n.op {
                        Operator::TableSourceScan(s) => s.table.span.contains(origin),
                        _ => false,
                    })
                })
        };
        let one_sided: Vec<&Ident> = idents.iter().collect();
        one_sided.into_iter().any(in_ddl).then_some(true)
    }

    fn window(&mut self, number: usize, a: &WindowView, b: &WindowView) {
        let mut change = WindowChange { offset: a.offset != b.offset, ..WindowChange::default() };
        match (a.kind, b.kind) {
            (WindowKind::Tumble { size: x }, WindowKind::Tumble { size: y }) => change.size = x != y,
            (WindowKind::Hop { size: x, slide: s }, WindowKind::Hop { size: y, slide: t }) => {
                change.size = x != y;
                change.slide = s != t;
            }
            (WindowKind::Cumulate { max_size: x, step: s }, WindowKind::Cumulate { max_size: y, step: t }) => {
                change.size = x != y;
                change.step = s != t;
            }
            (WindowKind::Session { gap: x }, WindowKind::Session { gap: y }) => change.gap = x != y,
            _ => change.window_type = true,
        }
        change.time_attribute = a.time != b.time || a.proctime != b.proctime;
        change.session_keys = a.session_keys != b.session_keys && !change.window_type;
        if change == WindowChange::default() {
            return;
        }
        let place = |w: &WindowView| {
            let part = if change.window_type {
                w.origins.call.first()
            } else if change.size || change.gap {
                w.origins.size.first()
            } else if change.slide || change.step {
                w.origins.slide.first()
            } else if change.time_attribute {
                w.origins.time.first()
            } else {
                w.origins.offset.first()
            };
            part.or(w.origins.call.first())
        };
        let mut words = (window_text(a), window_text(b));
        if change.time_attribute && words.0 == words.1 {
            let time = |w: &WindowView| w.time.map(|t| self.interner.info(t).name.clone()).unwrap_or_default();
            words = (format!("{} on `{}`", words.0, time(a)), format!("{} on `{}`", words.1, time(b)));
        }
        let args = vec![("old", words.0), ("new", words.1)];
        let places = (place(a), place(b));
        let below = self.window_changed_below(number);
        self.state(number, ChangeKind::Window(change), args, places, Item::Other, below);
    }

    /// The pair below that states the same change of the window.
    fn window_changed_below(&self, number: usize) -> Option<usize> {
        self.stated
            .iter()
            .find(|s| matches!(s.change.kind, ChangeKind::Window(_)) && self.is_below(s.pair, number))
            .map(|s| s.pair)
    }

    fn is_below(&self, lower: usize, upper: usize) -> bool {
        let mut at = self.matching.pairs[lower].parent;
        while let Some(p) = at {
            if p == upper {
                return true;
            }
            at = self.matching.pairs[p].parent;
        }
        false
    }

    fn over(&mut self, number: usize, o: NodeId, n: NodeId) {
        let (Operator::OverAggregate(a), Operator::OverAggregate(b)) =
            (&self.old.plan.node(o).op, &self.new.plan.node(n).op)
        else {
            return;
        };
        let mut explained = Vec::new();
        let keys_old =
            self.old.partition(o, &a.written_partition, &a.partition_origins, &self.matching, &mut self.interner);
        let keys_new =
            self.new.partition(n, &b.written_partition, &b.partition_origins, &self.matching, &mut self.interner);
        let before = self.stated.len();
        if let Some(diff) = keys::compare(&keys_old, &keys_new, Order::Counts) {
            explained.extend(diff.differing());
            self.keys(number, ChangeKind::PartitionKeys(diff.change.clone()), &diff);
        }
        let (in_old, in_new) = (
            self.old.input_idents(o, &self.matching, &mut self.interner),
            self.new.input_idents(n, &self.matching, &mut self.interner),
        );
        let (order_old, order_new) = (order(&a.order, &in_old), order(&b.order, &in_new));
        if order_old != order_new || a.proctime != b.proctime {
            let same_field = order_old.first().map(|k| k.ident) == order_new.first().map(|k| k.ident);
            let change =
                OrderChange { time_attribute: !same_field || a.proctime != b.proctime, ..OrderChange::default() };
            explained.extend(order_old.iter().chain(&order_new).map(|k| k.ident));
            let place = |keys: &[crate::logical::rel::SortKey]| keys.first().and_then(|k| k.origins.first());
            let places = (place(&a.order), place(&b.order));
            self.state(number, ChangeKind::OrderBy(change), Vec::new(), places, Item::Other, None);
        }
        if a.frame.units != b.frame.units || a.frame.preceding != b.frame.preceding {
            let units = a.frame.units != b.frame.units;
            let kind = ChangeKind::Frame { units, bound: a.frame.preceding != b.frame.preceding };
            let args = vec![("old", frame_text(&a.frame)), ("new", frame_text(&b.frame))];
            let places = (a.frame.origins.first(), b.frame.origins.first());
            self.state(number, kind, args, places, Item::Other, None);
        }
        let window_changed = self.stated.len() > before;
        let Some(old) = self.old.aggregate(o, &self.matching, &mut self.interner) else { return };
        let Some(new) = self.new.aggregate(n, &self.matching, &mut self.interner) else { return };
        let calls_at = self.stated.len();
        let calls = self.aggregate_calls(number, &old, &new);
        let input_at = self.stated.len();
        self.input_columns(number, o, n, if window_changed { &explained } else { &[] });
        // What an aggregate newly reads is a new column of the stored rows: one edit, and the stored rows decide.
        if calls && self.stated.len() > input_at {
            let reads: HashSet<Ident> = match aggregates::compare(&old, &new) {
                Some(diff) => diff.differing.into_iter().collect(),
                None => HashSet::new(),
            };
            let differing = self.input_difference(o, n);
            if differing.iter().all(|d| reads.contains(d)) {
                let echo = self.stated.remove(calls_at);
                if let Some(input) = self.stated.last_mut() {
                    input.change.echoes.push(echo.change);
                }
            }
        }
    }

    fn input_difference(&mut self, o: NodeId, n: NodeId) -> Vec<Ident> {
        let old = self.old.needed_input(o, &self.matching, &mut self.interner);
        let new = self.new.needed_input(n, &self.matching, &mut self.interner);
        keys::compare(&old, &new, Order::Free).map_or_else(Vec::new, |d| d.differing().collect())
    }

    /// The rows that an operator keeps: which columns they have. `explained` columns differ because of keys or order, which are stated.
    fn input_columns(&mut self, number: usize, o: NodeId, n: NodeId, explained: &[Ident]) {
        let old = self.old.needed_input(o, &self.matching, &mut self.interner);
        let new = self.new.needed_input(n, &self.matching, &mut self.interner);
        let Some(diff) = keys::compare(&old, &new, Order::Free) else { return };
        if diff.differing().all(|d| explained.contains(&d)) {
            return;
        }
        let mut kind = diff.change.clone();
        if kind.changed == 0 && kind.added == 0 && kind.removed == 0 {
            return;
        }
        kind.moved = false;
        self.keys(number, ChangeKind::InputColumns(kind), &diff);
    }

    fn rank(&mut self, number: usize, o: NodeId, n: NodeId) {
        let (Some((a, window_a)), Some((b, window_b))) = (self.old.ranking(o), self.new.ranking(n)) else { return };
        if let (Some(wa), Some(wb)) = (window_a, window_b) {
            let input_a = self.old.input_idents(o, &self.matching, &mut self.interner);
            let input_b = self.new.input_idents(n, &self.matching, &mut self.interner);
            let va = self.old.window(o, wa, &input_a, &self.matching, &mut self.interner);
            let vb = self.new.window(n, wb, &input_b, &self.matching, &mut self.interner);
            self.window(number, &va, &vb);
        }
        let mut explained = Vec::new();
        let keys_old =
            self.old.partition(o, &a.written_partition, &a.partition_origins, &self.matching, &mut self.interner);
        let keys_new =
            self.new.partition(n, &b.written_partition, &b.partition_origins, &self.matching, &mut self.interner);
        if let Some(diff) = keys::compare(&keys_old, &keys_new, Order::Counts) {
            explained.extend(diff.differing());
            // Window columns of a window that changed are no other keys.
            let window_only = window_a.is_some()
                && diff.differing().next().is_some()
                && diff.differing().all(|d| self.is_window_column(d));
            if !window_only {
                self.keys(number, ChangeKind::PartitionKeys(diff.change.clone()), &diff);
            }
        }
        let (in_old, in_new) = (
            self.old.input_idents(o, &self.matching, &mut self.interner),
            self.new.input_idents(n, &self.matching, &mut self.interner),
        );
        let (order_old, order_new) = (order(&a.order, &in_old), order(&b.order, &in_new));
        if order_old != order_new {
            let fields = order_old.iter().map(|k| k.ident).ne(order_new.iter().map(|k| k.ident));
            let zip = || order_old.iter().zip(&order_new).filter(|(x, y)| x.ident == y.ident);
            let change = OrderChange {
                fields,
                direction: zip().any(|(x, y)| x.descending != y.descending),
                nulls: zip().any(|(x, y)| x.descending == y.descending && x.nulls_first != y.nulls_first),
                time_attribute: false,
            };
            let differing: Vec<Ident> = order_old
                .iter()
                .chain(&order_new)
                .map(|k| k.ident)
                .filter(|id| !(order_old.iter().any(|k| k.ident == *id) && order_new.iter().any(|k| k.ident == *id)))
                .collect();
            explained.extend(differing.iter().copied());
            let at = order_old
                .iter()
                .zip(&order_new)
                .position(|(x, y)| x != y)
                .unwrap_or(order_old.len().min(order_new.len()));
            let place =
                |keys: &[crate::logical::rel::SortKey]| keys.get(at).or(keys.last()).and_then(|k| k.origins.first());
            let words = |side: &SideView<'_>, id: NodeId, keys: &[crate::logical::rel::SortKey]| {
                let columns = side.plan.input_columns(id, 0);
                keys.iter()
                    .map(|k| format!("{}{}", columns[k.column].name, if k.descending { " DESC" } else { "" }))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let args = vec![("old", words(&self.old, o, &a.order)), ("new", words(&self.new, n, &b.order))];
            let places = (place(&a.order), place(&b.order));
            let cause = if fields { self.cause_of(&differing, number) } else { None };
            self.state(number, ChangeKind::OrderBy(change), args, places, Item::Other, cause);
        }
        if (a.start, a.end) != (b.start, b.end) {
            let kind = ChangeKind::RankRange { start: a.start != b.start, end: a.end != b.end };
            let args = if a.end == b.end {
                vec![("old", a.start.to_string()), ("new", b.start.to_string())]
            } else {
                vec![("old", a.end.to_string()), ("new", b.end.to_string())]
            };
            let places = (a.range_origins.first(), b.range_origins.first());
            self.state(number, kind, args, places, Item::Other, None);
        }
        if a.rank_type != b.rank_type {
            let args = vec![("old", a.rank_type.name().to_owned()), ("new", b.rank_type.name().to_owned())];
            let places = (self.old.plan.node(o).origins.first(), self.new.plan.node(n).origins.first());
            self.state(number, ChangeKind::RankType, args, places, Item::Other, None);
        }
        self.input_columns(number, o, n, &explained);
    }

    fn is_window_column(&self, id: Ident) -> bool {
        self.interner.info(id).name.starts_with("window_")
    }

    fn union(&mut self, number: usize, o: NodeId, n: NodeId) {
        let children: Vec<&Pair> = self.matching.pairs.iter().filter(|p| p.parent == Some(number)).collect();
        let added = children.iter().filter(|p| p.old.is_none()).count();
        let removed = children.iter().filter(|p| p.new.is_none()).count();
        let places = |plan: &Plan, union: NodeId, side: Side| -> Vec<usize> {
            super::matching::union_branches(plan, union)
                .into_iter()
                .map(|b| self.matching.branch_rank(side, plan, b))
                .filter(|(alone, _)| !alone)
                .map(|(_, p)| p)
                .collect()
        };
        let moved = places(self.old.plan, o, Side::Old) != places(self.new.plan, n, Side::New);
        if added + removed == 0 && !moved {
            return;
        }
        let origins = (self.old.plan.node(o).origins.first(), self.new.plan.node(n).origins.first());
        let kind = ChangeKind::UnionInputs { added, removed, moved };
        self.state(number, kind, Vec::new(), origins, Item::Other, None);
    }

    /// States a difference of keys or columns, with what causes it.
    fn keys(&mut self, number: usize, kind: ChangeKind, diff: &KeysDiff) {
        let differing: Vec<Ident> = diff.differing().collect();
        let reordered = matches!(
            &kind,
            ChangeKind::PartitionKeys(k) | ChangeKind::GroupKeys(k) if k.moved || k.window_moved
        );
        let cause = if differing.is_empty() || reordered { None } else { self.cause_of(&differing, number) };
        let mut context: Facts = Vec::new();
        if self.computed_in_ddl(&differing).is_some() {
            context.push(("source_column", Fact::Bool(true)));
        }
        let group = self.new_origin(number);
        let places = (diff.old, diff.new.or(group));
        let item = Item::Other;
        self.state_with(number, kind, diff.args.clone(), places, item, cause, context);
    }

    fn new_origin(&self, number: usize) -> Option<Span> {
        self.matching.pairs[number].new.and_then(|id| self.new.plan.node(id).origins.first())
    }

    /// The pair whose own change makes these idents differ, if that is all there is to them.
    pub fn cause_of(&self, differing: &[Ident], number: usize) -> Option<usize> {
        let mut cause = None;
        for id in differing {
            match self.cause(*id) {
                Some(c) if c != number => cause = Some(c),
                _ => return None,
            }
        }
        cause
    }

    fn cause(&self, id: Ident) -> Option<usize> {
        let info = self.interner.info(id);
        if let Some(producer) = info.producer {
            let one_sided = self.produced_old.contains(&id) != self.produced_new.contains(&id);
            if one_sided {
                return self.pair_with_change(producer).or_else(|| info.parts.iter().find_map(|p| self.cause(*p)));
            }
        }
        info.parts.iter().find_map(|p| self.cause(*p))
    }

    /// The pair of a producer's number, if a change of it is stated or it stands on one side only.
    fn pair_with_change(&self, producer: usize) -> Option<usize> {
        let pair = self.matching.pairs.get(producer)?;
        let alone = pair.old.is_none() || pair.new.is_none();
        (alone || self.stated.iter().any(|s| s.pair == producer)).then_some(producer)
    }

    /// True if the operator's result feeds a WindowRank.
    pub fn feeds_window_rank(&self, number: usize) -> bool {
        let Some(parent) = self.matching.pairs[number].parent else { return false };
        let pair = &self.matching.pairs[parent];
        let is_rank =
            |plan: &Plan, id: Option<NodeId>| id.is_some_and(|id| matches!(plan.node(id).op, Operator::WindowRank(_)));
        is_rank(self.new.plan, pair.new) || is_rank(self.old.plan, pair.old)
    }

    /// True if an operator with state reads what comes out of this pair.
    pub fn stateful_above(&self, number: usize) -> bool {
        let mut at = self.matching.pairs[number].parent;
        while let Some(p) = at {
            let pair = &self.matching.pairs[p];
            let stateful = |plan: &Plan, id: Option<NodeId>| id.is_some_and(|id| is_stateful(plan, id));
            if stateful(self.new.plan, pair.new) || stateful(self.old.plan, pair.old) {
                return true;
            }
            at = pair.parent;
        }
        false
    }

    /// States a change of a pair.
    pub fn state(
        &mut self,
        number: usize,
        kind: ChangeKind,
        args: Vec<(&'static str, String)>,
        places: (Option<Span>, Option<Span>),
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
        places: (Option<Span>, Option<Span>),
        item: Item,
        cause: Option<usize>,
        more: Facts,
    ) {
        let mut context = self.context(number);
        context.extend(more);
        let operator = Some(self.operator(number));
        let chain = self.matching.pairs[number]
            .new
            .map(|id| self.new.plan.node(id).origins.iter().collect())
            .unwrap_or_default();
        let change =
            Change { kind, operator, context, args, item, old: places.0, new: places.1, chain, echoes: Vec::new() };
        self.stated.push(Stated { change, pair: number, cause });
    }

    fn context(&mut self, number: usize) -> Facts {
        let pair = self.matching.pairs[number].clone();
        let (plan, id) = match (pair.new, pair.old) {
            (Some(n), _) => (self.new.plan, n),
            (None, Some(o)) => (self.old.plan, o),
            (None, None) => return Vec::new(),
        };
        let op = &plan.node(id).op;
        let mut facts: Facts = vec![
            ("family", family(op).into()),
            ("feeds_window_rank", self.feeds_window_rank(number).into()),
            ("stateful_above", self.stateful_above(number).into()),
        ];
        let time = match op {
            Operator::WindowAggregate(a) => Some(a.window.proctime),
            Operator::GlobalWindowAggregate(g) => Some(g.aggregate.window.proctime),
            Operator::GroupWindowAggregate(a) => Some(a.proctime),
            Operator::OverAggregate(o) => Some(o.proctime),
            Operator::Deduplicate(d) => Some(d.proctime),
            Operator::WindowRank(_) | Operator::WindowDeduplicate(_) => Some(false),
            _ => None,
        };
        if let Some(proctime) = time {
            facts.push(("time", (if proctime { "proctime" } else { "rowtime" }).into()));
        }
        match op {
            Operator::Deduplicate(d) => {
                facts.push(("keep", (if d.keeps_last() { "last" } else { "first" }).into()));
            }
            Operator::Rank(r) => {
                use crate::exec::rank::RankStrategy;
                let strategy = match r.strategy {
                    RankStrategy::AppendFast => "append",
                    RankStrategy::UpdateFast(_) => "update-fast",
                    RankStrategy::Retract => "retract",
                };
                facts.push(("strategy", strategy.into()));
            }
            _ => {}
        }
        facts
    }

    /// The operator of a pair, for reports.
    pub fn operator(&self, number: usize) -> OperatorRef {
        let pair = &self.matching.pairs[number];
        let (plan, id) = match (pair.new, pair.old) {
            (Some(n), _) => (self.new.plan, n),
            (None, o) => (self.old.plan, o.unwrap_or(NodeId(0))),
        };
        OperatorRef {
            kind: plan.node(id).op.kind(),
            path: self.path(number),
            old: pair.old,
            new: pair.new,
            state: Vec::new(),
        }
    }

    /// `Sink(top)/WindowRank`; an operator that occurs twice on the way down is numbered.
    fn path(&self, number: usize) -> String {
        let mut words = Vec::new();
        let mut at = Some(number);
        while let Some(p) = at {
            let pair = &self.matching.pairs[p];
            let (plan, id) = match (pair.new, pair.old) {
                (Some(n), _) => (self.new.plan, n),
                (None, o) => (self.old.plan, o.unwrap_or(NodeId(0))),
            };
            let word = match &plan.node(id).op {
                Operator::Sink(s) => format!("Sink({})", s.name),
                Operator::TableSourceScan(s) => format!("TableSourceScan({})", s.table.path.name),
                op => op.kind().to_owned(),
            };
            words.push(word);
            at = pair.parent;
        }
        words.reverse();
        words.join("/")
    }
}

/// True if the operator's state is held in savepoints by keepstate's account (connectors' own state is not).
pub fn is_stateful(plan: &Plan, id: NodeId) -> bool {
    match &plan.node(id).op {
        Operator::Sink(s) => s.upsert_materialize,
        op => op.is_stateful(),
    }
}
