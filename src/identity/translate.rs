//! From exec nodes to operators: what each of Flink's `translateToPlanInternal` makes.

use super::graph::{Chaining, Edge, Extent, Naming, Parallelism, Partitioner, StreamGraph, StreamNode};
use super::settings::Settings;
use super::sink;
use crate::catalog::connector_operators::{ConnectorOperator, OperatorKind};
use crate::catalog::connectors::{Connector, SourceChangelog};
use crate::exec::{NodeId, Operator, Plan, Target};

/// The operators of a plan, and which of them each exec node has become.
pub struct Translation {
    /// The stream graph.
    pub graph: StreamGraph,
    /// For each exec node its operators, in the order in which rows go through.
    pub operators: Vec<Vec<usize>>,
}

/// What an exec node hands to those that read it: its last operator, or, of an exchange or a union, those of its inputs.
#[derive(Debug, Clone)]
pub struct Output {
    edges: Vec<Edge>,
    /// The subtasks of what reads it without an exchange.
    pub parallelism: Parallelism,
}

impl Output {
    fn of(node: usize, parallelism: Parallelism) -> Output {
        Output { edges: vec![Edge { from: node, partitioner: Partitioner::Forward }], parallelism }
    }

    /// The same rows, sent otherwise.
    pub fn partitioned(mut self, partitioner: Partitioner, parallelism: Parallelism) -> Output {
        self.edges.iter_mut().for_each(|edge| edge.partitioner = partitioner);
        self.parallelism = parallelism;
        self
    }

    /// The rows of all of them; whoever reads it has as many subtasks as the first (`UnionTransformation`).
    pub fn union(outputs: Vec<Output>) -> Output {
        let parallelism = outputs.first().map_or(Parallelism::Default, |o| o.parallelism);
        Output { edges: outputs.into_iter().flat_map(|o| o.edges).collect(), parallelism }
    }
}

/// An operator that is to be made.
pub struct New {
    /// Its name.
    pub name: String,
    /// Its name in uids.
    pub transformation: Option<&'static str>,
    /// What chaining asks of it.
    pub chaining: Chaining,
    /// How many operators it stands for.
    pub extent: Extent,
}

impl New {
    /// An operator as most are.
    pub fn operator(name: &str, transformation: &'static str) -> New {
        New {
            name: name.to_owned(),
            transformation: Some(transformation),
            chaining: Chaining::Always,
            extent: Extent::One,
        }
    }

    /// Operators of which nothing is known but that they are there.
    pub fn unknown(name: &str) -> New {
        New { name: name.to_owned(), transformation: None, chaining: Chaining::Always, extent: Extent::Unknown }
    }
}

/// Makes the operators one after the other.
pub struct Translator<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What the script sets.
    pub settings: &'a Settings,
    graph: StreamGraph,
    operators: Vec<Vec<usize>>,
    outputs: Vec<Option<Output>>,
    /// The exec node that is translated, and its id in uids.
    current: NodeId,
    current_id: Option<u32>,
    translated: u32,
}

/// True if Flink puts the operators of the plan into another order: it makes watermarks before it normalizes.
fn is_reordered(plan: &Plan) -> bool {
    plan.nodes.iter().filter(|node| matches!(node.op, Operator::WatermarkAssigner(_))).any(|assigner| {
        let mut below = assigner.inputs.first();
        while let Some(node) = below.map(|id| plan.node(*id)).filter(|n| matches!(n.op, Operator::Calc(_))) {
            below = node.inputs.first();
        }
        below.is_some_and(|id| matches!(plan.node(*id).op, Operator::ChangelogNormalize(_)))
    })
}

