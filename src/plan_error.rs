//! Why a statement cannot be planned.

use crate::source::Span;

/// How a planning error counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanErrorKind {
    /// Flink rejects it too (error code `plan`).
    Rejected,
    /// Flink would plan it, keepstate cannot yet (error code `unsupported`).
    Unsupported,
}

/// A planning error, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError {
    /// Rejected or unsupported.
    pub kind: PlanErrorKind,
    /// What is wrong, with Flink's reason; one sentence without a full stop.
    pub message: String,
    /// The clause.
    pub span: Option<Span>,
    /// Words at the clause.
    pub label: String,
    /// One thing to do next.
    pub help: Option<String>,
}

impl PlanError {
    /// Flink rejects this.
    pub fn rejected(span: Span, message: impl Into<String>) -> Self {
        PlanError {
            kind: PlanErrorKind::Rejected,
            message: message.into(),
            span: Some(span),
            label: String::new(),
            help: None,
        }
    }

    /// keepstate cannot plan this yet.
    pub fn unsupported(span: Span, what: impl std::fmt::Display) -> Self {
        PlanError {
            kind: PlanErrorKind::Unsupported,
            message: format!("{what} cannot be planned yet"),
            span: Some(span),
            label: "not supported yet".to_owned(),
            help: Some("the verdict of this job is `unknown`; the other statements are still checked".to_owned()),
        }
    }

    /// Adds words at the clause.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds one thing to do next.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A result of planning.
pub type PlanResult<T> = Result<T, Box<PlanError>>;
