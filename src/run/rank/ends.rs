//! The last rank of each partition, where a column says it (`AbstractTopNFunction.initRankEnd`).

use super::TopN;
use super::output::Ranked;
use crate::catalog::types::TypeKind;
use crate::eval::{Datum, Row};
use crate::logical::rel::RankEnd;
use crate::run::build::Build;
use crate::run::error::{RunError, RunResult};
use crate::run::store::{KeyId, KeyedState, StateTable};

/// Flink's `DEFAULT_TOPN_SIZE`.
const ROWS_WITHOUT_AN_END: i64 = 100;

/// Where the last rank comes from.
pub(super) enum Ends {
    /// It is the same for every partition.
    Constant,
    /// The first row of a partition says it for all.
    First { column: usize, ends: KeyedState<(), i64> },
}

impl Ends {
    /// Takes its entry from `build`.
    pub fn build(end: RankEnd, build: &mut Build<'_>) -> RunResult<Ends> {
        let RankEnd::Column(column) = end else { return Ok(Ends::Constant) };
        let ty = &build.plan.input_columns(build.id, 0)[column].ty;
        if !matches!(ty.kind, TypeKind::BigInt | TypeKind::Int | TypeKind::SmallInt) {
            let message = format!("variable rank index column must be long type, while input type is {}", ty.kind);
            return Err(RunError::job(message));
        }
        Ok(Ends::First { column, ends: build.entries.keyed("rankEnd")? })
    }

    /// What is sent where nothing else is known.
    pub fn ranked(&self, top: &TopN<'_>, before: bool) -> Ranked {
        let end = top.end.constant().unwrap_or(0);
        let reach = if let Ends::Constant = self { end } else { ROWS_WITHOUT_AN_END };
        Ranked { start: top.start, end, reach, number: top.number, before }
    }

    /// What is sent of this partition. NULL counts as 0, as Flink reads it.
    pub fn of(&mut self, key: KeyId, row: &Row, ranked: &Ranked) -> RunResult<Ranked> {
        let Ends::First { column, ends } = self else { return Ok(*ranked) };
        let end = match ends.get(key, ()) {
            Some(end) => *end,
            None => {
                let end = match &row[*column] {
                    Datum::Null => 0,
                    value => value.as_int().unwrap_or(0),
                };
                ends.put(key, (), end)?;
                end
            }
        };
        Ok(Ranked { end, ..*ranked })
    }

    /// The last rank of a partition that is known already.
    pub fn known(&self, key: KeyId, ranked: &Ranked) -> Ranked {
        match self {
            Ends::Constant => *ranked,
            Ends::First { ends, .. } => Ranked { end: ends.get(key, ()).copied().unwrap_or(0), ..*ranked },
        }
    }

    /// Its state.
    pub fn table(&mut self) -> Option<&mut dyn StateTable> {
        match self {
            Ends::Constant => None,
            Ends::First { ends, .. } => Some(ends),
        }
    }
}
