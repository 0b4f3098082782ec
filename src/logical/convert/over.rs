//! OVER calls: windows resolved, frames written out, Flink's limits checked.

use std::sync::Arc;

use super::select::SelectResolver;
use crate::catalog::aggregates;
use crate::catalog::functions::ArgumentType;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::rex::{Origins, OverCall, OverFrame, Rex, RexKind, SortExpr, Value};
use crate::logical::simplify;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{
    Expr, Frame, FrameBound, FrameUnits, FunctionArg, FunctionCall, NamedWindow, OrderItem, WindowSpec,
};

impl SelectResolver<'_> {
    /// `f(x) OVER (...)`.
    pub(super) fn over_call(&mut self, name: &str, call: &FunctionCall, t: &mut Translator<'_>) -> PlanResult<Rex> {
        if !self.over {
            return Err(PlanError::rejected(
                call.span,
                format!("windowed aggregate expression is illegal in {}", self.clause),
            )
            .label("OVER is not allowed here")
            .help("compute it in a subquery and filter above it")
            .into());
        }
        let Some(def) = aggregates::lookup(name) else {
            let declared = t.catalog().declares_function(&call.name);
            return if declared {
                self.over_with(name, call, DataType::unknown(), t)
            } else {
                Err(PlanError::rejected(call.name.span, "OVER must be applied to aggregate function")
                    .label(format!("`{}` is no aggregate", call.name.last()))
                    .into())
            };
        };
        if matches!(name, "LEAD" | "NTILE" | "PERCENT_RANK" | "CUME_DIST") {
            return Err(PlanError::rejected(call.span, format!("{name} function is not supported in stream mode"))
                .label("this needs rows that come later")
                .help("use LAG for earlier rows, ROW_NUMBER for numbers")
                .into());
        }
        if call.filter.is_some() {
            return Err(PlanError::rejected(call.span, "OVER must be applied to aggregate function")
                .label("FILTER and OVER together are not possible")
                .help("put the condition into the argument: COUNT(CASE WHEN ... THEN 1 END)")
                .into());
        }
        super::call_clauses::check(def.name, call)?;
        let mut rex = self.over_with(name, call, DataType::unknown(), t)?;
        let RexKind::Over(over) = &mut rex.kind else { return Ok(rex) };
        let types: Vec<ArgumentType<'_>> =
            over.args.iter().map(|a| ArgumentType { ty: &a.ty, literal: a.as_literal() }).collect();
        let ty = def.check(&types, false).map_err(|m| PlanError::rejected(call.span, m).label("here"))?;
        check_default(name, &over.args, call)?;
        over.function = def.name.into();
        if def.distinct == aggregates::Distinct::Ignored {
            over.distinct = false;
        }
        // An empty frame does not occur (it ends at the current row), but a NULL argument does.
        rex.ty = ty;
        if name == "COUNT" && !over.distinct && over.args.iter().all(|a| !a.ty.nullable) {
            over.args.clear();
        }
        Ok(rex)
    }

    fn over_with(&mut self, name: &str, call: &FunctionCall, ty: DataType, t: &mut Translator<'_>) -> PlanResult<Rex> {
        let mut args = Vec::new();
        for arg in &call.args {
            match arg {
                FunctionArg::Expr(e) | FunctionArg::Named(_, e) => args.push(self.over_expr(e, t)?),
                FunctionArg::Star(_) => {}
            }
        }
        let spec = call.over.as_deref().expect("the caller saw OVER");
        let window = self.resolve_window(spec)?;
        let partition_by = window.partition_by.iter().map(|e| self.over_expr(e, t)).collect::<PlanResult<Vec<_>>>()?;
        let partition_origins = window.partition_by.iter().map(|e| Origins::at(e.span)).collect();
        let order_by = window.order_by.iter().map(|o| self.sort(o, t)).collect::<PlanResult<Vec<_>>>()?;
        let orders = order_by.iter().any(|s| s.expr.as_literal().is_none());
        if !orders && matches!(name, "ROW_NUMBER" | "RANK" | "DENSE_RANK") {
            let at = window.order_by.first().map_or(spec.span, |o| o.span);
            return Err(PlanError::rejected(
                at,
                "Over Agg: The window rank function requires order by clause with non-constant fields",
            )
            .label("nothing to rank by")
            .help(format!("name a column: {name}() OVER (PARTITION BY ... ORDER BY column)"))
            .into());
        }
        if let (Some(frame), "LAG" | "LEAD" | "ROW_NUMBER" | "RANK" | "DENSE_RANK") =
            (window.frame.filter(|_| window.bounds), name)
        {
            // What Flink says, also of LAG (Calcite's `allowsFraming`).
            let message = "ROW/RANGE not allowed with RANK, DENSE_RANK or ROW_NUMBER functions";
            return Err(PlanError::rejected(frame.span, message)
                .label(format!("{name} takes no frame"))
                .help("leave the frame away, or give the other functions a window of their own")
                .into());
        }
        let frame = match window.frame {
            Some(frame) if window.bounds => self.frame(frame, t)?,
            Some(frame) => OverFrame { units: frame.units, preceding: None, origins: Origins::at(frame.span) },
            None => OverFrame {
                units: if name == "ROW_NUMBER" { FrameUnits::Rows } else { FrameUnits::Range },
                preceding: None,
                origins: Origins::at(spec.span),
            },
        };
        let frame =
            if name == "ROW_NUMBER" { OverFrame { units: FrameUnits::Rows, preceding: None, ..frame } } else { frame };
        let over = OverCall {
            function: Arc::from(name),
            args,
            distinct: call.distinct,
            filter: None,
            partition_by,
            partition_origins,
            order_by,
            frame,
        };
        Ok(Rex { kind: RexKind::Over(Box::new(over)), ty, origins: Origins::at(call.span) })
    }

    /// OVER does not nest.
    fn over_expr(&mut self, e: &Expr, t: &mut Translator<'_>) -> PlanResult<Rex> {
        let mut inner = SelectResolver {
            scope: self.scope,
            windows: self.windows,
            aggregates: self.aggregates.as_deref_mut(),
            over: false,
            clause: "an OVER call",
            subqueries: self.subqueries,
        };
        Ok(simplify::simplify(t.expr(e, &mut inner)?))
    }

    fn sort(&mut self, item: &OrderItem, t: &mut Translator<'_>) -> PlanResult<SortExpr> {
        let expr = self.over_expr(&item.expr, t)?.at(item.span);
        let nulls_first = item.nulls_first.unwrap_or(!item.descending);
        Ok(SortExpr { expr, descending: item.descending, nulls_first, origins: Origins::at(item.span) })
    }

    /// A window with the parts of the windows it names.
    fn resolve_window<'w>(&self, spec: &'w WindowSpec) -> PlanResult<ResolvedWindow<'w>>
    where
        Self: 'w,
    {
        resolve(self.windows, spec, 0)
    }

    fn frame(&mut self, frame: &Frame, t: &mut Translator<'_>) -> PlanResult<OverFrame> {
        let following = || -> Box<PlanError> {
            PlanError::rejected(frame.span, "OVER RANGE FOLLOWING windows are not supported yet")
                .label("a frame must start before the current row and end at it")
                .help("write BETWEEN ... PRECEDING AND CURRENT ROW")
                .into()
        };
        match &frame.end {
            None | Some(FrameBound::CurrentRow) => {}
            Some(FrameBound::Preceding(_) | FrameBound::Following(_)) => return Err(following()),
        }
        let preceding = match &frame.start {
            FrameBound::Preceding(None) => None,
            FrameBound::Preceding(Some(e)) => Some(self.bound(frame.units, e, t)?),
            FrameBound::CurrentRow if frame.units == FrameUnits::Range => Some(0),
            FrameBound::CurrentRow | FrameBound::Following(_) => return Err(following()),
        };
        Ok(OverFrame { units: frame.units, preceding, origins: Origins::at(frame.span) })
    }

    fn bound(&mut self, units: FrameUnits, e: &Expr, t: &mut Translator<'_>) -> PlanResult<i64> {
        let rex = self.over_expr(e, t)?;
        match (units, rex.as_literal()) {
            // Flink takes an interval for ROWS too, and counts its milliseconds; months count as a number for RANGE.
            (_, Some(Value::Millis(ms))) => Ok(*ms),
            (FrameUnits::Range, Some(Value::Months(months))) => Ok(*months),
            (FrameUnits::Rows, Some(Value::Int(n))) if *n >= 0 => Ok(*n),
            (FrameUnits::Range, Some(Value::Int(_) | Value::Decimal { .. })) => {
                Err(PlanError::rejected(e.span, "data type mismatch between ORDER BY and RANGE clause")
                    .label("a number, but the order is by time")
                    .help("write an interval, such as INTERVAL '10' MINUTE, or use ROWS")
                    .into())
            }
            (FrameUnits::Rows, _) => Err(PlanError::rejected(e.span, "ROWS needs a constant number of rows")
                .label("not a constant whole number")
                .into()),
            (FrameUnits::Range, _) => {
                Err(PlanError::rejected(e.span, "RANGE needs a constant interval of DAY to SECOND")
                    .label("not a constant interval")
                    .into())
            }
        }
    }
}

