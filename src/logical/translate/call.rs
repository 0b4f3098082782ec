//! Calls of scalar functions, and the rewrites that Flink's convertlets make.

use std::sync::Arc;

use super::{Resolver, Translator, apply, cast, conditional, json, operator};
use crate::catalog::functions::{self, FunctionDef, operators as op, sql_name};
use crate::catalog::types::{DataType, IntervalUnits, TypeKind};
use crate::logical::rex::{Function, Origins, Rex, RexKind, Value};
use crate::nearest::nearest;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, FunctionArg, FunctionCall, Literal};

impl Translator<'_> {
    /// A scalar call, special ones having been taken by the resolver.
    pub(super) fn call(&mut self, call: &FunctionCall, r: &mut dyn Resolver) -> PlanResult<Rex> {
        let [name] = call.name.parts.as_slice() else { return self.user_call(call, r) };
        if self.catalog().declares_function(&call.name) {
            return self.user_call(call, r);
        }
        if let Some(field) = extract_field(&name.value)
            && call.args.len() == 1
        {
            let mut args = self.arguments(call, r)?;
            args.insert(0, symbol(field, call.span));
            return named("EXTRACT", args, call.span);
        }
        if name.value == "MINUS_DATE" && matches!(call.args.first(), Some(FunctionArg::Expr(e)) if is_symbol(e)) {
            let args = self.arguments(call, r)?;
            return datetime_difference(args, call.span);
        }
        let Some(def) = functions::lookup(&name.value) else {
            return self.unknown_call(call, r);
        };
        self.plain_only(call)?;
        let args = self.arguments(call, r)?;
        self.rewrite(def, args, call.span)
    }

    fn arguments(&mut self, call: &FunctionCall, r: &mut dyn Resolver) -> PlanResult<Vec<Rex>> {
        call.args
            .iter()
            .map(|arg| match arg {
                FunctionArg::Expr(e) | FunctionArg::Named(_, e) => self.expr(e, r),
                FunctionArg::Star(span) => Err(PlanError::rejected(*span, "Unknown identifier '*'")
                    .label("only COUNT takes a star")
                    .help("name the columns")
                    .into()),
            })
            .collect()
    }

    /// DISTINCT, FILTER, OVER and kin belong to aggregates.
    fn plain_only(&self, call: &FunctionCall) -> PlanResult<()> {
        let name = call.name.last().to_uppercase();
        let refuse = |span: Span, message: String, help: &str| -> PlanResult<()> {
            Err(PlanError::rejected(span, message).label("not an aggregate").help(help).into())
        };
        if let Some(over) = &call.over {
            return refuse(over.span, "OVER must be applied to aggregate function".to_owned(), "leave OVER out");
        }
        if let Some(filter) = &call.filter {
            return refuse(filter.span, "FILTER must be applied to aggregate function".to_owned(), "leave FILTER out");
        }
        if let Some(item) = call.order_by.first() {
            return refuse(item.span, "ORDER BY unexpected".to_owned(), "leave ORDER BY out");
        }
        if let Some(item) = call.within_group.first() {
            let message = format!("WITHIN GROUP not allowed with {name} function");
            return refuse(item.span, message, "leave WITHIN GROUP out");
        }
        if call.ignore_nulls.is_some() {
            let message = format!("Cannot specify IGNORE NULLS or RESPECT NULLS following '{name}'");
            return refuse(call.span, message, "leave it out");
        }
        if call.distinct {
            let message = format!("DISTINCT/ALL not allowed with {name} function");
            return refuse(call.span, message, "leave DISTINCT out");
        }
        Ok(())
    }

    /// A call of a table function of the script's own: its name and arguments.
    pub fn table_call(&mut self, call: &FunctionCall, r: &mut dyn Resolver) -> PlanResult<(Arc<str>, Vec<Rex>)> {
        match self.user_call(call, r)?.kind {
            RexKind::Call(Function::User(name), args) => Ok((name, args)),
            _ => Err(PlanError::unsupported(call.span, "a table function of Flink's own").into()),
        }
    }

    /// A function of the script's own: typed as unknown.
    fn user_call(&mut self, call: &FunctionCall, r: &mut dyn Resolver) -> PlanResult<Rex> {
        // A catalog-qualified name may be one of the cluster's.
        if call.name.parts.len() < 3 && !self.catalog().declares_function(&call.name) {
            return self.unknown_call(call, r);
        }
        let args = self.arguments(call, r)?;
        let name: Vec<&str> = call.name.parts.iter().map(|p| p.value.as_str()).collect();
        let name = name.join(".");
        let name = if call.name.parts.len() == 1 { name.to_lowercase() } else { name };
        Ok(Rex {
            kind: RexKind::Call(Function::User(name.into()), args),
            ty: DataType::unknown(),
            origins: Origins::at(call.span),
        })
    }

    /// "No match found for function signature", with Flink's families and the nearest name.
    fn unknown_call(&mut self, call: &FunctionCall, r: &mut dyn Resolver) -> PlanResult<Rex> {
        let args = self.arguments(call, r)?;
        let families: Vec<String> = args.iter().map(|a| format!("<{}>", family(&a.ty))).collect();
        let name = call.name.parts.iter().map(|p| p.value.as_str()).collect::<Vec<_>>().join(".");
        let builtin = functions::names().chain(crate::catalog::aggregates::names()).map(|name| -> &str { name });
        let windows = ["TUMBLE", "HOP", "SESSION"];
        let known = builtin.chain(self.catalog().function_names()).chain(windows);
        let help = match nearest(call.name.last(), known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "declare it with CREATE FUNCTION".to_owned(),
        };
        Err(PlanError::rejected(
            call.name.span,
            format!("No match found for function signature {name}({})", families.join(", ")),
        )
        .label("no such function")
        .help(help)
        .into())
    }

    /// Writes a checked call the way plans have it.
    fn rewrite(&mut self, def: &'static FunctionDef, mut args: Vec<Rex>, span: Span) -> PlanResult<Rex> {
        if !accepts_null(def.name)
            && let Some(null) = args.iter().find(|a| a.is_null_literal() && a.ty.kind == TypeKind::Null)
        {
            super::no_bare_null(null, null.origins.first().unwrap_or(span))?;
        }
        match def.name {
            "MOD" => apply(&op::MOD, args, span),
            "NULLIF" => nullif(def, args, span),
            "SQRT" => {
                let half = Rex::literal(Value::Decimal { unscaled: 5, scale: 1 }, TypeKind::Decimal(2, 1).not_null());
                let checked = apply(def, args, span)?;
                let RexKind::Call(_, mut args) = checked.kind else { return Ok(checked) };
                args.push(half.at(span));
                named("POWER", args, span)
            }
            "TRIM" => {
                if args.len() == 1 {
                    args.insert(0, space(span));
                }
                if args.len() == 2 {
                    // `TRIM(LEADING FROM s)` trims blanks, `TRIM('x' FROM s)` both ends.
                    if matches!(args[0].as_literal(), Some(Value::Symbol(_))) {
                        args.insert(1, space(span));
                    } else {
                        args.insert(0, symbol("BOTH", span));
                    }
                }
                apply(def, args, span)
            }
            "COALESCE" | "IFNULL" => {
                let call = apply(def, args, span)?;
                Ok(coerce_arguments(call))
            }
            "JSON_VALUE" | "JSON_QUERY" | "JSON_OBJECT" | "JSON_ARRAY" | "JSON_STRING" => json::call(def, args, span),
            "TIMESTAMPADD" => timestamp_add(def, args, span),
            "TIMESTAMPDIFF" => timestamp_diff(def, args, span),
            "CEIL" | "FLOOR" if args.len() == 2 && !matches!(args[1].as_literal(), Some(Value::Symbol(_))) => {
                Err(PlanError::rejected(span, format!("{}(value TO unit) takes a unit", def.name))
                    .label("not a unit")
                    .help("write FLOOR(ts TO HOUR)")
                    .into())
            }
            _ => apply(def, args, span),
        }
    }
}

