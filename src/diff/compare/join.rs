//! Regular, interval and window joins: type, condition, bounds of time, and what tells the rows of a side apart.

use super::super::change::{ChangeKind, Item};
use super::super::family::is_join;
use super::super::lineage::{Ident, Interner};
use super::super::matching::{Matching, Side, reordered};
use super::super::view::SideView;
use super::Comparison;
use crate::exec::join::{InputSpec, both_names};
use crate::exec::window_spec::duration;
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::join::{JoinKey, JoinType};
use crate::logical::print::{digest, expression};
use crate::logical::rex::{Origins, Rex};
use crate::logical::time_bounds::{Interval, is_time_predicate};
use crate::source::Span;

/// A join of one side, in the terms that are compared.
struct JoinView {
    join_type: JoinType,
    /// The conjuncts, those on time left out, in one order.
    conditions: Vec<Ident>,
    /// The equalities among them that are keys, in the order that rows are kept by.
    keys: Vec<(Ident, Ident)>,
    /// Bounds of time with the times that they bound.
    bounds: Option<(bool, i64, i64, Ident, Ident)>,
    /// The comparisons of times as written.
    times: Vec<String>,
    /// What tells the rows of each input apart.
    unique: Vec<(&'static str, Vec<Ident>)>,
    /// The columns of each input that the condition reads.
    read: [Vec<Ident>; 2],
    /// The conditions as text.
    text: String,
    /// The bounds as text.
    bounds_text: String,
    condition_at: Option<Span>,
    at: Option<Span>,
}

impl Comparison<'_> {
    pub(super) fn join(&mut self, number: usize, o: NodeId, n: NodeId) {
        let Comparison { old, new, matching, interner, .. } = self;
        let (Some(a), Some(b)) = (view(old, o, matching, interner), view(new, n, matching, interner)) else { return };
        let inputs = |view: &SideView<'_>, side: Side, id: NodeId| -> Vec<usize> {
            let inputs = &view.plan.node(id).inputs;
            inputs.iter().map(|i| matching.branch_number(side, view.plan, *i)).collect()
        };
        let (mut olds, news) = (inputs(old, Side::Old, o), inputs(new, Side::New, n));
        let in_place = olds == news;
        olds.reverse();
        let sides = !in_place && olds == news;
        if reordered(matching, number, old.plan, new.plan) {
            return self.joined_in_another_order(number, o, n);
        }
        // Columns are known by the side they stand on: once the sides change places, all of them differ.
        let sorted = |keys: &[(Ident, Ident)]| {
            let mut keys = keys.to_vec();
            keys.sort_unstable();
            keys
        };
        let join_type = a.join_type != b.join_type;
        let condition = !sides && a.conditions != b.conditions;
        let key_order = !sides && a.keys != b.keys && sorted(&a.keys) == sorted(&b.keys);
        let bounds = !sides && a.bounds != b.bounds;
        let reworded = !sides && !bounds && a.times != b.times;
        let unique_keys = !sides && a.unique != b.unique;
        if join_type || condition || key_order || bounds || reworded || sides || unique_keys {
            let kind = ChangeKind::Join {
                join_type,
                condition,
                key_order,
                bounds,
                reworded,
                sides,
                order: false,
                unique_keys,
            };
            let words = |view: &JoinView| match () {
                () if join_type => type_word(view.join_type).to_owned(),
                () if bounds => view.bounds_text.clone(),
                () => view.text.clone(),
            };
            let mut args = Vec::new();
            if words(&a) != words(&b) {
                args = vec![("old", words(&a)), ("new", words(&b))];
            }
            let place = |view: &JoinView| if join_type || sides { view.at } else { view.condition_at.or(view.at) };
            let places = (place(&a), place(&b));
            let cause = if join_type || key_order || sides { None } else { self.join_cause(number, &a, &b) };
            self.state(number, kind, args, places, Item::Other, cause);
            let lone = |one: &[Vec<Ident>; 2], other: &[Vec<Ident>; 2]| -> Vec<Ident> {
                let sides = one.iter().zip(other);
                sides.flat_map(|(a, b)| a.iter().filter(|i| !b.contains(i)).copied()).collect()
            };
            self.reads([lone(&a.read, &b.read), lone(&b.read, &a.read)].concat());
        }
        if sides {
            return;
        }
        for side in 0..2 {
            let explained: Vec<Ident> = a.read[side].iter().chain(&b.read[side]).copied().collect();
            let explained = if condition || bounds { explained } else { Vec::new() };
            self.side_columns(number, o, n, side, &explained);
        }
    }

    /// The same tables in another order: no side is what one was, so nothing of it is compared further.
    fn joined_in_another_order(&mut self, number: usize, o: NodeId, n: NodeId) {
        let kind = ChangeKind::Join {
            join_type: false,
            condition: false,
            key_order: false,
            bounds: false,
            reworded: false,
            sides: false,
            order: true,
            unique_keys: false,
        };
        let args = vec![("old", nested_tables(self.old.plan, o)), ("new", nested_tables(self.new.plan, n))];
        let places = (self.old.plan.node(o).origins.first(), self.new.plan.node(n).origins.first());
        self.state(number, kind, args, places, Item::Other, None);
    }

    /// The pair of joins over the same tables in another order that a join stands below.
    pub(super) fn order_above(&self, number: usize) -> Option<usize> {
        let other_order = |p: usize| {
            matches!(
                (self.matching.pairs[p].old, self.matching.pairs[p].new),
                (Some(o), Some(n)) if is_join(&self.old.plan.node(o).op)
                    && is_join(&self.new.plan.node(n).op)
                    && reordered(&self.matching, p, self.old.plan, self.new.plan)
            )
        };
        self.matching.above(number).into_iter().find(|p| other_order(*p))
    }

    /// The pair below whose change alone makes conditions, times or keys differ.
    fn join_cause(&self, number: usize, a: &JoinView, b: &JoinView) -> Option<usize> {
        let idents = |view: &JoinView| -> Vec<Ident> {
            let times = view.bounds.iter().flat_map(|(_, _, _, l, r)| [*l, *r]);
            let unique = view.unique.iter().flat_map(|(_, key)| key.iter().copied());
            view.conditions.iter().copied().chain(times).chain(unique).collect()
        };
        let (old, new) = (idents(a), idents(b));
        let only = |list: &[Ident], other: &[Ident]| -> Vec<Ident> {
            list.iter().filter(|i| !other.contains(i)).copied().collect()
        };
        let mut differing = only(&old, &new);
        differing.extend(only(&new, &old));
        // What tells rows apart comes from below: the primary key of a source, or an operator whose results have a key.
        if a.conditions == b.conditions && a.bounds == b.bounds {
            let gives_keys = |kind: &ChangeKind| {
                matches!(
                    kind,
                    ChangeKind::Source { primary_key: true, .. }
                        | ChangeKind::OperatorAdded
                        | ChangeKind::OperatorRemoved
                        | ChangeKind::OperatorReplaced { .. }
                        | ChangeKind::GroupKeys(_)
                        | ChangeKind::PartitionKeys(_)
                        | ChangeKind::RankRange { .. }
                )
            };
            let keyed = self.stated.iter().find(|s| gives_keys(&s.change.kind) && self.is_below(s.pair, number));
            if let Some(source) = keyed {
                return Some(source.pair);
            }
        }
        let length = |view: &JoinView| view.bounds.map(|(event, lower, upper, ..)| (event, lower, upper));
        if differing.is_empty() || length(a) != length(b) {
            return None;
        }
        self.cause_of(&differing, number)
    }
}

