//! Columns of stored rows that nothing reads.

use super::Observer;
use super::observation::ObservationKind;
use crate::exec::rank::RankStrategy;
use crate::exec::{NodeId, Operator};
use crate::logical::rex::Origins;

impl Observer<'_> {
    /// Operators that keep whole rows, and the columns of these that neither they nor anything above them reads.
    pub(super) fn unread_columns(&mut self, id: NodeId) {
        let plan = self.plan;
        let node = plan.node(id);
        let family = match &node.op {
            // Where only a mark is kept, columns cost nothing.
            Operator::Deduplicate(d) if d.proctime && !d.keeps_last() => return,
            Operator::Deduplicate(_) => "deduplicate",
            // Without rows that wait or leave, there are only accumulators.
            Operator::OverAggregate(o) if o.proctime && o.frame.preceding.is_none() => return,
            Operator::OverAggregate(_) => "over-aggregate",
            Operator::Rank(_) => "rank",
            Operator::WindowRank(_) => "window-rank",
            Operator::WindowDeduplicate(_) => "window-deduplicate",
            Operator::Join(_) => "join",
            Operator::IntervalJoin(_) => "interval-join",
            Operator::WindowJoin(_) => "window-join",
            Operator::TemporalJoin(_) => "temporal-join",
            Operator::TemporalSort(sort) if sort.is_stateful() => "temporal-sort",
            // The first N rows are few; where rows are taken back, all are kept.
            Operator::SortLimit(sort) if sort.strategy != RankStrategy::Retract => return,
            Operator::SortLimit(_) => "sort-limit",
            _ => return,
        };
        let (mut names, mut columns) = (Vec::new(), 0);
        for input in &node.inputs {
            // Processing time is no column of the stored row's own: it is asked for when it is read.
            // What tells the rows of a Top-N apart is kept on purpose: without it updates would find theirs by the whole row.
            let tells_apart =
                |i: &usize| family == "rank" && plan.node(*input).upsert_keys.iter().any(|key| key.contains(i));
            let unread = |i: &usize| {
                let column = &plan.node(*input).columns[*i];
                !column.needed && !column.ty.is_proctime() && !tells_apart(i)
            };
            let unread: Vec<usize> = (0..plan.node(*input).columns.len()).filter(unread).collect();
            columns += unread.len();
            if !unread.is_empty() {
                names.push(self.names(*input, unread));
            }
        }
        if columns > 0 {
            let args = vec![("names", names.join(", ")), ("count", columns.to_string())];
            self.add(ObservationKind::UnreadColumns { columns, family }, id, args, &Origins::none());
        }
    }
}
