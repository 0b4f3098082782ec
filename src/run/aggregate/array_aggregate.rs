//! `ARRAY_AGG` (`ArrayAggFunction`): values in the order of their arrival, NULL among them. The lists are in the accumulator row.

use super::Scope;
use super::function::Function;
use crate::eval::{Datum, Row};
use crate::run::error::RunResult;

/// The values, and those that were taken back before they came.
pub(super) struct ArrayAggregate;

fn lists(fields: &[Datum]) -> [&[Datum]; 2] {
    let list = |i: usize| match &fields[0] {
        Datum::Row(row) => match &row[i] {
            Datum::Array(items) => &**items,
            _ => &[],
        },
        _ => &[],
    };
    [list(0), list(1)]
}

fn put(fields: &mut [Datum], list: Vec<Datum>, retracted: Vec<Datum>) {
    fields[0] = Datum::Row(Row::new(vec![Datum::Array(list.into()), Datum::Array(retracted.into())]));
}

impl<N> Function<N> for ArrayAggregate {
    fn create(&self, fields: &mut [Datum]) {
        put(fields, Vec::new(), Vec::new());
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        let [list, retracted] = lists(fields);
        let list = list.iter().chain([args[0]]).cloned().collect();
        let retracted = retracted.to_vec();
        put(fields, list, retracted);
        Ok(())
    }

    fn retract(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        let [mut list, mut retracted] = lists(fields).map(<[_]>::to_vec);
        match list.iter().position(|value| value == args[0]) {
            Some(place) => {
                list.remove(place);
            }
            None => retracted.push(args[0].clone()),
        }
        put(fields, list, retracted);
        Ok(())
    }

    fn merge(&mut self, fields: &mut [Datum], _: &Scope<N>, other: &[Datum], _: &Scope<N>) -> RunResult<()> {
        let ([ours, our_retracted], [theirs, their_retracted]) = (lists(fields), lists(other));
        let mut list = [ours, theirs].concat();
        let mut retracted = [our_retracted, their_retracted].concat();
        retracted.retain(|value| match list.iter().position(|v| v == value) {
            Some(place) => {
                list.remove(place);
                false
            }
            None => true,
        });
        put(fields, list, retracted);
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        let [list, _] = lists(fields);
        Ok(if list.is_empty() { Datum::Null } else { Datum::Array(list.into()) })
    }
}
