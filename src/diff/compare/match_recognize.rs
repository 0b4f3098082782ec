//! `Match`.

use super::super::aggregates::quoted;
use super::super::change::{ChangeKind, Item, MeasuresChange, OrderChange};
use super::super::keys::{self, Order};
use super::super::lineage::{Ident, match_text};
use super::super::matching::Side;
use super::super::places::{Places, lacking};
use super::super::view::order;
use super::Comparison;
use crate::exec::match_recognize::Match;
use crate::exec::window_spec::duration;
use crate::exec::{NodeId, Operator};
use crate::logical::pattern;
use crate::logical::rex::{Origins, Rex};

/// An expression of one side: what it computes, the same with the columns by their names, and the columns it reads.
struct Computed {
    /// Equal texts compute the same.
    computation: String,
    /// What is written; if only this is equal, a column below is computed otherwise.
    words: String,
    reads: Vec<Ident>,
}

/// A match of one side.
struct View<'a> {
    pattern: &'a pattern::Match,
    input: Vec<Ident>,
    /// What each variable is called: by its place where both patterns have as many steps, so that a variable with another name
    /// changes the pattern and nothing else.
    labels: Vec<String>,
    /// The columns of all variables, by what they are computed from.
    computed: Vec<String>,
    /// The same by their names.
    written: Vec<String>,
}

impl View<'_> {
    fn computed(&self, e: &Rex) -> Computed {
        let variables = &self.pattern.variables;
        let (computation, columns) = match_text(e, variables, &self.computed);
        let (words, _) = match_text(e, variables, &self.written);
        let computation = format!("{computation}:{}", e.ty.all_nullable().kind);
        Computed { computation, words, reads: columns.into_iter().map(|c| self.input[c]).collect() }
    }
}

