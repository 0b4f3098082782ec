//! Which operators are one aggregate: the local and the global phase, and the two halves of a split one.

use super::{Column, NodeId, Operator, Plan};
use crate::logical::rel::{AggCall, Split};

impl Plan {
    /// The phase that sends accumulators to an aggregate of several phases.
    pub fn local_phase(&self, id: NodeId) -> Option<NodeId> {
        let merges = matches!(
            self.node(id).op,
            Operator::GlobalWindowAggregate(_)
                | Operator::GlobalGroupAggregate(_)
                | Operator::IncrementalGroupAggregate(_)
        );
        if !merges {
            return None;
        }
        let exchange = *self.node(id).inputs.first()?;
        self.node(exchange).inputs.first().copied()
    }

    /// The columns in which the calls of an aggregate of several phases count.
    pub fn local_input(&self, id: NodeId) -> &[Column] {
        let Some(local) = self.local_phase(id) else { return &[] };
        match &self.node(local).op {
            Operator::IncrementalGroupAggregate(halves) => &halves.results,
            _ => self.input_columns(local, 0),
        }
    }

    /// The operator of an aggregate that reads the rows: the first of its phases, and of its halves if it is split.
    pub fn first_phase(&self, id: NodeId) -> NodeId {
        match self.partial_half(id) {
            Some(partial) => self.first_phase(partial),
            None => self.local_phase(id).unwrap_or(id),
        }
    }

    /// The keys and calls of an aggregate by GROUP BY, as columns of what its first phase reads. Of a split aggregate those that it
    /// had before.
    pub fn aggregated(&self, id: NodeId) -> Option<(&[usize], &[AggCall])> {
        let half = self.partial_half(id).unwrap_or(id);
        let (split, calls) = match &self.node(half).op {
            Operator::GroupAggregate(a) => (&a.split, &a.calls),
            Operator::GlobalGroupAggregate(g) => (&g.aggregate.split, &g.aggregate.calls),
            Operator::IncrementalGroupAggregate(i) => (&i.partial.aggregate.split, &i.partial.aggregate.calls),
            Operator::WindowAggregate(a) => (&a.split, &a.calls),
            Operator::GlobalWindowAggregate(g) => (&g.aggregate.split, &g.aggregate.calls),
            _ => return None,
        };
        Some(split.whole(self.first_keys(id)?, calls))
    }

    /// The keys of the first phase of an aggregate.
    fn first_keys(&self, id: NodeId) -> Option<&[usize]> {
        match &self.node(self.first_phase(id)).op {
            Operator::GroupAggregate(a) => Some(&a.keys),
            Operator::WindowAggregate(a) => Some(&a.keys),
            Operator::LocalGroupAggregate(l) => Some(&l.keys),
            Operator::LocalWindowAggregate(l) => Some(&l.keys),
            _ => None,
        }
    }

    /// The columns that tell the buckets of a split aggregate, as its first phase reads them.
    pub fn bucket_keys(&self, id: NodeId) -> Option<&[usize]> {
        match self.node(self.partial_half(id)?).op.split() {
            Split::Partial(unsplit) => self.first_keys(id)?.get(unsplit.keys..),
            Split::None | Split::Final => None,
        }
    }

    /// The partial half below the final half of a split aggregate: the operator that keeps its state.
    pub fn partial_half(&self, id: NodeId) -> Option<NodeId> {
        if self.node(id).op.split() != &Split::Final {
            return None;
        }
        let mut below = id;
        loop {
            below = *self.node(below).inputs.first()?;
            if matches!(self.node(below).op.split(), Split::Partial(_)) {
                return Some(below);
            }
        }
    }
}
