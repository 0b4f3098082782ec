//! `Correlate`: each row beside every row that a table function makes of it.

use super::build::{Build, Runnable};
use super::change::Change;
use super::error::{RunError, RunResult};
use super::task::{Output, Task};
use crate::catalog::types::TypeKind;
use crate::eval::{Datum, Evaluator};
use crate::exec::correlate::Correlate;
use crate::logical::correlate::TableFunction;

/// What is taken apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Collection {
    Array,
    Map,
    /// Each value counts as often as it is in there.
    Multiset,
}

struct CorrelateTask {
    collection: Evaluator,
    kind: Collection,
    /// Elements are rows, whose fields are columns.
    of_rows: bool,
    /// The number of the function's columns.
    width: usize,
    with_ordinality: bool,
    conditions: Vec<Evaluator>,
    keeps_lone_rows: bool,
}

impl Runnable for Correlate {
    fn task(&self, build: &mut Build<'_>) -> RunResult<Box<dyn Task>> {
        let with_ordinality = match &self.call.function {
            TableFunction::Unnest { with_ordinality } => *with_ordinality,
            TableFunction::User(name) => return Err(RunError::unsupported(format!("the table function `{name}`"))),
            TableFunction::ReplicateRows => {
                let mut args = build.compile(&self.call.args)?.into_iter();
                let times = args.next().ok_or_else(|| RunError::internal("it is not said how often"))?;
                return Ok(Box::new(ReplicateTask { times, row: args.collect() }));
            }
        };
        let ([arg], Some(collection)) = (self.call.args.as_slice(), build.compile(&self.call.args)?.pop()) else {
            return Err(RunError::internal("UNNEST has one argument"));
        };
        let (kind, element) = match &arg.ty.kind {
            TypeKind::Array(of) => (Collection::Array, Some(of)),
            TypeKind::Multiset(of) => (Collection::Multiset, Some(of)),
            TypeKind::Map(..) => (Collection::Map, None),
            other => return Err(RunError::unsupported(format!("UNNEST of {other}"))),
        };
        let of_rows = element.is_some_and(|of| matches!(of.kind, TypeKind::Row(_)));
        Ok(Box::new(CorrelateTask {
            collection,
            kind,
            of_rows,
            width: self.call.columns.len(),
            with_ordinality,
            conditions: build.compile(&self.call.conditions)?,
            keeps_lone_rows: self.keeps_lone_rows(),
        }))
    }
}

/// Sends a row as often as its first column says.
struct ReplicateTask {
    times: Evaluator,
    row: Vec<Evaluator>,
}

impl Task for ReplicateTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let times = self.times.eval(&change.row, out.now)?.as_int().unwrap_or(0);
        let row = self.row.iter().map(|e| e.eval(&change.row, out.now)).collect::<Result<Vec<Datum>, _>>()?;
        for _ in 0..times {
            out.send(change.kind, change.row.extended(row.iter().cloned()));
        }
        Ok(())
    }
}

impl CorrelateTask {
    /// The rows that the function makes of a collection: none of NULL, nor of a row in it that is NULL (measured on Flink 1.20.5 and
    /// 2.2.1).
    fn rows(&self, collection: &Datum) -> RunResult<Vec<Vec<Datum>>> {
        let mut rows: Vec<Vec<Datum>> = match (collection, self.kind) {
            (Datum::Array(elements), _) => elements.iter().filter_map(|e| self.columns_of(e)).collect(),
            (Datum::Map(entries), Collection::Multiset) => entries
                .iter()
                .flat_map(|(value, count)| {
                    let times = usize::try_from(count.as_int().unwrap_or(0)).unwrap_or(0);
                    std::iter::repeat_n(self.columns_of(value), times).flatten()
                })
                .collect(),
            (Datum::Map(entries), _) => entries.iter().map(|(key, value)| vec![key.clone(), value.clone()]).collect(),
            _ => Vec::new(),
        };
        if self.with_ordinality {
            if self.of_rows && has_null(collection) {
                return Err(RunError::unsupported("UNNEST WITH ORDINALITY of a row that is NULL"));
            }
            for (row, number) in rows.iter_mut().zip(1..) {
                row.push(Datum::Int(number));
            }
        }
        Ok(rows)
    }

    fn columns_of(&self, element: &Datum) -> Option<Vec<Datum>> {
        match element {
            Datum::Row(fields) if self.of_rows => Some(fields.iter().cloned().collect()),
            Datum::Null if self.of_rows => None,
            one => Some(vec![one.clone()]),
        }
    }
}

fn has_null(collection: &Datum) -> bool {
    match collection {
        Datum::Array(elements) => elements.iter().any(Datum::is_null),
        Datum::Map(entries) => entries.iter().any(|(value, _)| value.is_null()),
        _ => false,
    }
}

impl Task for CorrelateTask {
    fn row(&mut self, _: usize, change: Change, out: &mut Output) -> RunResult<()> {
        let collection = self.collection.eval(&change.row, out.now)?;
        let mut alone = true;
        'rows: for row in self.rows(&collection)? {
            for condition in &self.conditions {
                if !matches!(condition.eval(&row, out.now)?, Datum::Boolean(true)) {
                    continue 'rows;
                }
            }
            alone = false;
            out.send(change.kind, change.row.extended(row.into_iter()));
        }
        if alone && self.keeps_lone_rows {
            out.send(change.kind, change.row.extended(vec![Datum::Null; self.width].into_iter()));
        }
        Ok(())
    }
}
