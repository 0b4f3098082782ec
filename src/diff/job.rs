//! The whole job: sinks matched, pairs compared, echoes folded, options and sinks compared.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::change::{Change, ChangeKind, Fact, Facts, Item, JobDiff, MatchStatus, OperatorMatch};
use super::compare::{Comparison, Stated};
use super::lineage::Interner;
use super::matching::{Matching, Side, match_sinks, one_sided};
use super::outputs;
use super::sources::{changed_options, table_spots};
use super::view::SideView;
use crate::catalog::Table;
use crate::exec::sink::Sink;
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rel::Split;
use crate::source::{SourceMap, Span};

/// Options that bear on state or on how plans keep it, where no operator shows it.
const STATE_OPTIONS: [&str; 14] = [
    "table.exec.state.ttl",
    "table.exec.mini-batch.enabled",
    "table.exec.mini-batch.size",
    "table.exec.mini-batch.allow-latency",
    "table.optimizer.agg-phase-strategy",
    SPLIT,
    SPLIT_BUCKETS,
    "table.exec.sink.upsert-materialize",
    "table.exec.source.idle-timeout",
    "table.local-time-zone",
    INCREMENTAL,
    "table.exec.source.cdc-events-duplicate",
    "pipeline.max-parallelism",
    "state.backend.type",
];

const MINI_BATCH: &str = "table.exec.mini-batch.enabled";
const MINI_BATCH_PREFIX: &str = "table.exec.mini-batch.";
const SPLIT: &str = "table.optimizer.distinct-agg.split.enabled";
const SPLIT_BUCKETS: &str = "table.optimizer.distinct-agg.split.bucket-num";
const INCREMENTAL: &str = "table.optimizer.incremental-agg-enabled";
const IGNORE_FILTER: &str = "table.optimizer.state-compatibility.ignore-filter";
const IGNORE_SINK: &str = "table.optimizer.state-compatibility.ignore-sink";

pub(super) fn diff(sources: &SourceMap, old: &Plan, new: &Plan) -> JobDiff {
    let mut matching = Matching::default();
    let (pairs, gone, added) = pair_sinks(old, new);
    for (o, n) in &pairs {
        match_sinks(&mut matching, old, *o, new, *n);
    }
    for o in &gone {
        one_sided(&mut matching, old, Side::Old, *o);
    }
    for n in &added {
        one_sided(&mut matching, new, Side::New, *n);
    }
    let on = |plan: &Plan, key: &str| plan.options.get(key).is_some_and(|v| v.eq_ignore_ascii_case("true"));
    let mut c = Comparison {
        old: SideView::new(sources, old, Side::Old),
        new: SideView::new(sources, new, Side::New),
        matching,
        interner: Interner::default(),
        sources,
        stated: Vec::new(),
        produced_old: HashSet::new(),
        produced_new: HashSet::new(),
        key_causes: HashMap::new(),
        passed_on: HashMap::new(),
        retyped: HashSet::new(),
        touched: BTreeMap::new(),
        ignore_filter: on(new, IGNORE_FILTER),
    };
    c.run();
    let temporary_changed = temporary_tables_changed(old, new);
    for (o, n) in &pairs {
        if let Some(number) = c.matching.pair_of(Side::New, *n) {
            outputs::compare(&mut c, number, *o, *n);
            sinks(&mut c, number, *o, *n);
        }
    }
    for o in &gone {
        lone_sink(&mut c, Side::Old, *o, temporary_changed);
    }
    for n in &added {
        lone_sink(&mut c, Side::New, *n, temporary_changed);
    }
    let columns = new.sinks.iter().flat_map(|s| outputs::fates(&mut c, *s)).collect();
    let filters_by_new = new.sinks.iter().any(|s| outputs::filters_by_new(&mut c, *s));
    let operators = operators(&c, old, new);
    let options = option_changes(old, new);
    c.kept_for_above();
    one_for_each_replaced(&mut c.stated);
    one_for_each_ddl_column(&mut c.stated);
    let mut changes = one_for_each_clause(fold(c.stated));
    changes.extend(options);
    changes.extend(function_changes(old, new));
    JobDiff { changes, operators, columns, filters_by_new }
}

