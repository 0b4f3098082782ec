//! What can go wrong with expressions.

use thiserror::Error;

use crate::logical::rex::Origins;

/// A value for which an expression fails at run time, as Flink's generated code would throw.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct EvalError {
    /// What, in Flink's words where they are known.
    pub message: String,
}

impl EvalError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> EvalError {
        EvalError { message: message.into() }
    }
}

/// An expression that can be planned but not run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unrunnable {
    /// A function that is not known here, such as a user's own.
    #[error("the function `{name}` cannot be run")]
    Function {
        /// The function.
        name: String,
        /// Where it is written.
        origins: Origins,
    },
    /// A `${name}` without a value.
    #[error("`${{{name}}}` has no value, so what reads it cannot be run")]
    Placeholder {
        /// The name.
        name: String,
        /// Where it is written.
        origins: Origins,
    },
}
