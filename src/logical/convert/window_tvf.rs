//! Window table functions in FROM: `TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))` and kin.

use std::collections::HashMap;

use super::Builder;
use super::from::{FromItem, inferred_rowtime};
use crate::catalog::types::TimeAttribute;
use crate::logical::rel::{
    Rel, RelColumn, RelOp, WindowKind, WindowOrigins, WindowTvf, window_bound_type, window_time_type,
};
use crate::logical::rex::{Origins, Value};
use crate::logical::simplify;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{
    Expr, ExprKind, FunctionArg, FunctionCall, Ident, Select, TableArgument, TableArgumentSource,
};
use crate::target::Target;

/// The parameters of each window function, in order; the last one is optional.
const PARAMETERS: [(&str, &[&str]); 4] = [
    ("TUMBLE", &["DATA", "TIMECOL", "SIZE", "OFFSET"]),
    ("HOP", &["DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"]),
    ("CUMULATE", &["DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"]),
    ("SESSION", &["DATA", "TIMECOL", "GAP"]),
];

/// True for TUMBLE, HOP, CUMULATE and SESSION.
pub(super) fn is_window_function(call: &FunctionCall) -> bool {
    let name = call.name.last().to_ascii_uppercase();
    PARAMETERS.iter().any(|(n, _)| *n == name)
}

impl<'a> Builder<'a> {
    /// A function in FROM.
    pub(super) fn table_function(
        &mut self,
        call: &'a FunctionCall,
        wrapped: bool,
        lateral: bool,
        span: Span,
        select: &'a Select,
    ) -> PlanResult<Rel> {
        let name = call.name.last().to_ascii_uppercase();
        let Some((name, parameters)) = PARAMETERS.iter().find(|(n, _)| *n == name) else {
            if !lateral
                && !self.catalog.declares_function(&call.name)
                && let Some(near) = crate::nearest::nearest(&name, PARAMETERS.iter().map(|(n, _)| *n))
            {
                return Err(PlanError::rejected(
                    call.name.span,
                    format!("No match found for function signature {name}"),
                )
                .label("no such function")
                .help(format!("did you mean {near}?"))
                .into());
            }
            let what = if lateral { "LATERAL TABLE" } else { "a table function" };
            return Err(PlanError::unsupported(span, what).into());
        };
        if !wrapped && self.target == Target::Flink120 {
            return Err(PlanError::rejected(
                span,
                format!("Flink 1.20 needs TABLE( ) around the window function {name}"),
            )
            .label("window functions without TABLE( ) came with Flink 2.0")
            .help(format!("write TABLE({name}(...))"))
            .into());
        }
        let args = bind(call, name, parameters)?;
        let usage = usage(name);
        let data = args.get("DATA").copied().ok_or_else(|| missing(call, "DATA", &usage))?;
        let time_arg = args.get("TIMECOL").copied().ok_or_else(|| missing(call, "TIMECOL", &usage))?;
        let ExprKind::TableArgument(table) = &data.kind else {
            return Err(PlanError::rejected(data.span, format!("the first argument of {name} must be a table"))
                .label("not a table")
                .help("write TABLE and the table's name: TABLE orders")
                .into());
        };
        let ExprKind::Descriptor(descriptor) = &time_arg.kind else {
            return Err(PlanError::rejected(time_arg.span, format!("the time column of {name} must be a DESCRIPTOR"))
                .label("not a descriptor")
                .help("write DESCRIPTOR(ts)")
                .into());
        };
        let [time_column] = descriptor.as_slice() else {
            return Err(PlanError::rejected(time_arg.span, format!("{name} takes one time column"))
                .label("one column here")
                .into());
        };
        let mut input = self.table_argument(table, time_column, select)?;
        let time = find(&input, time_column)?;
        if input.rel.columns[time].ty.is_unknown() {
            input.rel = assume_rowtime(input.rel, time);
            input.scope.set_type(time, input.rel.columns[time].ty.clone());
        }
        check_time(&input.rel.columns[time], name, time_arg.span)?;
        let partition = self.partition_keys(table, &input, name, data.span)?;

        let mut length = |parameter: &str| -> PlanResult<Option<(i64, Span)>> {
            args.get(parameter).map(|e| Ok((self.length(e, name, &usage)?, e.span))).transpose()
        };
        let mut required = |parameter: &str| length(parameter)?.ok_or_else(|| missing(call, parameter, &usage));
        let (kind, size_at, slide_at) = match *name {
            "TUMBLE" => {
                let (size, at) = required("SIZE")?;
                (WindowKind::Tumble { size }, at, None)
            }
            "HOP" => {
                let (slide, slide_at) = required("SLIDE")?;
                let (size, at) = required("SIZE")?;
                (WindowKind::Hop { size, slide }, at, Some(slide_at))
            }
            "CUMULATE" => {
                let (step, step_at) = required("STEP")?;
                let (max_size, at) = required("SIZE")?;
                (WindowKind::Cumulate { max_size, step }, at, Some(step_at))
            }
            _ => {
                let (gap, at) = required("GAP")?;
                (WindowKind::Session { gap }, at, None)
            }
        };
        let offset = length("OFFSET")?;
        check_lengths(kind, size_at, slide_at.unwrap_or(size_at))?;

        let written = WindowOrigins {
            call: Origins::at(call.span),
            time: Origins::at(time_arg.span),
            size: Origins::at(size_at),
            slide: slide_at.map(Origins::at).unwrap_or_default(),
            offset: offset.map(|(_, at)| Origins::at(at)).unwrap_or_default(),
        };
        let time_type = window_time_type(&input.rel.columns[time].ty);
        let mut columns = input.rel.columns.clone();
        columns.push(RelColumn::new("window_start", window_bound_type()));
        columns.push(RelColumn::new("window_end", window_bound_type()));
        columns.push(RelColumn::new("window_time", time_type));
        let tvf = WindowTvf { kind, offset: offset.map(|(o, _)| o), time, partition, written };
        Ok(Rel { op: RelOp::WindowTvf(tvf), inputs: vec![input.rel], columns, origins: Origins::at(call.span) })
    }

