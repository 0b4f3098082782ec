//! What a run says: the report as data, and its formats. The only module that knows output formats.

mod excerpt;
pub mod fingerprint;
pub mod human;
pub mod json;
pub mod lint;
pub mod lint_human;
pub mod model;
pub mod rule_index;
pub mod secrets;
pub mod witness;
