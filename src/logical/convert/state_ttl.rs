//! Query hints: how long joins and aggregates keep the rows of a table (`STATE_TTL`), and what Flink refuses of hints
//! (`FlinkHintStrategies`, `QueryHintsResolver`, measured on Flink 1.20.5 and 2.2.1). A hint counts for the SELECT that it stands in, and
//! for the joins and the GROUP BY or DISTINCT that read the named table themselves. How to join is a matter of batch jobs.

use crate::catalog::options::parse_duration;
use crate::logical::state_ttl::StateTtl;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Hint, Select, TableOption, TableRef, TableRefKind};
use crate::target::Target;

/// Who keeps the rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeper {
    /// A join.
    Join,
    /// GROUP BY or DISTINCT.
    Aggregate,
}

/// The hints that Flink knows, and those of them that say how to join.
const KNOWN: &[&str] = &["LOOKUP", "STATE_TTL", "OPTIONS"];
const STRATEGIES: &[&str] = &["BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP"];

/// How long `keeper` keeps the rows of `table`: the first hint that names it counts, and in a hint what it says last.
pub(super) fn ttl_of(select: &Select, table: &TableRef, keeper: Keeper) -> Option<StateTtl> {
    let counts = |h: &&Hint| h.name == "STATE_TTL" || h.name == "JOIN_STATE_TTL" && keeper == Keeper::Join;
    let said = |hint: &Hint| {
        let option = hint.options.iter().rfind(|o| is_called(table, &o.key))?;
        Some(StateTtl { millis: parse_duration(&option.value)?, at: option.span })
    };
    select.hints.iter().filter(counts).find_map(said)
}

/// How long GROUP BY or DISTINCT keep what they make of the only table of FROM.
pub(super) fn ttl_of_rows(select: &Select) -> Option<StateTtl> {
    match select.from.as_slice() {
        [table] => ttl_of(select, table, Keeper::Aggregate),
        _ => None,
    }
}

/// True if a FROM item goes by this name, which may say where the table is.
fn is_called(table: &TableRef, name: &str) -> bool {
    match (&table.alias, &table.kind) {
        (Some(alias), _) => alias.name.value == name,
        (None, TableRefKind::Table { name: path, .. }) => {
            let last = name.rsplit('.').next().unwrap_or(name);
            path.last() == name || path.last() == last && name.split('.').count() <= 3
        }
        (None, TableRefKind::Parenthesized(inner)) => is_called(inner, name),
        _ => false,
    }
}

/// What Flink refuses of the hints of a SELECT; `aggregates`: it groups its rows or makes them distinct.
pub(super) fn check_hints(select: &Select, aggregates: bool, target: Target) -> PlanResult<()> {
    for hint in &select.hints {
        let (name, at) = (hint.name.as_str(), hint.span);
        let joins_only = name == "JOIN_STATE_TTL" && target == Target::Vvr;
        if STRATEGIES.contains(&name) {
            if hint.arguments.is_empty() {
                let message =
                    format!("Invalid hint: {name}, expecting at least one table or view specified in hint {name}.");
                return Err(refused(message, at, "name a table: BROADCAST(t)"));
            }
            let names = hint.arguments.iter().map(|argument| (argument.as_str(), at));
            check_names(name, names, &readers(select, false))?;
        } else if name == "STATE_TTL" || joins_only {
            if !hint.arguments.is_empty() {
                let message = format!("Invalid list options in {name} hint, only support key-value options.");
                return Err(refused(message, at, "write the table and its time: 't' = '1 d'"));
            }
            if hint.options.is_empty() {
                let message = format!("Invalid {name} hint, expecting at least one key-value options specified.");
                return Err(refused(message, at, "write the table and its time: 't' = '1 d'"));
            }
            // Before Flink 2 a time has a number in front.
            let digits = |o: &TableOption| o.value.trim_start().starts_with(|c: char| c.is_ascii_digit());
            let understood =
                |o: &TableOption| parse_duration(&o.value).is_some() && (digits(o) || target == Target::Flink22);
            if let Some(bad) = hint.options.iter().find(|o| !understood(o)) {
                let message = format!("Invalid {name} hint value: text does not start with a number");
                return Err(refused(message, bad.span, "write a number and its unit: '12 h'"));
            }
            let names = hint.options.iter().map(|o| (o.key.as_str(), o.span));
            check_names(name, names, &readers(select, aggregates && !joins_only))?;
        } else if target != Target::Vvr && !KNOWN.contains(&name) {
            // The vendor's engine knows more hints, all of them about how to join.
            let message = format!("Hint: {name} should be registered in the HintStrategyTable");
            return Err(refused(message, at, "Flink has no such hint: leave it out"));
        }
    }
    Ok(())
}

/// The FROM items that a join reads itself, and the one that is grouped; nothing if there is no such operator, when names do not matter.
fn readers(select: &Select, aggregates: bool) -> Option<Vec<&TableRef>> {
    let mut out = Vec::new();
    let mut found = aggregates;
    match select.from.as_slice() {
        [table] => {
            found |= sides(table, &mut out);
            if aggregates {
                out.push(table);
            }
        }
        tables => {
            let mut regular = tables.len() > 1;
            for (i, table) in tables.iter().enumerate() {
                sides(table, &mut out);
                regular &= i == 0 || !is_dependent(table);
            }
            if regular {
                out.extend(tables);
            }
            found |= regular;
        }
    }
    found.then_some(out)
}

/// The sides of the joins in a FROM item, and whether there is one.
fn sides<'t>(table: &'t TableRef, out: &mut Vec<&'t TableRef>) -> bool {
    match &table.kind {
        TableRefKind::Parenthesized(inner) => sides(inner, out),
        TableRefKind::Join(join) => {
            let mut found = sides(&join.left, out);
            found |= sides(&join.right, out);
            if is_dependent(&join.right) {
                return found;
            }
            out.extend([&join.left, &join.right]);
            true
        }
        _ => false,
    }
}

/// What is looked up or computed for each row is joined in another way.
fn is_dependent(table: &TableRef) -> bool {
    match &table.kind {
        TableRefKind::Table { system_time, .. } => system_time.is_some(),
        TableRefKind::Unnest { .. } => true,
        TableRefKind::Function { lateral, .. } | TableRefKind::Derived { lateral, .. } => *lateral,
        TableRefKind::Parenthesized(inner) => is_dependent(inner),
        _ => false,
    }
}

fn check_names<'n>(
    hint: &str,
    names: impl Iterator<Item = (&'n str, Span)>,
    readers: &Option<Vec<&TableRef>>,
) -> PlanResult<()> {
    let Some(readers) = readers else { return Ok(()) };
    for (name, at) in names {
        if !readers.iter().any(|table| is_called(table, name)) {
            let message = format!(
                "The options of following hints cannot match the name of input tables or views: `{name}` in `{hint}`"
            );
            return Err(refused(message, at, "name a table that this SELECT joins or groups, by its alias"));
        }
    }
    Ok(())
}

fn refused(message: String, at: Span, help: &str) -> Box<PlanError> {
    PlanError::rejected(at, message).label("this hint does not hold").help(help).into()
}
