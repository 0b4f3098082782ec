//! Table functions that are called for each row of an input: `UNNEST` and `LATERAL TABLE(f(...))` (Flink's `LogicalCorrelate` over a
//! `LogicalTableFunctionScan`).

use std::fmt;
use std::sync::Arc;

use super::join::{JoinType, join_columns};
use super::rel::{Rel, RelColumn, RelOp};
use super::rex::{Origins, Rex};
use crate::catalog::types::{DataType, TypeKind};

/// What makes rows of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TableFunction {
    /// The elements of an array, map or multiset (Flink's `UnnestRowsFunction`).
    Unnest {
        /// Each with its number, counted from 1 (Flink's `UnnestRowsWithOrdinalityFunction`).
        with_ordinality: bool,
    },
    /// A user function, by its name as declared.
    User(Arc<str>),
    /// The row behind the first argument, as often as that says (Flink's `ReplicateRows`).
    ReplicateRows,
}

impl fmt::Display for TableFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableFunction::Unnest { .. } => f.write_str("UNNEST"),
            TableFunction::User(name) => f.write_str(name),
            TableFunction::ReplicateRows => f.write_str("$REPLICATE_ROWS$"),
        }
    }
}

/// The rows of an input, each beside every row that the function makes of it.
#[derive(Debug, Clone)]
pub struct Correlate {
    /// The function.
    pub function: TableFunction,
    /// Its arguments, over the input.
    pub args: Vec<Rex>,
    /// The function's row.
    pub columns: Vec<RelColumn>,
    /// Inner, or left: then a row of which the function makes none is sent alone.
    pub join_type: JoinType,
    /// Conditions over the function's row. A row that does not fulfil them counts as not made.
    pub conditions: Vec<Rex>,
    /// The number of the correlation variable that stands for the input's row. No other call in the query has it, so that equal calls
    /// are not shared, as in Flink.
    pub variable: usize,
    /// The names of the input's columns when the call was resolved.
    pub input_names: Vec<Arc<str>>,
    /// Something above reads a column that is NOT NULL in the function's row.
    pub reads_not_null: bool,
    /// Where the call is written.
    pub call_origins: Origins,
}

impl Rel {
    /// `correlate` over `input`: its columns first, then those of the function.
    pub fn correlate(input: Rel, correlate: Correlate, origins: Origins) -> Rel {
        let columns = join_columns(&input.columns, &correlate.columns, correlate.join_type);
        Rel { op: RelOp::Correlate(correlate), inputs: vec![input], columns, origins }
    }
}

/// The row that `UNNEST` makes of a collection, and the names that its columns go by where nothing else is written; nothing for
/// what is no collection.
pub fn unnested(ty: &DataType, with_ordinality: bool) -> Option<(Vec<RelColumn>, Vec<String>)> {
    let scalar = if with_ordinality { "EXPR$0" } else { "f0" };
    let (mut columns, mut names): (Vec<RelColumn>, Vec<String>) = match &ty.kind {
        TypeKind::Array(element) | TypeKind::Multiset(element) => match &element.kind {
            TypeKind::Row(fields) => fields
                .iter()
                .map(|f| {
                    // A field of a row that may be NULL may be NULL, too.
                    let ty = f.ty.clone().with_nullable(f.ty.nullable || element.nullable);
                    (RelColumn::new(f.name.as_str(), ty), f.name.clone())
                })
                .unzip(),
            _ => (vec![RelColumn::new(scalar, (**element).clone())], vec!["EXPR$0".to_owned()]),
        },
        TypeKind::Map(key, value) => {
            let names = if with_ordinality { ["KEY", "VALUE"] } else { ["f0", "f1"] };
            let columns = [key, value].into_iter().zip(names);
            (
                columns.map(|(ty, name)| RelColumn::new(name, (**ty).clone())).collect(),
                vec!["KEY".to_owned(), "VALUE".to_owned()],
            )
        }
        _ => return None,
    };
    if with_ordinality {
        columns.push(RelColumn::new("ORDINALITY", TypeKind::Int.not_null()));
        names.push("ORDINALITY".to_owned());
    }
    Some((columns, names))
}
