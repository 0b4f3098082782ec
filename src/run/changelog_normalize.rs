//! `ChangelogNormalize`: complete changes of an upsert stream (`ProcTimeDeduplicateKeepLastRowFunction`, and under mini-batch
//! `ProcTimeMiniBatchDeduplicateKeepLastRowFunction`).

use super::build::{Build, Runnable};
use super::bundle::{self, Bundle};
use super::change::Change;
use super::error::RunResult;
use super::keep_last::KeepLast;
use super::store::Keys;
use super::task::{Output, States, Task};
use crate::exec::changelog_normalize::ChangelogNormalize;

struct NormalizeTask {
    keys: Keys,
    last: KeepLast,
    /// The last change per key.
    bundle: Option<Bundle<Option<Change>>>,
}

impl Runnable for ChangelogNormalize {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let bundle = bundle::is_on(build).then(|| Bundle::of(build, &self.keys));
        Ok(Box::new(NormalizeTask { keys: Keys::of(self.keys.as_slice()), last: KeepLast::build(build)?, bundle }))
    }
}

impl NormalizeTask {
    fn finish(&mut self, out: &mut Output) -> RunResult<()> {
        let Some(bundle) = &mut self.bundle else { return Ok(()) };
        for (_, key, change) in bundle.take() {
            let key = self.keys.of_key(&key);
            if let Some(change) = change {
                self.last.change(key, change, out)?;
            }
        }
        Ok(())
    }
}

impl Task for NormalizeTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        if let Some(bundle) = &mut self.bundle {
            let row = change.row.clone();
            *bundle.of_row(&row, || None).1 = Some(change);
            return if bundle.is_full() { self.finish(out) } else { Ok(()) };
        }
        let key = self.keys.of_row(&change.row);
        self.last.change(key, change, out)
    }

    fn watermark(&mut self, watermark: i64, out: &mut Output) -> RunResult<()> {
        self.finish(out)?;
        out.advance(watermark);
        Ok(())
    }

    fn before_savepoint(&mut self, out: &mut Output) -> RunResult<()> {
        self.finish(out)
    }

    fn states(&mut self) -> Option<States<'_>> {
        Some(States { keys: &mut self.keys, tables: vec![&mut self.last.kept] })
    }
}
