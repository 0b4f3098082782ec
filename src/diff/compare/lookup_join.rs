//! Lookup joins: they keep nothing unless they wait for answers or take back what they have sent, so what differs is told together
//! with whether the state can differ by it.

use super::super::change::{ChangeKind, Item};
use super::super::matching::Side;
use super::super::places::Places;
use super::Comparison;
use crate::exec::lookup_join::{LookupJoin, LookupValue};
use crate::exec::{Node, NodeId, Operator, Plan};
use crate::logical::print::{digest, expression};
use crate::logical::rex::Rex;
use crate::state;

impl Comparison<'_> {
    pub(super) fn lookup_join(&mut self, number: usize, o: NodeId, n: NodeId) {
        let (old, new) = (self.old.plan, self.new.plan);
        let (Operator::LookupJoin(a), Operator::LookupJoin(b)) = (&old.node(o).op, &new.node(n).op) else { return };
        let inputs = [
            self.old.idents(old.node(o).inputs[0], &self.matching, &mut self.interner),
            self.new.idents(new.node(n).inputs[0], &self.matching, &mut self.interner),
        ];
        let name =
            |side: usize, i: usize| inputs[side].get(i).map(|ident| ident.index().to_string()).unwrap_or_default();
        let definition =
            described(a, inputs[0].len(), &|i| name(0, i)) != described(b, inputs[1].len(), &|i| name(1, i));
        let (kept_old, kept_new) = (state::entries(old, o), state::entries(new, n));
        let fits = kept_old.len() == kept_new.len()
            && kept_new.iter().all(|e| kept_old.iter().any(|k| k.name == e.name && k.restores_into(e)));
        if !definition && fits {
            return;
        }
        let kind = ChangeKind::LookupJoin {
            definition,
            alone: false,
            state: !fits,
            asynchronous: a.asynchronous.is_some() || b.asynchronous.is_some(),
            resolves_updates: a.resolves_updates || b.resolves_updates,
        };
        let place =
            |j: &LookupJoin, plan: &Plan, id: NodeId| j.condition_origins.first().or(plan.node(id).origins.first());
        let places = (place(a, old, o), place(b, new, n));
        let (was, now) = (condition_text(a, old, o), condition_text(b, new, n));
        let args = if was == now { Vec::new() } else { vec![("old", was), ("new", now)] };
        self.state(number, kind, args, places, Item::Other, None);
    }

    /// A lookup join that one side lacks.
    pub(super) fn lookup_join_alone(
        &mut self,
        number: usize,
        (asynchronous, resolves_updates): (bool, bool),
        side: Side,
        node: &Node,
    ) {
        let at = node.origins.first();
        let places = match side {
            Side::Old => Places::beside(at, self.surviving(number), Some(Side::New)),
            Side::New => Places::from((None, at)),
        };
        let state = node.op.is_stateful();
        let kind = ChangeKind::LookupJoin { definition: false, alone: true, state, asynchronous, resolves_updates };
        self.state(number, kind, Vec::new(), places, Item::Other, None);
    }
}

/// What a lookup join does, with the columns of its input by what they are.
fn described(join: &LookupJoin, width: usize, input: &dyn Fn(usize) -> String) -> Vec<String> {
    let fields = join.field_names();
    let texts = |list: &[Rex]| {
        let mut out: Vec<String> = list.iter().map(|c| expression(c, &fields).to_string()).collect();
        out.sort_unstable();
        out
    };
    let mut out = vec![join.table.path.to_string(), join.join_type.name().to_owned()];
    out.extend(join.table.options.get("connector").map(str::to_owned));
    let mut keys: Vec<String> = join
        .keys
        .iter()
        .map(|k| {
            let value = match &k.value {
                LookupValue::Constant(c) => digest(c),
                LookupValue::Column(i) => format!("${}", input(*i)),
            };
            format!("{}={value}", fields[k.field])
        })
        .collect();
    keys.sort_unstable();
    out.extend(keys);
    let mut conditions = texts(&join.conditions);
    conditions.extend(texts(&join.pushed));
    conditions.sort_unstable();
    out.extend(conditions);
    // Columns behind those of the input are those of the table.
    let both = |i: usize| match i.checked_sub(width) {
        None => format!("${}", input(i)),
        Some(own) => join.exprs.get(own).map(|e| expression(e, &fields).to_string()).unwrap_or_default(),
    };
    for c in join.before.iter().chain(&join.remaining) {
        let mut text = String::new();
        c.visit(&mut |r| {
            if let Some(i) = r.as_input() {
                text.push_str(&both(i));
            }
        });
        out.push(format!("{} {text}", digest_without_places(c)));
    }
    out.push(format!("{:?} {:?}", join.asynchronous, join.retry));
    out
}

/// A condition's form, whatever columns it reads.
fn digest_without_places(c: &Rex) -> String {
    digest(&c.map_inputs(&mut |_, used| Rex::input(0, used.ty.clone())))
}

fn condition_text(join: &LookupJoin, plan: &Plan, id: NodeId) -> String {
    let names: Vec<&str> = plan.node(id).columns.iter().map(|c| &*c.name).collect();
    let fields = join.field_names();
    let own = join.conditions.iter().chain(&join.pushed).map(|c| expression(c, &fields).to_string());
    let rest = join.before.iter().chain(&join.remaining).map(|c| expression(c, &names).to_string());
    let input = plan.input_columns(id, 0);
    let keys = join.keys.iter().filter_map(|k| match k.value {
        LookupValue::Column(i) => Some(format!("({} = {})", fields[k.field], input[i].name)),
        LookupValue::Constant(_) => None,
    });
    keys.chain(own).chain(rest).collect::<Vec<_>>().join(" AND ")
}
