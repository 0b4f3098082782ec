//! How long the state of an operator lives, where hints of one side say it.

use super::super::change::{ChangeKind, Item};
use super::Comparison;
use crate::exec::window_spec::duration;
use crate::exec::{NodeId, Plan};
use crate::logical::state_ttl::time_to_live;

impl Comparison<'_> {
    /// Compares what holds for the state of each input. What the option alone says is compared where options are.
    pub(super) fn state_ttl(&mut self, number: usize, o: NodeId, n: NodeId) {
        let (old, new) = (self.old.plan, self.new.plan);
        let (hints_old, hints_new) = (old.node(o).op.state_ttl(), new.node(n).op.state_ttl());
        if hints_old.len() != hints_new.len() {
            return;
        }
        for (a, b) in hints_old.iter().zip(hints_new).filter(|(a, b)| a.is_some() || b.is_some()) {
            let job = |plan: &Plan| crate::state::time_to_live(plan);
            let (was, is) = (time_to_live(*a, job(old)), time_to_live(*b, job(new)));
            if was == is {
                continue;
            }
            let words = |millis: Option<i64>| millis.map_or_else(|| "for ever".to_owned(), duration);
            let kind = ChangeKind::StateTtl { switched: was.is_some() != is.is_some() };
            let places = (a.map(|ttl| ttl.at), b.map(|ttl| ttl.at));
            let args = vec![("old", words(was)), ("new", words(is))];
            self.state(number, kind, args, places, Item::Other, None);
        }
    }
}
