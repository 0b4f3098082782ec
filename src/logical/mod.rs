//! Names resolved, expressions typed and canonical: the relational form of a query, before Flink's operators.

pub mod convert;
pub mod correlate;
pub mod join;
pub mod make;
pub mod pattern;
pub mod print;
pub mod rel;
pub mod rewrite;
pub mod rex;
pub mod rex_text;
mod rex_walk;
pub mod scope;
pub mod simplify;
pub mod state_ttl;
pub mod time_bounds;
pub mod translate;
