//! What `Match` keeps, as savepoints hold it.

use std::hash::Hash;
use std::sync::Arc;

use serde_json::{Value, json};

use super::heap::{Heap, Ordered};
use crate::eval::Row;
use crate::run::store::{ImageError, StateData};
use crate::state::types::StateType;

/// A row in the buffer: its time, and its number among the rows of that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// Its time.
    pub time: i64,
    /// Its number.
    pub id: i32,
}

/// A row as one of a variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId {
    /// The row.
    pub event: EventId,
    /// The variable.
    pub page: Arc<str>,
}

/// A number like `1.0.2` that tells apart the matches that share rows (Flink's `DeweyNumber`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(pub Vec<i32>);

impl Version {
    /// The number with its last digit increased.
    pub fn increased(&self, by: i32) -> Version {
        let mut digits = self.0.clone();
        if let Some(last) = digits.last_mut() {
            *last = last.wrapping_add(by);
        }
        Version(digits)
    }

    /// The number with a digit more.
    pub fn with_stage(mut self) -> Version {
        self.0.push(0);
        self
    }

    /// True if this number continues `other`.
    pub fn fits(&self, other: &Version) -> bool {
        let (own, len) = (&self.0, other.0.len());
        if own.len() > len {
            return own[..len] == other.0[..];
        }
        own.len() == len && len > 0 && own[..len - 1] == other.0[..len - 1] && own[len - 1] >= other.0[len - 1]
    }
}

/// Something with a count of its users (Flink's `Lockable`).
#[derive(Debug, Clone, PartialEq)]
pub struct Lockable<T> {
    /// How many use it.
    pub uses: i32,
    /// The thing.
    pub of: T,
}

impl<T> Lockable<T> {
    /// One user less; true if none is left.
    pub fn release(&mut self) -> bool {
        if self.uses > 0 {
            self.uses -= 1;
        }
        self.uses == 0
    }
}

/// The way from a row of a match to the one before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The row before; none at the beginning.
    pub target: Option<NodeId>,
    /// The matches that go this way.
    pub version: Version,
}

/// The ways back from a row.
pub type Edges = Vec<Lockable<Edge>>;

/// A match that has begun (Flink's `ComputationState`).
#[derive(Debug, Clone, PartialEq)]
pub struct Partial {
    /// The name of the machine's state.
    pub state: Arc<str>,
    /// Its number.
    pub version: Version,
    /// The time of its first row.
    pub start_time: i64,
    /// The time of its last row.
    pub previous_time: i64,
    /// Its last row.
    pub previous: Option<NodeId>,
    /// Its first row; none where nothing has begun.
    pub start: Option<EventId>,
}

impl Ordered for Partial {
    type Key = (i64, i32);

    fn key(&self) -> (i64, i32) {
        self.start.map_or((i64::MAX, i32::MAX), |e| (e.time, e.id))
    }
}

/// All matches of a key that have begun, and those that are complete but wait for earlier ones.
#[derive(Debug, Clone)]
pub struct NfaState {
    /// Those that have begun.
    pub partial: Heap<Partial>,
    /// Those that are complete.
    pub complete: Heap<Partial>,
    /// It is to be stored.
    pub changed: bool,
}

fn wrong(value: &Value, ty: &StateType) -> ImageError {
    let text: String = value.to_string().chars().take(60).collect();
    ImageError::new(format!("{text} is not of the type {ty}"))
}

/// The parts of a class of Flink's own.
fn class<'t>(ty: &'t StateType, name: &str) -> Option<&'t [StateType]> {
    match ty {
        StateType::Class(own, parts) if *own == name => Some(parts),
        _ => None,
    }
}

fn event_json(e: &EventId) -> Value {
    json!([e.time, e.id])
}

fn event_of(value: &Value) -> Option<EventId> {
    let [time, id] = value.as_array()?.as_slice() else { return None };
    Some(EventId { time: time.as_i64()?, id: i32::try_from(id.as_i64()?).ok()? })
}

fn node_json(n: &NodeId) -> Value {
    json!([n.event.time, n.event.id, &*n.page])
}

fn node_of(value: &Value) -> Option<NodeId> {
    let [time, id, page] = value.as_array()?.as_slice() else { return None };
    let event = EventId { time: time.as_i64()?, id: i32::try_from(id.as_i64()?).ok()? };
    Some(NodeId { event, page: page.as_str()?.into() })
}

fn version_json(v: &Version) -> Value {
    json!(v.0)
}

