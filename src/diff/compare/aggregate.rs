//! Aggregate operators: windows, keys, calls, steps in between.

use super::super::aggregates;
use super::super::change::{ChangeKind, Fact, Facts, Item, WindowChange};
use super::super::keys;
use super::super::lineage::Ident;
use super::super::matching::Side;
use super::super::places::{Places, lacking};
use super::super::view::{AggregateView, WindowView, window_text};
use super::Comparison;
use crate::exec::group_window_aggregate::EmitStrategy;
use crate::exec::window_spec::duration;
use crate::exec::{NodeId, Operator};
use crate::logical::rel::WindowKind;
use crate::source::Span;

/// Early and late firing in words.
fn emit_text(emit: &EmitStrategy) -> String {
    let part = |name: &str, delay: Option<i64>| match delay {
        Some(0) => Some(format!("{name} at once")),
        Some(millis) => Some(format!("{name} every {}", duration(millis))),
        None => None,
    };
    let lateness = (emit.allow_lateness > 0).then(|| format!("lateness of {} allowed", duration(emit.allow_lateness)));
    let words: Vec<String> =
        [part("early", emit.early), part("late", emit.late), lateness].into_iter().flatten().collect();
    if words.is_empty() { "only at the end of the window".to_owned() } else { words.join(", ") }
}

