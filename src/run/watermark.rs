//! Watermarks as a strategy declares them.

use super::error::RunResult;
use super::task::Output;
use crate::catalog::options::parse_duration;
use crate::eval::{Datum, Evaluator};
use crate::run::build::Build;

/// Computes watermarks from rows and decides when to send them, as Flink's `WatermarkAssignerOperator` does: at once if the
/// watermark rose by more than the interval, else when the interval has passed on the clock.
pub struct WatermarkGenerator {
    strategy: Evaluator,
    /// `pipeline.auto-watermark-interval` in milliseconds.
    interval: i64,
    current: i64,
    sent: i64,
    /// When the interval ends.
    next: Option<i64>,
}

/// The default of `pipeline.auto-watermark-interval`.
const DEFAULT_INTERVAL: i64 = 200;

/// `pipeline.auto-watermark-interval` in milliseconds.
pub fn interval(options: &std::collections::BTreeMap<String, String>) -> i64 {
    options.get("pipeline.auto-watermark-interval").and_then(|v| parse_duration(v)).unwrap_or(DEFAULT_INTERVAL)
}

impl WatermarkGenerator {
    /// A generator that has seen no row. `first` is the watermark before the first row: an assigner starts at 0, a source at the
    /// beginning of time.
    pub fn new(strategy: Evaluator, build: &Build<'_>, first: i64) -> WatermarkGenerator {
        let interval = interval(&build.plan.options);
        WatermarkGenerator { strategy, interval, current: first, sent: first, next: None }
    }

    /// Goes on from a watermark that was sent before a restore.
    pub fn resume(&mut self, watermark: i64) {
        self.current = self.current.max(watermark);
        self.sent = self.sent.max(watermark);
    }

    /// The watermark that is to be sent right behind a row, if one is.
    pub fn after_row(&mut self, row: &[Datum], now: i64) -> RunResult<Option<i64>> {
        if let Some(watermark) = self.strategy.eval(row, now)?.as_millis() {
            self.current = self.current.max(watermark);
        }
        Ok(if self.current.saturating_sub(self.sent) > self.interval { self.due() } else { None })
    }

    /// After the clock went on.
    pub fn after_clock(&mut self, out: &mut Output) {
        if self.interval == 0 {
            return;
        }
        match self.next {
            Some(next) if out.now < next => {}
            Some(_) => {
                self.due().into_iter().for_each(|watermark| out.advance(watermark));
                self.next = Some(out.now + self.interval);
            }
            None => self.next = Some(out.now + self.interval),
        }
    }

    /// The watermark, if it was not sent yet.
    fn due(&mut self) -> Option<i64> {
        let rose = self.current > self.sent;
        self.sent = self.current;
        rose.then_some(self.current)
    }
}