    fn table_argument(
        &mut self,
        table: &'a TableArgument,
        time: &'a Ident,
        select: &'a Select,
    ) -> PlanResult<FromItem> {
        let (rel, qualifier) = match &table.source {
            TableArgumentSource::Name(name) => {
                let (rel, qualifier) = self.named_table(name, &[], Some((select, None)))?;
                (add_inferred_columns(rel, table, time), qualifier)
            }
            TableArgumentSource::Query(query) if self.target == Target::Flink120 => {
                return Err(PlanError::rejected(query.span, "Flink 1.20 takes only a table's name after TABLE")
                    .label("a query here")
                    .help("name the query as a view, or in WITH, and write TABLE and that name")
                    .into());
            }
            TableArgumentSource::Query(query) => (self.query(query)?, Vec::new()),
        };
        if let Some(order) = table.order_by.first() {
            return Err(PlanError::rejected(order.span, "window functions take no ORDER BY on their table")
                .label("not allowed here")
                .into());
        }
        let repeated = std::mem::take(&mut self.repeated);
        Ok(FromItem::written(rel, &qualifier, &repeated))
    }

    fn partition_keys(
        &mut self,
        table: &'a TableArgument,
        input: &FromItem,
        name: &str,
        at: Span,
    ) -> PlanResult<Vec<usize>> {
        if name != "SESSION" && !table.partition_by.is_empty() {
            return Err(PlanError::rejected(at, format!("{name} takes no PARTITION BY on its table"))
                .label("only SESSION windows are partitioned here")
                .help("put the key into GROUP BY")
                .into());
        }
        let mut scope = input.scope.clone();
        let mut translator = Translator::new(self.catalog);
        let mut keys = Vec::with_capacity(table.partition_by.len());
        for e in &table.partition_by {
            let key = translator.expr(e, &mut scope)?.as_input().ok_or_else(|| {
                PlanError::rejected(e.span, "PARTITION BY of a table argument takes columns only").label("not a column")
            })?;
            if keys.contains(&key) {
                return Err(PlanError::rejected(e.span, "PARTITION BY of a table argument names a column twice")
                    .label("the second time; Flink finds no plan for it")
                    .help("name it once")
                    .into());
            }
            keys.push(key);
        }
        Ok(keys)
    }

