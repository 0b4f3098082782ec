//! Savepoint files: the state of a run as JSON, with the plan that it belongs to.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Execution;
use crate::exec::{NodeId, Plan};
use crate::report::model::{ErrorCode, ErrorItem};
use crate::run::OperatorImage;
use crate::state;

/// The largest file of a savepoint in bytes.
pub const SAVEPOINT_LARGEST: u64 = 512 << 20;

/// The version of the format that this program writes, and the only one that it reads.
pub const VERSION: u32 = 1;

/// What a savepoint file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Savepoint {
    /// The version of the format.
    pub keepstate_savepoint: u32,
    /// The engine that the plan was made for.
    pub target: String,
    /// The fingerprint of the plan and its state.
    pub plan: String,
    /// Processing time, in milliseconds.
    pub clock: i64,
    /// Event time, where it is made.
    pub watermarks: Vec<WatermarkImage>,
    /// The state of the operators.
    pub operators: Vec<OperatorImage>,
    /// A hash of all that stands above, to notice a file that was cut or changed.
    pub checksum: String,
}

/// The last watermark of a source or watermark assigner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatermarkImage {
    /// The operator's id, as `keepstate plan` counts operators.
    pub operator: u32,
    /// The watermark, in milliseconds.
    pub watermark: i64,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(16).map(|b| format!("{b:02x}")).collect()
}

/// What tells a plan and its state from others: operators with all that EXPLAIN prints, and the types of their entries.
pub fn fingerprint(plan: &Plan) -> String {
    let mut hash = Sha256::new();
    hash.update(plan.target.to_string());
    // The plan is the same in every zone, but the windows in its state are not.
    hash.update(plan.options.get("table.local-time-zone").map_or("UTC", String::as_str));
    hash.update([0]);
    for id in plan.ids() {
        hash.update(plan.text(id));
        hash.update([0]);
        for entry in state::entries(plan, id) {
            hash.update(entry.to_json().to_string());
        }
    }
    hex(&hash.finalize())
}

impl Savepoint {
    /// The state of a run.
    pub fn of(execution: &mut Execution<'_>) -> Savepoint {
        let mut savepoint = Savepoint {
            keepstate_savepoint: VERSION,
            target: execution.plan.target.to_string(),
            plan: fingerprint(execution.plan),
            clock: execution.job.now(),
            watermarks: execution
                .job
                .pipeline()
                .watermarks()
                .into_iter()
                .map(|(id, watermark)| WatermarkImage { operator: id.shown(), watermark })
                .collect(),
            operators: execution.job.pipeline().image(execution.plan),
            checksum: String::new(),
        };
        savepoint.checksum = savepoint.sum();
        savepoint
    }

    fn sum(&self) -> String {
        let body = serde_json::json!([self.target, self.plan, self.clock, self.watermarks, self.operators]);
        hex(&Sha256::digest(body.to_string()))
    }

    /// The savepoint as a file.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a file and refuses what is not a savepoint of this version and whole.
    pub fn from_text(name: &str, text: &str) -> Result<Savepoint, Box<ErrorItem>> {
        let error = |message: String, help: &str| Box::new(ErrorItem::new(ErrorCode::Io, message).help(help));
        let again = "take it again with `keepstate run --savepoint`";
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|e| error(format!("{name} is not a savepoint: {e}"), again))?;
        match value.get("keepstate_savepoint").and_then(serde_json::Value::as_u64) {
            None => return Err(error(format!("{name} is not a savepoint of keepstate"), again)),
            Some(version) if version != u64::from(VERSION) => {
                let message =
                    format!("{name} has version {version} of the format; this program reads version {VERSION}");
                return Err(error(message, "take it again with this program"));
            }
            Some(_) => {}
        }
        let savepoint: Savepoint =
            serde_json::from_value(value).map_err(|e| error(format!("{name} is damaged: {e}"), again))?;
        if savepoint.checksum != savepoint.sum() {
            return Err(error(format!("{name} is damaged: its checksum does not fit its content"), again));
        }
        Ok(savepoint)
    }

    /// Restores a run of the same plan.
    pub fn restore(&self, name: &str, execution: &mut Execution<'_>) -> Result<(), Box<ErrorItem>> {
        if self.target != execution.plan.target.to_string() {
            let message =
                format!("{name} was taken for the target {}, the run is for {}", self.target, execution.plan.target);
            return Err(Box::new(
                ErrorItem::new(ErrorCode::Config, message).help(format!("add --target {}", self.target)),
            ));
        }
        if self.plan != fingerprint(execution.plan) {
            let error = ErrorItem::new(ErrorCode::Config, format!("{name} is the savepoint of another plan"));
            return Err(Box::new(
                error.help("`keepstate rehearse OLD NEW` restores a changed query the way the engine would"),
            ));
        }
        let restored = execution.job.pipeline().restore(execution.plan, &self.operators);
        restored.map_err(|e| Box::new(ErrorItem::new(ErrorCode::Io, format!("{name} is damaged: {e}"))))?;
        let ids = execution.plan.ids();
        let watermarks: Vec<(NodeId, i64)> = ids
            .filter_map(|id| self.watermarks.iter().find(|w| w.operator == id.shown()).map(|w| (id, w.watermark)))
            .collect();
        execution.job.set_now(self.clock);
        execution.job.pipeline().resume(&watermarks);
        Ok(())
    }
}
