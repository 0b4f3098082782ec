//! What differs between two source tables, apart from their columns, which are judged where they are read.

use super::change::{ChangeKind, Fact, Facts, Item};
use super::compare::Comparison;
use super::lineage::type_text;
use super::matching::Side;
use super::places::{Places, lacking};
use crate::catalog::Table;
use crate::catalog::connectors::Connector;
use crate::catalog::{TableColumn, TableColumnKind};
use crate::exec::watermark_assigner::WatermarkAssigner;
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rex::Rex;
use crate::source::Span;

/// Compares two matched scans.
pub fn compare(c: &mut Comparison<'_>, number: usize, o: NodeId, n: NodeId) {
    let (Operator::TableSourceScan(a), Operator::TableSourceScan(b)) = (&c.old.plan.node(o).op, &c.new.plan.node(n).op)
    else {
        return;
    };
    let (old, new) = (&*a.table, &*b.table);
    if old.inferred && new.inferred && old.path == new.path {
        return;
    }
    let renamed = old.path != new.path;
    let connector = old.options.get("connector") != new.options.get("connector");
    let options = if connector { Vec::new() } else { changed_options(old, new) };
    let is_sharding = |key: &String| new.connectors.is_sharding(new, key);
    let sharding = options.iter().filter(|key| is_sharding(key)).count();
    let changelog = Connector::of(old).source.changelog != Connector::of(new).source.changelog;
    let (watermark, delay_only) = watermarks(c, o, n);
    let primary_key = key_names(old) != key_names(new);
    let retyped = retyped(old, new);
    for (side, scan, node) in [(Side::Old, o, a), (Side::New, n, b)] {
        let view = if side == Side::Old { &mut c.old } else { &mut c.new };
        let idents = view.idents(scan, &c.matching, &mut c.interner);
        let names = node.fields.iter().map(|f| node.table.columns[*f].name.as_str());
        c.retyped.extend(names.zip(idents).filter(|(name, _)| retyped.contains(name)).map(|(_, id)| id));
    }
    let (added, removed, other) = unread_columns(c, old, o, new, n);
    let unread = !added.is_empty() || !removed.is_empty() || !other.is_empty();
    if !(renamed || connector || changelog || watermark || primary_key || unread) && options.is_empty() {
        return;
    }
    let kind = ChangeKind::Source {
        renamed,
        connector,
        options: options.len() - sharding,
        sharding,
        changelog,
        watermark,
        primary_key,
        unread_added: added.len(),
        unread_changed: removed.len() + other.len(),
    };
    let mut args = Vec::new();
    let words = |table: &Table| -> String {
        if renamed {
            table.path.name.to_string()
        } else if connector {
            table.options.get("connector").unwrap_or("no connector").to_owned()
        } else if primary_key {
            let names = key_names(table);
            if names.is_empty() { "no primary key".to_owned() } else { format!("({})", names.join(", ")) }
        } else {
            String::new()
        }
    };
    for (name, word) in [("old", words(old)), ("new", words(new))] {
        if !word.is_empty() {
            args.push((name, word));
        }
    }
    if !options.is_empty() {
        args.push(("names", options.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")));
    }
    for (name, list) in [("added_names", &added), ("removed_names", &removed), ("changed_names", &other)] {
        if !list.is_empty() {
            args.push((name, super::aggregates::quoted(list)));
        }
    }
    let mut spots = table_spots(old, new, renamed, connector, &options);
    let either = |span: fn(&Table) -> Option<Span>| {
        let (was, is) = (span(old), span(new));
        let beside = lacking(usize::from(was.is_some()), usize::from(is.is_some()));
        Places::beside(was.or(Some(old.name_span)), is.or(Some(new.name_span)), beside)
    };
    let (shards, others): (Vec<String>, Vec<String>) = options.iter().cloned().partition(is_sharding);
    for (fact, keys) in [("sharding", shards), ("options", others)] {
        if let Some((_, places)) = table_spots(old, new, false, false, &keys).pop() {
            spots.retain(|(known, _)| *known != fact);
            spots.push((fact, places));
        }
    }
    if watermark {
        spots.push(("watermark", either(|table| table.watermark.as_ref().map(|w| w.span))));
    }
    if primary_key {
        spots.push(("primary_key", either(|table| table.primary_key.as_ref().map(|k| k.span))));
    }
    if changelog {
        // What the connector sends follows from its options.
        let options = table_spots(old, new, renamed, connector, &options);
        spots.push(("changelog", options.first().map_or_else(|| either(|_| None), |(_, places)| *places)));
    }
    for (fact, names) in [("unread_added", vec![&added]), ("unread_changed", vec![&removed, &other])] {
        let Some(name) = names.into_iter().flatten().next() else { continue };
        let of = |table: &Table| table.columns.iter().find(|c| c.name == *name).map(|c| c.span);
        let (was, is) = (of(old), of(new));
        let beside = lacking(usize::from(was.is_some()), usize::from(is.is_some()));
        spots.push((fact, Places::beside(was.or(Some(old.name_span)), is.or(Some(new.name_span)), beside)));
    }
    let mut context: Facts = vec![("watermark_interval", Fact::Bool(watermark && delay_only))];
    let altered = c.stateful_above(number) && reaches_state(c, number);
    context.push(("stateful_changed", Fact::Bool(altered)));
    c.state_spots(number, kind, args, spots, Item::Other, context);
}

/// The places of what differs in the name and the options of two tables.
pub fn table_spots(
    old: &Table,
    new: &Table,
    renamed: bool,
    connector: bool,
    options: &[String],
) -> Vec<(&'static str, Places)> {
    let of = |table: &Table, key: &str| table.options.span(key);
    let places = |key: &str| {
        let (was, is) = (of(old, key), of(new, key));
        let beside = lacking(usize::from(was.is_some()), usize::from(is.is_some()));
        Places::beside(was.or(Some(old.name_span)), is.or(Some(new.name_span)), beside)
    };
    let mut spots = Vec::new();
    if renamed {
        spots.push(("renamed", Places::from((Some(old.name_span), Some(new.name_span)))));
    }
    if connector {
        spots.push(("connector", places("connector")));
    }
    if let Some(first) = options.first() {
        spots.push(("options", places(first)));
    }
    spots
}

/// Columns of one name and another type.
fn retyped<'t>(old: &'t Table, new: &Table) -> Vec<&'t str> {
    if old.inferred || new.inferred {
        return Vec::new();
    }
    let computed = |c: &TableColumn| matches!(c.kind, TableColumnKind::Computed(_));
    let same_name = |o: &&TableColumn| {
        let other = new.columns.iter().find(|n| n.name == o.name);
        !computed(o) && other.is_some_and(|n| !computed(n) && type_text(n) != type_text(o))
    };
    old.columns.iter().filter(same_name).map(|o| o.name.as_str()).collect()
}

