//! Which operator takes which state: the ids that Flink gives the operators of a plan.
//!
//! A savepoint holds state by operator id. Without uids the id is a hash of the operator's place in the stream graph, whatever the
//! operator computes: of how many operators come before it, of how many can be chained to it, and of the ids of its inputs. So the
//! whole graph has to be known, sources and sinks included. Where it is not, there is no id.
//!
//! `translate.rs` and `sink.rs` make the stream graph of a plan, `settings.rs` are the options that bear on it, `graph.rs` says what
//! can be chained and in which order ids are given, `hash.rs` is the id itself.

pub mod graph;
pub mod hash;
mod settings;
mod sink;
mod translate;

use crate::exec::{NodeId, Operator, Plan};
use hash::OperatorId;
use serde_json::{Value, json};
pub use settings::Process;
use settings::Settings;

/// An operator of the stream graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamOperator {
    /// Its name in Flink's web interface, without attributes: `GroupAggregate`, `Source: orders`.
    pub name: String,
    /// Its name in uids: `group-aggregate`. None for what connectors add.
    pub transformation: Option<&'static str>,
    /// Its id, if it is certain.
    pub id: Option<OperatorId>,
}

/// The operators of a job.
#[derive(Debug, Clone)]
pub struct Identities {
    operators: Vec<StreamOperator>,
    of_node: Vec<Vec<usize>>,
}

impl Identities {
    /// The operators of a plan for one of the Flink targets.
    pub fn of(plan: &Plan, process: Process) -> Identities {
        let settings = Settings::of(plan, process);
        let translation = translate::translate(plan, &settings);
        let ids = translation.graph.ids();
        let nodes = translation.graph.nodes.into_iter().zip(ids);
        let operators = nodes.map(|(n, id)| StreamOperator { name: n.name, transformation: n.transformation, id });
        Identities { operators: operators.collect(), of_node: translation.operators }
    }

    /// All operators, each after its inputs.
    pub fn operators(&self) -> &[StreamOperator] {
        &self.operators
    }

    /// The operators that an exec node has become, in the order in which rows go through: none of an exchange, several of a sink.
    pub fn of_node(&self, node: NodeId) -> impl Iterator<Item = &StreamOperator> {
        self.of_node[node.index()].iter().map(|i| &self.operators[*i])
    }

    /// The operator that has the exec node's state, or does its work: of a sink the materializer, else what writes.
    pub fn main(&self, plan: &Plan, node: NodeId) -> Option<&StreamOperator> {
        let named = |name| self.of_node(node).find(|o| o.transformation == Some(name));
        match &plan.node(node).op {
            Operator::Sink(sink) if sink.upsert_materialize => named("upsert-materialize"),
            Operator::Sink(_) => self
                .of_node(node)
                .find(|o| !matches!(o.transformation, Some("constraint-validator" | "timestamp-inserter"))),
            Operator::TableSourceScan(_) => self.of_node(node).next(),
            _ => self.of_node(node).last(),
        }
    }

    /// What `plan --format json` says of an exec node.
    pub fn to_json(&self, plan: &Plan, node: NodeId) -> Vec<(&'static str, Value)> {
        let id = |o: &StreamOperator| o.id.map(|id| id.to_string());
        let main = self.main(plan, node);
        let all = self.of_node(node);
        let all = all.map(|o| json!({ "name": o.name, "transformation": o.transformation, "operator_id": id(o) }));
        vec![
            ("operator_id", json!(main.and_then(id))),
            ("transformation", json!(main.and_then(|o| o.transformation))),
            ("stream_operators", all.collect()),
        ]
    }
}
