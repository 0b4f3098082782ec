//! `GroupWindowAggregate`: the legacy `GROUP BY TUMBLE|HOP|SESSION(...)`.
//!
//! State: the accumulators of every open window per key, merging windows for SESSION, and timers.

use super::aggregate_text::call_text;
use super::{ExecNode, TextContext};
use crate::logical::rel::{AggCall, WindowKind, WindowOrigins, WrittenCall, WrittenKey};
use crate::logical::rex::Origins;

/// A legacy window aggregate.
#[derive(Debug, Clone)]
pub struct GroupWindowAggregate {
    /// Group keys apart from the window.
    pub keys: Vec<usize>,
    /// Kind and lengths.
    pub window: WindowKind,
    /// The time attribute: an input column. None where the clock itself is asked and no column is read.
    pub time: Option<usize>,
    /// Its name.
    pub time_name: std::sync::Arc<str>,
    /// Processing time.
    pub proctime: bool,
    /// start, end, rowtime and proctime are put out.
    pub properties: bool,
    /// The calls.
    pub calls: Vec<AggCall>,
    /// The input has updates.
    pub retracts: bool,
    /// Early and late firing.
    pub emit: EmitStrategy,
    /// Where the window's parts are written.
    pub window_origins: WindowOrigins,
    /// Where each key is written.
    pub key_origins: Vec<Origins>,
    /// GROUP BY in the order written.
    pub written_keys: Vec<WrittenKey>,
    /// The calls as written.
    pub written: Vec<WrittenCall>,
}

/// `table.exec.emit.*`: how windows fire before or after their end (Flink's `WindowEmitStrategy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct EmitStrategy {
    /// Delay of early firing in milliseconds, if on.
    pub early: Option<i64>,
    /// Delay of late firing in milliseconds, if on.
    pub late: Option<i64>,
    /// Allowed lateness in milliseconds.
    pub allow_lateness: i64,
}

impl EmitStrategy {
    /// True if results can be sent again.
    pub fn produces_updates(self) -> bool {
        self.early.is_some() || self.late.is_some()
    }

    fn text(self) -> Option<String> {
        let delay = |d: i64| if d > 0 { format!("delay {d} millisecond") } else { "no delay".to_owned() };
        let early = self.early.map(|d| format!("early {}", delay(d)));
        let late = self.late.map(|d| format!("late {}", delay(d)));
        match (early, late) {
            (None, None) => None,
            (Some(a), Some(b)) => Some(format!("{a}, {b}")),
            (a, b) => a.or(b),
        }
    }
}

impl GroupWindowAggregate {
    /// The properties in order, as Flink names them.
    pub fn property_names(&self) -> Vec<&'static str> {
        match (self.properties, self.proctime) {
            (false, _) => Vec::new(),
            (true, false) => vec!["start", "end", "rowtime", "proctime"],
            (true, true) => vec!["start", "end", "proctime"],
        }
    }
}

impl ExecNode for GroupWindowAggregate {
    fn kind(&self) -> &'static str {
        "GroupWindowAggregate"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let mut out = Vec::new();
        if !self.keys.is_empty() {
            out.push(("groupBy", context.names(&self.keys)));
        }
        let time = self.time.map_or(&*self.time_name, |t| context.name(t));
        out.push((
            "window",
            match self.window {
                WindowKind::Hop { size, slide } => format!("SlidingGroupWindow('w$, {time}, {size}, {slide})"),
                WindowKind::Session { gap } => format!("SessionGroupWindow('w$, {time}, {gap})"),
                WindowKind::Tumble { size } | WindowKind::Cumulate { max_size: size, .. } => {
                    format!("TumblingGroupWindow('w$, {time}, {size})")
                }
            },
        ));
        let properties = self.property_names();
        if !properties.is_empty() {
            out.push(("properties", super::join(properties.iter().map(|p| format!("w${p}")))));
        }
        let columns = &context.node.columns;
        let mut select: Vec<String> = self.keys.iter().map(|k| context.name(*k).to_owned()).collect();
        let first = self.keys.len();
        for (call, column) in self.calls.iter().zip(&columns[first..]) {
            select.push(format!("{} AS {}", call_text(call, false, context), column.name));
        }
        select.extend(properties.iter().map(|p| format!("{p}('w$) AS w${p}")));
        out.push(("select", select.join(", ")));
        if let Some(emit) = self.emit.text() {
            out.push(("emit", emit));
        }
        out
    }
}
