//! Why a run stops.

use thiserror::Error;

use crate::eval::{EvalError, Unrunnable};
use crate::logical::rex::Origins;

/// A run that cannot begin or go on.
#[derive(Debug, Clone, Error)]
#[error("{message}")]
pub struct RunError {
    /// How it counts.
    pub kind: RunErrorKind,
    /// What is wrong, in Flink's words where Flink would fail too.
    pub message: String,
    /// The clause.
    pub origins: Origins,
    /// One thing to do next.
    pub help: Option<String>,
}

/// The kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunErrorKind {
    /// The job fails on these rows, as it would in Flink.
    Job,
    /// The plan holds something that cannot be run.
    Unsupported,
    /// A savepoint does not fit the plan.
    Savepoint,
    /// An operator broke a promise: a mistake in keepstate.
    Internal,
}

/// A result of running; errors are rare and large, so they are boxed.
pub type RunResult<T> = Result<T, Box<RunError>>;

impl RunError {
    /// The job fails on these rows, as it would in Flink.
    pub fn job(message: impl Into<String>) -> Box<RunError> {
        Box::new(RunError { kind: RunErrorKind::Job, message: message.into(), origins: Origins::none(), help: None })
    }

    /// The plan holds something that cannot be run.
    pub fn unsupported(what: impl Into<String>) -> Box<RunError> {
        Box::new(RunError {
            kind: RunErrorKind::Unsupported,
            message: format!("{} cannot be run", what.into()),
            origins: Origins::none(),
            help: Some("`keepstate plan` and `keepstate check` still work".to_owned()),
        })
    }

    /// A savepoint does not fit the plan.
    pub fn savepoint(message: impl Into<String>) -> Box<RunError> {
        let (kind, origins) = (RunErrorKind::Savepoint, Origins::none());
        Box::new(RunError { kind, message: message.into(), origins, help: None })
    }

    /// An operator broke a promise.
    pub fn internal(message: impl Into<String>) -> Box<RunError> {
        Box::new(RunError {
            kind: RunErrorKind::Internal,
            message: message.into(),
            origins: Origins::none(),
            help: Some("this is a mistake in keepstate; report it, with the scripts if you may share them".to_owned()),
        })
    }

    /// The same at this clause, unless it has a place already.
    pub fn at(mut self: Box<Self>, origins: &Origins) -> Box<RunError> {
        self.origins = std::mem::take(&mut self.origins).or(origins);
        self
    }
}

impl From<EvalError> for Box<RunError> {
    fn from(error: EvalError) -> Box<RunError> {
        RunError::job(error.message)
    }
}

impl From<Unrunnable> for Box<RunError> {
    fn from(error: Unrunnable) -> Box<RunError> {
        let message = error.to_string();
        let (help, origins) = match error {
            Unrunnable::Function { origins, .. } => {
                ("`keepstate plan` and `keepstate check` still work".to_owned(), origins)
            }
            Unrunnable::Placeholder { name, origins } => (format!("give it one: --define {name}=VALUE"), origins),
        };
        Box::new(RunError { kind: RunErrorKind::Unsupported, message, origins, help: Some(help) })
    }
}
