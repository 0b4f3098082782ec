//! The stream graph: operators with their in-edges, which of these can be chained, and the ids that follow.

use std::collections::VecDeque;

use super::hash::OperatorId;

/// Why an operator has the id that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Naming {
    /// It has no uid: its place decides.
    Place,
    /// It has this uid.
    Uid(String),
    /// It has a uid that is not known.
    UnknownUid,
}

/// How many operators a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// One.
    One,
    /// One or more; which they are is not known.
    Unknown,
}

/// How rows come to an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partitioner {
    /// As nothing else is asked for: from subtask to subtask where both sides have as many, else in turn.
    Forward,
    /// By key.
    Hash,
    /// All to the first subtask.
    Global,
}

/// How many subtasks an operator has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallelism {
    /// As many as the job says (`parallelism.default`), which the script need not know.
    Default,
    /// As many.
    Fixed(u32),
    /// One, and never more: its maximum is one too.
    Single,
}

/// What chaining asks of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chaining {
    /// Nothing in particular (`ChainingStrategy.ALWAYS`).
    Always,
    /// As `Always`, but not to a legacy source: it asks for its mailbox (`YieldingOperatorFactory`).
    Yielding,
    /// A source of the old kind (`SourceFunction`, `InputFormat`).
    LegacySource,
}

/// An in-edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The operator it comes from.
    pub from: usize,
    /// How rows come.
    pub partitioner: Partitioner,
}

/// An operator.
#[derive(Debug, Clone)]
pub struct StreamNode {
    /// Its name in Flink's web interface, without attributes.
    pub name: String,
    /// Its transformation's name, as uids have it.
    pub transformation: Option<&'static str>,
    /// Where its id comes from.
    pub naming: Naming,
    /// How many operators it stands for.
    pub extent: Extent,
    /// Its in-edges, in the order of its inputs.
    pub inputs: Vec<Edge>,
    /// Its subtasks.
    pub parallelism: Parallelism,
    /// What chaining asks of it.
    pub chaining: Chaining,
}

/// What holds for the whole job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobSettings {
    /// `parallelism.default`, if the script sets it.
    pub default_parallelism: Option<u32>,
    /// `pipeline.operator-chaining.enabled`
    pub chaining: bool,
    /// `pipeline.operator-chaining.chain-operators-with-different-max-parallelism`
    pub chain_across_max_parallelism: bool,
}

/// The stream graph of a job: operators in the order in which Flink makes them, each after its inputs.
#[derive(Debug, Clone)]
pub struct StreamGraph {
    /// The operators.
    pub nodes: Vec<StreamNode>,
    /// What holds for all of them.
    pub settings: JobSettings,
}

impl StreamGraph {
    /// Which operators can be chained to their only input; none where that depends on what the script does not say
    /// (`StreamingJobGraphGenerator.isChainable`).
    fn chained(&self) -> Vec<Option<bool>> {
        let mut chained: Vec<Option<bool>> = Vec::with_capacity(self.nodes.len());
        // Whether the chain that an operator is in begins with a legacy source.
        let mut legacy: Vec<Option<bool>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let (chains, behind_legacy) = match node.inputs[..] {
                [Edge { from, partitioner: Partitioner::Forward }] => {
                    (self.chains(from, node, legacy[from]), legacy[from])
                }
                _ => (Some(false), Some(false)),
            };
            chained.push(chains);
            legacy.push(match (chains, behind_legacy) {
                (Some(false), _) => Some(node.chaining == Chaining::LegacySource),
                (None, Some(true)) => None,
                (_, behind_legacy) => behind_legacy,
            });
        }
        chained
    }

    fn chains(&self, from: usize, to: &StreamNode, behind_legacy_source: Option<bool>) -> Option<bool> {
        let from = &self.nodes[from];
        let single = |node: &StreamNode| node.parallelism == Parallelism::Single;
        let alike = self.settings.chain_across_max_parallelism || single(from) == single(to);
        if !self.settings.chaining || !alike {
            return Some(false);
        }
        let refused = if to.chaining == Chaining::Yielding { behind_legacy_source } else { Some(false) };
        match (self.as_many(from.parallelism, to.parallelism), refused) {
            (Some(false), _) | (_, Some(true)) => Some(false),
            _ if from.extent == Extent::Unknown || to.extent == Extent::Unknown => None,
            (Some(true), Some(false)) => Some(true),
            _ => None,
        }
    }

    fn as_many(&self, left: Parallelism, right: Parallelism) -> Option<bool> {
        let number = |p| match p {
            Parallelism::Default => self.settings.default_parallelism,
            Parallelism::Fixed(n) => Some(n),
            Parallelism::Single => Some(1),
        };
        if left == right {
            return Some(true);
        }
        Some(number(left)? == number(right)?)
    }

    /// The ids, where they are certain: breadth first from the sources; an operator waits until its inputs have theirs
    /// (`StreamGraphHasherV2.traverseStreamGraphAndGenerateHashes`).
    pub fn ids(&self) -> Vec<Option<OperatorId>> {
        let mut outputs: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (node, StreamNode { inputs, .. }) in self.nodes.iter().enumerate() {
            inputs.iter().for_each(|edge| outputs[edge.from].push(node));
        }
        let chains = self.chained();
        let mut ids: Vec<Option<OperatorId>> = vec![None; self.nodes.len()];
        let mut done = vec![false; self.nodes.len()];
        let mut queue: VecDeque<usize> = (0..self.nodes.len()).filter(|n| self.nodes[*n].inputs.is_empty()).collect();
        let mut queued: Vec<bool> = self.nodes.iter().map(|n| n.inputs.is_empty()).collect();
        // How many ids there are so far, as long as that is known.
        let mut position = Some(0);
        while let Some(node) = queue.pop_front() {
            let StreamNode { naming, extent, inputs, .. } = &self.nodes[node];
            if inputs.iter().any(|edge| !done[edge.from]) {
                queued[node] = false;
                continue;
            }
            ids[node] = match (naming, extent) {
                (_, Extent::Unknown) | (Naming::UnknownUid, _) => None,
                (Naming::Uid(uid), _) => Some(OperatorId::of_uid(uid)),
                (Naming::Place, _) => position.and_then(|position| {
                    let chained: Option<Vec<bool>> = outputs[node].iter().map(|to| chains[*to]).collect();
                    let inputs: Option<Vec<OperatorId>> = inputs.iter().map(|edge| ids[edge.from]).collect();
                    let chained = chained?.into_iter().filter(|c| *c).count();
                    Some(OperatorId::of_place(position, chained, &inputs?))
                }),
            };
            position = position.filter(|_| *extent == Extent::One).map(|p| p + 1);
            done[node] = true;
            for to in &outputs[node] {
                if !std::mem::replace(&mut queued[*to], true) {
                    queue.push_back(*to);
                }
            }
        }
        ids
    }
}
