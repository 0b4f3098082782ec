//! Where a change stands: facts and names of its operator.

use std::collections::HashSet;

use super::super::change::{Facts, OperatorRef};
use super::super::family::family;
use super::super::lineage::Ident;
use super::super::matching::Side;
use super::super::places::said;
use super::{Comparison, is_stateful};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rex::Origins;
use crate::source::Span;

impl Comparison<'_> {
    /// Where a column that an operator keeps comes into the query: where it is computed, or where it is selected further up.
    pub(super) fn selected_at(&mut self, side: Side, number: usize, ident: Ident) -> Option<Span> {
        let info = self.interner.info(ident);
        if !info.is_source {
            return info.origin;
        }
        let mut at = Some(number);
        while let Some(p) = at {
            let pair = &self.matching.pairs[p];
            let (path, view) = match side {
                Side::Old => (pair.old_path.clone(), &mut self.old),
                Side::New => (pair.new_path.clone(), &mut self.new),
            };
            for id in path.iter().rev() {
                let Operator::Calc(calc) = &view.plan.node(*id).op else { continue };
                let idents = view.idents(*id, &self.matching, &mut self.interner);
                let selected = calc.exprs.iter().zip(idents).filter(|(_, i)| *i == ident);
                if let Some(span) = selected.filter_map(|(e, _)| e.origins.first()).next() {
                    return Some(span);
                }
            }
            at = self.matching.pairs[p].parent;
        }
        None
    }

    /// The clause of the new side around a place that is gone.
    pub fn surviving(&self, number: usize) -> Option<Span> {
        let mut at = self.matching.pairs[number].parent;
        while let Some(p) = at {
            let pair = &self.matching.pairs[p];
            if let Some(id) = pair.new
                && let Some(span) = self.new.plan.node(id).origins.first()
            {
                return Some(span);
            }
            at = pair.parent;
        }
        None
    }

    fn origins(&self, side: Side, number: usize) -> Option<&Origins> {
        let pair = &self.matching.pairs[number];
        match side {
            Side::Old => pair.old.map(|id| &self.old.plan.node(id).origins),
            Side::New => pair.new.map(|id| &self.new.plan.node(id).origins),
        }
    }

    /// The clause that makes an operator: GROUP BY, the first OVER, a window function.
    pub(super) fn clause(&self, side: Side, number: usize) -> Option<Span> {
        self.origins(side, number).and_then(Origins::first)
    }

    /// What stands around that clause: the select list of an aggregate or an OVER.
    pub(super) fn around(&self, side: Side, number: usize) -> Option<Span> {
        self.origins(side, number).and_then(|o| o.iter().nth(1).or(o.first()))
    }

    /// What people call a column.
    pub fn named(&self, id: Ident) -> String {
        let info = self.interner.info(id);
        said(self.sources, &info.name, info.origin).into_owned()
    }

    /// True if the operator's result feeds a WindowRank.
    pub fn feeds_window_rank(&self, number: usize) -> bool {
        let Some(parent) = self.matching.pairs[number].parent else { return false };
        let pair = &self.matching.pairs[parent];
        let is_rank =
            |plan: &Plan, id: Option<NodeId>| id.is_some_and(|id| matches!(plan.node(id).op, Operator::WindowRank(_)));
        is_rank(self.new.plan, pair.new) || is_rank(self.old.plan, pair.old)
    }

    /// True if an operator with state reads what comes out of this pair.
    pub fn stateful_above(&self, number: usize) -> bool {
        self.matching.upwards(number).any(|p| self.keeps_state(p))
    }

    pub(super) fn context(&mut self, number: usize) -> Facts {
        let pair = self.matching.pairs[number].clone();
        let (plan, id) = match (pair.new, pair.old) {
            (Some(n), _) => (self.new.plan, n),
            (None, Some(o)) => (self.old.plan, o),
            (None, None) => return Vec::new(),
        };
        let op = &plan.node(id).op;
        let mut facts: Facts = vec![
            ("family", family(op).into()),
            ("feeds_window_rank", self.feeds_window_rank(number).into()),
            ("stateful_above", self.stateful_above(number).into()),
        ];
        let time = match op {
            Operator::WindowAggregate(a) => Some(a.window.proctime),
            Operator::GlobalWindowAggregate(g) => Some(g.aggregate.window.proctime),
            Operator::GroupWindowAggregate(a) => Some(a.proctime),
            Operator::OverAggregate(o) => Some(o.proctime),
            Operator::Deduplicate(d) => Some(d.proctime),
            Operator::TemporalSort(s) => Some(s.proctime),
            Operator::Match(m) => Some(m.proctime),
            Operator::IntervalJoin(j) => Some(!j.interval.event_time),
            Operator::WindowRank(_) | Operator::WindowDeduplicate(_) => Some(false),
            _ => None,
        };
        if let Some(proctime) = time {
            facts.push(("time", (if proctime { "proctime" } else { "rowtime" }).into()));
        }
        match op {
            Operator::TemporalSort(s) => facts.push(("sort_keys", s.order.len().into())),
            Operator::Deduplicate(d) => {
                facts.push(("keep", (if d.keeps_last() { "last" } else { "first" }).into()));
            }
            Operator::Rank(r) => {
                use crate::exec::rank::RankStrategy;
                let strategy = match r.strategy {
                    RankStrategy::AppendFast => "append",
                    RankStrategy::UpdateFast(_) => "update-fast",
                    RankStrategy::Retract => "retract",
                };
                facts.push(("strategy", strategy.into()));
            }
            _ => {}
        }
        facts
    }

    /// The family of the first operator with state among a pair and what reads it.
    pub fn nearest_keeper(&self, number: usize) -> Option<&'static str> {
        let first = std::iter::once(number).chain(self.matching.upwards(number)).find(|p| self.keeps_state(*p))?;
        let pair = &self.matching.pairs[first];
        match (pair.new, pair.old) {
            (Some(n), _) => Some(family(&self.new.plan.node(n).op)),
            (None, Some(o)) => Some(family(&self.old.plan.node(o).op)),
            (None, None) => None,
        }
    }

    /// True if a pair's operator keeps state on one side at least.
    pub fn keeps_state(&self, number: usize) -> bool {
        let pair = &self.matching.pairs[number];
        let stateful = |plan: &Plan, id: Option<NodeId>| id.is_some_and(|id| is_stateful(plan, id));
        stateful(self.new.plan, pair.new) || stateful(self.old.plan, pair.old)
    }

    /// The operator of a pair, for reports.
    pub fn operator(&self, number: usize) -> OperatorRef {
        let pair = &self.matching.pairs[number];
        let (plan, id) = match (pair.new, pair.old) {
            (Some(n), _) => (self.new.plan, n),
            (None, o) => (self.old.plan, o.unwrap_or(NodeId(0))),
        };
        OperatorRef {
            kind: plan.node(id).op.kind(),
            path: self.path(number),
            sinks: self.sinks(number),
            old: pair.old,
            new: pair.new,
            state: crate::state::kept(plan, id),
        }
    }

    /// The sinks that the results of a pair reach.
    fn sinks(&self, number: usize) -> Vec<String> {
        let name = |plan: &Plan, id: Option<NodeId>| {
            id.filter(|id| matches!(plan.node(*id).op, Operator::Sink(_))).map(|id| plan.sink_name(id).to_owned())
        };
        let mut sinks: Vec<String> = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        for p in self.matching.upwards(number).chain([number]) {
            let pair = &self.matching.pairs[p];
            if let Some(sink) = name(self.new.plan, pair.new).or_else(|| name(self.old.plan, pair.old))
                && seen.insert(sink.clone())
            {
                sinks.push(sink);
            }
        }
        sinks
    }

    /// `Sink(top)/WindowRank`; an operator that occurs twice on the way down is numbered.
    pub(super) fn path(&self, number: usize) -> String {
        let mut words = Vec::new();
        let mut at = Some(number);
        while let Some(p) = at {
            let pair = &self.matching.pairs[p];
            let (plan, id) = match (pair.new, pair.old) {
                (Some(n), _) => (self.new.plan, n),
                (None, o) => (self.old.plan, o.unwrap_or(NodeId(0))),
            };
            let word = match &plan.node(id).op {
                Operator::Sink(s) => format!("Sink({})", s.name),
                Operator::TableSourceScan(s) => format!("TableSourceScan({})", s.table.path.name),
                op => op.kind().to_owned(),
            };
            words.push(word);
            at = pair.parent;
        }
        words.reverse();
        words.join("/")
    }
}