fn version_of(value: &Value) -> Option<Version> {
    let digits = value.as_array()?.iter().map(|d| i32::try_from(d.as_i64()?).ok());
    digits.collect::<Option<Vec<i32>>>().map(Version)
}

impl StateData for EventId {
    fn fits(&self, ty: &StateType) -> bool {
        class(ty, "EventId").is_some()
    }

    fn to_json(&self, _: &StateType) -> Value {
        event_json(self)
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        event_of(value).ok_or_else(|| wrong(value, ty))
    }
}

impl StateData for NodeId {
    fn fits(&self, ty: &StateType) -> bool {
        class(ty, "NodeId").is_some()
    }

    fn to_json(&self, _: &StateType) -> Value {
        node_json(self)
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        node_of(value).ok_or_else(|| wrong(value, ty))
    }
}

impl StateData for Lockable<Row> {
    fn fits(&self, ty: &StateType) -> bool {
        matches!(class(ty, "LockableType"), Some([row]) if StateData::fits(&self.of, row))
    }

    fn to_json(&self, ty: &StateType) -> Value {
        let row = class(ty, "LockableType").and_then(|p| p.first()).unwrap_or(ty);
        json!([self.uses, StateData::to_json(&self.of, row)])
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        let (Some([uses, row]), Some([of])) = (value.as_array().map(Vec::as_slice), class(ty, "LockableType")) else {
            return Err(wrong(value, ty));
        };
        let uses = uses.as_i64().and_then(|n| i32::try_from(n).ok()).ok_or_else(|| wrong(value, ty))?;
        Ok(Lockable { uses, of: Row::from_json(row, of)? })
    }
}

impl StateData for Lockable<Edges> {
    fn fits(&self, ty: &StateType) -> bool {
        matches!(class(ty, "LockableType"), Some([node]) if class(node, "SharedBufferNode").is_some())
    }

    fn to_json(&self, _: &StateType) -> Value {
        let edge =
            |e: &Lockable<Edge>| json!([e.uses, e.of.target.as_ref().map(node_json), version_json(&e.of.version)]);
        json!([self.uses, self.of.iter().map(edge).collect::<Vec<_>>()])
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        let of = || -> Option<Self> {
            let [uses, edges] = value.as_array()?.as_slice() else { return None };
            let edge = |e: &Value| -> Option<Lockable<Edge>> {
                let [uses, target, version] = e.as_array()?.as_slice() else { return None };
                let target = if target.is_null() { None } else { Some(node_of(target)?) };
                let of = Edge { target, version: version_of(version)? };
                Some(Lockable { uses: i32::try_from(uses.as_i64()?).ok()?, of })
            };
            let edges = edges.as_array()?.iter().map(edge).collect::<Option<Edges>>()?;
            Some(Lockable { uses: i32::try_from(uses.as_i64()?).ok()?, of: edges })
        };
        of().ok_or_else(|| wrong(value, ty))
    }
}

fn partial_json(p: &Partial) -> Value {
    json!({
        "state": &*p.state,
        "version": version_json(&p.version),
        "start_time": p.start_time,
        "previous_time": p.previous_time,
        "previous": p.previous.as_ref().map(node_json),
        "start": p.start.as_ref().map(event_json),
    })
}

fn partial_of(value: &Value) -> Option<Partial> {
    let part = |name: &str| value.get(name).filter(|v| !v.is_null());
    Some(Partial {
        state: part("state")?.as_str()?.into(),
        version: version_of(part("version")?)?,
        start_time: part("start_time")?.as_i64()?,
        previous_time: part("previous_time")?.as_i64()?,
        previous: part("previous").map(|v| node_of(v).ok_or(())).transpose().ok()?,
        start: part("start").map(|v| event_of(v).ok_or(())).transpose().ok()?,
    })
}

impl StateData for NfaState {
    fn fits(&self, ty: &StateType) -> bool {
        class(ty, "NFAState").is_some()
    }

    fn to_json(&self, _: &StateType) -> Value {
        let list = |heap: &Heap<Partial>| heap.iter().map(partial_json).collect::<Vec<_>>();
        json!({ "partial": list(&self.partial), "complete": list(&self.complete) })
    }

    fn from_json(value: &Value, ty: &StateType) -> Result<Self, ImageError> {
        let list = |name: &str| -> Option<Heap<Partial>> {
            let mut heap = Heap::new();
            for item in value.get(name)?.as_array()? {
                heap.push(partial_of(item)?);
            }
            Some(heap)
        };
        match (list("partial"), list("complete")) {
            (Some(partial), Some(complete)) => Ok(NfaState { partial, complete, changed: false }),
            _ => Err(wrong(value, ty)),
        }
    }
}
