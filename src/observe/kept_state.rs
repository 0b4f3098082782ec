//! State that no window and no watermark clears: by what keys it is kept, and whether what comes in ever takes rows back.
//!
//! What grows is where a stream that only appends rows meets state that is kept per key: each new key stays until a time to live
//! ends it. A result that updates its rows (the changes of another aggregate, of a CDC source) is as large as what it follows, so
//! state behind it is no larger than that.

use super::Observer;
use std::collections::BTreeSet;

use super::observation::{KeptState, ObservationKind};
use super::trace::{Traced, trace};
use crate::catalog::connectors::Connector;
use crate::catalog::types::TypeKind;
use crate::exec::rank::RankStrategy;
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::pattern::Match;
use crate::logical::rel::{AggCall, Split};
use crate::logical::rex::{Origins, Rex, RexKind};
use crate::syntax::ast::FrameUnits;
use crate::target::Target;

/// Aggregates whose accumulator holds all that came in, in whatever form.
const COLLECTING: &[&str] = &["LISTAGG", "COLLECT", "ARRAY_AGG", "JSON_OBJECTAGG", "JSON_ARRAYAGG"];

impl Observer<'_> {
    /// State of the operator that lives until a time to live ends it.
    pub(super) fn kept_state(&mut self, id: NodeId) {
        let plan = self.plan;
        let node = plan.node(id);
        let Some(below) = self.rows_of(id) else { return };
        let state = KeptState { ttl: time_to_live(plan, &node.op), input: input(plan, below), ..KeptState::default() };
        match &node.op {
            // Of a split aggregate the final half stands for both.
            Operator::GroupAggregate(_) | Operator::GlobalGroupAggregate(_)
                if !matches!(node.op.split(), Split::Partial(_)) =>
            {
                let Some((keys, calls)) = plan.aggregated(id) else { return };
                let half = plan.partial_half(id).unwrap_or(id);
                let origins = plan.node(half).op.group_key_origins();
                self.group_aggregate(id, below, (keys, calls, origins), state);
            }
            Operator::OverAggregate(o) => {
                let time = |i: usize| {
                    let ty = &plan.node(below).columns[i].ty;
                    ty.is_rowtime() || ty.is_proctime()
                };
                let state = KeptState {
                    family: "over-aggregate",
                    keys: keys(plan, below, &o.partition),
                    collecting: collecting(&o.calls),
                    frame: match (o.frame.preceding, o.frame.units) {
                        (None, _) => "unbounded",
                        (Some(_), FrameUnits::Rows) => "rows",
                        (Some(_), FrameUnits::Range) => "range",
                    },
                    order: if o.order.iter().all(|k| time(k.column)) { "time" } else { "value" },
                    ..state
                };
                let at = o.partition_origins.first().cloned().unwrap_or_default();
                let names = self.names(below, o.partition.iter().copied());
                self.add(ObservationKind::KeptState(state), id, words(names), &at.or(&o.frame.origins));
            }
            Operator::Rank(r) => {
                let partition = &r.ranking.partition;
                // Only ranks that take rows back keep more than the first N.
                let keys = match (&r.strategy, keys(plan, below, partition)) {
                    (RankStrategy::Retract, _) => "open",
                    (_, keys) => keys,
                };
                let names = self.names(below, partition.iter().copied());
                let at = r.ranking.partition_origins.first().cloned().unwrap_or_default();
                self.add(
                    ObservationKind::KeptState(KeptState { family: "rank", keys, ..state }),
                    id,
                    words(names),
                    &at,
                );
            }
            Operator::Deduplicate(d) => {
                let partition = &d.ranking.partition;
                let state = KeptState { family: "deduplicate", keys: keys(plan, below, partition), ..state };
                let names = self.names(below, partition.iter().copied());
                let at = d.ranking.partition_origins.first().cloned().unwrap_or_default();
                self.add(ObservationKind::KeptState(state), id, words(names), &at);
            }
            Operator::Join(j) => {
                let appending: Vec<usize> =
                    (0..node.inputs.len()).filter(|side| input(plan, node.inputs[*side]) == "appends").collect();
                let sides: Vec<&str> = appending.iter().map(|side| ["left", "right"][*side]).collect();
                let state = KeptState {
                    family: "join",
                    keys: "open",
                    appending_sides: appending.len(),
                    input: if appending.is_empty() { "updates" } else { "appends" },
                    ..state
                };
                let args = vec![("sides", sides.join(" and the "))];
                self.add(ObservationKind::KeptState(state), id, args, &j.condition_origins.clone());
            }
            // A match of one row is over with it; longer ones wait for their next row, and no time to live ends that.
            Operator::Match(m) if m.pattern.within.is_none() && waits(&m.pattern) => {
                let partition = &m.pattern.partition;
                let state = KeptState { family: "match", keys: keys(plan, below, partition), ttl: "none", ..state };
                let names = self.names(below, partition.iter().copied());
                self.add(ObservationKind::KeptState(state), id, words(names), &m.pattern.pattern_origins);
            }
            _ => {}
        }
    }

    fn group_aggregate(
        &mut self,
        id: NodeId,
        below: NodeId,
        (group, calls, origins): (&[usize], &[AggCall], &[Origins]),
        state: KeptState,
    ) {
        let plan = self.plan;
        let bounds = group.iter().filter_map(|k| window_bound(plan, below, *k)).collect::<Vec<_>>();
        let state = KeptState {
            family: "group-aggregate",
            keys: keys(plan, below, group),
            window_keys: bounds.len(),
            collecting: collecting(calls),
            distinct_rows: calls.is_empty(),
            ..state
        };
        let mut args = words(self.names(below, group.iter().copied()));
        args.extend(bounds.first().map(|bound| ("bound", format!("`{bound}`"))));
        let at = origins.first().cloned().unwrap_or_default();
        self.add(ObservationKind::KeptState(state), id, args, &at);
    }

    /// The node whose rows a stateful operator reads: below the first of its phases.
    pub(super) fn rows_of(&self, id: NodeId) -> Option<NodeId> {
        let reads = self.plan.first_phase(id);
        self.plan.node(reads).inputs.first().copied()
    }
}