    /// A constant interval of milliseconds.
    fn length(&mut self, e: &Expr, name: &str, usage: &str) -> PlanResult<i64> {
        let mut scope = crate::logical::scope::Scope::new();
        let mut translator = Translator::new(self.catalog);
        translator.window_length = true;
        let rex = simplify::simplify(translator.expr(e, &mut scope)?);
        match rex.as_literal() {
            // Flink 1.20 turns them into nanoseconds, in a long. It does not for legacy windows, and Flink 2 does not at all.
            Some(Value::Millis(ms)) if self.target != Target::Flink22 && ms.checked_mul(1_000_000).is_none() => {
                Err(PlanError::rejected(
                    e.span,
                    format!("a length of {name} must be less than 106752 days, or Flink stops with \"long overflow\""),
                )
                .label("too long")
                .help("use a shorter interval")
                .into())
            }
            Some(Value::Millis(ms)) => Ok(*ms),
            Some(Value::Months(_)) => {
                Err(PlanError::rejected(e.span, format!("{name} takes intervals of DAY, HOUR, MINUTE and SECOND only"))
                    .label("months and years have no fixed length")
                    .help("use days")
                    .into())
            }
            // An undefined variable is opaque: a value of its own, told apart by its name.
            Some(Value::Placeholder(name)) => Ok(opaque_length(name)),
            _ => Err(PlanError::rejected(e.span, format!("a length of {name} must be a constant interval"))
                .label("not a constant interval")
                .help(format!("usage: {usage}"))
                .into()),
        }
    }
}

/// The input column that a DESCRIPTOR names.
fn find(input: &FromItem, name: &Ident) -> PlanResult<usize> {
    let rex = input.scope.resolve(std::slice::from_ref(name))?;
    rex.as_input().ok_or_else(|| PlanError::rejected(name.span, "a DESCRIPTOR names a column").into())
}

/// A stand-in for an unknown length: large, and the same for the same name.
pub(super) fn opaque_length(name: &str) -> i64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    name.hash(&mut hasher);
    (1 << 50) + (hasher.finish() & 0xffff_ffff) as i64
}

/// An inferred table has the time column and the partition keys too.
fn add_inferred_columns(rel: Rel, table: &TableArgument, time: &Ident) -> Rel {
    let mut rel = rel;
    let RelOp::Scan(scan) = &mut rel.op else { return rel };
    if !scan.table.inferred {
        return rel;
    }
    let mut names: Vec<&Ident> = vec![time];
    for key in &table.partition_by {
        if let ExprKind::Column(path) = &key.kind {
            names.extend(path.last());
        }
    }
    let mut own = (*scan.table).clone();
    for name in names {
        if own.column_index(&name.value).is_none() {
            own.columns.push(crate::catalog::TableColumn {
                name: name.value.clone(),
                kind: crate::catalog::TableColumnKind::Physical,
                ty: crate::catalog::types::DataType::unknown(),
                comment: None,
                span: name.span,
            });
            scan.fields.push(own.columns.len() - 1);
            rel.columns.push(RelColumn::new(name.value.as_str(), crate::catalog::types::DataType::unknown()));
        }
    }
    scan.table = std::sync::Arc::new(own);
    rel
}

/// A column of unknown type that a window runs on is taken for an event-time attribute.
fn assume_rowtime(mut rel: Rel, column: usize) -> Rel {
    rel.columns[column].ty = inferred_rowtime();
    match &mut rel.op {
        RelOp::Project(exprs) => {
            exprs[column].ty = inferred_rowtime();
            if let Some(below) = exprs[column].as_input() {
                let input = rel.inputs.remove(0);
                rel.inputs.push(assume_rowtime(input, below));
            }
        }
        RelOp::Filter(_) => {
            let input = rel.inputs.remove(0);
            rel.inputs.push(assume_rowtime(input, column));
        }
        _ => {}
    }
    rel
}

fn check_time(column: &RelColumn, name: &str, at: Span) -> PlanResult<()> {
    let ty = &column.ty;
    if ty.time_attribute() != TimeAttribute::None {
        return Ok(());
    }
    let usage = usage(name);
    let message = if ty.is_timestamp() {
        format!("{name} requires the time column to be a time attribute, but `{}` is an ordinary {ty}", column.name)
    } else {
        format!("{name} requires the time column to be TIMESTAMP or TIMESTAMP_LTZ, but `{}` is {ty}", column.name)
    };
    Err(PlanError::rejected(at, message)
        .label("not a time attribute")
        .help(format!(
            "use the column with the WATERMARK, or a PROCTIME() column; a CAST or function makes it an ordinary value ({usage})"
        ))
        .into())
}

