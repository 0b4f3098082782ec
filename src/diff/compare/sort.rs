//! `LIMIT` and `ORDER BY` of a whole query: `Limit`, `SortLimit` and `TemporalSort`.

use super::super::change::{ChangeKind, Item};
use super::Comparison;
use crate::exec::{NodeId, Operator};
use crate::logical::rel::SortKey;
use crate::logical::rex::Origins;

/// What such an operator keeps.
struct Kept<'a> {
    order: &'a [SortKey],
    /// The rows that are skipped and those that pass.
    range: Option<(i64, i64)>,
    /// Where they are written.
    range_origins: Option<&'a Origins>,
}

fn kept(op: &Operator) -> Option<Kept<'_>> {
    match op {
        Operator::Limit(l) => {
            Some(Kept { order: &[], range: Some((l.offset, l.fetch)), range_origins: Some(&l.range_origins) })
        }
        Operator::SortLimit(s) => {
            Some(Kept { order: &s.order, range: Some((s.offset, s.fetch)), range_origins: Some(&s.range_origins) })
        }
        Operator::TemporalSort(s) => Some(Kept { order: &s.order, range: None, range_origins: None }),
        _ => None,
    }
}

impl Comparison<'_> {
    pub(super) fn sorted(&mut self, number: usize, o: NodeId, n: NodeId) {
        let (old, new) = (self.old.plan, self.new.plan);
        let (Some(a), Some(b)) = (kept(&old.node(o).op), kept(&new.node(n).op)) else { return };
        let mut explained = self.order_by(number, (o, a.order), (n, b.order));
        if let (Some((offset_a, fetch_a)), Some((offset_b, fetch_b))) = (a.range, b.range)
            && a.range != b.range
        {
            let kind = ChangeKind::LimitRange { fetch: fetch_a != fetch_b, offset: offset_a != offset_b };
            let words = |offset: i64, fetch: i64| match offset {
                0 => fetch.to_string(),
                _ => format!("{fetch} after {offset}"),
            };
            let args = vec![("old", words(offset_a, fetch_a)), ("new", words(offset_b, fetch_b))];
            let place = |kept: &Kept<'_>| kept.range_origins.and_then(Origins::first);
            let places = (place(&a), place(&b));
            self.state(number, kind, args, places, Item::Other, None);
        }
        // The columns that rows are sorted by are kept, whether they are selected or not.
        for (side, id, order) in [(&mut self.old, o, a.order), (&mut self.new, n, b.order)] {
            let input = side.input_idents(id, &self.matching, &mut self.interner);
            explained.extend(order.iter().map(|key| input[key.column]));
        }
        self.input_columns(number, o, n, &explained);
    }
}
