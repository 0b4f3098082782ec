//! Session options: `SET 'key' = 'value'`.

use rustc_hash::FxHashMap;

use super::session_zone;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;

/// One option with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOption {
    /// The value as written.
    pub value: String,
    /// The SET statement's key and value.
    pub span: Span,
}

/// How unbounded aggregates are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AggregatePhase {
    /// Flink decides.
    #[default]
    Auto,
    /// One operator.
    OnePhase,
    /// Local and global.
    TwoPhase,
}

/// The options set so far, with typed access to those that plans depend on. Defaults are Flink's.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    values: FxHashMap<String, SessionOption>,
}

impl SessionOptions {
    /// Sets an option; one that is read as a typed value is checked here, where its place is known.
    pub fn set(&mut self, key: &str, value: &str, span: Span) -> PlanResult<()> {
        check(key, value).map_err(|(expected, help)| {
            PlanError::rejected(span, format!("Could not parse value '{value}' for key '{key}'"))
                .label(format!("expected {expected}"))
                .help(help)
        })?;
        self.values.insert(key.to_owned(), SessionOption { value: value.to_owned(), span });
        Ok(())
    }

    /// Forgets an option, or all.
    pub fn reset(&mut self, key: Option<&str>) {
        match key {
            Some(key) => {
                self.values.remove(key);
            }
            None => self.values.clear(),
        }
    }

