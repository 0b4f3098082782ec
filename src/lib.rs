//! keepstate: will this Flink SQL job keep its state after this change?
//!
//! Data flows one way: [`syntax`] reads statements, [`catalog`] learns what names mean, [`logical`] resolves and types
//! queries, [`exec`] plans Flink's operators, [`state`] lists what they keep, [`identity`] which operator
//! keeps it, [`diff`] states what changed and [`observe`] what is to be
//! seen in one plan, [`rules`] judge it, [`report`] says it. A module uses only what stands before it in this list.

pub mod catalog;
pub mod check;
pub mod cli;
pub mod config;
pub mod diff;
pub mod engine;
pub mod eval;
pub mod exec;
pub mod execution;
pub mod git;
pub mod identity;
pub mod lint;
pub mod lock;
pub mod logical;
mod lsp;
pub mod nearest;
pub mod observe;
pub mod plan_error;
mod planning;
mod project;
pub mod rehearsal;
pub mod report;
pub mod rows;
pub mod rules;
pub mod run;
pub mod source;
pub mod state;
pub mod suppress;
pub mod syntax;
pub mod target;
pub mod terminal;
pub mod workspace;
