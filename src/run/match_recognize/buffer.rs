//! The rows that matches share (Flink's `SharedBuffer`): each row is kept once, and each match finds its way back through them.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::state::{Edge, Edges, EventId, Lockable, NodeId, Version};
use crate::eval::Row;

/// Rows with how many nodes use them.
pub type Events = HashMap<EventId, Lockable<Row>, FxBuildHasher>;
/// Nodes with how many matches use them.
pub type Entries = HashMap<NodeId, Lockable<Edges>, FxBuildHasher>;
/// How many rows of a time there were.
pub type Counts = HashMap<i64, i32, FxBuildHasher>;

/// The rows of a match, by variable, in the order in which the variables first took one.
pub type Path = Vec<(Arc<str>, Vec<EventId>)>;

/// The buffer of one key.
pub struct Buffer<'a> {
    /// The rows.
    pub events: &'a mut Events,
    /// The nodes.
    pub entries: &'a mut Entries,
    /// The numbers that rows of one time have taken.
    pub counts: &'a mut Counts,
}

impl Buffer<'_> {
    /// A row comes in; it stays until [`Buffer::release_event`].
    pub fn register(&mut self, row: &Row, time: i64) -> EventId {
        let count = self.counts.entry(time).or_insert(0);
        let id = EventId { time, id: *count };
        *count += 1;
        self.events.insert(id, Lockable { uses: 1, of: row.clone() });
        id
    }

    /// One user of a row less.
    pub fn release_event(&mut self, id: EventId) {
        if self.events.get_mut(&id).is_some_and(Lockable::release) {
            self.events.remove(&id);
        }
    }

    /// A match takes a row as one of a variable.
    pub fn put(&mut self, page: &Arc<str>, event: EventId, previous: Option<&NodeId>, version: &Version) -> NodeId {
        if let Some(previous) = previous {
            self.lock(previous, version);
        }
        let node = NodeId { event, page: page.clone() };
        let is_new = !self.entries.contains_key(&node);
        if is_new && let Some(event) = self.events.get_mut(&event) {
            event.uses += 1;
        }
        let entry = self.entries.entry(node.clone()).or_insert_with(|| Lockable { uses: 0, of: Vec::new() });
        let of = Edge { target: previous.cloned(), version: version.clone() };
        entry.of.push(Lockable { uses: 0, of });
        node
    }

    /// A match of this number uses a node.
    pub fn lock(&mut self, node: &NodeId, version: &Version) {
        let Some(entry) = self.entries.get_mut(node) else { return };
        entry.uses += 1;
        for edge in entry.of.iter_mut().filter(|e| version.fits(&e.of.version)) {
            edge.uses += 1;
        }
    }

    /// A match of this number no longer uses a node, nor what only it reached from there.
    pub fn release(&mut self, node: &NodeId, version: &Version) {
        let mut stack = vec![(node.clone(), version.clone())];
        while let Some((node, version)) = stack.pop() {
            let Some(entry) = self.entries.get_mut(&node) else { break };
            let mut kept = Vec::with_capacity(entry.of.len());
            for mut edge in std::mem::take(&mut entry.of) {
                if version.fits(&edge.of.version) && edge.release() {
                    if let Some(target) = edge.of.target {
                        stack.push((target, edge.of.version));
                    }
                } else {
                    kept.push(edge);
                }
            }
            entry.of = kept;
            if entry.release() {
                self.entries.remove(&node);
                self.release_event(node.event);
            }
        }
    }

    /// The rows of the match of this number that ends at a node; none if the way is lost.
    pub fn path(&self, node: &NodeId, version: &Version) -> Option<Path> {
        // Of several ways the one that Flink comes to the end of first: the last that was put.
        let mut stack = vec![(Some(node.clone()), version.clone(), Vec::<NodeId>::new())];
        while let Some((at, version, mut steps)) = stack.pop() {
            let Some(node) = at else {
                let mut path: Path = Vec::new();
                for step in steps.into_iter().rev() {
                    match path.iter_mut().find(|(page, _)| *page == step.page) {
                        Some((_, events)) => events.push(step.event),
                        None => path.push((step.page, vec![step.event])),
                    }
                }
                return Some(path);
            };
            let Some(entry) = self.entries.get(&node) else { continue };
            steps.push(node);
            let ways: Vec<&Edge> = entry.of.iter().map(|e| &e.of).filter(|e| version.fits(&e.version)).collect();
            for (i, edge) in ways.iter().enumerate() {
                let own = if i + 1 == ways.len() { std::mem::take(&mut steps) } else { steps.clone() };
                stack.push((edge.target.clone(), edge.version.clone(), own));
            }
        }
        None
    }

    /// Rows of earlier times come no more.
    pub fn advance(&mut self, time: i64) {
        self.counts.retain(|of, _| *of >= time);
    }
}
