//! When the state of a key is forgotten.

use crate::catalog::options::parse_duration;
use crate::run::build::Build;
use crate::run::error::RunResult;
use crate::run::store::{KeyId, KeyedState, StateTable, Timers};

/// After some idle time on the clock, for `table.exec.state.ttl` (`KeyedProcessFunctionWithCleanupState`).
pub(super) struct IdleCleanup {
    /// How long an idle key is kept at least.
    min: i64,
    /// How long after its last use a key is forgotten at the latest, so that not every row sets a timer.
    max: i64,
    time: KeyedState<(), i64>,
    timers: Timers<()>,
}

impl IdleCleanup {
    /// The cleanup whose time is kept in the entry `name`; `None` without a time to live.
    pub fn build(name: &str, build: &mut Build<'_>) -> RunResult<Option<IdleCleanup>> {
        let ttl = build.option("table.exec.state.ttl").and_then(parse_duration).filter(|ttl| *ttl > 0);
        ttl.map(|min| {
            let time = build.entries.keyed(name)?;
            // `TableConfigUtils.getMaxIdleStateRetentionTime`
            Ok(IdleCleanup { min, max: min.saturating_mul(3) / 2, time, timers: build.entries.processing_timers()? })
        })
        .transpose()
    }

    /// The key is in use (`CleanupState.registerProcessingCleanupTimer`).
    pub fn touch(&mut self, key: KeyId, now: i64) -> RunResult<()> {
        let current = self.time.get(key, ()).copied();
        if current.is_none_or(|current| now.saturating_add(self.min) > current) {
            let time = now.saturating_add(self.max);
            self.timers.set(time, key, ());
            if let Some(current) = current {
                self.timers.delete(current, key, ());
            }
            self.time.put(key, (), time)?;
        }
        Ok(())
    }

    /// The next key that was idle for too long.
    pub fn due(&mut self, now: i64) -> Option<KeyId> {
        self.timers.due(now).map(|(_, key, ())| key)
    }

    /// The state of the key was forgotten.
    pub fn done(&mut self, key: KeyId) {
        self.time.remove(key, ());
    }

    pub fn tables(&mut self) -> [&mut dyn StateTable; 2] {
        [&mut self.time, &mut self.timers]
    }
}

/// When no row of a RANGE can be in the frame any more (`cleanupTsState`). Its timers are among those of the rows.
pub(super) struct RangeCleanup {
    range: i64,
    time: KeyedState<(), i64>,
}

impl RangeCleanup {
    pub fn build(range: i64, build: &mut Build<'_>) -> RunResult<RangeCleanup> {
        Ok(RangeCleanup { range, time: build.entries.keyed("cleanupTsState")? })
    }

    /// A row of `time` came (`registerCleanupTimer`).
    pub fn register(&mut self, key: KeyId, time: i64, timers: &mut Timers<()>) -> RunResult<()> {
        let least = time.wrapping_add(self.range).wrapping_add(1);
        if self.time.get(key, ()).is_none_or(|current| *current < least) {
            let latest = time.wrapping_add((self.range as f64 * 1.5) as i64).wrapping_add(1);
            timers.set(latest, key, ());
            self.time.put(key, (), latest)?;
        }
        Ok(())
    }

    /// True if a timer of `time` says that the state of the key can be forgotten.
    pub fn is_due(&self, key: KeyId, time: i64) -> bool {
        self.time.get(key, ()).is_some_and(|cleanup| *cleanup <= time)
    }

    /// The state of the key was forgotten.
    pub fn done(&mut self, key: KeyId) {
        self.time.remove(key, ());
    }

    pub fn table(&mut self) -> &mut dyn StateTable {
        &mut self.time
    }
}
