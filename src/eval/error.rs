//! What can go wrong with expressions.

use thiserror::Error;

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
#[error("the function `{name}` cannot be run")]
pub struct UnknownFunction {
    /// The function.
    pub name: String,
    /// Where it is written.
    pub origins: crate::logical::rex::Origins,
}