impl Comparison<'_> {
    pub(super) fn aggregates(&mut self, number: usize, o: NodeId, n: NodeId) {
        let Some(old) = self.old.aggregate(o, &self.matching, &mut self.interner) else { return };
        let Some(new) = self.new.aggregate(n, &self.matching, &mut self.interner) else { return };
        if let (Some(a), Some(b)) = (&old.window, &new.window) {
            self.window(number, a, b);
        }
        let sets = (&old.grouping_sets, &new.grouping_sets);
        let sets_changed = sets.0 != sets.1;
        if sets_changed {
            let on_both_sides = sets.0.is_some() && sets.1.is_some();
            let places = (old.grouping_span, new.grouping_span);
            self.state(number, ChangeKind::GroupingSets { on_both_sides }, Vec::new(), places, Item::Other, None);
        }
        if let Some(diff) = keys::compare_group_keys(&old, &new) {
            // Keys that are only in some sets belong to the change of the sets.
            let only_sets = sets_changed && diff.only_old.is_empty() && diff.only_new.is_empty();
            if !only_sets {
                self.keys(number, ChangeKind::GroupKeys(diff.change.clone()), &diff);
                self.key_causes.extend(diff.differing().map(|d| (d, number)));
            }
        }
        if old.emit != new.emit {
            let args = vec![("old", emit_text(&old.emit)), ("new", emit_text(&new.emit))];
            let at = new.window.as_ref().and_then(|w| w.origins.call.first());
            let old_at = old.window.as_ref().and_then(|w| w.origins.call.first());
            let without = |e: &EmitStrategy| EmitStrategy { allow_lateness: 0, ..*e };
            let lateness_only = without(&old.emit) == without(&new.emit);
            self.state(number, ChangeKind::EmitStrategy { lateness_only }, args, (old_at, at), Item::Other, None);
        }
        let aggregates = self.aggregate_calls(number, &old, &new);
        if old.step.is_some() != new.step.is_some() {
            let appeared = new.step.is_some();
            let conditions_only = !if appeared { new.step_computes_fields } else { old.step_computes_fields };
            // The side without the step shows the aggregate that it is for.
            let place = |view: &AggregateView, other: &AggregateView| {
                view.step.as_ref().and_then(|s| s.first()).or_else(|| aggregates::place(view, other))
            };
            let places = (place(&old, &new), place(&new, &old));
            let kind = ChangeKind::ProjectionStep { appeared, conditions_only };
            if self.feeds_window_rank(number) && aggregates {
                // The Window Top-N page counts it as a changed aggregate, which is stated already.
                return;
            }
            self.state(number, kind, Vec::new(), places, Item::Aggregates, None);
        }
    }

    pub(super) fn aggregate_calls(&mut self, number: usize, old: &AggregateView, new: &AggregateView) -> bool {
        let Some(mut diff) = aggregates::compare(old, new) else { return false };
        diff.change.buckets = old.buckets.is_some() && new.buckets.is_some() && old.buckets != new.buckets;
        let cause = self.cause_of(&diff.differing, number);
        let mut context: Facts = Vec::new();
        let ddl_column = self.computed_in_ddl(&diff.differing);
        if ddl_column.is_some() {
            context.push(("source_column", Fact::Bool(true)));
            context.push(("source_retyped", Fact::Bool(self.retyped_in_ddl(&diff.differing))));
        }
        // The select list stands for an aggregate that is not in it.
        let lacking = lacking(diff.lone.0, diff.lone.1);
        let place = |side: Side, at: Option<Span>| match lacking {
            Some(s) if s == side => self.around(side, number).or(at),
            _ => at.or_else(|| self.around(side, number)),
        };
        let places = Places::beside(place(Side::Old, diff.old), place(Side::New, diff.new), lacking);
        let kind = ChangeKind::Aggregates(diff.change);
        self.state_of_column(number, kind, diff.args, places, Item::Aggregates, cause, context, ddl_column);
        self.reads(diff.differing);
        true
    }

    /// A window function that keeps rows of its own: SESSION, whose windows grow with them.
    pub(super) fn window_table_function(&mut self, number: usize, o: NodeId, n: NodeId) {
        let (Operator::WindowTableFunction(a), Operator::WindowTableFunction(b)) =
            (&self.old.plan.node(o).op, &self.new.plan.node(n).op)
        else {
            return;
        };
        let input_a = self.old.input_idents(o, &self.matching, &mut self.interner);
        let input_b = self.new.input_idents(n, &self.matching, &mut self.interner);
        let va = self.old.window(o, &a.window, &input_a, &self.matching, &mut self.interner);
        let vb = self.new.window(n, &b.window, &input_b, &self.matching, &mut self.interner);
        self.window(number, &va, &vb);
        let explained: Vec<Ident> = [&va, &vb].into_iter().flat_map(|w| w.session_keys.iter().copied()).collect();
        self.input_columns(number, o, n, &explained);
    }

    pub(super) fn window(&mut self, number: usize, a: &WindowView, b: &WindowView) {
        let mut change = WindowChange { offset: a.offset != b.offset, ..WindowChange::default() };
        match (a.kind, b.kind) {
            (WindowKind::Tumble { size: x }, WindowKind::Tumble { size: y }) => change.size = x != y,
            (WindowKind::Hop { size: x, slide: s }, WindowKind::Hop { size: y, slide: t }) => {
                change.size = x != y;
                change.slide = s != t;
            }
            (WindowKind::Cumulate { max_size: x, step: s }, WindowKind::Cumulate { max_size: y, step: t }) => {
                change.size = x != y;
                change.step = s != t;
            }
            (WindowKind::Session { gap: x }, WindowKind::Session { gap: y }) => change.gap = x != y,
            _ => change.window_type = true,
        }
        change.time_attribute = a.time != b.time || a.proctime != b.proctime;
        let name = |w: &WindowView| w.time.map(|t| self.interner.info(t).name.clone());
        change.time_recomputed = change.time_attribute && a.proctime == b.proctime && name(a) == name(b);
        change.session_keys = a.session_keys != b.session_keys && !change.window_type;
        if change == WindowChange::default() {
            return;
        }
        let place = |w: &WindowView| {
            let part = if change.window_type {
                w.origins.call.first()
            } else if change.size || change.gap {
                w.origins.size.first()
            } else if change.slide || change.step {
                w.origins.slide.first()
            } else if change.time_attribute {
                w.origins.time.first()
            } else {
                w.origins.offset.first()
            };
            part.or(w.origins.call.first())
        };
        let mut words = (window_text(a), window_text(b));
        if change.time_attribute && words.0 == words.1 {
            let time = |w: &WindowView| w.time.map(|t| self.interner.info(t).name.clone()).unwrap_or_default();
            words = (format!("{} on `{}`", words.0, time(a)), format!("{} on `{}`", words.1, time(b)));
        }
        if change.session_keys {
            let keys = |w: &WindowView| {
                let names: Vec<String> = w.session_keys.iter().map(|k| format!("`{}`", self.named(*k))).collect();
                if names.is_empty() { "no key".to_owned() } else { names.join(", ") }
            };
            words = (format!("{} by {}", words.0, keys(a)), format!("{} by {}", words.1, keys(b)));
        }
        let args = vec![("old", words.0), ("new", words.1)];
        let mut places = Places::from((place(a), place(b)));
        if change.time_attribute && !(change.window_type || change.size || change.gap || change.slide || change.step) {
            let times: Vec<Ident> = [a.time, b.time].into_iter().flatten().collect();
            places = self.computed_in_ddl(&times).map_or(places, |column| column.places(places));
        }
        let below = self.window_changed_below(number);
        self.state(number, ChangeKind::Window(change), args, places, Item::Other, below);
    }

    /// The pair below that states the same change of the window.
    pub(super) fn window_changed_below(&self, number: usize) -> Option<usize> {
        self.stated
            .iter()
            .find(|s| matches!(s.change.kind, ChangeKind::Window(_)) && self.is_below(s.pair, number))
            .map(|s| s.pair)
    }

    pub(super) fn is_below(&self, lower: usize, upper: usize) -> bool {
        self.matching.above(lower).contains(&upper)
    }
}
