//! `FOR SYSTEM_TIME AS OF` on the right side of a join: which version of a row is met (Flink's `TemporalJoinUtil` and
//! `LogicalCorrelateToJoinFromTemporalTableRule`).

use super::Builder;
use super::from::FromItem;
use super::select::SelectResolver;
use crate::catalog::connectors::Connector;
use crate::catalog::options::{parse_bool, parse_duration};
use crate::catalog::types::TimeAttribute;
use crate::logical::join::{AsOf, JoinType, LookupOptions, Retry};
use crate::logical::rel::{Rel, RelOp};
use crate::logical::rex::Rex;
use crate::logical::scope::Scope;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Expr, Hint, Select, TableRef, TableRefKind};

/// The time of a FROM item that is a version of a table.
pub(super) fn system_time(table: &TableRef) -> Option<&Expr> {
    match &table.kind {
        TableRefKind::Table { system_time, .. } => system_time.as_deref(),
        _ => None,
    }
}

impl<'a> Builder<'a> {
    /// The right side of a join: a FROM item, or a version of a table.
    pub(super) fn right_side(&mut self, table: &'a TableRef, select: &'a Select) -> PlanResult<FromItem> {
        match &table.kind {
            TableRefKind::Table { name, hints, system_time: Some(_) } => {
                self.repeated.clear();
                let (rel, name) = self.named_table(name, hints, Some((select, table.alias.as_ref())))?;
                let repeated = std::mem::take(&mut self.repeated);
                FromItem::written(rel, &name, &repeated).called(table.alias.as_ref())
            }
            _ => self.table_ref(table, select),
        }
    }

    /// Which version of `right` the rows of `left` meet, if `table` asks for one.
    pub(super) fn as_of(
        &mut self,
        table: &'a TableRef,
        (left, right): (&FromItem, &FromItem),
        join_type: JoinType,
        select: &Select,
    ) -> PlanResult<Option<AsOf>> {
        let Some(time) = system_time(table) else { return Ok(None) };
        if matches!(join_type, JoinType::Right | JoinType::Full) {
            let word = if join_type == JoinType::Full { "FULL" } else { "RIGHT" };
            return Err(PlanError::rejected(table.span, format!("Unknown join type {word}"))
                .label("a version is found for a row of the left side")
                .help("use INNER or LEFT JOIN")
                .into());
        }
        let rex = self.period(time, Some(&left.scope))?;
        let column = rex.as_input().filter(|i| left.rel.columns[*i].ty.time_attribute() != TimeAttribute::None);
        let Some(time_column) = column else {
            return Err(PlanError::rejected(
                time.span,
                "Temporal table join currently only supports 'FOR SYSTEM_TIME AS OF' left table's time attribute field",
            )
            .label("not a time attribute of the left table")
            .help("name its watermarked column, or a column `AS PROCTIME()`")
            .into());
        };
        let ty = &left.rel.columns[time_column].ty;
        if ty.is_proctime() {
            if !is_looked_up(&right.rel) {
                return Err(PlanError::rejected(table.span, "Processing-time temporal join is not supported yet.")
                    .label("no table that rows can be looked up in")
                    .help("join as of an event time, or use a connector that supports lookups")
                    .into());
            }
            let name = right_name(table);
            return Ok(Some(AsOf::LookedUp(lookup_options(&select.hints, name)?)));
        }
        let Some(from) = right.rel.columns.iter().position(|c| c.ty.time_attribute() == TimeAttribute::Rowtime) else {
            return Err(PlanError::rejected(
                table.span,
                "Event-Time Temporal Table Join requires both primary key and row time attribute in versioned table, but no \
                 row time attribute can be found",
            )
            .label("without a watermark no version of it has a beginning")
            .help("declare WATERMARK FOR on the versioned table, or join AS OF a processing time")
            .into());
        };
        let own = &right.rel.columns[from].ty;
        if !own.same_kind(ty) {
            return Err(PlanError::rejected(
                time.span,
                format!(
                    "Event-Time Temporal Table Join requires same rowtime type in left table and versioned table, but the \
                     rowtime types are {ty} and {own}"
                ),
            )
            .label("the times have different types")
            .help("declare both times with the same type")
            .into());
        }
        Ok(Some(AsOf::Valid { time: time_column, from }))
    }

    /// A version of a table that no row of another one asks for.
    pub(super) fn refuse_time_travel(&mut self, table: &TableRef, time: &Expr) -> Box<PlanError> {
        match self.period(time, None) {
            Err(error) => error,
            Ok(_) => PlanError::unsupported(table.span, "a version of a table outside of a join").into(),
        }
    }

    /// The time of a version, over the columns of the left side.
    fn period(&mut self, time: &Expr, left: Option<&Scope>) -> PlanResult<Rex> {
        let mut scope = left.cloned().unwrap_or_else(Scope::new);
        let mut resolver = SelectResolver {
            scope: &mut scope,
            windows: &[],
            aggregates: None,
            over: false,
            clause: "FOR SYSTEM_TIME AS OF",
            subqueries: &[],
        };
        let rex = Translator::new(self.catalog).expr(time, &mut resolver)?;
        let mut reads = false;
        rex.visit(&mut |r| reads |= r.as_input().is_some());
        if reads {
            return Ok(rex);
        }
        if !rex.is_deterministic() {
            return Err(PlanError::rejected(
                time.span,
                "Unsupported time travel expression: it can not be reduced to a constant by Flink",
            )
            .label("no column of the left table")
            .help("declare a column `AS PROCTIME()` in the left table and name it here")
            .into());
        }
        Err(PlanError::unsupported(time.span, "time travel to a constant time").into())
    }
}

