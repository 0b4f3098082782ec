//! Lookup joins: they keep nothing unless they wait for answers or take back what they have sent, so what differs is told together
//! with whether the state can differ by it.

use super::super::change::{ChangeKind, Item};
use super::super::lineage::Ident;
use super::super::lookup::Lookup;
use super::super::matching::Side;
use super::super::places::Places;
use super::Comparison;
use crate::exec::lookup_join::{LookupJoin, LookupValue};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::join::JoinType;
use crate::logical::print::expression;
use crate::state;

impl Comparison<'_> {
    pub(super) fn lookup_join(&mut self, number: usize, o: NodeId, n: NodeId) {
        let (old, new) = (self.old.plan, self.new.plan);
        let (Operator::LookupJoin(a), Operator::LookupJoin(b)) = (&old.node(o).op, &new.node(n).op) else { return };
        let (input_old, input_new) = (old.node(o).inputs[0], new.node(n).inputs[0]);
        let was = Lookup::new(a, &self.old.idents(input_old, &self.matching, &mut self.interner));
        let now = Lookup::new(b, &self.new.idents(input_new, &self.matching, &mut self.interner));
        let finds_others = !was.finds_the_same(&now);
        let definition = finds_others || was.asking != now.asking;
        let each_once = was.one_for_each && now.one_for_each;
        let rows = finds_others && !each_once;
        let ignored = self.ignore_filter && rows && was.filters_alone(&now);
        let (kept_old, kept_new) = (state::entries(old, o), state::entries(new, n));
        let fits = kept_old.len() == kept_new.len()
            && kept_new.iter().all(|e| kept_old.iter().any(|k| k.name == e.name && k.restores_into(e)));
        if !definition && fits {
            return;
        }
        let kind = ChangeKind::LookupJoin {
            definition,
            alone: false,
            rows,
            ignored,
            state: !fits,
            asynchronous: a.asynchronous.is_some() || b.asynchronous.is_some(),
            resolves_updates: a.resolves_updates || b.resolves_updates,
        };
        let place =
            |j: &LookupJoin, plan: &Plan, id: NodeId| j.condition_origins.first().or(plan.node(id).origins.first());
        let places = (place(a, old, o), place(b, new, n));
        let args = words(a, old, o, b, new, n);
        self.lookup_causes(number, rows, ignored, &[(Side::Old, o), (Side::New, n)]);
        self.state(number, kind, args, places, self.lookup_item(number, rows), None);
    }

    /// What differs behind a lookup join that sends other rows to an operator with state differs because of that: the columns of the table
    /// among it.
    fn lookup_causes(&mut self, number: usize, rows: bool, ignored: bool, nodes: &[(Side, NodeId)]) {
        if !rows || ignored || !self.stateful_above(number) {
            return;
        }
        let mut made: Vec<Vec<Ident>> = Vec::new();
        for (side, id) in nodes {
            let view = if *side == Side::Old { &mut self.old } else { &mut self.new };
            let width = view.plan.input_columns(*id, 0).len();
            made.push(view.idents(*id, &self.matching, &mut self.interner).split_off(width));
        }
        let everywhere = |i: &Ident| made.len() > 1 && made.iter().all(|list| list.contains(i));
        let lone: Vec<Ident> = made.iter().flatten().filter(|i| !everywhere(i)).copied().collect();
        self.key_causes.extend(lone.into_iter().map(|i| (i, number)));
    }

    /// Rows that are held back in front of state are what a filter is.
    fn lookup_item(&self, number: usize, rows: bool) -> Item {
        if rows && self.stateful_above(number) { Item::Filter } else { Item::Other }
    }

    /// A lookup join that one side lacks.
    pub(super) fn lookup_join_alone(&mut self, number: usize, join: &LookupJoin, side: Side, id: NodeId) {
        let node = if side == Side::Old { self.old.plan.node(id) } else { self.new.plan.node(id) };
        let at = node.origins.first();
        let places = match side {
            Side::Old => Places::beside(at, self.surviving(number), Some(Side::New)),
            Side::New => Places::from((None, at)),
        };
        let rows = !Lookup::new(join, &[]).one_for_each;
        let kind = ChangeKind::LookupJoin {
            definition: false,
            alone: true,
            rows,
            ignored: false,
            state: join.is_stateful(),
            asynchronous: join.asynchronous.is_some(),
            resolves_updates: join.resolves_updates,
        };
        self.lookup_causes(number, rows, false, &[(side, id)]);
        let (here, nothing) = (format!("one with {}", join.table.path.name), "no lookup join".to_owned());
        let args = match side {
            Side::Old => vec![("old", here), ("new", nothing)],
            Side::New => vec![("old", nothing), ("new", here)],
        };
        self.state(number, kind, args, places, self.lookup_item(number, rows), None);
    }
}

/// What differs, in the words of the script: the table, the type or the condition.
fn words(a: &LookupJoin, old: &Plan, o: NodeId, b: &LookupJoin, new: &Plan, n: NodeId) -> Vec<(&'static str, String)> {
    let table = |j: &LookupJoin| j.table.path.name.to_string();
    let join_type = |j: &LookupJoin| match j.join_type {
        JoinType::Left => "LEFT".to_owned(),
        _ => "INNER".to_owned(),
    };
    let pairs =
        [(table(a), table(b)), (condition_text(a, old, o), condition_text(b, new, n)), (join_type(a), join_type(b))];
    let differing = pairs.into_iter().find(|(was, now)| was != now);
    differing.map_or_else(Vec::new, |(was, now)| vec![("old", was), ("new", now)])
}

fn condition_text(join: &LookupJoin, plan: &Plan, id: NodeId) -> String {
    let names: Vec<&str> = plan.node(id).columns.iter().map(|c| &*c.name).collect();
    let fields = join.field_names();
    let own = join.conditions.iter().chain(&join.pushed).map(|c| expression(c, &fields).to_string());
    let rest = join.before.iter().chain(&join.remaining).map(|c| expression(c, &names).to_string());
    let input = plan.input_columns(id, 0);
    let keys = join.keys.iter().map(|k| match &k.value {
        LookupValue::Column(i) => format!("({} = {})", fields[k.field], input[*i].name),
        LookupValue::Constant(c) => format!("({} = {})", fields[k.field], expression(c, &fields)),
    });
    keys.chain(own).chain(rest).collect::<Vec<_>>().join(" AND ")
}