fn view(side: &mut SideView<'_>, id: NodeId, m: &Matching, i: &mut Interner) -> Option<JoinView> {
    let plan = side.plan;
    let node = plan.node(id);
    let (join_type, conditions, keys, interval, specs, origins): (_, &[Rex], &[JoinKey], _, &[InputSpec], &Origins) =
        match &node.op {
            Operator::Join(j) => (j.join_type, &j.conditions, &j.keys, None, &j.inputs, &j.condition_origins),
            Operator::IntervalJoin(j) => {
                (j.join_type, &j.conditions, &j.keys, Some(j.interval), &[], &j.condition_origins)
            }
            // A change of the windows is one of the functions below that make them.
            Operator::WindowJoin(j) => (j.join_type, &j.conditions, &j.keys, None, &[], &j.condition_origins),
            Operator::TemporalJoin(j) => (j.join_type, &j.conditions, &j.keys, None, &[], &j.condition_origins),
            _ => return None,
        };
    let own = side.lineage.of_both_sides(id, m, i);
    let inputs = [side.side_idents(id, 0, m, i), side.side_idents(id, 1, m, i)];
    let width = inputs[0].len();
    let names = both_names(plan, node);
    let names: Vec<&str> = names.iter().map(|n| &**n).collect();
    let columns = [plan.input_columns(id, 0), plan.input_columns(id, 1)];
    let plain: Vec<&Rex> =
        conditions.iter().filter(|c| interval.is_none() || !is_time_predicate(c, columns[0], columns[1])).collect();
    let mut idents: Vec<Ident> = plain.iter().filter_map(|c| i.condition(c, &own)).collect();
    idents.sort_unstable();
    idents.dedup();
    let mut times: Vec<String> = conditions
        .iter()
        .filter(|c| !plain.contains(c))
        .map(|c| digest(&c.map_inputs(&mut |column, used| Rex::input(own[column].index(), used.ty.clone()))))
        .collect();
    times.sort_unstable();
    let mut read: [Vec<Ident>; 2] = Default::default();
    for c in conditions {
        c.visit(&mut |r| {
            if let Some(column) = r.as_input() {
                let (side, at) = if column < width { (0, column) } else { (1, column - width) };
                read[side].push(inputs[side][at]);
            }
        });
    }
    let unique = specs.iter().zip(&inputs).map(|(spec, idents)| {
        let key: &[usize] = match spec {
            InputSpec::NoUniqueKey => &[],
            InputSpec::HasUniqueKey(key) | InputSpec::JoinKeyContainsUniqueKey(key) => key,
        };
        let mut key: Vec<Ident> = key.iter().map(|c| idents[*c]).collect();
        key.sort_unstable();
        (spec.name(), key)
    });
    Some(JoinView {
        join_type,
        conditions: idents,
        keys: keys.iter().map(|k| (own[k.left], own[width + k.right])).collect(),
        bounds: match (&node.op, interval) {
            (Operator::TemporalJoin(j), _) => Some((true, 0, 0, own[j.time], own[width + j.from])),
            (_, interval) => {
                interval.map(|b| (b.event_time, b.lower, b.upper, own[b.left_time], own[width + b.right_time]))
            }
        },
        times,
        unique: unique.collect(),
        read,
        text: plain.iter().map(|c| expression(c, &names).to_string()).collect::<Vec<_>>().join(" AND "),
        bounds_text: interval.map(|b| bounds_text(&b)).unwrap_or_default(),
        condition_at: origins.first(),
        at: node.origins.first(),
    })
}

/// The tables below a join, each join in parentheses.
fn nested_tables(plan: &Plan, id: NodeId) -> String {
    let node = plan.node(id);
    match (&node.op, node.inputs.as_slice()) {
        (Operator::TableSourceScan(scan), _) => scan.table.path.name.to_string(),
        (_, [input]) => nested_tables(plan, *input),
        (_, inputs) => {
            let inner: Vec<String> = inputs.iter().map(|i| nested_tables(plan, *i)).collect();
            format!("({})", inner.join(", "))
        }
    }
}

fn type_word(join_type: JoinType) -> &'static str {
    match join_type {
        JoinType::Inner => "INNER",
        JoinType::Left => "LEFT",
        JoinType::Right => "RIGHT",
        JoinType::Full => "FULL",
        JoinType::Semi => "SEMI",
        JoinType::Anti => "ANTI",
    }
}

fn bounds_text(interval: &Interval) -> String {
    let length = |ms: i64| if ms < 0 { format!("-{}", duration(ms.saturating_neg())) } else { duration(ms) };
    format!("{} to {}", length(interval.lower), length(interval.upper))
}
