//! Orders: whether rows that are equal by them can be told apart, and whether a rank has a bound.

use super::Observer;
use super::observation::ObservationKind;
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rel::SortKey;

/// Functions that number the rows of a partition.
const RANKING: &[&str] = &["ROW_NUMBER", "RANK", "DENSE_RANK"];

impl Observer<'_> {
    /// The order of a Top-N, or of LIMIT; rank numbers of OVER.
    pub(super) fn rank(&mut self, id: NodeId) {
        let plan = self.plan;
        match &plan.node(id).op {
            Operator::Rank(r) => self.order("rank", id, &r.ranking.written_partition, &r.ranking.order),
            Operator::WindowRank(r) => self.order("window-rank", id, &r.ranking.written_partition, &r.ranking.order),
            Operator::SortLimit(s) => self.order("sort-limit", id, &[], &s.order),
            Operator::OverAggregate(o) => {
                let Some(call) = o.calls.iter().find(|c| RANKING.contains(&&*c.function)) else { return };
                let columns = plan.input_columns(id, 0);
                let by_time = |k: &SortKey| columns[k.column].ty.is_rowtime() || columns[k.column].ty.is_proctime();
                let order = if o.order.iter().all(by_time) { "time" } else { "value" };
                let args = vec![("function", call.function.to_string())];
                self.add(ObservationKind::UnlimitedRank { order }, id, args, &call.origins);
            }
            _ => {}
        }
    }

    fn order(&mut self, family: &'static str, id: NodeId, partition: &[usize], order: &[SortKey]) {
        let Some(&input) = self.plan.node(id).inputs.first() else { return };
        let covered = |column: &usize| partition.contains(column) || order.iter().any(|k| k.column == *column);
        let keys = unique_keys(self.plan, input);
        let missing = |key: &Vec<usize>| key.iter().copied().filter(|c| !covered(c)).collect::<Vec<_>>();
        let least = keys.iter().map(missing).min_by_key(Vec::len);
        // Who reads only what is equal for tied rows does not see which of them it is.
        let node = self.node(id);
        let width = self.node(input).columns.len();
        let visible = (0..width).any(|c| node.columns[c].needed && !covered(&c));
        let kind = ObservationKind::Order {
            family,
            key_known: least.is_some(),
            total: least.as_ref().is_some_and(Vec::is_empty),
            visible,
        };
        let mut args = vec![("order", self.names(input, order.iter().map(|k| k.column)))];
        if let Some(missing) = least.filter(|m| !m.is_empty()) {
            args.push(("missing", self.names(input, missing)));
        }
        let at = order.first().map(|k| k.origins.clone()).unwrap_or_default();
        self.add(kind, id, args, &at);
    }
}

/// Sets of columns that tell the rows of a node apart: its upsert keys and, which Flink does not count among these, the keys of a
/// window aggregate with a bound of the window.
fn unique_keys(plan: &Plan, id: NodeId) -> Vec<Vec<usize>> {
    let node = plan.node(id);
    if !node.upsert_keys.is_empty() {
        return node.upsert_keys.clone();
    }
    let per_window = |keys: usize, calls: usize| {
        let bounds = [keys + calls, keys + calls + 1];
        bounds.iter().map(|bound| (0..keys).chain([*bound]).collect()).collect()
    };
    let below = || node.inputs.first().map(|input| unique_keys(plan, *input)).unwrap_or_default();
    match &node.op {
        Operator::WindowAggregate(a) => per_window(a.keys.len(), a.calls.len()),
        Operator::GlobalWindowAggregate(g) => per_window(g.aggregate.keys.len(), g.aggregate.calls.len()),
        Operator::Calc(calc) => {
            let place = |column: &usize| calc.exprs.iter().position(|e| e.as_input() == Some(*column));
            below().iter().filter_map(|key| key.iter().map(place).collect()).collect()
        }
        Operator::Exchange(_) | Operator::WindowRank(_) | Operator::WindowDeduplicate(_) | Operator::Rank(_) => below(),
        _ => Vec::new(),
    }
}
