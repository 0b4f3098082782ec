//! What names mean: tables, views, functions, options and types.

pub mod functions;
pub mod types;
