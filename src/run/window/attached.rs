//! Where the windows of an operator come from, when a function far below has assigned them.

use crate::catalog::types::DataType;
use crate::exec::window_spec::{WindowAttachment, WindowSpec};
use crate::exec::{NodeId, Operator, Plan};

/// The type of the time attribute that the windows of operator `id` were made from. Flink keeps it with the window
/// (`WindowingStrategy.getTimeAttributeType`); a plan has it where the window was assigned.
pub fn time_type<'a>(plan: &'a Plan, id: NodeId, window: &WindowSpec) -> Option<&'a DataType> {
    match window.attachment {
        WindowAttachment::TimeColumn(column) => plan.input_columns(id, 0).get(column).map(|c| &c.ty),
        _ => {
            // A chain of single inputs, or the left side of a join, whose windows are those of the right side too.
            let mut at = *plan.node(id).inputs.first()?;
            loop {
                let node = plan.node(at);
                let below = match &node.op {
                    Operator::WindowTableFunction(op) => Some(&op.window),
                    Operator::WindowAggregate(op) => Some(&op.window),
                    Operator::LocalWindowAggregate(op) => Some(&op.window),
                    _ => None,
                };
                if let Some(WindowSpec { attachment: WindowAttachment::TimeColumn(column), .. }) = below {
                    return plan.input_columns(at, 0).get(*column).map(|c| &c.ty);
                }
                at = *node.inputs.first()?;
            }
        }
    }
}

/// The column with the window's end.
pub fn window_column(window: &WindowSpec) -> Option<usize> {
    match window.attachment {
        WindowAttachment::Bounds { end, .. } => Some(end),
        _ => None,
    }
}
