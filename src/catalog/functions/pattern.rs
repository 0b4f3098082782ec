//! Functions that only MATCH_RECOGNIZE has: navigation to a row of the match, the time of the match, and aggregates over the rows of
//! a pattern variable (Calcite's `SqlMatchFunction`s; Flink's `MatchCodeGenerator` computes them).
//!
//! No other clause finds them by name: a call is made by the translation of MEASURES and DEFINE, which knows its type.

use std::sync::OnceLock;

use super::{CallSyntax, FunctionDef, MANY, Operand};
use crate::catalog::aggregates;
use crate::catalog::types::DataType;

/// How a navigation function finds its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Navigation {
    /// `FIRST(v.c, n)`: the n-th row of the variable after its first.
    First,
    /// `LAST(v.c, n)`: the n-th row of the variable before its last.
    Last,
    /// `PREV(v.c, n)`: the n-th row before that of `v.c`; Flink has only n = 0.
    Prev,
    /// `NEXT(v.c, n)`: the n-th row after that of `v.c`; Flink has only n = 0.
    Next,
}

const fn pattern(name: &'static str, deterministic: bool) -> FunctionDef {
    FunctionDef {
        name,
        syntax: CallSyntax::Function,
        deterministic,
        arity: (0, MANY),
        operands: &[Operand::Any],
        result: |args| Ok(args.first().map_or_else(DataType::unknown, |a| a.ty.clone())),
    }
}

/// `FIRST`
pub static FIRST: FunctionDef = pattern("FIRST", true);
/// `LAST`
pub static LAST: FunctionDef = pattern("LAST", true);
/// `PREV`
pub static PREV: FunctionDef = pattern("PREV", true);
/// `NEXT`
pub static NEXT: FunctionDef = pattern("NEXT", true);
/// `FINAL`: seen from the last row of the match, as everything is with ONE ROW PER MATCH.
pub static FINAL: FunctionDef = pattern("FINAL", true);
/// `MATCH_ROWTIME`
pub static MATCH_ROWTIME: FunctionDef = pattern("MATCH_ROWTIME", true);
/// `MATCH_PROCTIME`
pub static MATCH_PROCTIME: FunctionDef = pattern("MATCH_PROCTIME", false);

impl Navigation {
    /// The navigation function of this name, in any letter case.
    pub fn of(name: &str) -> Option<Navigation> {
        [Navigation::First, Navigation::Last, Navigation::Prev, Navigation::Next]
            .into_iter()
            .find(|n| n.function().name.eq_ignore_ascii_case(name))
    }

    /// The function.
    pub fn function(self) -> &'static FunctionDef {
        match self {
            Navigation::First => &FIRST,
            Navigation::Last => &LAST,
            Navigation::Prev => &PREV,
            Navigation::Next => &NEXT,
        }
    }

    /// The navigation that a function of a plan is.
    pub fn of_function(def: &FunctionDef) -> Option<Navigation> {
        [Navigation::First, Navigation::Last, Navigation::Prev, Navigation::Next]
            .into_iter()
            .find(|n| std::ptr::eq(n.function(), def))
    }
}

fn aggregate_functions() -> &'static [FunctionDef] {
    static FUNCTIONS: OnceLock<Vec<FunctionDef>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| aggregates::all().map(|def| pattern(def.name, true)).collect())
}

/// An aggregate as a function of MEASURES and DEFINE.
pub fn aggregate(name: &str) -> Option<&'static FunctionDef> {
    aggregate_functions().iter().find(|def| def.name == name)
}

/// True if a function of a plan is one that [`aggregate`] gives.
pub fn is_aggregate(def: &FunctionDef) -> bool {
    aggregate_functions().iter().any(|own| std::ptr::eq(own, def))
}