/// Sinks by name, then by what they compute, then by place if one of each is left.
pub(super) fn pair_sinks(old: &Plan, new: &Plan) -> (Vec<(NodeId, NodeId)>, Vec<NodeId>, Vec<NodeId>) {
    let name = |plan: &Plan, id: NodeId| match &plan.node(id).op {
        Operator::Sink(s) => s.table.as_ref().map_or_else(|| s.name.clone(), |t| t.path.to_string()),
        _ => String::new(),
    };
    // Names and plans as texts once for each sink: a job may have thousands.
    let described = |plan: &Plan| -> Vec<(NodeId, String, String)> {
        plan.sinks.iter().map(|id| (*id, name(plan, *id), below_text(plan, *id))).collect()
    };
    let (olds, news) = (described(old), described(new));
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut by_digest: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, (_, name, digest)) in olds.iter().enumerate() {
        by_name.entry(name).or_default().push(i);
        by_digest.entry(digest).or_default().push(i);
    }
    let mut taken = vec![false; olds.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut pairs = Vec::new();
    for (at, (id, name, digest)) in news.iter().enumerate() {
        // Several INSERTs may write to one sink: the one with the same plan goes first.
        let same_name = || by_name.get(name.as_str()).into_iter().flatten().copied().filter(|i| !taken[*i]);
        let found = same_name().find(|i| olds[*i].2 == *digest).or_else(|| same_name().next());
        match found {
            Some(i) => {
                taken[i] = true;
                pairs.push((olds[i].0, *id));
            }
            None => open.push(at),
        }
    }
    let mut unmatched = Vec::new();
    for at in open {
        let (id, _, digest) = &news[at];
        match by_digest.get(digest.as_str()).into_iter().flatten().copied().find(|i| !taken[*i]) {
            Some(i) => {
                taken[i] = true;
                pairs.push((olds[i].0, *id));
            }
            None => unmatched.push(*id),
        }
    }
    let mut left: Vec<NodeId> = olds.iter().zip(&taken).filter(|(_, t)| !**t).map(|(o, _)| o.0).collect();
    if let ([o], [n]) = (left.as_slice(), unmatched.as_slice())
        && old.sinks.len() == new.sinks.len()
    {
        pairs.push((*o, *n));
        left.clear();
        unmatched.clear();
    }
    (pairs, left, unmatched)
}

/// The operators below a sink, as text.
fn below_text(plan: &Plan, sink: NodeId) -> String {
    let mut out = String::new();
    let mut stack = plan.node(sink).inputs.clone();
    while let Some(id) = stack.pop() {
        out.push_str(&plan.text(id));
        out.push('\n');
        stack.extend(plan.node(id).inputs.iter().rev());
    }
    out
}

fn sink_node(plan: &Plan, id: NodeId) -> Option<&Sink> {
    match &plan.node(id).op {
        Operator::Sink(s) => Some(s),
        _ => None,
    }
}

