//! Keys and arguments of stateful operators: what they are computed by.

use super::Observer;
use super::kept_state::input;
use super::observation::ObservationKind;
use super::trace::{Traced, for_each_expression, trace};
use crate::catalog::types::{DataType, TimeAttribute, TypeKind};
use crate::exec::join::side_keys;
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::join::JoinKey;
use crate::logical::rel::{AggCall, Split};
use crate::logical::rex::{Function, Origins, Rex, RexKind};

/// A column that state is kept by or made of.
struct Read<'p> {
    /// `group`, `partition`, `join` or `argument`.
    role: &'static str,
    /// The rows that have the column.
    below: NodeId,
    column: usize,
    /// Where it is written.
    at: Option<&'p Origins>,
}

impl Observer<'_> {
    /// What the keys and the arguments of a stateful operator are computed by.
    pub(super) fn keys(&mut self, id: NodeId) {
        let Some(below) = self.rows_of(id) else { return };
        let mut cast_keys = false;
        for read in reads(self.plan, id, below) {
            if read.role != "argument" {
                self.nondeterministic(id, &read);
            }
            // Of a join with several such keys one is told: they are mended together.
            if read.role != "join" || !cast_keys {
                cast_keys |= self.implicit_cast(id, &read) && read.role == "join";
            }
        }
    }

    fn nondeterministic(&mut self, id: NodeId, read: &Read<'_>) {
        let mut functions: Vec<String> = Vec::new();
        let mut place = Origins::none();
        for_each_expression(self.plan, read.below, read.column, &mut |rex| {
            rex.visit(&mut |r| {
                if let RexKind::Call(Function::Builtin(def), args) = &r.kind
                    && !def.deterministic
                    && !is_fixed(def.name, args)
                    && !functions.iter().any(|f| f == def.name)
                {
                    functions.push(def.name.to_owned());
                    place = place.clone().or(&r.origins).or(&rex.origins);
                }
            });
        });
        if functions.is_empty() {
            return;
        }
        let args = vec![
            ("functions", functions.iter().map(|f| format!("`{f}`")).collect::<Vec<_>>().join(", ")),
            ("key", self.names(read.below, [read.column])),
        ];
        let kind =
            ObservationKind::NondeterministicKey { role: read.role, functions, input: input(self.plan, read.below) };
        let at = read.at.cloned().unwrap_or_default().or(&place);
        self.add(kind, id, args, &at);
    }

    fn implicit_cast(&mut self, id: NodeId, read: &Read<'_>) -> bool {
        let cast = trace(self.plan, read.below, read.column).into_iter().find_map(|t| match t {
            Traced::Computed { rex, .. } => widened(rex),
            _ => None,
        });
        let Some((operand, ty)) = cast else { return false };
        let args = vec![
            ("column", self.names(read.below, [read.column])),
            ("from", operand.ty.kind.to_string()),
            ("to", ty.kind.to_string()),
        ];
        let at = read.at.cloned().unwrap_or_default().or(&operand.origins);
        self.add(ObservationKind::ImplicitCast { role: read.role }, id, args, &at);
        true
    }
}

/// True for calls that give one value for all rows of a job, or for one argument: UNIX_TIMESTAMP that parses a text reads no clock.
fn is_fixed(function: &str, args: &[Rex]) -> bool {
    function == "CURRENT_DATABASE" || (function == "UNIX_TIMESTAMP" && !args.is_empty())
}

/// The operand and the type of a cast that nobody wrote: it stands where its operand stands.
fn widened(rex: &Rex) -> Option<(&Rex, &DataType)> {
    let RexKind::Cast { operand, is_try: false } = &rex.kind else { return None };
    let unwritten = rex.origins.first().is_none() || rex.origins.first() == operand.origins.first();
    let attribute = operand.ty.time_attribute() != TimeAttribute::None;
    let text = operand.ty.is_character() && rex.ty.is_character();
    let other = !operand.ty.same_kind(&rex.ty) && operand.ty.kind != TypeKind::Null;
    (unwritten && !attribute && !text && other).then_some((&**operand, &rex.ty))
}

/// Keys and arguments of an operator that keeps state by them, over the rows that it (or its local phase) reads.
fn reads(plan: &Plan, id: NodeId, below: NodeId) -> Vec<Read<'_>> {
    let node = plan.node(id);
    let mut out = Vec::new();
    if !matches!(node.op.split(), Split::Partial(_))
        && let Some((keys, calls)) = plan.aggregated(id)
    {
        let half = plan.partial_half(id).unwrap_or(id);
        out.extend(listed("group", below, keys, plan.node(half).op.group_key_origins()));
        out.extend(arguments(below, calls));
        return out;
    }
    match &node.op {
        Operator::GroupWindowAggregate(a) => {
            out.extend(listed("group", below, &a.keys, &a.key_origins));
            out.extend(arguments(below, &a.calls));
        }
        Operator::OverAggregate(o) => {
            out.extend(listed("partition", below, &o.written_partition, &o.partition_origins));
            out.extend(arguments(below, &o.calls));
        }
        Operator::Rank(r) => {
            out.extend(listed("partition", below, &r.ranking.written_partition, &r.ranking.partition_origins));
        }
        Operator::WindowRank(r) => {
            out.extend(listed("partition", below, &r.ranking.written_partition, &r.ranking.partition_origins));
        }
        Operator::Deduplicate(d) => {
            out.extend(listed("partition", below, &d.ranking.written_partition, &d.ranking.partition_origins));
        }
        Operator::WindowDeduplicate(d) => {
            out.extend(listed("partition", below, &d.ranking.written_partition, &d.ranking.partition_origins));
        }
        Operator::Join(j) => out.extend(sides(&node.inputs, &j.keys, &j.condition_origins)),
        Operator::IntervalJoin(j) => out.extend(sides(&node.inputs, &j.keys, &j.condition_origins)),
        Operator::TemporalJoin(j) => out.extend(sides(&node.inputs, &j.keys, &j.condition_origins)),
        Operator::WindowJoin(j) => out.extend(sides(&node.inputs, &j.keys, &j.condition_origins)),
        _ => {}
    }
    out
}

fn listed<'p>(
    role: &'static str,
    below: NodeId,
    keys: &'p [usize],
    places: &'p [Origins],
) -> impl Iterator<Item = Read<'p>> {
    keys.iter().enumerate().map(move |(i, column)| Read { role, below, column: *column, at: places.get(i) })
}

fn arguments(below: NodeId, calls: &[AggCall]) -> impl Iterator<Item = Read<'_>> {
    let columns = |c: &'_ AggCall| c.args.iter().filter_map(|a| a.column()).collect::<Vec<_>>();
    calls.iter().flat_map(move |c| {
        columns(c).into_iter().map(move |column| Read { role: "argument", below, column, at: Some(&c.origins) })
    })
}

fn sides<'p>(inputs: &[NodeId], keys: &[JoinKey], place: &'p Origins) -> Vec<Read<'p>> {
    let side = |side: usize| side_keys(keys, side).into_iter().map(move |column| (side, column));
    let read = |(side, column): (usize, usize)| Read { role: "join", below: inputs[side], column, at: Some(place) };
    (0..inputs.len().min(2)).flat_map(side).map(read).collect()
}
