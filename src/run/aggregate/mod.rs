//! Aggregate functions over accumulator rows, laid out as `state::accumulators` says (Flink's generated `AggsHandleFunction`s).
//!
//! One file per function, or per family of functions that differ in little. A function works on its own fields of the
//! accumulator row; what it keeps in maps and lists is in a [`view::View`].

mod array_aggregate;
mod average;
mod collect;
mod count;
mod distinct;
mod extreme;
mod first_last;
mod function;
mod json;
mod lag;
mod list_aggregate;
mod number;
mod percentile;
mod sequence;
mod single_value;
mod sum;
mod view;

use crate::catalog::value::Value;
use crate::eval::{Datum, compile};
use crate::logical::rel::{AggArg, AggCall};
use crate::run::build::Build;
use crate::run::error::RunResult;
use crate::run::store::{Entries, KeyId, Namespace, StateTable};
use crate::state::accumulators::AccumulatorLayout;
use distinct::Distinct;
use function::{Function, Shape};

/// Whose accumulator it is: maps and lists that an aggregate keeps in states of their own are found by it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope<N> {
    /// The key.
    pub key: KeyId,
    /// The namespace; `None` for an accumulator that is in no state, as when the slices of a window are merged to be sent.
    pub namespace: Option<N>,
}

impl<N> Scope<N> {
    /// The accumulator that is kept in state under this namespace.
    pub fn kept(key: KeyId, namespace: N) -> Scope<N> {
        Scope { key, namespace: Some(namespace) }
    }

    /// The accumulator of the key that is in no state.
    pub fn loose(key: KeyId) -> Scope<N> {
        Scope { key, namespace: None }
    }
}

/// An argument of a call.
enum Arg {
    Column(usize),
    Constant(Datum),
}

impl Arg {
    fn of<'a>(&'a self, row: &'a [Datum]) -> &'a Datum {
        match self {
            Arg::Column(i) => &row[*i],
            Arg::Constant(value) => value,
        }
    }
}

/// The keyword that an argument is: `ABSENT ON NULL`.
fn keyword(arg: &AggArg) -> Option<&str> {
    match arg {
        AggArg::Constant(e) => match e.as_literal() {
            Some(Value::Symbol(words)) => Some(words),
            _ => None,
        },
        AggArg::Column(_) => None,
    }
}

/// One call at run time.
struct Call<N> {
    function: Box<dyn Function<N>>,
    args: Vec<Arg>,
    /// The column of the FILTER condition.
    filter: Option<usize>,
    /// Its fields in the accumulator row.
    fields: std::ops::Range<usize>,
    /// The values come through a view of DISTINCT.
    distinct: bool,
}

impl<N> Call<N> {
    fn takes(&self, row: &[Datum]) -> bool {
        self.filter.is_none_or(|f| matches!(row[f], Datum::Boolean(true)))
    }
}

/// Most calls have one argument or two; more need an allocation per row.
const ARGS: usize = 4;

/// Does something with the arguments of a call over a row.
fn with_args<R>(args: &[Arg], row: &[Datum], then: impl FnOnce(&[&Datum]) -> R) -> R {
    static NULL: Datum = Datum::Null;
    match args {
        [] => then(&[]),
        [one] => then(&[one.of(row)]),
        few if few.len() <= ARGS => {
            let mut values = [&NULL; ARGS];
            for (value, arg) in values.iter_mut().zip(few) {
                *value = arg.of(row);
            }
            then(&values[..few.len()])
        }
        many => then(&many.iter().map(|a| a.of(row)).collect::<Vec<_>>()),
    }
}

/// The aggregate calls of one operator.
pub struct Aggregator<N> {
    layout: AccumulatorLayout,
    calls: Vec<Call<N>>,
    /// How many of them are results.
    shown: usize,
    distincts: Vec<Distinct<N>>,
}

impl<N: Namespace> Aggregator<N> {
    /// The calls, with accumulators of `layout`. Takes the entries of the layout's views from `build`.
    pub fn build(calls: &[AggCall], layout: AccumulatorLayout, build: &mut Build<'_>) -> RunResult<Self> {
        Self::of(calls, layout, build, (true, true))
    }