/// The field that `YEAR(x)` and kin extract.
fn extract_field(name: &str) -> Option<&'static str> {
    const FIELDS: &[(&str, &str)] = &[
        ("YEAR", "YEAR"),
        ("QUARTER", "QUARTER"),
        ("MONTH", "MONTH"),
        ("WEEK", "WEEK"),
        ("DAYOFYEAR", "DOY"),
        ("DAYOFMONTH", "DAY"),
        ("DAYOFWEEK", "DOW"),
        ("HOUR", "HOUR"),
        ("MINUTE", "MINUTE"),
        ("SECOND", "SECOND"),
    ];
    FIELDS.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, field)| *field)
}

/// Functions that may be given a NULL without a type.
fn accepts_null(name: &str) -> bool {
    name.starts_with("ARRAY_")
        || name.starts_with("JSON_")
        || name.starts_with("MAP_")
        || matches!(name, "COALESCE" | "IFNULL" | "IF" | "NULLIF" | "GREATEST" | "LEAST" | "TYPEOF")
}

/// Calls another of Flink's functions.
fn named(name: &str, args: Vec<Rex>, span: Span) -> PlanResult<Rex> {
    match functions::lookup(name) {
        Some(def) => apply(def, args, span),
        None => Err(PlanError::unsupported(span, format!("the function {name}")).into()),
    }
}