fn sinks(c: &mut Comparison<'_>, number: usize, o: NodeId, n: NodeId) {
    let (Some(a), Some(b)) = (sink_node(c.old.plan, o), sink_node(c.new.plan, n)) else { return };
    let (Some(old), Some(new)) = (&a.table, &b.table) else { return };
    let renamed = old.path != new.path;
    let connector = old.options.get("connector") != new.options.get("connector");
    let options = if connector { Vec::new() } else { changed_options(old, new) };
    let materializer = a.upsert_materialize != b.upsert_materialize
        || (a.upsert_materialize && b.upsert_materialize && c.upsert_key_changed(o, n));
    if materializer {
        let cause = c.cause_at_or_below(number);
        let words = |yes: bool| if yes { "sorts updates by key" } else { "writes rows as they come" }.to_owned();
        let args = vec![("old", words(a.upsert_materialize)), ("new", words(b.upsert_materialize))];
        let places = (c.old.plan.node(o).origins.first(), c.new.plan.node(n).origins.first());
        c.state(number, ChangeKind::SinkMaterializer, args, places, Item::Other, cause);
    }
    if !renamed && !connector && options.is_empty() {
        return;
    }
    let kind = ChangeKind::Sink { renamed, connector, options: options.len() };
    let mut args = Vec::new();
    if renamed {
        args.push(("old", old.path.name.to_string()));
        args.push(("new", new.path.name.to_string()));
    } else if connector {
        args.push(("old", old.options.get("connector").unwrap_or("no connector").to_owned()));
        args.push(("new", new.options.get("connector").unwrap_or("no connector").to_owned()));
    }
    if !options.is_empty() {
        args.push(("names", options.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")));
    }
    let spots = table_spots(old, new, renamed, connector, &options);
    let checked = c.new.plan.options.get(IGNORE_SINK).is_some_and(|v| v.eq_ignore_ascii_case("false"));
    let context: Facts = vec![("sinks_checked", Fact::Bool(checked))];
    c.state_spots(number, kind, args, spots, Item::Sink, context);
}

fn lone_sink(c: &mut Comparison<'_>, side: Side, id: NodeId, temporary_changed: bool) {
    let plan = if side == Side::Old { c.old.plan } else { c.new.plan };
    let Some(number) = c.matching.pair_of(side, id) else { return };
    // Only what no other INSERT uses comes or goes.
    let mut stack = plan.node(id).inputs.clone();
    let mut stateful = false;
    while let Some(next) = stack.pop() {
        let shared = c.matching.pair_of(side, next).is_some_and(|p| {
            let pair = &c.matching.pairs[p];
            pair.old.is_some() && pair.new.is_some()
        });
        if shared {
            continue;
        }
        stateful |= plan.node(next).op.is_stateful();
        stack.extend(&plan.node(next).inputs);
    }
    let name = plan.sink_name(id).to_owned();
    let span = plan.node(id).origins.first();
    let (kind, args, places) = match side {
        Side::Old => (ChangeKind::SinkRemoved { stateful }, vec![("old", name)], (span, None)),
        Side::New => (ChangeKind::SinkAdded { stateful }, vec![("new", name)], (None, span)),
    };
    let context: Facts = vec![("temporary_table_changed", Fact::Bool(temporary_changed))];
    c.state_with(number, kind, args, places, Item::Sink, None, context);
}

/// True if a TEMPORARY TABLE of the old script is declared otherwise in the new one, or no longer.
fn temporary_tables_changed(old: &Plan, new: &Plan) -> bool {
    let columns = |t: &Table| t.columns.iter().map(|c| (c.name.clone(), c.ty.clone())).collect::<Vec<_>>();
    let key = |t: &Table| t.primary_key.as_ref().map(|k| k.columns.clone());
    old.temporary_tables.iter().any(|o| match new.temporary_tables.iter().find(|n| n.path == o.path) {
        Some(n) => columns(o) != columns(n) || key(o) != key(n) || !changed_options(o, n).is_empty(),
        None => true,
    })
}

/// Where an operator is replaced by another kind, whatever else differs there comes of it.
fn one_for_each_replaced(stated: &mut [Stated]) {
    let replaced = |s: &Stated| matches!(s.change.kind, ChangeKind::OperatorReplaced { .. });
    let pairs: HashSet<usize> = stated.iter().filter(|s| replaced(s)).map(|s| s.pair).collect();
    for s in stated.iter_mut().filter(|s| !replaced(s) && pairs.contains(&s.pair)) {
        s.cause = Some(s.pair);
    }
}

/// A column that a CREATE TABLE defines otherwise is one edit, wherever it is read: what comes first from the source stands for it.
fn one_for_each_ddl_column(stated: &mut [Stated]) {
    let mut first: HashMap<String, usize> = HashMap::new();
    for s in stated.iter_mut() {
        let Some(column) = &s.ddl_column else { continue };
        match first.get(column) {
            Some(pair) if *pair != s.pair => s.cause = s.cause.or(Some(*pair)),
            Some(_) => {}
            None => drop(first.insert(column.clone(), s.pair)),
        }
    }
}

/// One clause that several operators come of, as that of a view which several INSERTs read, is one edit: the first change stands for
/// the others, that of the operator which is printed first.
fn one_for_each_clause(changes: Vec<Change>) -> Vec<Change> {
    let mut out: Vec<Change> = Vec::with_capacity(changes.len());
    let mut first: HashMap<(&'static str, Option<Span>, Option<Span>), usize> = HashMap::new();
    let place = |change: &Change| change.operator.as_ref().map(|o| (o.new, o.old));
    for mut change in changes {
        let written = change.old.is_some() || change.new.is_some();
        let at = (change.kind.name(), change.old, change.new);
        match first.get(&at).filter(|_| written) {
            Some(i) => {
                if place(&change) < place(&out[*i]) {
                    std::mem::swap(&mut change, &mut out[*i]);
                }
                let echoes = std::mem::take(&mut change.echoes);
                out[*i].echoes.push(change);
                out[*i].echoes.extend(echoes);
            }
            None => {
                first.insert(at, out.len());
                out.push(change);
            }
        }
    }
    out
}

/// Folds changes under the change that brings them about.
fn fold(stated: Vec<Stated>) -> Vec<Change> {
    let causes: Vec<Option<usize>> = stated
        .iter()
        .enumerate()
        .map(|(i, s)| {
            let cause = s.cause?;
            stated.iter().enumerate().position(|(j, t)| j != i && t.pair == cause && t.cause != Some(s.pair))
        })
        .collect();
    // A cause that is an echo itself hands its echoes up.
    let root = |mut i: usize| {
        let mut steps = 0;
        while let Some(next) = causes[i] {
            i = next;
            steps += 1;
            if steps > causes.len() {
                break;
            }
        }
        i
    };
    let roots: Vec<usize> = (0..stated.len()).map(root).collect();
    let mut changes: Vec<Option<Change>> = stated.into_iter().map(|s| Some(s.change)).collect();
    for i in 0..changes.len() {
        if roots[i] != i
            && let Some(echo) = changes[i].take()
        {
            match &mut changes[roots[i]] {
                Some(cause) => cause.echoes.push(echo),
                slot => *slot = Some(echo),
            }
        }
    }
    changes.into_iter().flatten().collect()
}

/// Functions that both scripts declare, that the new job calls, and that something else implements now.
fn function_changes(old: &Plan, new: &Plan) -> Vec<Change> {
    let called = |name: &str| {
        let call = format!("{}(", name.rsplit('.').next().unwrap_or(name).to_lowercase());
        new.ids().any(|id| new.text(id).to_lowercase().contains(&call))
    };
    let differs = |name: &String, class: &String| old.functions.get(name).is_some_and(|o| o != class);
    new.functions
        .iter()
        .filter(|(name, class)| differs(name, class) && called(name))
        .map(|(name, class)| {
            let was = old.functions.get(name).cloned().unwrap_or_default();
            let args = vec![("names", format!("`{name}`")), ("old", was), ("new", class.clone())];
            Change::of_job(ChangeKind::UserFunction, args)
        })
        .collect()
}

/// The value of an option in one form: durations in milliseconds, words in lower case, Flink's default where it is not set.
fn normalized(key: &str, value: Option<&String>) -> String {
    let default = match key {
        "table.exec.state.ttl" | "table.exec.source.idle-timeout" => "0 ms",
        "table.exec.mini-batch.allow-latency" => "0 ms",
        "table.exec.mini-batch.size" => "-1",
        "table.exec.mini-batch.enabled" | SPLIT => "false",
        SPLIT_BUCKETS => "1024",
        "table.exec.source.cdc-events-duplicate" => "false",
        INCREMENTAL => "true",
        "table.optimizer.agg-phase-strategy" | "table.exec.sink.upsert-materialize" => "auto",
        _ => "default",
    };
    let value = value.map_or(default, String::as_str).trim();
    let duration = key.ends_with(".ttl") || key.ends_with("-timeout") || key.ends_with("-latency");
    match crate::catalog::options::parse_duration(value).filter(|_| duration) {
        Some(millis) => millis.to_string(),
        None => value.to_ascii_lowercase(),
    }
}

fn option_changes(old: &Plan, new: &Plan) -> Vec<Change> {
    let stateful = |plan: &Plan| plan.nodes.iter().any(|n| n.op.is_stateful());
    if !stateful(old) && !stateful(new) {
        return Vec::new();
    }
    let value = |plan: &Plan, key: &str| normalized(key, plan.options.get(key));
    let mini_batch = |plan: &Plan| value(plan, MINI_BATCH) == "true";
    STATE_OPTIONS
        .iter()
        .filter(|key| value(old, key) != value(new, key))
        // The details of mini-batch say nothing where it is off, and nothing more where it is switched.
        .filter(|key| {
            !key.starts_with(MINI_BATCH_PREFIX) || **key == MINI_BATCH || (mini_batch(old) && mini_batch(new))
        })
        .filter(|key| match **key {
            SPLIT => has_distinct(old) || has_distinct(new),
            // They say nothing where nothing is split, and nothing more where splitting is switched.
            SPLIT_BUCKETS => is_split(old) && is_split(new),
            INCREMENTAL => is_split(old) && is_split(new) && is_incremental(old) != is_incremental(new),
            _ => true,
        })
        .map(|key| {
            let word = |plan: &Plan| plan.options.get(*key).cloned().unwrap_or_else(|| "the default".to_owned());
            let ttl = |plan: &Plan| {
                plan.options.get(*key).and_then(|v| crate::catalog::options::parse_duration(v)).unwrap_or(0) > 0
            };
            let switched = *key == "table.exec.state.ttl" && ttl(old) != ttl(new);
            let kind = ChangeKind::JobOption { key: (*key).to_owned() };
            Change {
                context: vec![("ttl_switched", Fact::Bool(switched))],
                old: old.option_places.get(*key).copied(),
                new: new.option_places.get(*key).copied(),
                ..Change::of_job(kind, vec![("old", word(old)), ("new", word(new))])
            }
        })
        .collect()
}

/// True if there is an aggregate with DISTINCT, which is what splitting is for.
fn has_distinct(plan: &Plan) -> bool {
    plan.nodes.iter().any(|n| match &n.op {
        Operator::GroupWindowAggregate(a) => a.calls.iter().any(|c| c.distinct),
        Operator::GroupAggregate(a) => a.calls.iter().any(|c| c.distinct),
        Operator::LocalGroupAggregate(l) => l.calls.iter().any(|c| c.distinct),
        Operator::WindowAggregate(a) => a.calls.iter().any(|c| c.distinct),
        Operator::LocalWindowAggregate(l) => l.calls.iter().any(|c| c.distinct),
        _ => false,
    })
}

fn is_split(plan: &Plan) -> bool {
    plan.nodes.iter().any(|n| *n.op.split() != Split::None)
}

fn is_incremental(plan: &Plan) -> bool {
    plan.nodes.iter().any(|n| matches!(n.op, Operator::IncrementalGroupAggregate(_)))
}

/// Every operator with its partner: the new plan's in print order, then those that are gone.
fn operators(c: &Comparison<'_>, old: &Plan, new: &Plan) -> Vec<OperatorMatch> {
    let mut partner: Vec<Option<NodeId>> = vec![None; new.nodes.len()];
    let mut taken: HashSet<NodeId> = HashSet::new();
    // What is shared is matched once, but has a way to each of its readers.
    let more = c.matching.more_readers.iter().map(|(_, way)| way);
    for pair in c.matching.pairs.iter().chain(more) {
        if let (Some(o), Some(n)) = (pair.old, pair.new) {
            partner[n.index()].get_or_insert(o);
            taken.insert(o);
        }
        // In between, operators of one kind stand for each other in order.
        let mut olds = pair.old_path.iter();
        for n in &pair.new_path {
            let kind = new.node(*n).op.kind();
            if let Some(o) = olds.find(|o| old.node(**o).op.kind() == kind) {
                partner[n.index()].get_or_insert(*o);
                taken.insert(*o);
            }
        }
    }
    let changed_pairs: HashSet<usize> = c
        .stated
        .iter()
        .filter(|s| !matches!(s.change.kind, ChangeKind::WindowOutput { .. } | ChangeKind::RankOutput { .. }))
        .map(|s| s.pair)
        .collect();
    let mut out: Vec<OperatorMatch> = new
        .ids()
        .map(|n| {
            let o = partner[n.index()];
            let status = match o {
                None => MatchStatus::Added,
                Some(o) => {
                    let stated = c.matching.pair_of(Side::New, n).is_some_and(|p| changed_pairs.contains(&p));
                    let significant = c.matching.pair_of(Side::New, n).is_some();
                    let differs = if significant { stated } else { old.text(o) != new.text(n) };
                    if differs { MatchStatus::Changed } else { MatchStatus::Same }
                }
            };
            OperatorMatch { old: o, new: Some(n), status }
        })
        .collect();
    out.extend(old.ids().filter(|o| !taken.contains(o)).map(|o| OperatorMatch {
        old: Some(o),
        new: None,
        status: MatchStatus::Removed,
    }));
    out
}