/// Columns that nothing reads: those only the new table has, those only the old one has, and those that differ.
fn unread_columns(
    c: &Comparison<'_>,
    old: &Table,
    o: NodeId,
    new: &Table,
    n: NodeId,
) -> (Vec<String>, Vec<String>, Vec<String>) {
    let unread = |plan: &Plan, scan: NodeId, name: &str| {
        plan.node(scan).columns.iter().all(|column| &*column.name != name || !column.needed)
    };
    let only = |a: &Table, b: &Table| -> Vec<String> {
        a.columns.iter().filter(|x| b.columns.iter().all(|y| y.name != x.name)).map(|x| x.name.clone()).collect()
    };
    let physical = |table: &Table, name: &String| {
        table.columns.iter().any(|x| x.name == *name && !matches!(x.kind, TableColumnKind::Computed(_)))
    };
    let added = only(new, old).into_iter().filter(|x| physical(new, x) && unread(c.new.plan, n, x)).collect();
    let removed = only(old, new).into_iter().filter(|x| physical(old, x) && unread(c.old.plan, o, x)).collect();
    let other = retyped(old, new)
        .into_iter()
        .filter(|x| unread(c.old.plan, o, x) && unread(c.new.plan, n, x))
        .map(str::to_owned)
        .collect();
    (added, removed, other)
}

