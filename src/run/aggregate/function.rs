//! What every aggregate function can do, and which implementation a call has (Flink's `AggFunctionFactory`).

use super::Scope;
use super::array_aggregate::ArrayAggregate;
use super::average::Average;
use super::collect::Collect;
use super::count::Count;
use super::extreme::{Extreme, ExtremeWithRetract};
use super::first_last::{FirstLast, FirstLastWithRetract};
use super::json::{JsonArray, JsonObject};
use super::lag::Lag;
use super::list_aggregate::{ListAggregate, ListAggregateWithRetract};
use super::number::Number;
use super::percentile::Percentile;
use super::sequence::Sequence;
use super::single_value::SingleValue;
use super::sum::{Sum, Sum0, SumWithRetract};
use crate::catalog::types::{DataType, Field};
use crate::eval::Datum;
use crate::logical::rel::AggCall;
use crate::run::error::{RunError, RunResult};
use crate::run::store::{Entries, Namespace, StateTable};
use crate::state::accumulators::DataView;

/// An aggregate function at run time. `fields` are its own fields of an accumulator row.
pub(super) trait Function<N> {
    /// Fills an accumulator that has seen no row; its fields are NULL.
    fn create(&self, _fields: &mut [Datum]) {}

    /// Adds a row.
    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()>;

    /// Takes a row back.
    fn retract(&mut self, _fields: &mut [Datum], _args: &[&Datum], _at: &Scope<N>) -> RunResult<()> {
        Err(RunError::internal("an aggregate function that takes nothing back was asked to"))
    }

    /// Adds what another accumulator has seen.
    fn merge(&mut self, _: &mut [Datum], _at: &Scope<N>, _other: &[Datum], _from: &Scope<N>) -> RunResult<()> {
        Err(RunError::internal("an aggregate function that does not merge was asked to"))
    }

    /// The result.
    fn value(&self, fields: &[Datum], at: &Scope<N>) -> RunResult<Datum>;

    /// Moves its views into its fields.
    fn export(&mut self, _fields: &mut [Datum], _at: &Scope<N>) {}

    /// Puts what [`Function::export`] made back into views.
    fn import(&mut self, _fields: &[Datum], _at: &Scope<N>) -> RunResult<()> {
        Ok(())
    }

    /// Forgets what its views hold.
    fn clear(&mut self, _at: &Scope<N>) {}

    /// The states of its views.
    fn tables<'a>(&'a mut self, _out: &mut Vec<&'a mut dyn StateTable>) {}
}

/// What an implementation is chosen by.
pub(super) struct Shape<'a> {
    /// The call.
    pub call: &'a AggCall,
    /// Its fields of the accumulator row.
    pub fields: &'a [Field],
    /// Its views.
    pub views: Vec<&'a DataView>,
    /// Rows can be taken back.
    pub retracts: bool,
}

impl Shape<'_> {
    /// The type of a field.
    fn field(&self, i: usize) -> RunResult<&DataType> {
        self.fields.get(i).map(|f| &f.ty).ok_or_else(|| self.misfit())
    }

    /// The name of the state of a view.
    fn view(&self, i: usize) -> RunResult<&str> {
        self.views.get(i).map(|v| v.name.as_str()).ok_or_else(|| self.misfit())
    }

    /// True if the call has this clause.
    fn says(&self, clause: &str) -> bool {
        self.call.args.iter().any(|arg| super::keyword(arg) == Some(clause))
    }

    fn misfit(&self) -> Box<RunError> {
        RunError::internal(format!("the accumulator of {} has another layout", self.call.function))
    }
}

/// The implementation of a call.
pub(super) fn of<N: Namespace>(shape: &Shape<'_>, entries: Option<&mut Entries>) -> RunResult<Box<dyn Function<N>>> {
    let number = || Number::of(shape.field(0)?).ok_or_else(|| shape.misfit());
    Ok(match &*shape.call.function {
        "COUNT" => Box::new(Count),
        "SUM" if shape.retracts => Box::new(SumWithRetract(number()?)),
        "SUM" => Box::new(Sum(number()?)),
        "$SUM0" => Box::new(Sum0(number()?)),
        "AVG" => Box::new(Average { sum: number()?, result: shape.call.ty.clone() }),
        name @ ("MAX" | "MIN") if shape.retracts => {
            Box::new(ExtremeWithRetract::build(name == "MAX", shape.view(0)?, entries)?)
        }
        name @ ("MAX" | "MIN") => Box::new(Extreme { max: name == "MAX" }),
        name @ ("FIRST_VALUE" | "LAST_VALUE") if shape.retracts => {
            let first = name == "FIRST_VALUE";
            Box::new(FirstLastWithRetract::build(first, shape.view(0)?, shape.view(1)?, entries)?)
        }
        name @ ("FIRST_VALUE" | "LAST_VALUE") => Box::new(FirstLast { first: name == "FIRST_VALUE" }),
        "LISTAGG" if shape.retracts => {
            let separated = shape.call.args.len() > 1;
            Box::new(ListAggregateWithRetract::build(separated, shape.view(0)?, shape.view(1)?, entries)?)
        }
        "LISTAGG" => Box::new(ListAggregate),
        "COLLECT" => Box::new(Collect::build(shape.view(0)?, entries)?),
        "ARRAY_AGG" => Box::new(ArrayAggregate),
        "JSON_OBJECTAGG" => Box::new(JsonObject::build(!shape.says("ABSENT ON NULL"), shape.view(0)?, entries)?),
        "JSON_ARRAYAGG" => Box::new(JsonArray::build(shape.says("NULL ON NULL"), shape.view(0)?, entries)?),
        "PERCENTILE" => Box::new(Percentile::build(shape.view(0)?, entries)?),
        "SINGLE_VALUE" => Box::new(SingleValue),
        "ROW_NUMBER" | "RANK" | "DENSE_RANK" => Box::new(Sequence),
        "LAG" | "LEAD" => Box::new(Lag),
        other => return Err(RunError::unsupported(format!("the aggregate function {other}"))),
    })
}
