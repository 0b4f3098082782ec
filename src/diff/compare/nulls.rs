//! Operators with state whose stored values may be NULL on one side only, because of a source column.

use std::collections::BTreeSet;

use super::super::change::{ChangeKind, Item};
use super::super::family::family;
use super::super::lineage::Ident;
use super::super::matching::{Pair, Side};
use super::super::nullability::Edits;
use super::{Comparison, Stated, is_stateful};
use crate::catalog::types::DataType;
use crate::exec::{NodeId, Operator};

impl Comparison<'_> {
    /// Looks at what a matched pair with state reads: its input columns, by which types are stored, and its calls.
    pub(super) fn stored_nulls(&mut self, number: usize, o: NodeId, n: NodeId) {
        let stateful = is_stateful(self.old.plan, o) && is_stateful(self.new.plan, n);
        let one_family = family(&self.old.plan.node(o).op) == family(&self.new.plan.node(n).op);
        if self.interner.edits.is_empty() || !stateful || !one_family {
            return;
        }
        let (old, new) = (self.typed_input(Side::Old, o), self.typed_input(Side::New, n));
        let keys: BTreeSet<Ident> = self.keys_of(Side::Old, o).into_iter().chain(self.keys_of(Side::New, n)).collect();
        for (id, ty) in &old {
            if new.iter().any(|(other, other_ty)| other == id && other_ty != ty) {
                self.touch(*id, number, keys.contains(id));
            }
        }
        let is_rows = |s: &Stated| s.pair == number && matches!(s.change.kind, ChangeKind::InputColumns(_));
        let rows_changed = self.stated.iter().any(is_rows);
        // What counts rows on one side reads a column on the other.
        let (Some(a), Some(b)) = (
            self.old.aggregate(o, &self.matching, &mut self.interner),
            self.new.aggregate(n, &self.matching, &mut self.interner),
        ) else {
            return;
        };
        for (x, y) in [(&a, &b), (&b, &a)] {
            let replanned =
                x.calls.iter().filter(|c| y.calls.iter().any(|d| d.computation == c.computation && d.args < c.args));
            for id in replanned.flat_map(|c| &c.planned_reads) {
                // Where rows are stored, they lack the column on the side that counts rows: that is stated already.
                let lacks = |side: &[(Ident, DataType)]| side.iter().all(|(other, _)| other != id);
                if !(rows_changed && (lacks(&old) || lacks(&new))) {
                    self.touch(*id, number, false);
                }
            }
        }
    }

    /// The columns that an operator reads, with their types.
    fn typed_input(&mut self, side: Side, id: NodeId) -> Vec<(Ident, DataType)> {
        let view = if side == Side::Old { &mut self.old } else { &mut self.new };
        let plan = view.plan;
        let reads = plan.first_phase(id);
        let mut out = Vec::new();
        for input in 0..plan.node(reads).inputs.len() {
            let idents = view.side_idents(reads, input, &self.matching, &mut self.interner);
            let columns = plan.input_columns(reads, input);
            let needed = idents.into_iter().zip(columns).filter(|(_, c)| c.needed);
            out.extend(needed.map(|(id, c)| (id, c.ty.clone().materialized())));
        }
        out
    }

    /// What the state of an operator is kept by.
    fn keys_of(&mut self, side: Side, id: NodeId) -> Vec<Ident> {
        let view = if side == Side::Old { &mut self.old } else { &mut self.new };
        let join_keys = match &view.plan.node(id).op {
            Operator::Join(join) => Some([join.side_keys(0), join.side_keys(1)]),
            Operator::IntervalJoin(join) => Some([join.side_keys(0), join.side_keys(1)]),
            Operator::WindowJoin(join) => Some([join.side_keys(0), join.side_keys(1)]),
            Operator::TemporalJoin(join) => Some([join.side_keys(0), join.side_keys(1)]),
            _ => None,
        };
        if let Some(keys) = join_keys {
            let mut out = Vec::new();
            for (input, columns) in keys.into_iter().enumerate() {
                let idents = view.side_idents(id, input, &self.matching, &mut self.interner);
                out.extend(columns.into_iter().filter_map(|c| idents.get(c).copied()));
            }
            return out;
        }
        let columns = match &view.plan.node(id).op {
            Operator::OverAggregate(over) => &over.written_partition,
            Operator::ChangelogNormalize(normalize) => &normalize.keys,
            _ => match view.ranking(id) {
                Some((ranking, _)) => &ranking.written_partition,
                None => {
                    let view = view.aggregate(id, &self.matching, &mut self.interner);
                    return view.map_or_else(Vec::new, |v| v.keys.iter().map(|k| k.ident).collect());
                }
            },
        };
        let input = view.input_idents(id, &self.matching, &mut self.interner);
        columns.iter().filter_map(|c| input.get(*c).copied()).collect()
    }

    /// Conditions that hold by themselves where a column is never NULL: `lone` are those that only one side planned.
    pub fn condition_without_null(&mut self, pair: &Pair, lone: &[Ident]) {
        let Some(reader) = pair.parent else { return };
        let mut readers = vec![reader];
        readers.extend(self.matching.above(reader));
        if let Some(keeper) = readers.into_iter().find(|p| self.keeps_state(*p)) {
            for id in lone {
                self.touch(*id, keeper, false);
            }
        }
    }

    fn touch(&mut self, id: Ident, number: usize, key: bool) {
        for edit in Edits::behind(&self.interner, id) {
            let pairs = self.touched.entry(edit).or_default();
            match pairs.iter_mut().find(|(pair, _)| *pair == number) {
                Some((_, known)) => *known |= key,
                None => pairs.push((number, key)),
            }
        }
    }

    /// States one change for each column: at the first operator that it reaches, with the others as its echoes.
    pub(super) fn nullability(&mut self) {
        for (edit, pairs) in std::mem::take(&mut self.touched) {
            let edit = self.interner.edits.get(edit).clone();
            let mut changes = Vec::new();
            for (number, key) in pairs {
                let required = edit.old.nullable && !edit.new.nullable;
                let kind = ChangeKind::Nullability { required, key };
                let args = vec![
                    ("names", format!("`{}`", edit.name)),
                    ("old", edit.old.clone().materialized().to_string()),
                    ("new", edit.new.clone().materialized().to_string()),
                ];
                let places = (Some(edit.places.0), Some(edit.places.1));
                self.state(number, kind, args, places, Item::Other, None);
                changes.extend(self.stated.pop());
            }
            let mut changes = changes.into_iter();
            if let Some(mut first) = changes.next() {
                first.change.echoes.extend(changes.map(|echo| echo.change));
                self.stated.push(first);
            }
        }
    }
}
