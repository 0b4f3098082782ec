//! MATCH_RECOGNIZE after planning: a row pattern with its conditions and results (Calcite's `Match`).
//!
//! Conditions and results read the columns of the rows that a pattern variable stands for. They are expressions over a row that
//! holds the input once per variable: column `c` of variable `v` is column `v * width + c` ([`Variables`]).

use std::fmt::Write as _;
use std::sync::Arc;

use super::rel::SortKey;
use super::rex::{Origins, Rex};

/// The names by which columns are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variables {
    /// `*` for columns without a variable (any row of the match), then those of PATTERN, DEFINE and SUBSET, then the input's own
    /// name, for which no row ever stands.
    pub names: Vec<Arc<str>>,
    /// How many columns the input has.
    pub width: usize,
}

impl Variables {
    /// The name that stands for any row.
    pub const ANY: usize = 0;

    /// Column `column` of variable `variable`, in the row that expressions are written over.
    pub fn index(&self, variable: usize, column: usize) -> usize {
        variable * self.width + column
    }

    /// The variable and the input column of a column of that row.
    pub fn split(&self, index: usize) -> (usize, usize) {
        match self.width {
            0 => (0, index),
            width => (index / width, index % width),
        }
    }

    /// The place of a variable.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| &**n == name)
    }
}

/// A pattern variable with how often it is to occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternStep {
    /// The variable.
    pub variable: usize,
    /// The least number of rows.
    pub from: u32,
    /// The greatest number of rows; none is without limit.
    pub to: Option<u32>,
    /// As many rows as possible. Of no meaning where the number is fixed or the step is only optional: Flink does not ask there.
    pub greedy: bool,
    /// It is quantified, if only by `{1}`: Flink's state machine has as many states, but other restrictions.
    pub quantified: bool,
    /// Where it is written.
    pub origins: Origins,
}

impl PatternStep {
    /// True if no row need stand for it.
    pub fn optional(&self) -> bool {
        self.from == 0
    }
}

/// Where the search goes on after a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterMatch {
    /// After the last row of the match.
    PastLastRow,
    /// At the row after the first row of the match.
    ToNextRow,
    /// At the first row of a variable.
    ToFirst(usize),
    /// At the last row of a variable.
    ToLast(usize),
}

/// A result of a match.
#[derive(Debug, Clone)]
pub struct Measure {
    /// The name of its column.
    pub name: Arc<str>,
    /// What it is.
    pub expr: Rex,
    /// Where it is written.
    pub origins: Origins,
}

/// The condition of a pattern variable.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The variable.
    pub variable: usize,
    /// The condition.
    pub condition: Rex,
    /// Where it is written.
    pub origins: Origins,
}

/// MATCH_RECOGNIZE.
#[derive(Debug, Clone)]
pub struct Match {
    /// PARTITION BY: input columns, in the order of the input.
    pub partition: Vec<usize>,
    /// PARTITION BY in the order written.
    pub written_partition: Vec<usize>,
    /// Where each entry of `written_partition` is written.
    pub partition_origins: Vec<Origins>,
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// Where ORDER BY is written.
    pub order_origins: Origins,
    /// What expressions read.
    pub variables: Variables,
    /// MEASURES.
    pub measures: Vec<Measure>,
    /// PATTERN, step by step.
    pub steps: Vec<PatternStep>,
    /// PATTERN as plans print it, with its grouping.
    pub pattern_text: Arc<str>,
    /// Where PATTERN is written.
    pub pattern_origins: Origins,
    /// AFTER MATCH SKIP.
    pub after: AfterMatch,
    /// Where it is written.
    pub after_origins: Origins,
    /// WITHIN in milliseconds.
    pub within: Option<i64>,
    /// Where it is written.
    pub within_origins: Origins,
    /// SUBSET as plans print it; Flink takes the clause, and finds no rows for its names.
    pub subset_text: Option<Arc<str>>,
    /// DEFINE.
    pub definitions: Vec<Definition>,
}

impl Match {
    /// The columns of the input that conditions, results, keys and order read.
    pub fn reads(&self) -> Vec<usize> {
        let mut out: Vec<usize> = self.partition.iter().copied().chain(self.order.iter().map(|k| k.column)).collect();
        let exprs = self.measures.iter().map(|m| &m.expr).chain(self.definitions.iter().map(|d| &d.condition));
        for e in exprs {
            e.visit(&mut |r| out.extend(r.as_input().map(|i| self.variables.split(i).1)));
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The condition of a variable; none lets every row through.
    pub fn condition(&self, variable: usize) -> Option<&Definition> {
        self.definitions.iter().find(|d| d.variable == variable)
    }

    /// The steps in the notation of SQL: `A B{2,3} C+?`.
    pub fn written_pattern(&self) -> String {
        let mut out = String::new();
        for (i, step) in self.steps.iter().enumerate() {
            out.push_str(if i > 0 { " " } else { "" });
            out.push_str(&self.variables.names[step.variable]);
            let fixed = step.to == Some(step.from);
            let _ = match (step.from, step.to) {
                (1, Some(1)) => Ok(()),
                (0, None) => write!(out, "*"),
                (1, None) => write!(out, "+"),
                (0, Some(1)) => write!(out, "?"),
                (from, None) => write!(out, "{{{from},}}"),
                (from, Some(to)) if from == to => write!(out, "{{{from}}}"),
                (from, Some(to)) => write!(out, "{{{from},{to}}}"),
            };
            if !step.greedy && !fixed && (step.from, step.to) != (0, Some(1)) {
                out.push('?');
            }
        }
        out
    }

    /// The strategy in the notation of SQL: `SKIP TO LAST B`.
    pub fn written_after(&self) -> String {
        self.after_with(|name| name.to_owned())
    }

    /// The strategy as plans print it.
    pub fn after_text(&self) -> String {
        self.after_with(|name| format!("_UTF-16LE'{name}'"))
    }

    fn after_with(&self, quote: impl Fn(&str) -> String) -> String {
        let name = |v: &usize| quote(&self.variables.names[*v]);
        match &self.after {
            AfterMatch::PastLastRow => "SKIP PAST LAST ROW".to_owned(),
            AfterMatch::ToNextRow => "SKIP TO NEXT ROW".to_owned(),
            AfterMatch::ToFirst(v) => format!("SKIP TO FIRST {}", name(v)),
            AfterMatch::ToLast(v) => format!("SKIP TO LAST {}", name(v)),
        }
    }
}
