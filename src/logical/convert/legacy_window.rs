//! Legacy group windows: `GROUP BY TUMBLE(ts, INTERVAL ...)` and the auxiliary functions `TUMBLE_START(...)` and kin.

use super::aggregate::PROPERTIES;
use super::from::{inferred_rowtime, is_unknown_column};
use super::select::SelectResolver;
use crate::catalog::types::{DataType, TimeAttribute, TypeKind};
use crate::logical::rel::{WindowKind, WindowOrigins};
use crate::logical::rex::{Origins, Rex, Value};
use crate::logical::scope::Scope;
use crate::logical::simplify;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, FunctionArg, FunctionCall, Literal};

/// The window of a GROUP BY.
pub(super) struct LegacyWindow {
    pub kind: WindowKind,
    /// The time attribute over the row of FROM.
    pub time: Rex,
    pub origins: WindowOrigins,
    /// The length arguments as written: auxiliary functions must repeat them to the letter.
    lengths: Vec<Option<Literal>>,
}

impl LegacyWindow {
    /// The columns that auxiliary functions read: names and types.
    pub fn properties(&self) -> Vec<(&'static str, DataType)> {
        let bound = || TypeKind::Timestamp(3, TimeAttribute::None).not_null();
        let proctime = ("w$proctime", TypeKind::TimestampLtz(3, TimeAttribute::Proctime).not_null());
        if self.time.ty.is_proctime() {
            return vec![("w$start", bound()), ("w$end", bound()), proctime];
        }
        let rowtime = match self.time.ty.kind {
            TypeKind::TimestampLtz(..) => TypeKind::TimestampLtz(3, TimeAttribute::Rowtime),
            _ => TypeKind::Timestamp(3, TimeAttribute::Rowtime),
        };
        vec![("w$start", bound()), ("w$end", bound()), ("w$rowtime", rowtime.not_null()), proctime]
    }
}

fn window_name(name: &str) -> Option<&'static str> {
    ["TUMBLE", "HOP", "SESSION"].into_iter().find(|w| w.eq_ignore_ascii_case(name))
}

/// The window that a GROUP BY item calls, if it is one.
pub(super) fn legacy_window(e: &Expr, t: &mut Translator<'_>, scope: &mut Scope) -> PlanResult<Option<LegacyWindow>> {
    let ExprKind::Function(call) = &e.kind else { return Ok(None) };
    let Some(name) = window_name(call.name.last()).filter(|_| call.over.is_none()) else { return Ok(None) };
    let wanted = if name == "HOP" { 3 } else { 2 };
    let args: Vec<&Expr> = call.args.iter().filter_map(plain).collect();
    if args.len() == wanted + 1 {
        return Err(PlanError::rejected(
            args[wanted].span,
            format!("{name} windows with an alignment are not supported"),
        )
        .label("one argument too many")
        .help("use the window table function with an offset")
        .into());
    }
    if args.len() != wanted || args.len() != call.args.len() {
        let usage = if name == "HOP" { "HOP(ts, slide, size)" } else { "a time attribute and an interval" };
        return Err(PlanError::rejected(
            call.span,
            format!("invalid number of arguments to {name}: {wanted} are expected"),
        )
        .label(format!("{} here", call.args.len()))
        .help(format!("usage: {usage}"))
        .into());
    }
    let mut resolver =
        SelectResolver { scope, windows: &[], aggregates: None, over: false, clause: "GROUP BY", subqueries: &[] };
    let mut time = t.expr(args[0], &mut resolver)?;
    if is_unknown_column(&time) {
        time.ty = inferred_rowtime();
        if let Some(i) = time.as_input() {
            scope.set_type(i, inferred_rowtime());
        }
    }
    if time.ty.time_attribute() == TimeAttribute::None {
        return Err(PlanError::rejected(
            args[0].span,
            format!("window aggregate {name} can only be defined over a time attribute column"),
        )
        .label(format!("this is {}", time.ty))
        .help(
            "use the column with the WATERMARK, or a PROCTIME() column; a CAST or function makes it an ordinary value",
        )
        .into());
    }
    let lengths = args[1..].iter().map(|a| length(a, name, t)).collect::<PlanResult<Vec<_>>>()?;
    let origins = WindowOrigins {
        call: Origins::at(call.span),
        time: Origins::at(args[0].span),
        size: Origins::at(args[wanted - 1].span),
        slide: if name == "HOP" { Origins::at(args[1].span) } else { Origins::none() },
        offset: Origins::none(),
    };
    let kind = match name {
        "TUMBLE" => WindowKind::Tumble { size: lengths[0] },
        "HOP" => WindowKind::Hop { slide: lengths[0], size: lengths[1] },
        _ => WindowKind::Session { gap: lengths[0] },
    };
    let written = args[1..].iter().map(|a| literal(a)).collect();
    Ok(Some(LegacyWindow { kind, time, origins, lengths: written }))
}