struct ResolvedWindow<'w> {
    partition_by: &'w [Expr],
    order_by: &'w [OrderItem],
    frame: Option<&'w Frame>,
    /// The frame's bounds count. A frame that is added to a named window only brings its ROWS or RANGE: Calcite's
    /// `SqlWindow.overlay` keeps the bounds of the named one.
    bounds: bool,
}

fn resolve<'w>(windows: &'w [NamedWindow], spec: &'w WindowSpec, depth: usize) -> PlanResult<ResolvedWindow<'w>> {
    let own = ResolvedWindow {
        partition_by: &spec.partition_by,
        order_by: &spec.order_by,
        frame: spec.frame.as_ref(),
        bounds: true,
    };
    let Some(base) = &spec.base else { return Ok(own) };
    let Some(named) = windows.iter().find(|w| w.name.value == base.value) else {
        let near = crate::nearest::nearest(&base.value, windows.iter().map(|w| w.name.value.as_str()));
        let error =
            PlanError::rejected(base.span, format!("window '{}' not found", base.value)).label("no such window");
        return Err(match near {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("define it: WINDOW w AS (PARTITION BY ... ORDER BY ...)"),
        }
        .into());
    };
    if depth > windows.len() {
        return Err(PlanError::rejected(base.span, "a window is defined by itself").label("here").into());
    }
    let below = resolve(windows, &named.spec, depth + 1)?;
    Ok(ResolvedWindow {
        partition_by: if own.partition_by.is_empty() { below.partition_by } else { own.partition_by },
        order_by: if own.order_by.is_empty() { below.order_by } else { own.order_by },
        frame: own.frame.or(below.frame),
        bounds: own.frame.is_none() && below.bounds,
    })
}

