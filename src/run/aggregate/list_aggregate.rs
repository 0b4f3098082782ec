//! `LISTAGG` (`ListAggFunction`, `ListAggWithRetractAggFunction`, `ListAggWsWithRetractAggFunction`).

use super::Scope;
use super::function::Function;
use super::view::View;
use crate::eval::{Datum, Row};
use crate::run::error::{RunError, RunResult};
use crate::run::store::{Entries, Namespace, StateTable};

const COMMA: &str = ",";

/// Strings of rows that stay, put together as they come. Its fields are the separator and the text.
pub(super) struct ListAggregate;

fn append(text: &Datum, delimiter: &Datum, next: &Datum) -> Datum {
    match (text.as_str(), delimiter.as_str(), next.as_str()) {
        (_, _, None) => text.clone(),
        (None, ..) => next.clone(),
        (Some(text), Some(delimiter), Some(next)) => {
            let mut out = String::with_capacity(text.len() + delimiter.len() + next.len());
            out.push_str(text);
            out.push_str(delimiter);
            out.push_str(next);
            Datum::string(out)
        }
        // `CONCAT` with NULL is NULL.
        (_, None, _) => Datum::Null,
    }
}

impl<N> Function<N> for ListAggregate {
    fn create(&self, fields: &mut [Datum]) {
        fields[0] = Datum::string(COMMA);
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], _: &Scope<N>) -> RunResult<()> {
        if let Some(delimiter) = args.get(1) {
            fields[0] = (*delimiter).clone();
        }
        if !args[0].is_null() {
            fields[1] = append(&fields[1], &fields[0], args[0]);
        }
        Ok(())
    }

    fn merge(&mut self, fields: &mut [Datum], _: &Scope<N>, other: &[Datum], _: &Scope<N>) -> RunResult<()> {
        fields[1] = append(&fields[1], &other[0], &other[1]);
        fields[0] = other[0].clone();
        Ok(())
    }

    fn value(&self, fields: &[Datum], _: &Scope<N>) -> RunResult<Datum> {
        Ok(fields[1].clone())
    }
}

/// Strings of rows that may be taken back: a list of them, and a list of those that were taken back before they came. Its field
/// is a structure, with the separator if the call has one, and with the lists on the way from a local aggregate.
pub(super) struct ListAggregateWithRetract<N> {
    separated: bool,
    list: View<N, Vec<Datum>>,
    retracted: View<N, Vec<Datum>>,
}

impl<N: Namespace> ListAggregateWithRetract<N> {
    /// The function; its lists are the states `list` and `retracted`.
    pub fn build(separated: bool, list: &str, retracted: &str, mut entries: Option<&mut Entries>) -> RunResult<Self> {
        let list = View::build(list, entries.as_deref_mut())?;
        Ok(ListAggregateWithRetract { separated, list, retracted: View::build(retracted, entries)? })
    }

    fn delimiter(fields: &[Datum]) -> Datum {
        match &fields[0] {
            Datum::Row(row) => row[2].clone(),
            _ => Datum::string(COMMA),
        }
    }

    fn put(fields: &mut [Datum], delimiter: Datum, lists: [Datum; 2]) {
        let [list, retracted] = lists;
        fields[0] = Datum::Row(Row::new(vec![list, retracted, delimiter]));
    }
}

impl<N: Namespace> Function<N> for ListAggregateWithRetract<N> {
    fn create(&self, fields: &mut [Datum]) {
        Self::put(fields, Datum::string(COMMA), Default::default());
    }

    fn accumulate(&mut self, fields: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        if args[0].is_null() {
            return Ok(());
        }
        if self.separated && Self::delimiter(fields) != *args[1] {
            Self::put(fields, args[1].clone(), Default::default());
        }
        self.list.check(args[0])?;
        self.list.entry_mut(at).push(args[0].clone());
        Ok(())
    }

    fn retract(&mut self, _: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        if args[0].is_null() {
            return Ok(());
        }
        let list = self.list.entry_mut(at);
        match list.iter().position(|value| value == args[0]) {
            Some(place) => {
                list.remove(place);
            }
            None => {
                self.retracted.check(args[0])?;
                self.retracted.entry_mut(at).push(args[0].clone());
            }
        }
        Ok(())
    }

    fn merge(&mut self, fields: &mut [Datum], at: &Scope<N>, other: &[Datum], from: &Scope<N>) -> RunResult<()> {
        if self.separated {
            Self::put(fields, Self::delimiter(other), Default::default());
        }
        let theirs = self.list.get(from).cloned().unwrap_or_default();
        let mut taken = self.retracted.remove(at).unwrap_or_default();
        taken.extend(self.retracted.get(from).into_iter().flatten().cloned());
        let list = self.list.entry_mut(at);
        list.extend(theirs);
        taken.retain(|value| match list.iter().position(|v| v == value) {
            Some(place) => {
                list.remove(place);
                false
            }
            None => true,
        });
        if !taken.is_empty() {
            *self.retracted.entry_mut(at) = taken;
        }
        Ok(())
    }

    fn value(&self, fields: &[Datum], at: &Scope<N>) -> RunResult<Datum> {
        let delimiter = Self::delimiter(fields);
        let parts: Vec<&str> = self.list.get(at).into_iter().flatten().filter_map(Datum::as_str).collect();
        Ok(if parts.is_empty() { Datum::Null } else { Datum::string(parts.join(delimiter.as_str().unwrap_or(COMMA))) })
    }

    fn export(&mut self, fields: &mut [Datum], at: &Scope<N>) {
        let lists = [&mut self.list, &mut self.retracted];
        let lists = lists.map(|view| Datum::Array(view.remove(at).unwrap_or_default().into()));
        Self::put(fields, Self::delimiter(fields), lists);
    }

    fn import(&mut self, fields: &[Datum], at: &Scope<N>) -> RunResult<()> {
        let Datum::Row(row) = &fields[0] else {
            return Err(RunError::internal("an accumulator came without its lists"));
        };
        for (view, items) in [(&mut self.list, &row[0]), (&mut self.retracted, &row[1])] {
            if let Datum::Array(items) = items {
                *view.entry_mut(at) = items.to_vec();
            }
        }
        Ok(())
    }

    fn clear(&mut self, at: &Scope<N>) {
        self.list.remove(at);
        self.retracted.remove(at);
    }

    fn tables<'a>(&'a mut self, out: &mut Vec<&'a mut dyn StateTable>) {
        self.list.table(out);
        self.retracted.table(out);
    }
}
