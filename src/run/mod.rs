//! The reference executor: the canonical plan over rows, deterministic, one operator at a time.
//!
//! A [`Pipeline`] is a plan at work. Every exec node has its run-time in a file of the same name here; scalar expressions are
//! `eval`'s. Rows come in as [`Change`]s, in the order of their arrival, with a clock that the caller sets; nothing here reads
//! files, prints, or asks for the time.

pub mod aggregate;
mod build;
mod bundle;
mod calc;
pub mod change;
mod changelog_normalize;
mod correlate;
mod deduplicate;
mod drop_update_before;
pub mod error;
mod expand;
mod global_group_aggregate;
mod group_aggregate;
mod group_state;
mod group_window_aggregate;
mod hash_order;
mod image;
mod incremental_group_aggregate;
mod interval_join;
mod job;
mod join;
mod keep_last;
mod limit;
mod local_group_aggregate;
mod local_window_aggregate;
mod lookup_join;
mod match_recognize;
mod mini_batch_assigner;
mod order;
mod over_aggregate;
mod pass;
mod pipeline;
mod rank;
mod session_aggregate;
mod sink;
mod sort_limit;
pub mod store;
mod table_source_scan;
pub mod task;
mod temporal_join;
mod temporal_sort;
mod unread;
mod upsert_materializer;
mod values;
mod watermark;
mod watermark_assigner;
mod window;
mod window_aggregate;
mod window_deduplicate;
mod window_join;
mod window_rank;
mod window_table_function;

pub use change::{Change, RowKind};
pub use error::{RunError, RunErrorKind, RunResult};
pub use image::{OperatorImage, StateShape};
pub use job::{Clock, EndOfInput, InputTable, Job};
pub use pipeline::{ClockUse, Emitted, Pipeline};
