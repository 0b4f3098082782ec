//! `JSON_OBJECTAGG` and `JSON_ARRAYAGG` (`JsonObjectAggFunction`, `JsonArrayAggFunction`). Values come as JSON text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Scope;
use super::function::Function;
use super::view::View;
use crate::eval::Datum;
use crate::run::error::{RunError, RunResult};
use crate::run::store::{Entries, Namespace, StateTable};

/// Members by key.
pub(super) struct JsonObject<N> {
    /// `NULL ON NULL`, the default; else members without a value are left out.
    nulls: bool,
    members: View<N, BTreeMap<Datum, Datum>>,
}

impl<N: Namespace> JsonObject<N> {
    /// The function; its map is the state `view`.
    pub fn build(nulls: bool, view: &str, entries: Option<&mut Entries>) -> RunResult<JsonObject<N>> {
        Ok(JsonObject { nulls, members: View::build(view, entries)? })
    }

    fn add(&mut self, key: &Datum, value: &Datum, at: &Scope<N>) -> RunResult<()> {
        let Some(name) = key.as_str() else {
            return Err(RunError::job("Key must not be NULL in JSON_OBJECTAGG."));
        };
        if value.is_null() && !self.nulls {
            return Ok(());
        }
        self.members.check_key(key)?;
        let members = self.members.entry_mut(at);
        if members.contains_key(key) {
            return Err(RunError::job(format!(
                "Key '{name}' is already present. Duplicate keys are not allowed in JSON_OBJECTAGG. Please ensure that keys \
                 are unique."
            )));
        }
        members.insert(key.clone(), value.clone());
        Ok(())
    }
}

/// A string in JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn text(value: &Datum) -> &str {
    value.as_str().unwrap_or("null")
}

impl<N: Namespace> Function<N> for JsonObject<N> {
    fn accumulate(&mut self, _: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        self.add(args[0], args[1], at)
    }

    fn retract(&mut self, _: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        if let Some(members) = self.members.get_mut(at) {
            members.remove(args[0]);
        }
        Ok(())
    }

    fn merge(&mut self, _: &mut [Datum], at: &Scope<N>, _: &[Datum], from: &Scope<N>) -> RunResult<()> {
        let theirs = self.members.get(from).cloned().unwrap_or_default();
        theirs.iter().try_for_each(|(key, value)| self.add(key, value, at))
    }

    fn value(&self, _: &[Datum], at: &Scope<N>) -> RunResult<Datum> {
        let mut out = String::from("{");
        for (key, value) in self.members.get(at).into_iter().flatten() {
            let comma = if out.len() > 1 { "," } else { "" };
            let _ = write!(out, "{comma}{}:{}", quoted(key.as_str().unwrap_or_default()), text(value));
        }
        out.push('}');
        Ok(Datum::string(out))
    }

    fn export(&mut self, fields: &mut [Datum], at: &Scope<N>) {
        fields[0] = Datum::Map(self.members.remove(at).unwrap_or_default().into_iter().collect());
    }

    fn import(&mut self, fields: &[Datum], at: &Scope<N>) -> RunResult<()> {
        if let Datum::Map(members) = &fields[0] {
            *self.members.entry_mut(at) = members.iter().cloned().collect();
        }
        Ok(())
    }

    fn clear(&mut self, at: &Scope<N>) {
        self.members.remove(at);
    }

    fn tables<'a>(&'a mut self, out: &mut Vec<&'a mut dyn StateTable>) {
        self.members.table(out);
    }
}

/// Elements in the order of their arrival.
pub(super) struct JsonArray<N> {
    /// `NULL ON NULL`; the default is to leave out what is NULL.
    nulls: bool,
    elements: View<N, Vec<Datum>>,
}

impl<N: Namespace> JsonArray<N> {
    /// The function; its list is the state `view`.
    pub fn build(nulls: bool, view: &str, entries: Option<&mut Entries>) -> RunResult<JsonArray<N>> {
        Ok(JsonArray { nulls, elements: View::build(view, entries)? })
    }
}

impl<N: Namespace> Function<N> for JsonArray<N> {
    fn accumulate(&mut self, _: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        if self.nulls || !args[0].is_null() {
            self.elements.check(args[0])?;
            self.elements.entry_mut(at).push(args[0].clone());
        }
        Ok(())
    }

    fn retract(&mut self, _: &mut [Datum], args: &[&Datum], at: &Scope<N>) -> RunResult<()> {
        if let Some(elements) = self.elements.get_mut(at)
            && let Some(place) = elements.iter().position(|e| e == args[0])
        {
            elements.remove(place);
        }
        Ok(())
    }

    fn value(&self, _: &[Datum], at: &Scope<N>) -> RunResult<Datum> {
        let elements: Vec<&str> = self.elements.get(at).into_iter().flatten().map(text).collect();
        Ok(Datum::string(format!("[{}]", elements.join(","))))
    }

    fn clear(&mut self, at: &Scope<N>) {
        self.elements.remove(at);
    }

    fn tables<'a>(&'a mut self, out: &mut Vec<&'a mut dyn StateTable>) {
        self.elements.table(out);
    }
}