fn check_lengths(kind: WindowKind, size_at: Span, slide_at: Span) -> PlanResult<()> {
    let refuse = |at: Span, message: String, label: &str| -> PlanResult<()> {
        Err(PlanError::rejected(at, message).label(label).into())
    };
    match kind {
        WindowKind::Tumble { size } if size <= 0 => {
            refuse(size_at, format!("TUMBLE parameters must satisfy size > 0, but got size {size} ms"), "not positive")
        }
        WindowKind::Hop { size, slide } if size <= 0 || slide <= 0 => refuse(
            if slide <= 0 { slide_at } else { size_at },
            format!("HOP parameters must satisfy slide > 0 and size > 0, but got slide {slide} ms and size {size} ms"),
            "not positive",
        ),
        WindowKind::Hop { size, slide } if size % slide != 0 => refuse(
            size_at,
            format!(
                "HOP requires the size to be an integral multiple of the slide, but got size {size} ms and slide {slide} ms"
            ),
            "not a multiple of the slide (HOP takes the slide before the size)",
        ),
        WindowKind::Cumulate { max_size, step } if max_size <= 0 || step <= 0 => refuse(
            if step <= 0 { slide_at } else { size_at },
            format!(
                "CUMULATE parameters must satisfy step > 0 and size > 0, but got step {step} ms and size {max_size} ms"
            ),
            "not positive",
        ),
        WindowKind::Cumulate { max_size, step } if max_size % step != 0 => refuse(
            size_at,
            format!(
                "CUMULATE requires the maximum size to be an integral multiple of the step, but got size {max_size} ms and step {step} ms"
            ),
            "not a multiple of the step (CUMULATE takes the step before the size)",
        ),
        WindowKind::Session { gap } if gap <= 0 => {
            refuse(size_at, format!("SESSION parameters must satisfy gap > 0, but got gap {gap} ms"), "not positive")
        }
        _ => Ok(()),
    }
}

/// Arguments by parameter name, positional or named.
fn bind<'e>(
    call: &'e FunctionCall,
    name: &str,
    parameters: &'static [&'static str],
) -> PlanResult<HashMap<&'static str, &'e Expr>> {
    let mut bound = HashMap::new();
    let usage = usage(name);
    for (i, arg) in call.args.iter().enumerate() {
        let (parameter, value) = match arg {
            FunctionArg::Expr(e) => (parameters.get(i).copied(), e),
            FunctionArg::Named(label, e) => {
                let upper = label.value.to_ascii_uppercase();
                let known = parameters.iter().copied().find(|p| *p == upper);
                if known.is_none() {
                    return Err(PlanError::rejected(label.span, format!("{name} has no parameter `{}`", label.value))
                        .label("unknown parameter")
                        .help(format!("its parameters are {}", parameters.join(", ")))
                        .into());
                }
                (known, e)
            }
            FunctionArg::Star(span) => {
                return Err(PlanError::rejected(*span, format!("{name} takes no `*`")).label("here").into());
            }
        };
        let Some(parameter) = parameter else {
            return Err(PlanError::rejected(
                value.span,
                format!("{name} takes at most {} arguments", parameters.len()),
            )
            .label("one too many")
            .help(format!("usage: {usage}"))
            .into());
        };
        if bound.insert(parameter, value).is_some() {
            return Err(PlanError::rejected(value.span, format!("the parameter {parameter} of {name} is given twice"))
                .label("the second time")
                .into());
        }
    }
    Ok(bound)
}

fn missing(call: &FunctionCall, parameter: &str, usage: &str) -> Box<PlanError> {
    PlanError::rejected(call.span, format!("{} lacks its parameter {parameter}", call.name.last().to_uppercase()))
        .label("an argument is missing")
        .help(format!("usage: {usage}"))
        .into()
}

fn usage(name: &str) -> String {
    let lengths = match name {
        "TUMBLE" => "size [, offset]",
        "HOP" => "slide, size [, offset]",
        "CUMULATE" => "step, size [, offset]",
        _ => "gap",
    };
    let table = if name == "SESSION" { "TABLE t [PARTITION BY k]" } else { "TABLE t" };
    format!("{name}({table}, DESCRIPTOR(ts), {lengths})")
}
