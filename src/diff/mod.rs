//! States what differs between two plans, as typed facts. Does not judge.
//!
//! Operators are matched by their place from each sink ([`matching`]), columns by what they are computed from ([`lineage`]); then
//! every pair is compared from the sources up ([`compare`]), so that a change downstream that only repeats one further up is known as
//! its echo and folded under it.

mod aggregates;
pub mod change;
mod compare;
mod correspondence;
mod descent;
mod facts;
pub mod family;
mod filters;
mod job;
mod keys;
pub mod lineage;
mod lookup;
pub mod matching;
mod nullability;
mod outputs;
pub mod places;
mod sources;
mod table_functions;
mod view;

use change::JobDiff;
pub use correspondence::{Correspondence, correspondences};

use crate::exec::Plan;
use crate::source::SourceMap;

/// All differences between the old and the new plan of one job. The texts give words to what has no name.
pub fn diff(sources: &SourceMap, old: &Plan, new: &Plan) -> JobDiff {
    job::diff(sources, old, new)
}
