//! What the operators over windows share: time lines, slices, merging windows, and buffers.

mod attached;
mod buffer;
mod merging;
mod properties;
mod shift;
mod slices;

pub(super) use attached::{time_type, window_column};
pub(super) use buffer::{FlushClock, RowBuffer};
pub(super) use merging::{Merge, MergingWindows};
pub(super) use properties::{Property, properties_of};
pub(super) use shift::Shift;
pub(super) use slices::{Sharing, Slices, event_time, kept_places, window_start};
