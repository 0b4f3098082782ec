//! `plan -v`: the state of a plan, operator by operator, for people.

use std::fmt::Write as _;

use super::types::StateType;
use super::{StateEntry, StateKind, entries};
use crate::exec::window_spec::duration;
use crate::exec::{NodeId, Plan};

/// Every operator that keeps something, by its number in reports, with the key and one line per entry. Rows name their fields;
/// the timers of an operator share a line. Empty if nothing is kept.
pub fn of_plan(plan: &Plan) -> String {
    plan.ids().filter_map(|id| of_operator(plan, id)).map(|text| format!("\n{text}")).collect()
}

/// The same of one operator; none if it keeps nothing.
pub fn of_operator(plan: &Plan, id: NodeId) -> Option<String> {
    let state = entries(plan, id);
    if state.is_empty() {
        return None;
    }
    let mut out = format!("State of {} ({})", plan.node(id).op.kind(), id.shown());
    if let Some(key) = state.iter().find_map(|e| e.key.as_ref()) {
        let _ = write!(out, ", keyed by {key:#}");
    }
    out.push('\n');
    let (timers, values): (Vec<_>, Vec<_>) = state.iter().partition(|e| e.kind == StateKind::Timer);
    let width = values.iter().map(|e| e.name.len()).max().unwrap_or_default();
    for entry in values {
        let _ = writeln!(out, "  {:width$}  {}", entry.name, line(entry));
    }
    if let Some(timer) = timers.first() {
        let _ = writeln!(out, "  {:width$}  processing and event time{}", "timers", per(&timer.namespace));
    }
    Some(out)
}

fn line(entry: &StateEntry) -> String {
    let mut out = match entry.kind {
        StateKind::Map | StateKind::List => String::new(),
        kind => format!("{kind} "),
    };
    let _ = write!(out, "{}{}", short(&entry.value), per(&entry.namespace));
    if let Some(ttl) = entry.ttl {
        let _ = write!(out, ", kept for {}", duration(ttl));
    }
    out
}

/// A type with field names, and with the classes of accumulators and views by their last name.
fn short(ty: &StateType) -> String {
    let text = by_last_name(&format!("{ty:#}"), "RAW('", "', '...')", "");
    by_last_name(&text, "STRUCTURED<'", "', ", "<")
}

/// Replaces every `lead` class `tail` by the last name of the class and `then`.
fn by_last_name(text: &str, lead: &str, tail: &str, then: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split(lead);
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        match part.split_once(tail) {
            Some((class, rest)) => {
                out.push_str(class.rsplit(['.', '$']).next().unwrap_or_default());
                out.push_str(then);
                out.push_str(rest);
            }
            None => {
                out.push_str(lead);
                out.push_str(part);
            }
        }
    }
    out
}

/// What else than the key an entry is kept by.
fn per(namespace: &StateType) -> &'static str {
    match namespace {
        StateType::Void => "",
        StateType::Window => ", per window",
        // Aligned windows go by the end of their slices.
        _ => ", per slice or window end",
    }
}
