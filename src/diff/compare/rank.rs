//! Ranks and deduplications, and the rows that they and OVER operators keep.

use super::super::change::{ChangeKind, Item, OrderChange};
use super::super::keys::{self, KeysDiff, Order};
use super::super::lineage::Ident;
use super::super::matching::Side;
use super::super::places::{Places, said};
use super::super::view::{KeyView, SideView, order};
use super::Comparison;
use crate::exec::rank::{RankStrategy, Ranking};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rel::{RankEnd, SortKey};

impl Comparison<'_> {
    pub(super) fn rank(&mut self, number: usize, o: NodeId, n: NodeId) {
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
        if let Some(mut diff) = keys::compare(&keys_old, &keys_new, Order::Counts) {
            let bounds = |c: &Self, keys: &[KeyView]| {
                keys.iter().map(|k| k.ident).filter(|id| c.is_window_column(*id)).collect::<Vec<_>>()
            };
            diff.change.window_moved = diff.change.moved && bounds(self, &keys_old) != bounds(self, &keys_new);
            explained.extend(diff.differing());
            // Window columns of a window that changed are no other keys.
            let window_only = window_a.is_some()
                && diff.differing().next().is_some()
                && diff.differing().all(|d| self.is_window_column(d));
            if !window_only {
                self.keys(number, ChangeKind::PartitionKeys(diff.change.clone()), &diff);
            }
        }
        explained.extend(self.order_by(number, (o, &a.order), (n, &b.order)));
        self.range(number, (o, a), (n, b));
        if a.rank_type != b.rank_type {
            let args = vec![("old", a.rank_type.name().to_owned()), ("new", b.rank_type.name().to_owned())];
            let places = (self.old.plan.node(o).origins.first(), self.new.plan.node(n).origins.first());
            self.state(number, ChangeKind::RankType, args, places, Item::Other, None);
        }
        self.strategy(number, o, n);
        self.input_columns(number, o, n, &explained);
    }

    fn range(&mut self, number: usize, (o, a): (NodeId, &Ranking), (n, b): (NodeId, &Ranking)) {
        let input_old = self.old.input_idents(o, &self.matching, &mut self.interner);
        let input_new = self.new.input_idents(n, &self.matching, &mut self.interner);
        let column = |end: RankEnd, input: &[Ident]| match end {
            RankEnd::Column(c) => input.get(c).copied(),
            RankEnd::At(_) => None,
        };
        let (by_old, by_new) = (column(a.end, &input_old), column(b.end, &input_new));
        let end = by_old != by_new || a.end.constant() != b.end.constant();
        let start = a.start != b.start;
        if !start && !end {
            return;
        }
        let differing: Vec<Ident> = by_old.into_iter().chain(by_new).filter(|_| by_old != by_new).collect();
        let cause = if by_old.is_some() && by_new.is_some() { self.cause_of(&differing, number) } else { None };
        let words = |view: &SideView<'_>, id: NodeId, end: RankEnd| match end {
            RankEnd::At(n) => n.to_string(),
            RankEnd::Column(c) => view.plan.input_columns(id, 0)[c].name.to_string(),
        };
        let mut args = if end {
            vec![("old", words(&self.old, o, a.end)), ("new", words(&self.new, n, b.end))]
        } else {
            vec![("old", a.start.to_string()), ("new", b.start.to_string())]
        };
        if args[0].1 == args[1].1 {
            // The column keeps its name, but is computed otherwise.
            args.clear();
        }
        let places = (a.range_origins.first(), b.range_origins.first());
        self.state(number, ChangeKind::RankRange { start, end }, args, places, Item::Other, cause);
    }

    /// ORDER BY of two matched operators. Returns what they do not both order by.
    pub(super) fn order_by(
        &mut self,
        number: usize,
        (o, order_a): (NodeId, &[SortKey]),
        (n, order_b): (NodeId, &[SortKey]),
    ) -> Vec<Ident> {
        let (in_old, in_new) = (
            self.old.input_idents(o, &self.matching, &mut self.interner),
            self.new.input_idents(n, &self.matching, &mut self.interner),
        );
        let (order_old, order_new) = (order(order_a, &in_old), order(order_b, &in_new));
        if order_old == order_new {
            return Vec::new();
        }
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
        let at =
            order_old.iter().zip(&order_new).position(|(x, y)| x != y).unwrap_or(order_old.len().min(order_new.len()));
        let place = |keys: &[SortKey]| keys.get(at).or(keys.last()).and_then(|k| k.origins.first());
        let words = |side: &SideView<'_>, id: NodeId, keys: &[SortKey]| {
            let columns = side.plan.input_columns(id, 0);
            keys.iter()
                .map(|k| {
                    let column = said(side.sources, &columns[k.column].name, k.origins.first());
                    // What is written of a key may hold its direction.
                    let direction = if k.descending && !column.ends_with(" DESC") { " DESC" } else { "" };
                    format!("{column}{direction}")
                })
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut args = vec![("old", words(&self.old, o, order_a)), ("new", words(&self.new, n, order_b))];
        if args[0].1 == args[1].1 {
            // The names stay; what they stand for is computed otherwise.
            args.clear();
        }
        let places = Places::from((place(order_a), place(order_b)));
        let cause = if fields { self.cause_of(&differing, number) } else { None };
        let column = self.computed_in_ddl(&differing);
        let kind = ChangeKind::OrderBy(change);
        self.state_of_column(number, kind, args, places, Item::Other, cause, Vec::new(), column);
        differing
    }

    /// True if what two matched operators read has other upsert keys.
    pub fn upsert_key_changed(&mut self, o: NodeId, n: NodeId) -> bool {
        let Comparison { old, new, matching, interner, .. } = self;
        let mut keys = |view: &mut SideView<'_>, id: NodeId| -> Vec<Vec<Ident>> {
            let idents = view.input_idents(id, matching, interner);
            let Some(input) = view.plan.node(id).inputs.first() else { return Vec::new() };
            let mut keys: Vec<Vec<Ident>> = view
                .plan
                .node(*input)
                .upsert_keys
                .iter()
                .map(|key| {
                    let mut key: Vec<Ident> = key.iter().filter_map(|c| idents.get(*c).copied()).collect();
                    key.sort_unstable();
                    key
                })
                .collect();
            keys.sort_unstable();
            keys
        };
        keys(old, o) != keys(new, n)
    }

    /// A pair with a stated change that something at `number` follows from: the pair itself, or the nearest below.
    pub fn cause_at_or_below(&self, number: usize) -> Option<usize> {
        let here = self.stated.iter().any(|s| s.pair == number).then_some(number);
        let below = || self.stated.iter().map(|s| s.pair).filter(|p| self.is_below(*p, number)).min();
        here.or_else(below)
    }

    /// How a Top-N keeps its rows: the algorithm, and the key by which they are updated.
    fn strategy(&mut self, number: usize, o: NodeId, n: NodeId) {
        let (Operator::Rank(a), Operator::Rank(b)) = (&self.old.plan.node(o).op, &self.new.plan.node(n).op) else {
            return;
        };
        let fast = |strategy: &RankStrategy| matches!(strategy, RankStrategy::UpdateFast(_));
        let upsert_key = (fast(&a.strategy) || fast(&b.strategy)) && self.upsert_key_changed(o, n);
        let algorithm = std::mem::discriminant(&a.strategy) != std::mem::discriminant(&b.strategy) && !upsert_key;
        if !algorithm && !upsert_key {
            return;
        }
        let cause = self.cause_at_or_below(number);
        let words = |plan: &Plan, id: NodeId, strategy: &RankStrategy| match strategy {
            RankStrategy::AppendFast => "rows that are only added".to_owned(),
            RankStrategy::UpdateFast(keys) => {
                let columns = plan.input_columns(id, 0);
                let names: Vec<&str> = keys.iter().filter_map(|k| columns.get(*k).map(|c| &*c.name)).collect();
                format!("rows updated by ({})", names.join(", "))
            }
            RankStrategy::Retract => "rows that come and go".to_owned(),
        };
        let args = vec![("old", words(self.old.plan, o, &a.strategy)), ("new", words(self.new.plan, n, &b.strategy))];
        let places = (self.old.plan.node(o).origins.first(), self.new.plan.node(n).origins.first());
        self.state(number, ChangeKind::RankStrategy { upsert_key, algorithm }, args, places, Item::Other, cause);
    }

    pub(super) fn is_window_column(&self, id: Ident) -> bool {
        self.interner.info(id).name.starts_with("window_")
    }

    /// The rows that an operator keeps: which columns they have. `explained` columns differ because of keys or order, which are stated.
    pub(super) fn input_columns(&mut self, number: usize, o: NodeId, n: NodeId, explained: &[Ident]) {
        self.side_columns(number, o, n, 0, explained);
    }

    /// The same for one input of an operator that has several.
    pub(super) fn side_columns(&mut self, number: usize, o: NodeId, n: NodeId, side: usize, explained: &[Ident]) {
        let old = self.old.needed_input(o, side, &self.matching, &mut self.interner);
        let new = self.new.needed_input(n, side, &self.matching, &mut self.interner);
        let Some(diff) = keys::compare(&old, &new, Order::Free) else { return };
        if diff.differing().all(|d| explained.contains(&d)) {
            return;
        }
        let mut kind = diff.change.clone();
        if kind.changed == 0 && kind.added == 0 && kind.removed == 0 {
            return;
        }
        kind.moved = false;
        let place = |c: &mut Self, side: Side, id: NodeId, only: &[Ident]| {
            let here = |c: &Self| match side {
                Side::Old => c.old.plan.node(id).origins.first(),
                Side::New => c.new.plan.node(id).origins.first(),
            };
            only.iter().find_map(|ident| c.selected_at(side, number, *ident)).or_else(|| here(c))
        };
        let (only_old, only_new) = (diff.only_old.clone(), diff.only_new.clone());
        let diff =
            KeysDiff { old: place(self, Side::Old, o, &only_old), new: place(self, Side::New, n, &only_new), ..diff };
        self.keys(number, ChangeKind::InputColumns(kind), &diff);
    }
}