    /// An option as written.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|o| o.value.as_str())
    }

    /// Where an option was set.
    pub fn span(&self, key: &str) -> Option<Span> {
        self.values.get(key).map(|o| o.span)
    }

    /// All options, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &SessionOption)> {
        let mut all: Vec<_> = self.values.iter().map(|(k, o)| (k.as_str(), o)).collect();
        all.sort_by_key(|(k, _)| *k);
        all.into_iter()
    }

    fn flag(&self, key: &str, default: bool) -> bool {
        self.get(key).and_then(parse_bool).unwrap_or(default)
    }

    fn millis(&self, key: &str) -> Option<i64> {
        self.get(key).and_then(parse_duration)
    }

    fn number(&self, key: &str) -> Option<i64> {
        self.get(key).and_then(|v| v.trim().parse().ok())
    }

    /// `table.optimizer.agg-phase-strategy`
    pub fn aggregate_phase(&self) -> AggregatePhase {
        match self.get("table.optimizer.agg-phase-strategy").map(str::to_ascii_uppercase).as_deref() {
            Some("ONE_PHASE") => AggregatePhase::OnePhase,
            Some("TWO_PHASE") => AggregatePhase::TwoPhase,
            _ => AggregatePhase::Auto,
        }
    }

    /// `table.exec.mini-batch.enabled`
    pub fn mini_batch_enabled(&self) -> bool {
        self.flag("table.exec.mini-batch.enabled", false)
    }

    /// `table.optimizer.join-reorder-enabled`
    pub fn join_reorder(&self) -> bool {
        self.flag("table.optimizer.join-reorder-enabled", false)
    }

    /// `table.optimizer.multi-join.enabled`
    pub fn multi_join(&self) -> bool {
        self.flag("table.optimizer.multi-join.enabled", false)
    }

    /// `table.exec.mini-batch.allow-latency`, in milliseconds.
    pub fn mini_batch_latency(&self) -> i64 {
        self.millis("table.exec.mini-batch.allow-latency").unwrap_or(0)
    }

    /// `table.optimizer.non-deterministic-update.strategy` is `TRY_RESOLVE`.
    pub fn resolves_updates(&self) -> bool {
        let strategy = self.get("table.optimizer.non-deterministic-update.strategy");
        strategy.is_some_and(|s| s.eq_ignore_ascii_case("try_resolve"))
    }

    /// `table.exec.async-lookup.output-mode` is `ALLOW_UNORDERED`.
    pub fn async_lookup_unordered(&self) -> bool {
        self.get("table.exec.async-lookup.output-mode").is_some_and(|m| m.eq_ignore_ascii_case("allow_unordered"))
    }

    /// `table.exec.async-lookup.timeout`, in milliseconds.
    pub fn async_lookup_timeout(&self) -> i64 {
        self.millis("table.exec.async-lookup.timeout").unwrap_or(180_000)
    }

    /// `table.exec.async-lookup.buffer-capacity`
    pub fn async_lookup_capacity(&self) -> i64 {
        self.number("table.exec.async-lookup.buffer-capacity").unwrap_or(100)
    }

    /// `table.exec.mini-batch.size`
    pub fn mini_batch_size(&self) -> Option<i64> {
        self.number("table.exec.mini-batch.size")
    }

    /// `table.exec.emit.early-fire.delay` if early firing is enabled, in milliseconds.
    pub fn early_fire(&self) -> Option<i64> {
        self.flag("table.exec.emit.early-fire.enabled", false)
            .then(|| self.millis("table.exec.emit.early-fire.delay").unwrap_or(0))
    }

    /// `table.exec.emit.late-fire.delay` if late firing is enabled, in milliseconds.
    pub fn late_fire(&self) -> Option<i64> {
        self.flag("table.exec.emit.late-fire.enabled", false)
            .then(|| self.millis("table.exec.emit.late-fire.delay").unwrap_or(0))
    }

    /// `table.exec.emit.allow-lateness`, in milliseconds.
    pub fn allow_lateness(&self) -> Option<i64> {
        self.millis("table.exec.emit.allow-lateness")
    }

    /// `table.optimizer.distinct-agg.split.enabled`
    pub fn split_distinct(&self) -> bool {
        self.flag("table.optimizer.distinct-agg.split.enabled", false)
    }

    /// `table.optimizer.distinct-agg.split.bucket-num`
    pub fn split_distinct_buckets(&self) -> i64 {
        self.number("table.optimizer.distinct-agg.split.bucket-num").unwrap_or(1024)
    }

    /// `table.optimizer.incremental-agg-enabled`
    pub fn incremental_aggregate(&self) -> bool {
        self.flag("table.optimizer.incremental-agg-enabled", true)
    }

    /// `table.optimizer.reuse-sub-plan-enabled`
    pub fn reuse_sub_plan(&self) -> bool {
        self.flag("table.optimizer.reuse-sub-plan-enabled", true)
    }

    /// `table.optimizer.reuse-source-enabled`
    pub fn reuse_source(&self) -> bool {
        self.flag("table.optimizer.reuse-source-enabled", true)
    }

    /// `table.optimizer.source.predicate-pushdown-enabled`
    pub fn predicate_push_down(&self) -> bool {
        self.flag("table.optimizer.source.predicate-pushdown-enabled", true)
    }

    /// `table.local-time-zone`; `None` is the zone of the machine.
    pub fn time_zone(&self) -> Option<&str> {
        self.get("table.local-time-zone").filter(|v| *v != "default")
    }

    /// `table.exec.state.ttl`, in milliseconds; 0 is never.
    pub fn state_ttl(&self) -> i64 {
        self.millis("table.exec.state.ttl").unwrap_or(0)
    }

    /// `pipeline.name`
    pub fn pipeline_name(&self) -> Option<&str> {
        self.get("pipeline.name")
    }

    /// `pipeline.auto-watermark-interval`, in milliseconds.
    pub fn auto_watermark_interval(&self) -> i64 {
        self.millis("pipeline.auto-watermark-interval").unwrap_or(200)
    }

    /// `table.exec.sink.upsert-materialize`: `NONE`, `AUTO` or `FORCE`.
    pub fn upsert_materialize(&self) -> &str {
        self.get("table.exec.sink.upsert-materialize").unwrap_or("AUTO")
    }

    /// `table.exec.source.cdc-events-duplicate`
    pub fn cdc_events_duplicate(&self) -> bool {
        self.flag("table.exec.source.cdc-events-duplicate", false)
    }

    /// `table.exec.legacy-cast-behaviour`
    pub fn legacy_cast(&self) -> bool {
        self.get("table.exec.legacy-cast-behaviour").is_some_and(|v| v.eq_ignore_ascii_case("enabled"))
    }

    /// `table.optimizer.state-compatibility.ignore-filter` (vvr)
    pub fn ignore_filter(&self) -> bool {
        self.flag("table.optimizer.state-compatibility.ignore-filter", false)
    }

    /// `table.optimizer.state-compatibility.ignore-sink` (vvr)
    pub fn ignore_sink(&self) -> bool {
        self.flag("table.optimizer.state-compatibility.ignore-sink", false)
    }

    /// `execution.runtime-mode` is `batch`: such jobs keep no state over restarts.
    pub fn is_batch(&self) -> bool {
        self.get("execution.runtime-mode").is_some_and(|v| v.eq_ignore_ascii_case("batch"))
    }
}