/// How long state lives untouched. The vendor's engine forgets what has been idle for one and a half days unless told otherwise (VVR
/// 4.0.12 and later); Flink forgets nothing.
fn time_to_live(plan: &Plan, op: &Operator) -> &'static str {
    let hints = op.state_ttl();
    // The side that lives longest counts.
    if hints.iter().any(|hint| hint.is_some_and(|ttl| ttl.millis == 0)) {
        return "none";
    }
    if !hints.is_empty() && hints.iter().all(Option::is_some) {
        return "set";
    }
    match (crate::state::time_to_live(plan), plan.options.contains_key("table.exec.state.ttl"), plan.target) {
        (Some(_), ..) => "set",
        (None, false, Target::Vvr) => "default",
        (None, ..) => "none",
    }
}

/// True if a match may be begun and not ended.
fn waits(pattern: &Match) -> bool {
    pattern.steps.len() > 1 || pattern.steps.iter().any(|step| step.to != Some(1))
}

fn words(names: String) -> Vec<(&'static str, String)> {
    if names.is_empty() { Vec::new() } else { vec![("keys", names)] }
}

/// What comes out of a node: `ends`, `appends` or `updates`.
pub(super) fn input(plan: &Plan, id: NodeId) -> &'static str {
    if !is_endless(plan, id) {
        "ends"
    } else if plan.node(id).changelog.is_insert_only() {
        "appends"
    } else {
        "updates"
    }
}

/// True if rows never come to an end, as far as the tables tell.
fn is_endless(plan: &Plan, id: NodeId) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match &plan.node(id).op {
            Operator::Values(_) | Operator::Limit(_) | Operator::SortLimit(_) => {}
            Operator::TableSourceScan(scan) if Connector::of(&scan.table).source.bounded => {}
            Operator::TableSourceScan(_) => return true,
            _ => open.extend(&plan.node(id).inputs),
        }
    }
    false
}

/// `none`, `finite` or `open`.
fn keys(plan: &Plan, below: NodeId, columns: &[usize]) -> &'static str {
    if columns.is_empty() {
        return "none";
    }
    let finite = |column: &usize| {
        let small = matches!(plan.node(below).columns[*column].ty.kind, TypeKind::Boolean | TypeKind::TinyInt);
        small
            || trace(plan, below, *column).iter().all(|t| match t {
                Traced::Computed { rex, .. } => has_few_values(rex),
                _ => false,
            })
    };
    if columns.iter().all(finite) { "finite" } else { "open" }
}

/// True for expressions that give only few values, whatever they read: constants, choices among constants, parts of a date,
/// remainders.
fn has_few_values(rex: &Rex) -> bool {
    if matches!(rex.ty.kind, TypeKind::Boolean | TypeKind::TinyInt) {
        return true;
    }
    match &rex.kind {
        RexKind::Literal(_) => true,
        RexKind::Cast { operand, .. } => has_few_values(operand),
        RexKind::Call(function, args) => match function.name() {
            // WHEN, THEN, ..., ELSE
            "CASE" => args.iter().enumerate().all(|(i, a)| (i % 2 == 0 && i + 1 < args.len()) || has_few_values(a)),
            "IF" => args.iter().skip(1).all(has_few_values),
            "COALESCE" | "IFNULL" => args.iter().all(has_few_values),
            "EXTRACT" => args.first().is_some_and(is_cyclic_unit),
            "MOD" | "%" => args.get(1).is_some_and(|divisor| divisor.as_literal().is_some()),
            _ => false,
        },
        _ => false,
    }
}

/// Units of EXTRACT that begin anew.
fn is_cyclic_unit(unit: &Rex) -> bool {
    let unit = match unit.as_literal() {
        Some(crate::catalog::value::Value::Symbol(unit)) => unit.to_string(),
        Some(crate::catalog::value::Value::String(unit)) => unit.to_uppercase(),
        _ => return false,
    };
    ["QUARTER", "MONTH", "WEEK", "DAY", "DOW", "ISODOW", "DOY", "HOUR", "MINUTE", "SECOND"].contains(&unit.as_str())
}

/// The window column that a key is, casts aside.
fn window_bound(plan: &Plan, below: NodeId, column: usize) -> Option<&'static str> {
    let mut at = trace(plan, below, column);
    loop {
        match at.as_slice() {
            [Traced::WindowBound { bound }] => return Some(bound),
            [Traced::Computed { rex, below }] => {
                let RexKind::Cast { operand, .. } = &rex.kind else { return None };
                at = trace(plan, *below, operand.as_input()?);
            }
            _ => return None,
        }
    }
}

/// How many calls hold more than a value.
fn collecting(calls: &[AggCall]) -> usize {
    calls.iter().filter(|c| c.distinct || COLLECTING.contains(&&*c.function)).count()
}