/// Flink refuses a LOOKUP hint for a table that the query does not read.
pub(super) fn check_lookup_hints(select: &Select) -> PlanResult<()> {
    let mut names = Vec::new();
    select.from.iter().for_each(|table| collect_names(table, &mut names));
    for hint in select.hints.iter().filter(|h| h.name == "LOOKUP") {
        let Some(table) = hint.options.iter().find(|o| o.key == "table") else { continue };
        if !names.contains(&table.value.as_str()) {
            return Err(PlanError::rejected(
                table.span,
                format!(
                    "The options of following hints cannot match the name of input tables or views: `{}` in `LOOKUP`",
                    table.value
                ),
            )
            .label("no such table in this query")
            .help("name the table by its alias")
            .into());
        }
    }
    Ok(())
}

fn collect_names<'t>(table: &'t TableRef, names: &mut Vec<&'t str>) {
    match (&table.alias, &table.kind) {
        (Some(alias), _) => names.push(&alias.name.value),
        (None, TableRefKind::Table { name, .. }) => names.push(name.last()),
        _ => {}
    }
    match &table.kind {
        TableRefKind::Join(join) => {
            collect_names(&join.left, names);
            collect_names(&join.right, names);
        }
        TableRefKind::Parenthesized(inner) => collect_names(inner, names),
        _ => {}
    }
}

/// The name that a hint knows the table by.
fn right_name(table: &TableRef) -> &str {
    match (&table.alias, &table.kind) {
        (Some(alias), _) => &alias.name.value,
        (None, TableRefKind::Table { name, .. }) => name.last(),
        _ => "",
    }
}

/// True for a table of a connector that looks up rows by key, as it is or with columns computed (Flink's
/// `TemporalJoinUtil.isTemporalJoinSupportPeriod`). What an unknown connector can do is not known: nothing else would be planned.
fn is_looked_up(rel: &Rel) -> bool {
    match &rel.op {
        RelOp::Scan(scan) => {
            let connector = Connector::of(&scan.table);
            connector.source.lookup || !connector.known
        }
        RelOp::Project(_) => is_looked_up(rel.input()),
        _ => false,
    }
}

/// What the LOOKUP hints of a query ask for the table called `name`.
fn lookup_options(hints: &[Hint], name: &str) -> PlanResult<LookupOptions> {
    let mut out = LookupOptions::default();
    let is_mine = |h: &&Hint| h.name == "LOOKUP" && h.options.iter().any(|o| o.key == "table" && o.value == name);
    let Some(hint) = hints.iter().find(is_mine) else { return Ok(out) };
    let get = |key: &str| hint.options.iter().find(|o| o.key == key);
    let text = |key: &str| get(key).map(|o| o.value.as_str());
    let bad = |key: &str, span: Span| {
        Box::new(
            PlanError::rejected(span, format!("Invalid LOOKUP hint: the value of `{key}` is not understood"))
                .label("no such value")
                .help("see the options of the LOOKUP hint in Flink's documentation"),
        )
    };
    let duration = |key: &str| match get(key) {
        None => Ok(None),
        Some(o) => parse_duration(&o.value).map(Some).ok_or_else(|| bad(key, o.span)),
    };
    let number = |key: &str| match get(key) {
        None => Ok(None),
        Some(o) => o.value.trim().parse::<i64>().map(Some).map_err(|_| bad(key, o.span)),
    };
    if let Some(o) = get("async") {
        out.asynchronous = Some(parse_bool(&o.value).ok_or_else(|| bad("async", o.span))?);
    }
    if let Some(o) = get("output-mode") {
        out.allow_unordered = Some(match o.value.to_ascii_lowercase().as_str() {
            "ordered" => false,
            "allow_unordered" => true,
            _ => return Err(bad("output-mode", o.span)),
        });
    }
    out.capacity = number("capacity")?;
    out.timeout = duration("timeout")?;
    let (delay, attempts) = (duration("fixed-delay")?, number("max-attempts")?);
    out.retry = match (text("retry-predicate"), text("retry-strategy"), delay, attempts) {
        (None, None, None, None) => None,
        (Some(predicate), Some(strategy), Some(delay), Some(attempts)) => {
            if !predicate.eq_ignore_ascii_case("lookup_miss") {
                return Err(bad("retry-predicate", hint.span));
            }
            if !strategy.eq_ignore_ascii_case("fixed_delay") {
                return Err(bad("retry-strategy", hint.span));
            }
            Some(Retry { delay, attempts })
        }
        _ => {
            return Err(PlanError::rejected(
                hint.span,
                "Invalid LOOKUP hint: retry options can be both null or all not null",
            )
            .label("some of the retry options are missing")
            .help("give retry-predicate, retry-strategy, fixed-delay and max-attempts, or none of them")
            .into());
        }
    };
    Ok(out)
}