fn plain(arg: &FunctionArg) -> Option<&Expr> {
    match arg {
        FunctionArg::Expr(e) => Some(e),
        _ => None,
    }
}

fn literal(e: &Expr) -> Option<Literal> {
    match &e.kind {
        ExprKind::Literal(l) => Some(l.clone()),
        _ => None,
    }
}

fn length(e: &Expr, name: &str, t: &mut Translator<'_>) -> PlanResult<i64> {
    t.window_length = true;
    let length = t.expr(e, &mut Scope::new());
    t.window_length = false;
    let rex = simplify::simplify(length?);
    match rex.as_literal() {
        Some(Value::Millis(ms)) if *ms > 0 => Ok(*ms),
        Some(Value::Millis(ms)) => Err(PlanError::rejected(e.span, format!("a length of {name} must be positive, but is {ms} ms"))
            .label("not positive")
            .into()),
        Some(Value::Months(_)) => Err(PlanError::rejected(
            e.span,
            "window aggregates only support SECOND, MINUTE, HOUR, DAY as the time unit; MONTH and YEAR are not supported yet",
        )
        .label("no fixed length")
        .help("use days")
        .into()),
        Some(Value::Placeholder(name)) => Ok(super::window_tvf::opaque_length(name)),
        _ => Err(PlanError::rejected(e.span, format!("a length of {name} must be a constant interval"))
            .label("not a constant interval")
            .into()),
    }
}

/// `TUMBLE_START(ts, ...)` and kin: the window property it reads. `None` if the name is none of these.
pub(super) fn auxiliary(
    window: Option<&LegacyWindow>,
    name: &str,
    call: &FunctionCall,
    t: &mut Translator<'_>,
    inner: &mut SelectResolver<'_>,
) -> Option<PlanResult<Rex>> {
    let (base, property) = name.split_once('_')?;
    let base = window_name(base)?;
    if !matches!(property, "START" | "END" | "ROWTIME" | "PROCTIME") {
        return None;
    }
    Some(resolve(window, name, base, property, call, t, inner))
}

fn resolve(
    window: Option<&LegacyWindow>,
    name: &str,
    base: &str,
    property: &str,
    call: &FunctionCall,
    t: &mut Translator<'_>,
    inner: &mut SelectResolver<'_>,
) -> PlanResult<Rex> {
    let args: Vec<&Expr> = call.args.iter().filter_map(plain).collect();
    let matching = match (window, args.split_first()) {
        (Some(w), Some((time, lengths))) => {
            let time = t.expr(time, inner)?;
            let time_fits = time.kind == w.time.kind;
            let lengths: Vec<_> = lengths.iter().map(|l| literal(l)).collect();
            time_fits && w.kind.name() == base && lengths == w.lengths
        }
        _ => false,
    };
    let Some(window) = window.filter(|_| matching) else {
        let at = window.and_then(|w| w.origins.call.first());
        return Err(unmatched(name, base, call.span, at));
    };
    let wanted = format!("w${}", property.to_ascii_lowercase());
    match window.properties().into_iter().enumerate().find(|(_, (n, _))| *n == wanted) {
        Some((i, (_, ty))) => Ok(Rex::input(PROPERTIES + i, ty)),
        None => Err(PlanError::rejected(call.span, format!("{name} cannot be used on a processing-time window"))
            .label("this window runs on processing time")
            .help(format!("use {base}_PROCTIME"))
            .into()),
    }
}

fn unmatched(name: &str, base: &str, span: Span, window: Option<Span>) -> Box<PlanError> {
    let help = match window {
        Some(_) => format!(
            "repeat the arguments of {base} in GROUP BY to the letter: Flink compares the text of intervals, not their length"
        ),
        None => format!("add {base}(...) with the same arguments to GROUP BY"),
    };
    PlanError::rejected(
        span,
        format!("call to auxiliary group function '{name}' must have matching call to group function '{base}' in GROUP BY clause"),
    )
    .label("no such window in GROUP BY")
    .help(help)
    .into()
}
