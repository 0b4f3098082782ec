//! Clauses of calls that Flink takes of few functions: ORDER BY among the arguments, WITHIN GROUP, IGNORE NULLS and RESPECT NULLS.
//! Where it takes them it does without their effect (measured on Flink 1.20.5), so they leave no trace in plans.

use crate::plan_error::{PlanError, PlanResult};
use crate::syntax::ast::FunctionCall;

/// Refuses such clauses of the aggregate `name`, in upper case, unless it is one that may have them.
pub(super) fn check(name: &str, call: &FunctionCall) -> PlanResult<()> {
    let refuse = |span, message: String, label: String, help: &str| {
        Err(PlanError::rejected(span, message).label(label).help(help).into())
    };
    if let Some(item) = call.order_by.first()
        && !matches!(name, "ARRAY_AGG" | "JSON_ARRAYAGG")
    {
        let label = format!("{name} takes its rows as they come");
        return refuse(item.span, "ORDER BY unexpected".to_owned(), label, "leave ORDER BY out of the call");
    }
    if let Some(item) = call.within_group.first()
        && name != "COLLECT"
    {
        let message = format!("Aggregate expression '{name}' must not contain a WITHIN GROUP clause");
        let label = format!("{name} takes its rows as they come");
        return refuse(item.span, message, label, "leave WITHIN GROUP out");
    }
    if call.ignore_nulls.is_some() && !matches!(name, "ARRAY_AGG" | "LAG" | "LEAD") {
        let message = format!("Cannot specify IGNORE NULLS or RESPECT NULLS following '{name}'");
        let label = format!("{name} has its own way with NULL");
        return refuse(call.span, message, label, "leave it out; a FILTER can keep NULLs away");
    }
    Ok(())
}