    /// The calls of an incremental aggregate: only what DISTINCT has seen is kept in state.
    pub fn keeping_distinct(calls: &[AggCall], layout: AccumulatorLayout, build: &mut Build<'_>) -> RunResult<Self> {
        Self::of(calls, layout, build, (false, true))
    }

    /// The calls of a local aggregate, which has no state: its accumulators go downstream ([`Aggregator::export`]).
    pub fn local(calls: &[AggCall], layout: AccumulatorLayout, build: &mut Build<'_>) -> RunResult<Self> {
        Self::of(calls, layout, build, (false, false))
    }

    /// `kept`: whether the views of functions and those of DISTINCT are in state.
    fn of(calls: &[AggCall], layout: AccumulatorLayout, build: &mut Build<'_>, kept: (bool, bool)) -> RunResult<Self> {
        let mut out = Vec::with_capacity(calls.len());
        for (i, call) in calls.iter().enumerate() {
            // A keyword is no value: the function looks at it itself.
            let values = call.args.iter().filter(|arg| keyword(arg).is_none());
            let args = values.map(|arg| {
                Ok(match arg {
                    AggArg::Column(c) => Arg::Column(*c),
                    AggArg::Constant(e) => Arg::Constant(compile(e, build.session)?.eval(&[], 0)?),
                })
            });
            let args = args.collect::<RunResult<Vec<_>>>()?;
            let fields = layout.calls[i].clone();
            let shape = Shape {
                call,
                fields: &layout.row.fields[fields.clone()],
                views: layout.views.iter().filter(|v| v.call == i).collect(),
                retracts: call.takes_back(layout.retracts),
            };
            let entries: Option<&mut Entries> = kept.0.then_some(&mut build.entries);
            let function = function::of(&shape, entries).map_err(|e| e.at(&call.origins))?;
            out.push(Call { function, args, filter: call.filter, fields, distinct: call.distinct });
        }
        let mut distincts = Vec::with_capacity(layout.distincts.len());
        for (i, view) in layout.distincts.iter().enumerate() {
            let entries: Option<&mut Entries> = kept.1.then_some(&mut build.entries);
            distincts.push(Distinct::build(i, view, layout.retracts, entries)?);
        }
        Ok(Aggregator { layout, shown: out.len(), calls: out, distincts })
    }

    /// From now on only the first `calls` calls are results; the others are there for the accumulator, as a COUNT(*) is that local
    /// phases need.
    pub fn show(&mut self, calls: usize) {
        self.shown = calls;
    }

    /// An accumulator that has seen no row.
    pub fn create(&self) -> Vec<Datum> {
        let mut acc = vec![Datum::Null; self.layout.row.fields.len()];
        for call in &self.calls {
            call.function.create(&mut acc[call.fields.clone()]);
        }
        if let Some(i) = self.layout.count_star {
            acc[i] = Datum::Int(0);
        }
        acc
    }

    /// Adds a row.
    pub fn accumulate(&mut self, acc: &mut [Datum], row: &[Datum], at: &Scope<N>) -> RunResult<()> {
        for call in self.calls.iter_mut().filter(|c| !c.distinct && c.takes(row)) {
            let (function, fields) = (&mut call.function, &mut acc[call.fields.clone()]);
            with_args(&call.args, row, |args| function.accumulate(fields, args, at))?;
        }
        for view in &mut self.distincts {
            view.accumulate(&mut self.calls, acc, row, at)?;
        }
        self.count(acc, 1);
        Ok(())
    }

    /// Takes a row back.
    pub fn retract(&mut self, acc: &mut [Datum], row: &[Datum], at: &Scope<N>) -> RunResult<()> {
        for call in self.calls.iter_mut().filter(|c| !c.distinct && c.takes(row)) {
            let (function, fields) = (&mut call.function, &mut acc[call.fields.clone()]);
            with_args(&call.args, row, |args| function.retract(fields, args, at))?;
        }
        for view in &mut self.distincts {
            view.retract(&mut self.calls, acc, row, at)?;
        }
        self.count(acc, -1);
        Ok(())
    }

