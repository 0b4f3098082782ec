//! Windows, frames, rank ranges and intervals: what has most spellings.

use super::super::job::*;
use super::{Legacy, Printer};

impl Printer<'_, '_> {
    pub(super) fn legacy(&mut self, window: Window, time: Col) -> Legacy {
        let time = self.column(time);
        let (name, args) = match window {
            Window::Tumble(size) | Window::Cumulate(_, size) => ("TUMBLE", self.interval(size)),
            Window::Hop(slide, size) => ("HOP", format!("{} , {}", self.interval(slide), self.interval(size))),
            Window::Session(gap) => ("SESSION", self.interval(gap)),
        };
        Legacy { name, args: format!("( {time} , {args} )"), group: format!("{name}( {time} , {args} )") }
    }

    pub(super) fn over(&mut self, over: &Over) -> String {
        let frame = match over.frame {
            Frame::Default => {
                *self.c.pick(&["", " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", " RANGE UNBOUNDED PRECEDING"])
            }
            .to_owned(),
            Frame::RowsUnbounded => {
                { *self.c.pick(&[" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", " ROWS UNBOUNDED PRECEDING"]) }
                    .to_owned()
            }
            Frame::Rows(n) => match self.c.below(2) {
                0 => format!(" ROWS BETWEEN {n} PRECEDING AND CURRENT ROW"),
                _ => format!(" ROWS {n} PRECEDING"),
            },
            Frame::Range(ms) => {
                let interval = self.interval(ms);
                format!(" RANGE BETWEEN {interval} PRECEDING AND CURRENT ROW")
            }
        };
        let partition = self.partition(&over.partition);
        let order = self.column(over.order);
        let direction = *self.c.pick(&["", " ASC", " ASC NULLS FIRST"]);
        format!("{partition}ORDER BY {order}{direction}{frame}")
    }

    pub(super) fn partition(&mut self, columns: &[Col]) -> String {
        if columns.is_empty() { String::new() } else { format!("PARTITION BY {} ", self.columns(columns)) }
    }

    pub(super) fn rank_window(&mut self, partition: &[Col], order: &[(Col, bool)]) -> String {
        let partition = self.partition(partition);
        let order: Vec<String> = order
            .iter()
            .map(|(column, descending)| {
                let forms = if *descending { [" DESC", " DESC NULLS LAST"] } else { ["", " ASC"] };
                format!("{}{}", self.column(*column), self.c.pick(&forms))
            })
            .collect();
        format!("{partition}ORDER BY {}", order.join(" , "))
    }

    pub(super) fn rank_range(&mut self, column: Col, from: i64, to: i64) -> String {
        let rn = self.column(column);
        if (from, to) == (1, 1) {
            return match self.c.below(4) {
                0 => format!("{rn} = 1"),
                1 => format!("1 = {rn}"),
                2 => format!("{rn} <= 1"),
                _ => format!("{rn} < 2"),
            };
        }
        match self.c.below(6) {
            0 if from == 1 => format!("{rn} <= {to}"),
            1 if from == 1 => format!("{rn} < {}", to + 1),
            2 if from == 1 => format!("{to} >= {rn}"),
            0..=3 => format!("{rn} BETWEEN {from} AND {to}"),
            4 => format!("{rn} >= {from} AND {rn} <= {to}"),
            _ => format!("{} > {rn} AND {rn} > {}", to + 1, from - 1),
        }
    }

    /// An interval in one of the units that it is a whole number of; more than two digits need a precision.
    pub(super) fn interval(&mut self, ms: i64) -> String {
        let mut forms = Vec::new();
        for (unit, length) in [("HOUR", 3_600_000), ("MINUTE", 60_000), ("SECOND", 1_000)] {
            let n = ms / length;
            if ms % length == 0 && n > 0 {
                match n {
                    0..100 => forms.push(format!("INTERVAL '{n}' {unit}")),
                    100..1_000 => forms.push(format!("INTERVAL '{n}' {unit}(3)")),
                    _ => {}
                }
            }
        }
        if ms < 99_000 {
            forms.push(format!("INTERVAL '{}.{:03}' SECOND", ms / 1_000, ms % 1_000));
        }
        let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
        if ms % 1_000 == 0 && hours < 24 {
            forms.push(format!("INTERVAL '{hours}:{minutes:02}:{seconds:02}' HOUR TO SECOND"));
        }
        self.c.pick(&forms).clone()
    }
}