/// Translates a plan.
pub fn translate(plan: &Plan, settings: &Settings) -> Translation {
    let mut translator = Translator {
        plan,
        settings,
        graph: StreamGraph { nodes: Vec::new(), settings: settings.job },
        operators: vec![Vec::new(); plan.nodes.len()],
        outputs: vec![None; plan.nodes.len()],
        current: NodeId(0),
        current_id: None,
        translated: 0,
    };
    for group in sink::groups(plan, settings) {
        translator.sinks(&group);
    }
    if is_reordered(plan) {
        translator.graph.nodes.iter_mut().for_each(|node| node.naming = Naming::UnknownUid);
    }
    Translation { graph: translator.graph, operators: translator.operators }
}

impl Translator<'_> {
    /// Sinks that are one operator in the end, and all below them that has not been translated yet: inputs first.
    fn sinks(&mut self, group: &[NodeId]) {
        let inputs: Vec<NodeId> = group.iter().flat_map(|sink| self.plan.node(*sink).inputs.clone()).collect();
        let mut stack: Vec<(NodeId, bool)> = inputs.iter().rev().map(|input| (*input, false)).collect();
        while let Some((id, inputs_done)) = stack.pop() {
            if self.outputs[id.index()].is_some() {
                continue;
            }
            let inputs = &self.plan.node(id).inputs;
            if inputs_done {
                self.begin(id);
                let inputs: Vec<Output> = inputs.iter().map(|i| self.output(*i)).collect();
                let output = self.node(id, inputs);
                self.outputs[id.index()] = Some(output);
            } else {
                stack.push((id, true));
                stack.extend(inputs.iter().rev().map(|input| (*input, false)));
            }
        }
        if let Some(first) = group.first() {
            self.begin(*first);
            let input = Output::union(inputs.iter().map(|i| self.output(*i)).collect());
            sink::translate(self, *first, input);
            for other in &group[1..] {
                self.operators[other.index()] = self.operators[first.index()].clone();
            }
        }
    }

    fn begin(&mut self, id: NodeId) {
        self.translated += 1;
        self.current = id;
        self.current_id = Some(self.translated);
    }

    fn output(&self, id: NodeId) -> Output {
        self.outputs[id.index()].clone().expect("inputs are translated first")
    }

    /// Makes an operator of the exec node that is translated.
    pub fn add(&mut self, new: New, inputs: Vec<Output>, parallelism: Parallelism) -> Output {
        let New { name, transformation, chaining, extent } = new;
        let naming = self.settings.uids.naming(self.current_id, self.plan.node(self.current).op.kind(), transformation);
        self.push(
            StreamNode {
                name,
                transformation,
                naming,
                extent,
                inputs: inputs.into_iter().flat_map(|o| o.edges).collect(),
                parallelism,
                chaining,
            },
            parallelism,
        )
    }

    fn push(&mut self, node: StreamNode, parallelism: Parallelism) -> Output {
        let index = self.graph.nodes.len();
        self.graph.nodes.push(node);
        self.operators[self.current.index()].push(index);
        // What reads a single operator has one subtask as well, but may have more.
        let below = if parallelism == Parallelism::Single { Parallelism::Fixed(1) } else { parallelism };
        Output::of(index, below)
    }

    /// Makes the operators of a connector. The planner gives one of them a uid of its own; what the connector gives itself is
    /// known where the connector's description says it.
    pub fn connector(
        &mut self,
        operators: Vec<ConnectorOperator>,
        transformation: &'static str,
        named: usize,
        mut input: Option<Output>,
        parallelism: Parallelism,
    ) -> Output {
        let mut output = None;
        for (i, ConnectorOperator { kind, name, uid, parallelism: own }) in operators.into_iter().enumerate() {
            let parallelism = own.map_or(parallelism, Parallelism::Fixed);
            let transformation = (i == named).then_some(transformation);
            let naming = match uid {
                // What the planner names has its uid, the rest that of the connector.
                Some(uid) if transformation.is_none() || self.settings.uids.are_off() => Naming::Uid(uid),
                _ => {
                    let kind = self.plan.node(self.current).op.kind();
                    self.settings.uids.naming(self.current_id, kind, transformation)
                }
            };
            let chaining = match kind {
                OperatorKind::SourceFunction => Chaining::LegacySource,
                kind if kind.yields() => Chaining::Yielding,
                _ => Chaining::Always,
            };
            let node = StreamNode {
                name: name.unwrap_or_default(),
                transformation,
                naming,
                extent: Extent::One,
                inputs: input.take().map(|o| o.edges).unwrap_or_default(),
                parallelism,
                chaining,
            };
            let made = self.push(node, parallelism);
            input = Some(made.clone());
            output = Some(made);
        }
        output.or(input).expect("a connector has operators")
    }

    fn source(&mut self, scan: &crate::exec::table_source_scan::TableSourceScan) -> Output {
        let table = &scan.table;
        let hinted = scan.hints.iter().find(|(key, _)| key == "scan.parallelism").map(|(_, value)| value.as_str());
        let option = hinted.or_else(|| table.options.get("scan.parallelism"));
        let own: Option<u32> = option.and_then(|n| n.trim().parse().ok());
        let parallelism = own.map_or(self.settings.source_parallelism, Parallelism::Fixed);
        // Changes of one key have to stay in order then; how they are exchanged was not measured.
        let exchanged = own.is_some() && Connector::of(table).source.changelog != SourceChangelog::Insert;
        let Some(operators) = table.connectors.source_operators(table).filter(|_| !exchanged) else {
            return self.add(New::unknown(&format!("Source: {}", table.path.name)), Vec::new(), parallelism);
        };
        let last = operators.len() - 1;
        let output = self.connector(operators, "source", last, None, parallelism);
        // What reads a source of its own parallelism has that of the job.
        if own.is_some() { output.partitioned(Partitioner::Forward, Parallelism::Default) } else { output }
    }

    fn node(&mut self, id: NodeId, mut inputs: Vec<Output>) -> Output {
        let op = &self.plan.node(id).op;
        let parallelism = inputs.first().map_or(Parallelism::Default, |o| o.parallelism);
        let (name, transformation) = match op {
            Operator::TableSourceScan(scan) => return self.source(scan),
            Operator::Values(_) => {
                let new = New { chaining: Chaining::LegacySource, ..New::operator("Source: Values", "values") };
                return self.add(new, inputs, Parallelism::Fixed(1));
            }
            Operator::Exchange(exchange) => {
                let single = exchange.keys.is_empty();
                let (partitioner, parallelism) = if single {
                    (Partitioner::Global, Parallelism::Single)
                } else {
                    (Partitioner::Hash, Parallelism::Default)
                };
                return Output::union(inputs).partitioned(partitioner, parallelism);
            }
            Operator::Union(_) => return Output::union(inputs),
            // Rows arrive in the order of processing time.
            Operator::TemporalSort(sort) if !sort.is_stateful() => return Output::union(inputs),
            Operator::Match(m) => {
                if !m.proctime {
                    let new = New::operator("StreamRecordTimestampInserter", "timestamp-inserter");
                    inputs = vec![self.add(new, inputs, parallelism)];
                }
                ("Match", "match")
            }
            // No row can find a partner: filters and paddings take the place of the join (`createNegativeWindowSizeJoin`).
            Operator::IntervalJoin(join) if join.interval.lower > join.interval.upper => {
                return self.add(New::unknown("IntervalJoin"), inputs, parallelism);
            }
            Operator::LookupJoin(join) => {
                let keyed = self.plan.node(id).inputs.iter().any(|input| {
                    let keys = &self.plan.node(*input).upsert_keys;
                    !keys.is_empty() && keys.iter().all(|key| !key.is_empty())
                });
                let chaining = if join.asynchronous.is_some() { Chaining::Yielding } else { Chaining::Always };
                let new = New { chaining, ..New::operator("LookupJoin", "lookup-join") };
                if join.upsert_materialize && join.asynchronous.is_none() && keyed {
                    let inputs = inputs.into_iter().map(|o| o.partitioned(Partitioner::Hash, parallelism)).collect();
                    return self.add(
                        New { transformation: Some("lookup-join-materialize"), ..new },
                        inputs,
                        parallelism,
                    );
                }
                // How rows get to these was not measured.
                if join.upsert_materialize || join.asynchronous.is_some() && self.settings.key_ordered_lookups {
                    return self.add(New::unknown("LookupJoin"), inputs, parallelism);
                }
                return self.add(new, inputs, parallelism);
            }
            // Flink filters in the normalization itself, and has no Calc where nothing is left for it.
            Operator::Calc(calc)
                if self.plan.target == Target::Flink22 && !calc.conditions.is_empty() && self.reads_normalized(id) =>
            {
                return self.add(New::unknown("Calc"), inputs, parallelism);
            }
            Operator::WatermarkAssigner(_) => ("WatermarkAssigner", "watermark-assigner"),
            Operator::Calc(_) => ("Calc", "calc"),
            Operator::Expand(_) => ("Expand", "expand"),
            Operator::Correlate(_) => ("Correlate", "correlate"),
            Operator::Join(_) => ("Join", "join"),
            Operator::IntervalJoin(_) => ("IntervalJoin", "interval-join"),
            Operator::WindowJoin(_) => ("WindowJoin", "window-join"),
            Operator::TemporalJoin(_) => ("TemporalJoin", "temporal-join"),
            Operator::WindowTableFunction(_) => ("WindowTableFunction", "window"),
            Operator::WindowAggregate(_) => ("WindowAggregate", "window-aggregate"),
            Operator::LocalWindowAggregate(_) => ("LocalWindowAggregate", "local-window-aggregate"),
            Operator::GlobalWindowAggregate(_) => ("GlobalWindowAggregate", "global-window-aggregate"),
            Operator::GroupWindowAggregate(_) => ("GroupWindowAggregate", "group-window-aggregate"),
            Operator::GroupAggregate(_) => ("GroupAggregate", "group-aggregate"),
            Operator::OverAggregate(_) => ("OverAggregate", "over-aggregate"),
            Operator::WindowRank(_) => ("WindowRank", "window-rank"),
            Operator::WindowDeduplicate(_) => ("WindowDeduplicate", "window-deduplicate"),
            Operator::Rank(_) => ("Rank", "rank"),
            Operator::Deduplicate(_) => ("Deduplicate", "deduplicate"),
            Operator::ChangelogNormalize(_) => ("ChangelogNormalize", "changelog-normalize"),
            Operator::Limit(_) => ("Limit", "rank"),
            Operator::SortLimit(_) => ("SortLimit", "rank"),
            Operator::TemporalSort(_) => ("TemporalSort", "temporal-sort"),
            Operator::MiniBatchAssigner(_) => ("MiniBatchAssigner", "mini-batch-assigner"),
            Operator::LocalGroupAggregate(_) => ("LocalGroupAggregate", "local-group-aggregate"),
            Operator::GlobalGroupAggregate(_) => ("GlobalGroupAggregate", "global-group-aggregate"),
            Operator::IncrementalGroupAggregate(_) => ("IncrementalGroupAggregate", "incremental-group-aggregate"),
            Operator::DropUpdateBefore(_) => ("DropUpdateBefore", "drop-update-before"),
            Operator::Sink(_) => return Output::union(inputs),
        };
        self.add(New::operator(name, transformation), inputs, parallelism)
    }

    fn reads_normalized(&self, id: NodeId) -> bool {
        self.plan.node(id).inputs.iter().any(|i| matches!(self.plan.node(*i).op, Operator::ChangelogNormalize(_)))
    }

    /// The operator made last has a uid that is not known, or no id that anything is restored by.
    pub fn without_id(&mut self) {
        if let Some(node) = self.graph.nodes.last_mut() {
            node.naming = Naming::UnknownUid;
        }
    }
}
