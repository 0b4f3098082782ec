//! Which of the columns that operators carry are read by anything above: what the documents count as an operator's input.

use super::{Operator, Plan};
use crate::logical::rel::{AggCall, RankEnd};
use crate::logical::rex::Rex;

/// Sets `needed` on every column of the plan.
pub fn mark(plan: &mut Plan) {
    for node in &mut plan.nodes {
        let all = matches!(node.op, Operator::Sink(_));
        node.columns.iter_mut().for_each(|c| c.needed = all);
    }
    // Print order is topological: every reader stands before what it reads, except that a shared sub-plan is printed with its first
    // reader, so repeat until nothing changes (at most once per level of sharing).
    loop {
        let mut changed = false;
        for id in plan.ids() {
            for (i, input) in plan.node(id).inputs.clone().into_iter().enumerate() {
                for column in reads(plan, id, i) {
                    let c = &mut plan.nodes[input.index()].columns[column];
                    changed |= !std::mem::replace(&mut c.needed, true);
                }
            }
        }
        if !changed {
            return;
        }
    }
}

/// The columns of its `input`-th input that an operator reads for itself or for its readers.
fn reads(plan: &Plan, id: super::NodeId, input: usize) -> Vec<usize> {
    let node = plan.node(id);
    let width = plan.node(node.inputs[input]).columns.len();
    let passed = || (0..width).filter(|i| node.columns.get(*i).is_some_and(|c| c.needed)).collect::<Vec<_>>();
    let of_calls = |calls: &[AggCall]| calls.iter().flat_map(AggCall::inputs).collect::<Vec<_>>();
    let of_exprs = |exprs: &mut dyn Iterator<Item = &Rex>| {
        let mut out = Vec::new();
        for e in exprs {
            e.visit(&mut |r| out.extend(r.as_input()));
        }
        out
    };
    match &node.op {
        Operator::Calc(calc) => {
            let exprs = calc.exprs.iter().zip(&node.columns).filter(|(_, c)| c.needed).map(|(e, _)| e);
            of_exprs(&mut exprs.chain(&calc.conditions))
        }
        Operator::Expand(expand) => {
            let kept: Vec<usize> = (0..node.columns.len()).filter(|i| node.columns[*i].needed).collect();
            of_exprs(&mut expand.projects.iter().flat_map(|p| kept.iter().map(|i| &p[*i])))
        }
        Operator::Correlate(c) => {
            let mut out = passed();
            out.extend(of_exprs(&mut c.call.args.iter()));
            out
        }
        Operator::WatermarkAssigner(w) => {
            let mut out = passed();
            out.push(w.rowtime);
            out.extend(of_exprs(&mut std::iter::once(&w.expr)));
            out
        }
        Operator::Exchange(e) => {
            let mut out = passed();
            out.extend(&e.keys);
            out
        }
        Operator::WindowTableFunction(w) => {
            let mut out = passed();
            out.extend(window_reads(&w.window));
            out
        }
        Operator::WindowAggregate(a) => {
            let mut out = a.keys.clone();
            out.extend(needed_calls(&a.calls, node, a.keys.len()));
            out.extend(window_reads(&a.window));
            out
        }
        Operator::LocalWindowAggregate(a) => {
            let mut out = a.keys.clone();
            out.extend(of_calls(&a.calls));
            out.extend(window_reads(&a.window));
            out
        }
        Operator::GlobalWindowAggregate(_)
        | Operator::GlobalGroupAggregate(_)
        | Operator::IncrementalGroupAggregate(_)
        | Operator::Union(_) => (0..width).collect(),
        Operator::GroupAggregate(a) => {
            let mut out = a.keys.clone();
            out.extend(needed_calls(&a.calls, node, a.keys.len()));
            out
        }
        Operator::GroupWindowAggregate(a) => {
            let mut out = a.keys.clone();
            out.extend(a.time);
            out.extend(needed_calls(&a.calls, node, a.keys.len()));
            out
        }
        Operator::OverAggregate(o) => {
            let mut out = passed();
            out.extend(o.partition.iter().chain(o.order.iter().map(|k| &k.column)));
            out.extend(needed_calls(&o.calls, node, width));
            out
        }
        Operator::Match(m) => m.pattern.reads(),
        Operator::Rank(r) => ranking_reads(&r.ranking, passed()),
        Operator::Deduplicate(d) => ranking_reads(&d.ranking, passed()),
        Operator::WindowRank(r) => {
            let mut out = ranking_reads(&r.ranking, passed());
            out.extend(window_reads(&r.window));
            out
        }
        Operator::WindowDeduplicate(d) => {
            let mut out = ranking_reads(&d.ranking, passed());
            out.extend(window_reads(&d.window));
            out
        }
        Operator::ChangelogNormalize(n) => {
            let mut out = passed();
            out.extend(&n.keys);
            out
        }
        Operator::DropUpdateBefore(_) | Operator::Limit(_) | Operator::MiniBatchAssigner(_) => passed(),
        Operator::SortLimit(s) => passed().into_iter().chain(s.order.iter().map(|k| k.column)).collect(),
        Operator::TemporalSort(s) => passed().into_iter().chain(s.order.iter().map(|k| k.column)).collect(),
        Operator::LocalGroupAggregate(a) => {
            let mut out = a.keys.clone();
            out.extend(of_calls(&a.calls));
            out
        }
        Operator::Join(j) => join_reads(plan, node, &j.conditions, input),
        Operator::IntervalJoin(j) => {
            let mut out = join_reads(plan, node, &j.conditions, input);
            out.push(if input == 0 { j.interval.left_time } else { j.interval.right_time });
            out
        }
        Operator::WindowJoin(j) => {
            let mut out = join_reads(plan, node, &j.conditions, input);
            out.extend(window_reads(&j.windows[input]));
            out
        }
        Operator::TemporalJoin(j) => {
            let mut out = join_reads(plan, node, &j.conditions, input);
            out.push(if input == 0 { j.time } else { j.from });
            if input == 1 {
                out.extend(&j.primary_key);
            }
            out
        }
        Operator::LookupJoin(j) => {
            let mut out = passed();
            out.extend(j.input_keys());
            for c in j.before.iter().chain(&j.remaining) {
                c.visit(&mut |r| out.extend(r.as_input().filter(|i| *i < width)));
            }
            out
        }
        Operator::Sink(_) => (0..width).collect(),
        Operator::TableSourceScan(_) | Operator::Values(_) => Vec::new(),
    }
}