impl Comparison<'_> {
    pub(super) fn match_recognize(&mut self, number: usize, o: NodeId, n: NodeId) {
        let (Operator::Match(a), Operator::Match(b)) = (&self.old.plan.node(o).op, &self.new.plan.node(n).op) else {
            return;
        };
        let (a, b): (&Match, &Match) = (a, b);
        let mut explained = Vec::new();
        self.match_keys(number, o, n, (a, b), &mut explained);
        let old = self.match_view(Side::Old, o, &a.pattern, &b.pattern);
        let new = self.match_view(Side::New, n, &b.pattern, &a.pattern);
        if steps(&a.pattern) != steps(&b.pattern) {
            let args = vec![("old", a.pattern.written_pattern()), ("new", b.pattern.written_pattern())];
            let places = (a.pattern.pattern_origins.first(), b.pattern.pattern_origins.first());
            self.state(number, ChangeKind::RowPattern, args, places, Item::Other, None);
        }
        self.definitions(number, &old, &new, &mut explained);
        self.measures(number, &old, &new, &mut explained);
        if after(&old) != after(&new) {
            let args = vec![("old", a.pattern.written_after()), ("new", b.pattern.written_after())];
            let place = |p: &pattern::Match| p.after_origins.first().or(p.pattern_origins.first());
            let places = (place(&a.pattern), place(&b.pattern));
            self.state(number, ChangeKind::AfterMatch, args, places, Item::Other, None);
        }
        // A length that is not positive limits nothing.
        let limit = |p: &pattern::Match| p.within.filter(|w| *w > 0);
        if limit(&a.pattern) != limit(&b.pattern) {
            let words = |p: &pattern::Match| limit(p).map_or_else(|| "no limit".to_owned(), duration);
            let args = vec![("old", words(&a.pattern)), ("new", words(&b.pattern))];
            let place = |p: &pattern::Match| p.within_origins.first().or(p.pattern_origins.first());
            let places = (place(&a.pattern), place(&b.pattern));
            self.state(number, ChangeKind::Within, args, places, Item::Other, None);
        }
        self.input_columns(number, o, n, &explained);
    }

    fn match_keys(
        &mut self,
        number: usize,
        o: NodeId,
        n: NodeId,
        (a, b): (&Match, &Match),
        explained: &mut Vec<Ident>,
    ) {
        let (a_keys, b_keys) = (&a.pattern, &b.pattern);
        let Comparison { old, new, matching, interner, .. } = self;
        let keys_old = old.partition(o, &a_keys.written_partition, &a_keys.partition_origins, matching, interner);
        let keys_new = new.partition(n, &b_keys.written_partition, &b_keys.partition_origins, matching, interner);
        if let Some(diff) = keys::compare(&keys_old, &keys_new, Order::Counts) {
            explained.extend(diff.differing());
            self.keys(number, ChangeKind::PartitionKeys(diff.change.clone()), &diff);
        }
        let in_old = self.old.input_idents(o, &self.matching, &mut self.interner);
        let in_new = self.new.input_idents(n, &self.matching, &mut self.interner);
        let (order_old, order_new) = (order(&a_keys.order, &in_old), order(&b_keys.order, &in_new));
        if order_old == order_new && a.proctime == b.proctime {
            return;
        }
        let fields = |list: &[super::super::view::OrderView]| list.iter().map(|k| k.ident).collect::<Vec<_>>();
        let (fields_old, fields_new) = (fields(&order_old), fields(&order_new));
        let change = OrderChange {
            fields: fields_old != fields_new,
            direction: fields_old == fields_new && order_old != order_new,
            nulls: false,
            time_attribute: fields_old.first() != fields_new.first() || a.proctime != b.proctime,
        };
        explained.extend(fields_old.iter().chain(&fields_new));
        let places = (a_keys.order_origins.first(), b_keys.order_origins.first());
        self.state(number, ChangeKind::OrderBy(change), Vec::new(), places, Item::Other, None);
    }

    fn match_view<'m>(&mut self, side: Side, id: NodeId, own: &'m pattern::Match, other: &pattern::Match) -> View<'m> {
        let Comparison { old, new, matching, interner, .. } = self;
        let side = if side == Side::Old { old } else { new };
        let input = side.input_idents(id, matching, interner);
        let mut labels: Vec<String> = own.variables.names.iter().map(ToString::to_string).collect();
        if own.steps.len() == other.steps.len() {
            for (i, step) in own.steps.iter().enumerate() {
                labels[step.variable] = format!("#{i}");
            }
        }
        let of_all = |column: &dyn Fn(usize) -> String| -> Vec<String> {
            labels.iter().flat_map(|v| (0..input.len()).map(move |c| format!("{v}.{}", column(c)))).collect()
        };
        let columns = side.plan.input_columns(id, 0);
        let computed = of_all(&|c| format!("${}", input[c].index()));
        let written = of_all(&|c| columns[c].name.to_string());
        View { pattern: own, input, labels, computed, written }
    }

    /// The conditions of variables that both patterns have.
    fn definitions(&mut self, number: usize, old: &View<'_>, new: &View<'_>, explained: &mut Vec<Ident>) {
        let (mut changed, mut names) = (0, Vec::new());
        let mut places = None;
        for step in &new.pattern.steps {
            let label = &new.labels[step.variable];
            let Some(was) = old.pattern.steps.iter().find(|s| old.labels[s.variable] == *label) else { continue };
            let condition = |view: &View<'_>, variable: usize| {
                let definition = view.pattern.condition(variable);
                let always = definition.is_none_or(|d| crate::logical::simplify::is_always_true(&d.condition));
                (
                    definition.filter(|_| !always).map(|d| view.computed(&d.condition)),
                    definition.map(|d| d.origins.clone()),
                )
            };
            let (before, before_at) = condition(old, was.variable);
            let (after, after_at) = condition(new, step.variable);
            if same(before.as_ref(), after.as_ref()) {
                continue;
            }
            changed += 1;
            names.push(new.pattern.variables.names[step.variable].to_string());
            explained.extend(before.iter().chain(&after).flat_map(|c| c.reads.iter().copied()));
            let at = |o: Option<Origins>, view: &View<'_>| {
                o.and_then(|o| o.first()).or(view.pattern.pattern_origins.first())
            };
            places.get_or_insert((at(before_at, old), at(after_at, new)));
        }
        if let Some(places) = places {
            let args = vec![("names", quoted(&names))];
            self.state(number, ChangeKind::Definitions { changed }, args, places, Item::Other, None);
        }
    }

    fn measures(&mut self, number: usize, old: &View<'_>, new: &View<'_>, explained: &mut Vec<Ident>) {
        let of = |view: &View<'_>| -> Vec<(Computed, String, Origins)> {
            let measures = view.pattern.measures.iter();
            measures.map(|m| (view.computed(&m.expr), m.name.to_string(), m.origins.clone())).collect()
        };
        let (olds, news) = (of(old), of(new));
        let mut left: Vec<usize> = (0..olds.len()).collect();
        let mut partners = vec![None; news.len()];
        for (i, (computed, ..)) in news.iter().enumerate() {
            let at = left.iter().position(|j| same(Some(&olds[*j].0), Some(computed)));
            partners[i] = at.map(|at| left.remove(at));
        }
        let kept: Vec<usize> = partners.iter().flatten().copied().collect();
        let mut change = MeasuresChange { moved: kept.windows(2).any(|w| w[0] > w[1]), ..MeasuresChange::default() };
        let (mut added, mut changed) = (Vec::new(), Vec::new());
        let mut places: Option<Places> = None;
        for (_, (computed, name, origins)) in news.iter().enumerate().filter(|(i, _)| partners[*i].is_none()) {
            explained.extend(&computed.reads);
            let was = left.iter().position(|j| olds[*j].1 == *name).map(|at| left.remove(at));
            match was {
                Some(j) => {
                    explained.extend(&olds[j].0.reads);
                    changed.push(name.clone());
                    places.get_or_insert(Places::from((olds[j].2.first(), origins.first())));
                }
                None => {
                    added.push(name.clone());
                    places.get_or_insert(Places::from((None, origins.first())));
                }
            }
        }
        let removed: Vec<String> = left.iter().map(|j| olds[*j].1.clone()).collect();
        explained.extend(left.iter().flat_map(|j| olds[*j].0.reads.iter().copied()));
        (change.added, change.removed, change.changed) = (added.len(), removed.len(), changed.len());
        if change == MeasuresChange::default() {
            return;
        }
        let clause = |list: &[(Computed, String, Origins)]| {
            let spans = list.iter().filter_map(|m| m.2.first());
            spans.reduce(|a, b| a.to(b))
        };
        let whole = Places::beside(clause(&olds), clause(&news), lacking(change.removed, change.added));
        let gone = left.first().and_then(|j| olds[*j].2.first());
        let places = places.unwrap_or(match gone {
            Some(gone) => Places::beside(Some(gone), clause(&news), lacking(change.removed, 0)),
            None => whole,
        });
        let mut args = Vec::new();
        let moved: Vec<String> =
            if change.moved { kept.iter().map(|j| olds[*j].1.clone()).collect() } else { Vec::new() };
        for (word, names) in
            [("added_names", &added), ("removed_names", &removed), ("changed_names", &changed), ("moved_names", &moved)]
        {
            if !names.is_empty() {
                args.push((word, quoted(names)));
            }
        }
        self.state(number, ChangeKind::Measures(change), args, places, Item::Other, None);
    }
}

