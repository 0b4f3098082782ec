//! Windows as exec nodes carry and print them.

use super::TextContext;
use crate::logical::rel::{WindowKind, WindowOrigins};

/// How a node learns the window of a row (Flink's `WindowingStrategy` classes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WindowAttachment {
    /// From a time attribute.
    TimeColumn(usize),
    /// From columns with the bounds.
    Bounds {
        /// window_start.
        start: usize,
        /// window_end.
        end: usize,
    },
    /// From the slice end that a local aggregate attached.
    SliceEnd,
    /// From the window end that a local aggregate attached.
    WindowEnd,
}

/// A window with its place in the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowSpec {
    /// Kind and lengths.
    pub kind: WindowKind,
    /// The optional offset, in milliseconds.
    pub offset: Option<i64>,
    /// PARTITION BY of SESSION: input columns.
    pub partition: Vec<usize>,
    /// Where the window of a row comes from.
    pub attachment: WindowAttachment,
    /// Processing time.
    pub proctime: bool,
    /// Where its parts are written.
    pub origins: WindowOrigins,
}

impl WindowSpec {
    /// `TUMBLE(time_col=[ts], size=[10 min])`.
    pub fn text(&self, context: &TextContext<'_>) -> String {
        let attachment = match self.attachment {
            WindowAttachment::TimeColumn(i) => format!("time_col=[{}]", context.name(i)),
            WindowAttachment::Bounds { start, end } => {
                format!("win_start=[{}], win_end=[{}]", context.name(start), context.name(end))
            }
            WindowAttachment::SliceEnd => "slice_end=[$slice_end]".to_owned(),
            WindowAttachment::WindowEnd => "win_end=[$window_end]".to_owned(),
        };
        let lengths = match self.kind {
            WindowKind::Tumble { size } => format!("size=[{}]", duration(size)),
            WindowKind::Hop { size, slide } => format!("size=[{}], slide=[{}]", duration(size), duration(slide)),
            WindowKind::Cumulate { max_size, step } => {
                format!("max_size=[{}], step=[{}]", duration(max_size), duration(step))
            }
            WindowKind::Session { gap } if self.partition.is_empty() => format!("gap=[{}]", duration(gap)),
            WindowKind::Session { gap } => {
                format!("gap=[{}], partition keys=[{}]", duration(gap), context.names(&self.partition))
            }
        };
        let offset = self.offset.map(|o| format!(", offset=[{}]", duration(o))).unwrap_or_default();
        format!("{}({attachment}, {lengths}{offset})", self.kind.name())
    }
}

/// Milliseconds in the largest unit that divides them (Flink's `TimeUtils.formatWithHighestUnit`).
pub fn duration(millis: i64) -> String {
    const UNITS: [(i64, &str); 5] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms")];
    UNITS
        .iter()
        .find(|(unit, _)| millis % unit == 0)
        .map_or_else(|| format!("{millis} ms"), |(unit, word)| format!("{} {word}", millis / unit))
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_use_the_largest_unit() {
        let shown: Vec<String> = [0, 1, 1500, 60_000, 5_400_000, 86_400_000, -28_800_000].map(duration).to_vec();
        assert_eq!(shown, ["0 d", "1 ms", "1500 ms", "1 min", "90 min", "1 d", "-8 h"]);
    }
}