pub(super) fn symbol(word: &str, span: Span) -> Rex {
    Rex::literal(Value::Symbol(word.into()), TypeKind::Other("SYMBOL".into()).not_null()).at(span)
}

fn space(span: Span) -> Rex {
    Rex::literal(Value::String(" ".into()), TypeKind::Char(1).not_null()).at(span)
}

/// `NULLIF(a, b)` is `CASE(a = b, NULL, a)`.
fn nullif(def: &'static FunctionDef, args: Vec<Rex>, span: Span) -> PlanResult<Rex> {
    let checked = apply(def, args, span)?;
    let RexKind::Call(_, args) = checked.kind else { return Ok(checked) };
    let [a, b]: [Rex; 2] = match args.try_into() {
        Ok(pair) => pair,
        Err(_) => return Err(PlanError::unsupported(span, "NULLIF with other than two arguments").into()),
    };
    let equal = operator::comparison(&op::EQUALS, a.clone(), b, span)?;
    let null = Rex::null(a.ty.clone().materialized()).at(span);
    conditional::case_of(vec![equal, null, a], span)
}

/// Casts arguments that are no literals to the type of the call (COALESCE and IFNULL show such casts in plans).
fn coerce_arguments(call: Rex) -> Rex {
    let Rex { kind, ty, origins } = call;
    let kind = match kind {
        RexKind::Call(function, args) => {
            let args = args.into_iter().map(|a| {
                let text = a.ty.is_character() && ty.is_character();
                if text || a.ty.clone().materialized().same_kind(&ty) { a } else { cast::implicit(a, &ty.kind) }
            });
            RexKind::Call(function, args.collect())
        }
        other => other,
    };
    Rex { kind, ty, origins }
}

/// The interval units of a unit keyword, and how many of them one is.
fn unit(rex: &Rex, span: Span) -> PlanResult<(IntervalUnits, i64)> {
    let word = match rex.as_literal() {
        Some(Value::Symbol(word)) => word.to_string(),
        Some(Value::String(word)) => word.to_uppercase(),
        _ => String::new(),
    };
    Ok(match word.as_str() {
        "YEAR" => (IntervalUnits::Year, 12),
        "QUARTER" => (IntervalUnits::Month, 3),
        "MONTH" => (IntervalUnits::Month, 1),
        "WEEK" => (IntervalUnits::Day, 7 * 86_400_000),
        "DAY" => (IntervalUnits::Day, 86_400_000),
        "HOUR" => (IntervalUnits::Hour, 3_600_000),
        "MINUTE" => (IntervalUnits::Minute, 60_000),
        "SECOND" => (IntervalUnits::Second, 1_000),
        _ => {
            return Err(PlanError::rejected(span, format!("'{word}' is not a valid time unit here"))
                .label("not a unit")
                .help("use SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER or YEAR")
                .into());
        }
    })
}

fn interval(value: i64, units: IntervalUnits) -> Rex {
    let value = if units.is_year_month() { Value::Months(value) } else { Value::Millis(value) };
    Rex::literal(value, units.interval().not_null())
}

