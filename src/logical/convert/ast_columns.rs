//! The column names that a SELECT uses, for tables without DDL.

use crate::syntax::ast::{Expr, ExprKind, FunctionArg, FunctionCall, GroupItem, Ident, Select, SelectItem, WindowSpec};

/// Calls `f` with every column path in the SELECT's own clauses (subqueries not entered).
pub fn of_select<'a>(select: &'a Select, f: &mut dyn FnMut(&'a [Ident])) {
    for item in &select.items {
        if let SelectItem::Expr { expr, .. } = item {
            of_expr(expr, f);
        }
    }
    select.selection.iter().chain(&select.having).for_each(|e| of_expr(e, f));
    if let Some(group) = &select.group_by {
        for item in &group.items {
            match item {
                GroupItem::Expr(e) => of_expr(e, f),
                GroupItem::GroupingSets(sets, _) | GroupItem::Cube(sets, _) | GroupItem::Rollup(sets, _) => {
                    sets.iter().flatten().for_each(|e| of_expr(e, f));
                }
            }
        }
    }
    select.windows.iter().for_each(|w| of_window(&w.spec, f));
}

/// Calls `f` with every column path in an expression.
pub fn of_expr<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a [Ident])) {
    match &expr.kind {
        ExprKind::Column(path) => f(path),
        ExprKind::Descriptor(names) => names.iter().for_each(|n| f(std::slice::from_ref(n))),
        ExprKind::Function(call) => of_call(call, f),
        _ => for_each_child(expr, &mut |e| of_expr(e, f)),
    }
}

/// Calls `f` with the operands of an expression; calls of functions and subqueries are left to the caller.
fn for_each_child<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Column(_)
        | ExprKind::Descriptor(_)
        | ExprKind::Literal(_)
        | ExprKind::Exists { .. }
        | ExprKind::Subquery(_)
        | ExprKind::TableArgument(_)
        | ExprKind::Default
        | ExprKind::Placeholder(_)
        | ExprKind::Function(_) => {}
        ExprKind::Unary(_, e)
        | ExprKind::Is { expr: e, .. }
        | ExprKind::Cast { expr: e, .. }
        | ExprKind::InSubquery { expr: e, .. }
        | ExprKind::Field(e, _) => f(e),
        ExprKind::Binary(a, _, b)
        | ExprKind::IsDistinctFrom { left: a, right: b, .. }
        | ExprKind::Index(a, b)
        | ExprKind::Like { expr: a, pattern: b, .. }
        | ExprKind::AtTimeZone(a, b) => {
            f(a);
            f(b);
        }
        ExprKind::Between { expr, low, high, .. } => [expr, low, high].into_iter().for_each(|e| f(e)),
        ExprKind::InList { expr, list, .. } => {
            f(expr);
            list.iter().for_each(f);
        }
        ExprKind::Case { operand, branches, otherwise } => {
            operand.iter().chain(otherwise).for_each(|e| f(e));
            for (when, then) in branches {
                f(when);
                f(then);
            }
        }
        ExprKind::Row(list) | ExprKind::Array(list) | ExprKind::Map(list) => list.iter().for_each(f),
    }
}

fn of_call<'a>(call: &'a FunctionCall, f: &mut dyn FnMut(&'a [Ident])) {
    for arg in &call.args {
        match arg {
            FunctionArg::Expr(e) | FunctionArg::Named(_, e) => of_expr(e, f),
            FunctionArg::Star(_) => {}
        }
    }
    call.order_by.iter().chain(&call.within_group).for_each(|o| of_expr(&o.expr, f));
    call.filter.iter().for_each(|e| of_expr(e, f));
    call.over.iter().for_each(|w| of_window(w, f));
}

fn of_window<'a>(window: &'a WindowSpec, f: &mut dyn FnMut(&'a [Ident])) {
    window.partition_by.iter().for_each(|e| of_expr(e, f));
    window.order_by.iter().for_each(|o| of_expr(&o.expr, f));
}

/// Calls `f` with every subquery in an expression, in the order of the text (subqueries not entered).
pub fn of_subqueries<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    if let ExprKind::Function(call) = &expr.kind {
        for arg in &call.args {
            if let FunctionArg::Expr(e) | FunctionArg::Named(_, e) = arg {
                of_subqueries(e, f);
            }
        }
        call.filter.iter().for_each(|e| of_subqueries(e, f));
        return;
    }
    for_each_child(expr, &mut |e| of_subqueries(e, f));
    if matches!(expr.kind, ExprKind::Subquery(_) | ExprKind::Exists { .. } | ExprKind::InSubquery { .. }) {
        f(expr);
    }
}

/// Calls `f` with every function call in an expression, outermost first (subqueries not entered).
pub fn of_calls<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a FunctionCall)) {
    if let ExprKind::Function(call) = &expr.kind {
        f(call);
        for arg in &call.args {
            if let FunctionArg::Expr(e) | FunctionArg::Named(_, e) = arg {
                of_calls(e, f);
            }
        }
        call.filter.iter().for_each(|e| of_calls(e, f));
        if let Some(over) = &call.over {
            over.partition_by.iter().for_each(|e| of_calls(e, f));
            over.order_by.iter().for_each(|o| of_calls(&o.expr, f));
        }
        return;
    }
    for_each_child(expr, &mut |e| of_calls(e, f));
}

/// Calls `f` with an expression and everything inside it, arguments of calls too (subqueries not entered).
pub fn of_parts<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(expr);
    if let ExprKind::Function(call) = &expr.kind {
        for arg in &call.args {
            if let FunctionArg::Expr(e) | FunctionArg::Named(_, e) = arg {
                of_parts(e, f);
            }
        }
    }
    for_each_child(expr, &mut |e| of_parts(e, f));
}
