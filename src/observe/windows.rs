//! Windows: how many a row belongs to, by which time, with what offset, and in which form they are written.

use super::Observer;
use super::kept_state::input;
use super::observation::ObservationKind;
use crate::exec::group_window_aggregate::GroupWindowAggregate;
use crate::exec::window_spec::{WindowAttachment, WindowSpec, duration};
use crate::exec::{NodeId, Operator};
use crate::logical::rel::WindowKind;

/// True if Flink loses rows of an aggregate's windows because of their offset: its buffers are looked into at multiples of the
/// interval without the offset, when the windows there have fired already. An offset of whole slices changes nothing (measured on
/// Flink 1.20.5 and 2.2.1).
pub fn loses_rows_by_offset(op: &Operator) -> bool {
    let slice = |kind: WindowKind| match kind {
        WindowKind::Tumble { size } => size,
        // The size is a multiple of the slide.
        WindowKind::Hop { slide, .. } => slide,
        WindowKind::Cumulate { step, .. } => step,
        WindowKind::Session { .. } => 1,
    };
    let loses = |window: &WindowSpec| {
        !window.proctime && window.offset.is_some_and(|offset| offset.checked_rem(slice(window.kind)) != Some(0))
    };
    match op {
        Operator::WindowAggregate(a) => loses(&a.window),
        Operator::LocalWindowAggregate(a) => loses(&a.window),
        _ => false,
    }
}

impl Observer<'_> {
    /// What is to be seen where a window is put on rows.
    pub(super) fn window(&mut self, id: NodeId) {
        let plan = self.plan;
        let (window, copies) = match &plan.node(id).op {
            Operator::WindowTableFunction(w) => (&w.window, true),
            Operator::WindowAggregate(a) => (&a.window, false),
            Operator::LocalWindowAggregate(a) => (&a.window, false),
            Operator::GroupWindowAggregate(a) => return self.group_window(id, a),
            _ => return,
        };
        if !matches!(window.attachment, WindowAttachment::TimeColumn(_)) {
            return;
        }
        if window.proctime {
            self.add(ObservationKind::ProcessingTimeWindow, id, Vec::new(), &window.origins.call);
        }
        if let Some(offset) = window.offset.filter(|o| *o != 0) {
            let loses_rows = loses_rows_by_offset(&plan.node(id).op);
            let args = vec![("offset", duration(offset))];
            let at = window.origins.offset.clone().or(&window.origins.call);
            self.add(ObservationKind::WindowOffset { loses_rows }, id, args, &at);
        }
        self.slices(id, window.kind, &window.origins, copies);
    }

    fn group_window(&mut self, id: NodeId, a: &GroupWindowAggregate) {
        let below = self.plan.node(id).inputs[0];
        if a.proctime {
            self.add(ObservationKind::ProcessingTimeWindow, id, Vec::new(), &a.window_origins.call);
        }
        let kind = ObservationKind::LegacyWindow {
            emits: a.emit.produces_updates() || a.emit.allow_lateness > 0,
            gaps: matches!(a.window, WindowKind::Hop { size, slide } if slide <= 0 || size % slide != 0),
            input: input(self.plan, below),
        };
        self.add(kind, id, vec![("function", a.window.name().to_owned())], &a.window_origins.call);
        self.slices(id, a.window, &a.window_origins, false);
    }

    fn slices(&mut self, id: NodeId, kind: WindowKind, at: &crate::logical::rel::WindowOrigins, copies: bool) {
        let (length, step) = match kind {
            WindowKind::Hop { size, slide } => (size, slide),
            WindowKind::Cumulate { max_size, step } => (max_size, step),
            WindowKind::Tumble { .. } | WindowKind::Session { .. } => return,
        };
        let slices = if step > 0 { u64::try_from((length + step - 1) / step).unwrap_or_default() } else { 0 };
        if slices < 2 {
            return;
        }
        let args = vec![
            ("function", kind.name().to_owned()),
            ("slices", slices.to_string()),
            ("length", duration(length)),
            ("step", duration(step)),
        ];
        let at = at.call.clone().or(&at.size);
        self.add(ObservationKind::WindowSlices { window: kind.name(), slices, copies }, id, args, &at);
    }
}
