//! From the state of the old job to that of the new one, as the engine `vvr` carries it over: operator by operator, aggregate by
//! aggregate, by what each computes. What is new starts empty.

use serde::Serialize;
use serde_json::{Value, json};

use crate::diff::Correspondence;
use crate::exec::{NodeId, Operator, Plan};
use crate::execution::Execution;
use crate::run::store::{EntryImage, SlotImage};
use crate::run::{OperatorImage, StateShape};
use crate::state::accumulators::AccumulatorLayout;
use crate::state::types::{RowType, StateType};
use crate::state::{self, StateEntry};

/// What an operator of the new job got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// Its id in the new plan.
    pub operator: u32,
    /// The exec node.
    pub kind: String,
    /// The entries that it took over, in whole or in part.
    pub entries: Vec<String>,
    /// The entries that start empty.
    pub empty: Vec<String>,
}

/// Turns the state of `old` into state for `new`.
pub fn migrate(
    old: &mut Execution<'_>,
    new: &mut Execution<'_>,
    pairs: &[Correspondence],
) -> (Vec<OperatorImage>, Vec<Restored>) {
    let images = old.job.pipeline().image(old.plan);
    let (mut out, mut restored) = (Vec::new(), Vec::new());
    for pair in pairs {
        let Some(image) = images.iter().find(|i| i.id == pair.old.shown()) else { continue };
        let kind = new.plan.node(pair.new).op.kind();
        let shapes = (old.job.pipeline().shape(pair.old), new.job.pipeline().shape(pair.new));
        let (Some(before), Some(after)) = shapes else { continue };
        let migration = Migration::of(old.plan, new.plan, pair, &before, &after);
        let mut entries = Vec::new();
        let (mut taken, mut empty) = (Vec::new(), Vec::new());
        for entry in state::entries(new.plan, pair.new) {
            let carried = migration.entry(&entry, image, old.plan);
            if carried.is_some() { &mut taken } else { &mut empty }.push(entry.name.clone());
            entries.extend(carried);
        }
        restored.push(Restored { operator: pair.new.shown(), kind: kind.to_owned(), entries: taken, empty });
        out.push(OperatorImage { id: pair.new.shown(), kind: kind.to_owned(), entries });
    }
    (out, restored)
}

/// How the state of one operator is turned into that of another.
struct Migration<'a> {
    pair: &'a Correspondence,
    /// For each key column of the new operator its place in the old key; none if the old key lacks one of them.
    key: Option<Vec<usize>>,
    layouts: Option<(AccumulatorLayout, AccumulatorLayout)>,
    empty_accumulator: Vec<Value>,
    /// How many columns the old operator reads from each input.
    widths: [usize; 2],
    /// Maps of rows are kept by whole rows of an input.
    keeps_rows: bool,
}