/// `TIMESTAMPADD(HOUR, n, ts)` is `ts + INTERVAL '1' HOUR * n`.
fn timestamp_add(def: &'static FunctionDef, args: Vec<Rex>, span: Span) -> PlanResult<Rex> {
    let checked = apply(def, args, span)?;
    let ty = checked.ty.clone();
    let RexKind::Call(_, args) = checked.kind else { return Ok(checked) };
    let (units, size) = unit(&args[0], span)?;
    let step = interval(size, units).at(span);
    let step_ty = DataType { kind: step.ty.kind.clone(), nullable: args[1].ty.nullable };
    let distance = Rex::call(&op::TIMES, vec![step, args[1].clone()], step_ty).at(span);
    let mut base = args[2].clone();
    if base.ty.kind == TypeKind::Date && ty.is_timestamp() {
        base = cast::implicit(base, &ty.kind);
    }
    Ok(Rex::call(&op::PLUS, vec![base, distance], ty).at(span))
}

/// `TIMESTAMPDIFF(SECOND, a, b)` is `CAST(Reinterpret(b - a) /INT 1000 AS INT)`.
fn timestamp_diff(def: &'static FunctionDef, args: Vec<Rex>, span: Span) -> PlanResult<Rex> {
    let checked = apply(def, args, span)?;
    let ty = checked.ty.clone();
    let RexKind::Call(_, args) = checked.kind else { return Ok(checked) };
    let (units, size) = unit(&args[0], span)?;
    let nullable = args[1].ty.nullable || args[2].ty.nullable;
    let interval = DataType { kind: units.interval(), nullable };
    let difference = Rex::call(&op::MINUS, vec![args[2].clone(), args[1].clone()], interval).at(span);
    let number = DataType { kind: TypeKind::BigInt, nullable };
    let mut rex = Rex::call(&op::REINTERPRET, vec![difference], number.clone()).at(span);
    if size != 1 {
        let divisor = Rex::literal(Value::Int(size), TypeKind::Int.not_null());
        rex = Rex::call(&op::DIVIDE_INTEGER, vec![rex, divisor], number).at(span);
    }
    Ok(cast::implicit(rex, &ty.kind).at(span))
}

fn is_symbol(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Literal::Symbol(_)))
}

/// `(a - b) DAY` is an interval of that unit.
fn datetime_difference(args: Vec<Rex>, span: Span) -> PlanResult<Rex> {
    let (units, _) = unit(&args[0], span)?;
    let [_, a, b]: [Rex; 3] = match args.try_into() {
        Ok(args) => args,
        Err(_) => return Err(PlanError::unsupported(span, "this difference").into()),
    };
    if !a.ty.is_datetime()
        || !b.ty.is_datetime()
        || std::mem::discriminant(&a.ty.kind) != std::mem::discriminant(&b.ty.kind)
    {
        return Err(PlanError::rejected(span, "Parameters must be of the same type")
            .label(format!("{} - {}", a.ty.kind, b.ty.kind))
            .help("subtract two dates, two times or two timestamps")
            .into());
    }
    let ty = DataType { kind: units.interval(), nullable: a.ty.nullable || b.ty.nullable };
    Ok(Rex::call(&op::MINUS, vec![a, b], ty).at(span))
}

/// A type's family as "No match found" names it.
fn family(ty: &DataType) -> String {
    if ty.is_numeric() {
        "NUMERIC".to_owned()
    } else if ty.is_character() {
        "CHARACTER".to_owned()
    } else if ty.is_binary() {
        "BINARY".to_owned()
    } else {
        match ty.kind {
            TypeKind::Timestamp(..) | TypeKind::TimestampLtz(..) => "TIMESTAMP".to_owned(),
            TypeKind::Time(_) => "TIME".to_owned(),
            TypeKind::IntervalDayTime(_) => "INTERVAL_DAY_TIME".to_owned(),
            TypeKind::IntervalYearMonth(_) => "INTERVAL_YEAR_MONTH".to_owned(),
            _ => sql_name(ty),
        }
    }
}
