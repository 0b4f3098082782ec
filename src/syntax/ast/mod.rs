//! The syntax tree of a Flink SQL script, as written: nothing resolved, nothing folded, every node with its span.
//!
//! These are keepstate's own types. No type of the parsing library leaves `syntax`.

mod ddl;
mod expr;
mod pattern;
mod query;
mod script;

pub use ddl::*;
pub use expr::*;
pub use pattern::*;
pub use query::*;
pub use script::*;