impl<'a> Migration<'a> {
    fn of(old: &Plan, new: &Plan, pair: &'a Correspondence, before: &StateShape, after: &StateShape) -> Migration<'a> {
        let (had, has) = (keys_of(old, pair.old, before), keys_of(new, pair.new, after));
        let place = |column: &usize| {
            let was = pair.columns.get(*column).copied().flatten()?;
            had.iter().position(|k| *k == was)
        };
        // A key with a column more or less is another key.
        let key = if had.len() == has.len() { has.iter().map(place).collect() } else { None };
        let layouts = state::accumulators(old, pair.old).zip(state::accumulators(new, pair.new));
        let empty = after.empty_accumulator.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        Migration {
            pair,
            key,
            layouts,
            empty_accumulator: empty,
            widths: [input_width(old, pair.old), old.input_columns(pair.old, 1).len()],
            keeps_rows: matches!(new.node(pair.new).op, Operator::Join(_)),
        }
    }

    /// An entry of the new operator with what the old one's state holds for it; none if that does not fit.
    fn entry(&self, entry: &StateEntry, image: &OperatorImage, old: &Plan) -> Option<EntryImage> {
        let was = self.old_name(&entry.name)?;
        let declared = state::entries(old, self.pair.old).into_iter().find(|e| e.name == was)?;
        let held = image.entries.iter().find(|e| e.name == was)?;
        if declared.kind != entry.kind || declared.namespace != entry.namespace {
            return None;
        }
        let slot = |slot: &SlotImage| {
            let key = match (&entry.key, &slot.key) {
                (None, key) => key.clone(),
                (Some(_), Value::Array(parts)) => {
                    let places = self.key.as_ref()?;
                    Value::Array(places.iter().map(|p| parts.get(*p).cloned()).collect::<Option<_>>()?)
                }
                (Some(_), _) => return None,
            };
            let value = match (&declared.value, &entry.value) {
                (StateType::Row(_), StateType::Row(_)) if self.layouts.is_some() => self.accumulator(&slot.value)?,
                (before, after) => self.value(&slot.value, before, after, entry.input)?,
            };
            Some(SlotImage { key, namespace: slot.namespace.clone(), value })
        };
        let slots = held.slots.iter().map(slot).collect::<Option<Vec<_>>>()?;
        Some(EntryImage { slots, ..EntryImage::empty(entry) })
    }

    /// The old name of an entry: states of aggregates are numbered by the place of their call.
    fn old_name(&self, name: &str) -> Option<String> {
        let Some((before, after)) = &self.layouts else { return Some(name.to_owned()) };
        if let Some((number, rest)) = name.strip_prefix("agg").and_then(|n| n.split_once('$')) {
            let call: usize = number.parse().ok()?;
            let was = self.pair.calls.get(call).copied().flatten()?;
            return Some(format!("agg{was}${rest}"));
        }
        if let Some(rest) = name.strip_prefix("distinctAcc_") {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let view = after.distincts.get(digits.parse::<usize>().ok()?)?;
            // The counts in it are one per call, so the calls have to be the same ones in the same order.
            let calls: Vec<usize> =
                view.calls.iter().map(|c| self.pair.calls.get(*c).copied().flatten()).collect::<Option<_>>()?;
            let was = before.distincts.iter().position(|d| d.calls == calls)?;
            return Some(format!("distinctAcc_{was}{}", &rest[digits.len()..]));
        }
        Some(name.to_owned())
    }

    /// An accumulator row: each call's fields from the call that computes the same, those of new calls as if no row had been seen.
    fn accumulator(&self, value: &Value) -> Option<Value> {
        let (before, after) = self.layouts.as_ref()?;
        let had = value.as_array()?;
        let mut row = self.empty_accumulator.clone();
        if row.len() != after.row.fields.len() || had.len() != before.row.fields.len() {
            return None;
        }
        for (call, range) in after.calls.iter().enumerate() {
            let Some(was) = self.pair.calls.get(call).copied().flatten() else { continue };
            let from = before.calls.get(was)?.clone();
            if from.len() != range.len() {
                return None;
            }
            for (to, from) in range.clone().zip(from) {
                row[to] = had[from].clone();
            }
        }
        if let (Some(to), Some(from)) = (after.count_star, before.count_star) {
            row[to] = had[from].clone();
        }
        Some(Value::Array(row))
    }

    /// A value that holds rows of the operator's input, or is the same on both sides.
    fn value(&self, value: &Value, before: &StateType, after: &StateType, input: usize) -> Option<Value> {
        match (before, after, value) {
            (StateType::Row(was), StateType::Row(is), _) if self.is_input(was, is, input) => {
                let had = value.as_array()?;
                let cell = |from: &Option<usize>| from.map_or(Some(Value::Null), |f| had.get(f).cloned());
                Some(Value::Array(self.columns(input).iter().map(cell).collect::<Option<_>>()?))
            }
            (StateType::List(was), StateType::List(is), Value::Array(items)) => {
                Some(Value::Array(items.iter().map(|v| self.value(v, was, is, input)).collect::<Option<_>>()?))
            }
            // Keys of maps are times, sort keys and upsert keys: they stay, or the state is another one.
            (StateType::Map(k, was), StateType::Map(l, is), Value::Array(items))
            | (StateType::SortedMap(k, was), StateType::SortedMap(l, is), Value::Array(items))
                if k == l =>
            {
                let item = |item: &Value| match item.as_array().map(Vec::as_slice) {
                    Some([key, held]) => {
                        let key = if self.keeps_rows { self.value(key, k, l, input)? } else { key.clone() };
                        Some(json!([key, self.value(held, was, is, input)?]))
                    }
                    _ => None,
                };
                Some(Value::Array(items.iter().map(item).collect::<Option<_>>()?))
            }
            (StateType::Tuple(was), StateType::Tuple(is), Value::Array(items))
                if was.len() == is.len() && is.len() == items.len() =>
            {
                let part = |((v, b), a)| self.value(v, b, a, input);
                Some(Value::Array(items.iter().zip(was).zip(is).map(part).collect::<Option<_>>()?))
            }
            // A row of a match with the number of its users.
            (StateType::Class("LockableType", was), StateType::Class("LockableType", is), Value::Array(parts))
                if matches!((&was[..], &is[..]), ([StateType::Row(_)], [StateType::Row(_)])) =>
            {
                let [uses, row] = parts.as_slice() else { return None };
                Some(json!([uses, self.value(row, &was[0], &is[0], input)?]))
            }
            (before, after, value) if before == after => Some(value.clone()),
            _ => None,
        }
    }

    fn is_input(&self, before: &RowType, after: &RowType, input: usize) -> bool {
        before.fields.len() == self.widths[input.min(1)] && after.fields.len() == self.columns(input).len()
    }

    fn columns(&self, input: usize) -> &[Option<usize>] {
        if input == 0 { &self.pair.columns } else { &self.pair.right_columns }
    }
}

/// The key columns of an operator, among those that [`Correspondence::columns`] counts: all phases of a GROUP BY but the first one
/// are keyed by what that one sends.
fn keys_of(plan: &Plan, id: NodeId, shape: &StateShape) -> Vec<usize> {
    let first = plan.first_phase(id);
    let keys = match &plan.node(first).op {
        Operator::LocalGroupAggregate(local) => &local.keys,
        Operator::GroupAggregate(a) if first != id => &a.keys,
        Operator::LocalWindowAggregate(local) => &local.keys,
        Operator::WindowAggregate(a) if first != id => &a.keys,
        _ => return shape.key_columns.clone(),
    };
    (0..shape.key_columns.len()).filter_map(|k| keys.get(k).copied()).collect()
}

fn input_width(plan: &Plan, id: NodeId) -> usize {
    plan.input_columns(plan.first_phase(id), 0).len()
}

/// Event time of the new job: that of the old one where both read the same source.
pub fn watermarks(old: &mut Execution<'_>, new: &Plan, pairs: &[Correspondence]) -> Vec<(NodeId, i64)> {
    let sent = old.job.pipeline().watermarks();
    let resumed = |pair: &Correspondence| {
        let before = generators(old.plan, pair.old);
        // All that stand on one source have seen the same rows.
        let watermark = sent.iter().find(|(id, _)| before.contains(id)).map(|(_, watermark)| *watermark);
        let after = generators(new, pair.new).into_iter();
        after.filter_map(move |id| Some((id, watermark?))).collect::<Vec<_>>()
    };
    pairs.iter().flat_map(resumed).collect()
}

/// What makes the watermarks of a scan: the scan itself, or the assigners above it.
fn generators(plan: &Plan, scan: NodeId) -> Vec<NodeId> {
    let Operator::TableSourceScan(source) = &plan.node(scan).op else { return Vec::new() };
    if source.watermark.is_some() {
        return vec![scan];
    }
    let stands_on = |mut id: NodeId| loop {
        match plan.node(id).inputs.as_slice() {
            [input] if *input == scan => return true,
            [input] => id = *input,
            _ => return false,
        }
    };
    plan.ids().filter(|id| matches!(plan.node(*id).op, Operator::WatermarkAssigner(_)) && stands_on(*id)).collect()
}