/// The steps, by the names that the state has them under.
fn steps(p: &pattern::Match) -> Vec<(&str, u32, Option<u32>, bool)> {
    p.steps
        .iter()
        .map(|s| {
            let fixed = s.to == Some(s.from) || (s.from, s.to) == (0, Some(1));
            (&*p.variables.names[s.variable], s.from, s.to, s.greedy || fixed)
        })
        .collect()
}

/// The strategy, variables by what they are called in comparisons.
fn after<'v>(view: &'v View<'_>) -> (&'static str, Option<&'v str>) {
    use pattern::AfterMatch;
    let label = |v: usize| Some(view.labels[v].as_str());
    match view.pattern.after {
        AfterMatch::PastLastRow => ("past", None),
        AfterMatch::ToNextRow => ("next", None),
        AfterMatch::ToFirst(v) => ("first", label(v)),
        AfterMatch::ToLast(v) => ("last", label(v)),
    }
}

/// True if both read the same columns, whatever these are called: then no change of columns says what differs.
fn same_columns(a: &Computed, b: &Computed) -> bool {
    a.reads.iter().all(|r| b.reads.contains(r)) && b.reads.iter().all(|r| a.reads.contains(r))
}

/// Equal, or different only because of a column below.
fn same(a: Option<&Computed>, b: Option<&Computed>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.computation == b.computation || a.words == b.words && !same_columns(a, b),
        (None, None) => true,
        _ => false,
    }
}