    /// Adds what another accumulator has seen, which stays as it is.
    pub fn merge(&mut self, acc: &mut [Datum], at: &Scope<N>, other: &[Datum], from: &Scope<N>) -> RunResult<()> {
        for call in self.calls.iter_mut().filter(|c| !c.distinct) {
            let fields = call.fields.clone();
            call.function.merge(&mut acc[fields.clone()], at, &other[fields], from)?;
        }
        for view in &mut self.distincts {
            view.merge(&mut self.calls, acc, at, from)?;
        }
        if let Some(i) = self.added_count() {
            self.count(acc, other[i].as_int().unwrap_or(0));
        }
        Ok(())
    }

    /// Puts the maps and lists of an accumulator into its row, for the way from a local aggregate to the global one. Its views
    /// are empty then.
    pub fn export(&mut self, acc: &mut [Datum], at: &Scope<N>) {
        self.export_functions(acc, at);
        for (view, spec) in self.distincts.iter_mut().zip(&self.layout.distincts) {
            acc[spec.field] = view.export(at);
        }
    }

    /// The same of the functions' maps and lists only: what DISTINCT has seen stays.
    pub fn export_functions(&mut self, acc: &mut [Datum], at: &Scope<N>) {
        for call in &mut self.calls {
            call.function.export(&mut acc[call.fields.clone()], at);
        }
    }

    /// Adds what a local aggregate has seen: `other` is an accumulator that [`Aggregator::export`] made. `at` is kept in state.
    pub fn merge_exported(&mut self, acc: &mut [Datum], at: &Scope<N>, other: &[Datum]) -> RunResult<()> {
        let from = Scope::loose(at.key);
        for call in &mut self.calls {
            call.function.import(&other[call.fields.clone()], &from)?;
        }
        for (view, spec) in self.distincts.iter_mut().zip(&self.layout.distincts) {
            view.import(&other[spec.field], &from);
        }
        self.merge(acc, at, other, &from)?;
        self.clear(&from);
        Ok(())
    }

    /// The results, one per call.
    pub fn values(&mut self, acc: &[Datum], at: &Scope<N>) -> RunResult<Vec<Datum>> {
        let mut out = Vec::with_capacity(self.calls.len());
        self.append_values(acc, at, &mut out)?;
        Ok(out)
    }

    /// The results, one per call, behind what is in `out` already.
    pub fn append_values(&self, acc: &[Datum], at: &Scope<N>, out: &mut Vec<Datum>) -> RunResult<()> {
        for call in &self.calls[..self.shown] {
            out.push(call.function.value(&acc[call.fields.clone()], at)?);
        }
        Ok(())
    }

    /// How many rows it has seen, if the layout counts them.
    pub fn rows(&self, acc: &[Datum]) -> Option<i64> {
        self.layout.count_star.map(|i| acc[i].as_int().unwrap_or(0))
    }

    /// Forgets the maps and lists of an accumulator.
    pub fn clear(&mut self, at: &Scope<N>) {
        for call in &mut self.calls {
            call.function.clear(at);
        }
        for view in &mut self.distincts {
            view.clear(at);
        }
    }

    /// The states beside the accumulator row.
    pub fn tables(&mut self) -> Vec<&mut dyn StateTable> {
        let mut out = Vec::new();
        for call in &mut self.calls {
            call.function.tables(&mut out);
        }
        for view in &mut self.distincts {
            view.tables(&mut out);
        }
        out
    }

    /// The field of a COUNT(*) that is none of the calls.
    fn added_count(&self) -> Option<usize> {
        self.layout.count_star.filter(|i| !self.calls.iter().any(|c| c.fields.contains(i)))
    }

    fn count(&self, acc: &mut [Datum], rows: i64) {
        if let Some(i) = self.added_count() {
            acc[i] = Datum::Int(acc[i].as_int().unwrap_or(0).wrapping_add(rows));
        }
    }
}
