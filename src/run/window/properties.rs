//! The window columns of an aggregate's result.

use super::Shift;
use crate::eval::Datum;
use crate::run::store::Window;

/// A window column (Flink's `WindowProperty`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Property {
    /// window_start
    Start,
    /// window_end
    End,
    /// The event time of the result.
    Rowtime,
    /// The processing time.
    Proctime,
}

/// Appends the window columns of a window. `now` is the processing time.
pub fn properties_of(properties: &[Property], window: Window, shift: &Shift, now: i64, out: &mut Vec<Datum>) {
    out.extend(properties.iter().map(|p| {
        Datum::timestamp(match p {
            Property::Start => window.start,
            Property::End => window.end,
            Property::Rowtime => shift.to_epoch(window.end - 1),
            Property::Proctime => now,
        })
    }));
}