/// How the values of keys that are read as typed values are checked: what is expected, and what to do.
fn check(key: &str, value: &str) -> Result<(), (&'static str, &'static str)> {
    // A placeholder is an opaque value.
    if value.contains("${") || value.contains("{{") {
        return Ok(());
    }
    const FLAGS: &[&str] = &[
        "table.exec.mini-batch.enabled",
        "table.exec.emit.early-fire.enabled",
        "table.exec.emit.late-fire.enabled",
        "table.optimizer.distinct-agg.split.enabled",
        "table.optimizer.incremental-agg-enabled",
        "table.optimizer.join-reorder-enabled",
        "table.optimizer.multi-join.enabled",
        "table.optimizer.reuse-sub-plan-enabled",
        "table.optimizer.reuse-source-enabled",
        "table.optimizer.source.predicate-pushdown-enabled",
        "table.exec.source.cdc-events-duplicate",
        "table.optimizer.state-compatibility.ignore-filter",
        "table.optimizer.state-compatibility.ignore-sink",
    ];
    const DURATIONS: &[&str] = &[
        "table.exec.mini-batch.allow-latency",
        "table.exec.emit.early-fire.delay",
        "table.exec.emit.late-fire.delay",
        "table.exec.emit.allow-lateness",
        "table.exec.state.ttl",
        "pipeline.auto-watermark-interval",
    ];
    if key == "table.local-time-zone" && value != "default" && session_zone(value).is_none() {
        return Err((
            "a time zone",
            "name one of the time zone database, such as 'Europe/Berlin', or 'UTC' or 'GMT+08:00'",
        ));
    }
    if FLAGS.contains(&key) && parse_bool(value).is_none() {
        return Err(("true or false", "write 'true' or 'false'"));
    }
    if key == "table.optimizer.distinct-agg.split.bucket-num" && value.trim().parse::<i32>().is_err() {
        return Err(("a number of buckets", "write a number, such as '1024'"));
    }
    if DURATIONS.contains(&key) && parse_duration(value).is_none() {
        return Err(("a duration", "write a number and a unit, such as '500 ms', '2 s', '1 h' or '7 d'"));
    }
    Ok(())
}

/// `true` or `false`, in any letter case.
pub fn parse_bool(text: &str) -> Option<bool> {
    match text.trim() {
        t if t.eq_ignore_ascii_case("true") => Some(true),
        t if t.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Milliseconds of a duration as Flink's `TimeUtils` reads it: a number and a unit (`ms` if there is none), parts below a
/// millisecond cut; or ISO-8601 (`PT1H30M`).
pub fn parse_duration(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.starts_with(['P', 'p']) {
        return parse_iso(&text[1..].to_ascii_uppercase());
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: i128 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim().to_ascii_lowercase();
    let nanos: i128 = match unit.as_str() {
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => 1,
        "us" | "\u{b5}s" | "micro" | "micros" | "microsecond" | "microseconds" => 1_000,
        "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => 1_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000_000_000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000_000_000,
        "h" | "hour" | "hours" => 3_600_000_000_000,
        "d" | "day" | "days" => 86_400_000_000_000,
        _ => return None,
    };
    i64::try_from(number.checked_mul(nanos)? / 1_000_000).ok()
}

/// The rest of an ISO-8601 duration after `P`: days, then hours, minutes, seconds after `T`.
fn parse_iso(text: &str) -> Option<i64> {
    let mut total = 0.0;
    let mut in_time = false;
    let mut number = String::new();
    let mut any = false;
    for c in text.chars() {
        let scale = match c {
            'T' if number.is_empty() => {
                in_time = true;
                continue;
            }
            '0'..='9' | '.' | '-' | '+' => {
                number.push(c);
                continue;
            }
            'D' if !in_time => 86_400_000.0,
            'H' if in_time => 3_600_000.0,
            'M' if in_time => 60_000.0,
            'S' if in_time => 1_000.0,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * scale;
        number.clear();
        any = true;
    }
    (any && number.is_empty()).then_some(total as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, millis) in [
            ("2 s", 2_000),
            ("1 h", 3_600_000),
            ("500 ms", 500),
            ("500", 500),
            ("1min", 60_000),
            ("36 hours", 129_600_000),
            ("7 d", 604_800_000),
            ("1500 us", 1),
            ("PT1H30M", 5_400_000),
            ("P1DT0.5S", 86_400_500),
        ] {
            assert_eq!(parse_duration(text), Some(millis), "{text}");
        }
        for text in ["", "s", "1 week", "x", "P", "P1H"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn typed_access_and_checks() {
        let mut options = SessionOptions::default();
        assert!(options.set("table.exec.state.ttl", "1 d", Span::default()).is_ok());
        assert_eq!(options.state_ttl(), 86_400_000);
        let error = options.set("table.exec.state.ttl", "soon", Span::default()).unwrap_err();
        assert_eq!(error.label, "expected a duration");
        options.reset(Some("table.exec.state.ttl"));
        assert_eq!(options.state_ttl(), 0);
    }
}
