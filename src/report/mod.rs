//! What a run says: the report as data, and its formats. The only module that knows output formats.

mod concise;
mod excerpt;
pub mod fingerprint;
pub mod format;
mod github;
mod gitlab;
mod html;
pub mod human;
pub mod json;
mod junit;
pub mod lint;
pub mod lint_human;
mod listing;
mod markdown;
pub mod markdown_text;
pub mod model;
pub mod plan_diff;
pub mod rule_index;
mod sarif;
pub mod schema;
pub mod secrets;
pub mod witness;
