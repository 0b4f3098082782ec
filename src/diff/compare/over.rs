//! OVER operators.

use std::collections::HashSet;

use super::super::aggregates;
use super::super::change::{ChangeKind, Item, OrderChange};
use super::super::keys::{self, Order};
use super::super::lineage::Ident;
use super::super::view::{frame_text, order};
use super::Comparison;
use crate::exec::{NodeId, Operator};

impl Comparison<'_> {
    pub(super) fn over(&mut self, number: usize, o: NodeId, n: NodeId) {
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
                    // The call that reads the column is what was edited.
                    if input.ddl_column.is_none() {
                        let call = &echo.change;
                        (input.change.old, input.change.new, input.change.beside) = (call.old, call.new, call.beside);
                    }
                    input.change.echoes.push(echo.change);
                }
            }
        }
    }

    pub(super) fn input_difference(&mut self, o: NodeId, n: NodeId) -> Vec<Ident> {
        let old = self.old.needed_input(o, 0, &self.matching, &mut self.interner);
        let new = self.new.needed_input(n, 0, &self.matching, &mut self.interner);
        keys::compare(&old, &new, Order::Free).map_or_else(Vec::new, |d| d.differing().collect())
    }
}
