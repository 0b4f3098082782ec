//! What becomes of a `Sink` (`CommonExecSink.createSinkTransformation`): constraints, order by key, the time of rows, and what the
//! connector consists of.

use super::graph::{Parallelism, Partitioner};
use super::settings::{KeyedShuffle, Settings};
use super::translate::{New, Output, Translator};
use crate::catalog::connector_operators::{ConnectorOperator, OperatorKind};
use crate::catalog::types::{TimeAttribute, TypeKind};
use crate::catalog::{Table, TableColumnKind};
use crate::exec::{NodeId, Operator, Plan, Target};

/// The sinks of a plan, in order; those that Flink makes one of stand together (`SinkReuser`, since 2.1).
pub fn groups(plan: &Plan, settings: &Settings) -> Vec<Vec<NodeId>> {
    let reuses = plan.target == Target::Flink22 && settings.reuse_sinks && settings.reuse_sub_plans;
    let mut groups: Vec<Vec<NodeId>> = Vec::new();
    for id in &plan.sinks {
        let same = groups.iter_mut().find(|group| reuses && are_one(plan, group[0], *id));
        match same {
            Some(group) => group.push(*id),
            None => groups.push(vec![*id]),
        }
    }
    groups
}

/// True if two sinks write the same kinds of changes to the same columns of one table in the same way. Measured on Flink 2.2.1: sinks that
/// differ in any of this stay apart, and so do all without shared sub-plans.
fn are_one(plan: &Plan, first: NodeId, second: NodeId) -> bool {
    let (Operator::Sink(a), Operator::Sink(b)) = (&plan.node(first).op, &plan.node(second).op) else { return false };
    a.table.as_ref().zip(b.table.as_ref()).is_some_and(|(a, b)| a.path == b.path)
        && a.listed == b.listed
        && a.hints == b.hints
        && a.upsert_materialize == b.upsert_materialize
        && plan.node(first).changelog == plan.node(second).changelog
}

/// Makes the operators of a sink.
pub fn translate(translator: &mut Translator<'_>, id: NodeId, input: Output) {
    let plan = translator.plan;
    let Operator::Sink(sink) = &plan.node(id).op else { return };
    let Some(table) = &sink.table else { return collect(translator, id, input) };
    // The plan has no materializer where only this option asks for one.
    if translator.settings.forces_materializer && table.primary_key.is_some() && !sink.upsert_materialize {
        let parallelism = input.parallelism;
        translator.add(New::unknown(&table.path.name), vec![input], parallelism);
        return;
    }
    let enforces = enforces_constraints(table, translator.settings);
    let mut output = input;
    if enforces != Some(false) {
        let parallelism = output.parallelism;
        let new = match enforces {
            Some(_) => New::operator("ConstraintEnforcer", "constraint-validator"),
            None => New::unknown("ConstraintEnforcer"),
        };
        output = translator.add(new, vec![output], parallelism);
    }
    let hinted = sink.hints.iter().find(|(key, _)| key == "sink.parallelism").map(|(_, value)| value.as_str());
    let own = hinted.or_else(|| table.options.get("sink.parallelism")).and_then(|n| n.trim().parse().ok());
    let parallelism = own.map_or(output.parallelism, Parallelism::Fixed);
    if table.primary_key.is_some() {
        // The planner compares what is set, before the job's default is known.
        let one = |p| matches!(p, Parallelism::Single | Parallelism::Fixed(1));
        let shuffles = match translator.settings.keyed_shuffle {
            KeyedShuffle::None => false,
            KeyedShuffle::Auto => parallelism != output.parallelism && !(one(parallelism) && one(output.parallelism)),
            KeyedShuffle::Force => !(one(parallelism) && one(output.parallelism)),
        };
        if shuffles || sink.upsert_materialize {
            output = output.partitioned(Partitioner::Hash, parallelism);
        }
    }
    if sink.upsert_materialize {
        output = translator.add(New::operator("SinkMaterializer", "upsert-materialize"), vec![output], parallelism);
    }
    let Some(operators) = table.connectors.sink_operators(table) else {
        translator.add(New::unknown(&table.path.name), vec![output], parallelism);
        return;
    };
    if operators[0].kind != OperatorKind::SinkFunction {
        output = with_time(translator, id, output, parallelism);
    }
    let planner_names = matches!(operators[..], [ConnectorOperator { kind: OperatorKind::SinkFunction, .. }]);
    let named = if planner_names { 0 } else { operators.len() };
    translator.connector(operators, "sink", named, Some(output), parallelism);
}

/// The rows of a bare SELECT, one after the other (`CollectDynamicSink`). Nothing is restored into these.
fn collect(translator: &mut Translator<'_>, id: NodeId, mut input: Output) {
    let parallelism = input.parallelism;
    if translator.plan.input_columns(id, 0).iter().any(|c| !c.ty.nullable) {
        input = translator.add(New::operator("ConstraintEnforcer", "constraint-validator"), vec![input], parallelism);
        translator.without_id();
    }
    translator.add(New::operator("Sink: Collect table sink", "sink"), vec![input], Parallelism::Fixed(1));
    translator.without_id();
}

/// Rows with their event time, if they have one (`applyRowtimeTransformation`).
fn with_time(translator: &mut Translator<'_>, id: NodeId, input: Output, parallelism: Parallelism) -> Output {
    let columns = translator.plan.input_columns(id, 0);
    if !columns.iter().any(|c| c.ty.time_attribute() == TimeAttribute::Rowtime) {
        return input;
    }
    let new = New::operator("StreamRecordTimestampInserter", "timestamp-inserter");
    translator.add(new, vec![input], parallelism)
}

/// True if an operator looks at the rows before they are written; none if that is not known (`applyConstraintValidations`).
fn enforces_constraints(table: &Table, settings: &Settings) -> Option<bool> {
    let keys = table.primary_key.as_ref().map(|pk| &pk.columns[..]).unwrap_or_default();
    let stored = || table.columns.iter().enumerate().filter(|(_, c)| matches!(c.kind, TableColumnKind::Physical));
    let has_length = |kind: &TypeKind| match kind {
        TypeKind::Char(_) | TypeKind::Binary(_) => true,
        TypeKind::VarChar(n) | TypeKind::VarBinary(n) => *n < i32::MAX as u32,
        _ => false,
    };
    if stored().any(|(i, c)| !c.ty.nullable || keys.contains(&i)) {
        return Some(true);
    }
    if settings.enforces_lengths && stored().any(|(_, c)| has_length(&c.ty.kind)) {
        return Some(true);
    }
    if settings.enforces_nested { None } else { Some(false) }
}
