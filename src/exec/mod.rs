//! Flink's operators: the canonical plan that is compared, printed and run.
//!
//! One file per exec node, named after Flink's `StreamExec*` classes. A [`Plan`] is an arena of [`Node`]s in print order
//! (root first, depth first; a shared sub-plan once).

/// Index of a [`Node`] in its [`Plan`]; also its id in JSON, where ids count in print order from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct NodeId(pub u32);
