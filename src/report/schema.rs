//! The JSON schema of reports, as `keepstate schema` prints it.

use schemars::generate::SchemaSettings;

use super::model::Report;

/// The schema of `check --format json`, as it stands in `schemas/report.json`.
pub const REPORT: &str = include_str!("../../schemas/report.json");

/// The schema of `keepstate.toml`, as it stands in `schemas/config.json`. Written by hand, as its reader is; a test holds one against the
/// other.
pub const CONFIG: &str = include_str!("../../schemas/config.json");

/// The schema of `keepstate.lock`, as it stands in `schemas/lock.json`.
pub const LOCK: &str = include_str!("../../schemas/lock.json");

/// The same made of the model. `tests/schemas.rs` holds the file against it.
pub fn of_report() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Report>();
    schema.insert("title".to_owned(), "keepstate report, version 1".into());
    schema.to_value()
}