fn needed_calls(calls: &[AggCall], node: &super::Node, first: usize) -> Vec<usize> {
    calls
        .iter()
        .enumerate()
        .filter(|(i, _)| node.columns.get(first + i).is_some_and(|c| c.needed))
        .flat_map(|(_, c)| c.inputs())
        .collect()
}

fn window_reads(window: &super::window_spec::WindowSpec) -> Vec<usize> {
    use super::window_spec::WindowAttachment;
    let mut out = window.partition.clone();
    match window.attachment {
        WindowAttachment::TimeColumn(i) => out.push(i),
        WindowAttachment::Bounds { start, end } => out.extend([start, end]),
        WindowAttachment::SliceEnd | WindowAttachment::WindowEnd => {}
    }
    out
}

/// What a join reads of one side: what is needed of its row, and what its condition looks at.
fn join_reads(plan: &Plan, node: &super::Node, conditions: &[Rex], side: usize) -> Vec<usize> {
    let width = plan.node(node.inputs[side]).columns.len();
    let left_width = plan.node(node.inputs[0]).columns.len();
    let first = if side == 0 { 0 } else { left_width };
    let own = |i: usize| i.checked_sub(first).filter(|i| *i < width);
    // A semi join sends nothing of its right side.
    let needed = |i: &usize| node.columns.get(first + i).is_some_and(|c| c.needed);
    let mut out: Vec<usize> = (0..width).filter(needed).collect();
    for c in conditions {
        c.visit(&mut |r| out.extend(r.as_input().and_then(own)));
    }
    out
}

fn ranking_reads(ranking: &super::rank::Ranking, mut out: Vec<usize>) -> Vec<usize> {
    out.extend(ranking.written_partition.iter().chain(ranking.order.iter().map(|k| &k.column)));
    if let RankEnd::Column(column) = ranking.end {
        out.push(column);
    }
    out
}