/// True if an operator with state above the source differs in what it keeps: its kind of changes, its strategy, its keys.
fn reaches_state(c: &Comparison<'_>, number: usize) -> bool {
    for p in c.matching.above(number) {
        let pair = &c.matching.pairs[p];
        match (pair.old, pair.new) {
            (Some(o), Some(n)) => {
                let signature = |plan: &Plan, id: NodeId| {
                    let node = plan.node(id);
                    let reads = plan.node(plan.first_phase(id));
                    let input: Vec<_> = reads.inputs.iter().map(|i| plan.node(*i).changelog).collect();
                    let strategy = match &node.op {
                        Operator::Rank(r) => r.strategy.text(),
                        Operator::Sink(s) => s.upsert_materialize.to_string(),
                        Operator::ChangelogNormalize(c) => {
                            let columns = plan.input_columns(id, 0);
                            c.keys.iter().map(|k| columns[*k].name.to_string()).collect::<Vec<_>>().join(", ")
                        }
                        Operator::Join(j) => format!("{:?}", j.inputs),
                        _ => String::new(),
                    };
                    (node.op.is_stateful().then_some(input), strategy)
                };
                if signature(c.old.plan, o) != signature(c.new.plan, n) {
                    return true;
                }
            }
            (o, n) => {
                let stateful = |plan: &Plan, id: Option<NodeId>| id.is_some_and(|id| plan.node(id).op.is_stateful());
                if stateful(c.old.plan, o) || stateful(c.new.plan, n) {
                    return true;
                }
            }
        }
    }
    // A normalizing operator right above the source is such a difference too.
    c.matching.pairs.iter().any(|p| {
        (p.old.is_none() != p.new.is_none())
            && p.old.or(p.new).is_some_and(|id| {
                let plan = if p.old.is_some() { c.old.plan } else { c.new.plan };
                matches!(plan.node(id).op, Operator::ChangelogNormalize(_))
            })
    })
}

fn key_names(table: &Table) -> Vec<&str> {
    table.primary_key.as_ref().map_or_else(Vec::new, |k| k.columns.iter().map(|c| &*table.columns[*c].name).collect())
}

/// The keys of WITH options that differ.
pub fn changed_options(old: &Table, new: &Table) -> Vec<String> {
    // A value that was struck out, as in a lock, may be any value.
    let struck = |value: Option<&str>| value.is_some_and(|v| !v.is_empty() && v.bytes().all(|b| b == b'*'));
    let mut keys: Vec<String> = Vec::new();
    for option in old.options.iter().chain(new.options.iter()) {
        let (a, b) = (old.options.get(&option.key), new.options.get(&option.key));
        let unknown = a.is_some() && b.is_some() && (struck(a) || struck(b));
        if a != b && !unknown && !keys.contains(&option.key) {
            keys.push(option.key.clone());
        }
    }
    keys
}

/// Whether the watermark differs, and whether it is only its delay.
fn watermarks(c: &mut Comparison<'_>, o: NodeId, n: NodeId) -> (bool, bool) {
    let old = strategy(c.old.plan, o);
    let new = strategy(c.new.plan, n);
    match (old, new) {
        (None, None) => (false, false),
        (Some(a), Some(b)) => (a != b, without_delay(&a) == without_delay(&b)),
        _ => (true, false),
    }
}

/// The declared strategy as text: rowtime column and expression over the table's names.
fn strategy(plan: &Plan, scan: NodeId) -> Option<(String, String)> {
    let Operator::TableSourceScan(node) = &plan.node(scan).op else { return None };
    let column = node.table.watermark.as_ref().map(|w| w.path.join("."))?;
    if let Some(expr) = &node.watermark {
        let names: Vec<&str> = plan.node(scan).columns.iter().map(|c| &*c.name).collect();
        return Some((column, delay_text(expr, &names)));
    }
    // The assigner above the scan holds it.
    plan.ids().find_map(|id| match &plan.node(id).op {
        Operator::WatermarkAssigner(WatermarkAssigner { expr, .. }) if stands_on(plan, id, scan) => {
            let names: Vec<&str> = plan.input_columns(id, 0).iter().map(|c| &*c.name).collect();
            Some((column.clone(), delay_text(expr, &names)))
        }
        _ => None,
    })
}

fn stands_on(plan: &Plan, mut id: NodeId, scan: NodeId) -> bool {
    loop {
        match plan.node(id).inputs.as_slice() {
            [input] if *input == scan => return true,
            [input] => id = *input,
            _ => return false,
        }
    }
}

fn delay_text(e: &Rex, names: &[&str]) -> String {
    crate::logical::print::expression(&crate::logical::simplify::canonical(e), names).to_string()
}

/// The strategy without `- INTERVAL ...`.
fn without_delay(strategy: &(String, String)) -> (String, String) {
    let text = strategy.1.strip_prefix('(').and_then(|t| t.split_once(" - ")).map_or(strategy.1.as_str(), |(c, _)| c);
    (strategy.0.clone(), text.to_owned())
}