/// True if two definitions are the same, spans aside.
pub(super) fn same_window(a: &WindowSpec, b: &WindowSpec) -> bool {
    // The debug form without spans is the structure; definitions are small.
    let strip = |w: &WindowSpec| {
        let text = format!("{:?}{:?}{:?}", w.partition_by, w.order_by, w.frame);
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find("Span {") {
            out.push_str(&rest[..at]);
            rest = rest[at..].find('}').map_or("", |end| &rest[at + end + 1..]);
        }
        out.push_str(rest);
        out
    };
    a.base.is_none() && b.base.is_none() && strip(a) == strip(b)
}

/// LAG and LEAD take a default of just the value's type (Flink's `LeadLagAggFunction`).
fn check_default(name: &str, args: &[Rex], call: &FunctionCall) -> PlanResult<()> {
    if !matches!(name, "LAG" | "LEAD") {
        return Ok(());
    }
    let (Some(value), Some(default)) = (args.first(), args.get(2)) else { return Ok(()) };
    let fits = default.ty.kind == value.ty.kind
        || matches!(default.ty.kind, TypeKind::Null | TypeKind::Unknown)
        || value.ty.is_unknown()
        || (default.ty.is_character() && value.ty.is_character());
    if fits {
        return Ok(());
    }
    let span: Span = default.origins.first().unwrap_or(call.span);
    Err(PlanError::rejected(span, format!("please explicitly cast default value {} to {}", default.ty, value.ty))
        .label("another type than the value's")
        .help(format!("write CAST(... AS {})", value.ty.kind))
        .into())
}
