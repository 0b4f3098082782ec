//! GROUP BY, HAVING and aggregate calls.
//!
//! Select items are translated over the row of FROM, with aggregates, window properties and GROUPING calls as columns of
//! numbers far beyond it; then everything that equals a group key becomes that key, and any column left over is an error.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Builder;
use super::ast_columns::of_subqueries;
use super::budget::check_size;
use super::decorrelate::Scalar;
use super::group_items::{GroupItems, Key};
use super::legacy_window::LegacyWindow;
use super::select::{ItemNames, SelectResolver, apply_filter, item_name};
use super::subquery::{self, Conjunct, Joined};
use crate::catalog::aggregates::{AggregateDef, Distinct};
use crate::catalog::functions::ArgumentType;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::join::unique_names;
use crate::logical::make;
use crate::logical::print::digest;
use crate::logical::rel::{
    AggArg, AggCall, Aggregate, Expand, GroupWindow, Rel, RelColumn, RelOp, Split, WindowOrigins, WrittenCall,
    WrittenKey,
};
use crate::logical::rex::{Origins, Rex, RexKind, Value};
use crate::logical::scope::Scope;
use crate::logical::simplify;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, FunctionArg, FunctionCall, Select, SelectItem};

/// Aggregate `k` stands as column `AGGREGATES + k` until the aggregate is built.
const AGGREGATES: usize = 1 << 24;
/// Window property `p` stands as column `PROPERTIES + p`.
pub(super) const PROPERTIES: usize = 1 << 25;
/// GROUPING call `g` stands as column `GROUPINGS + g`.
const GROUPINGS: usize = 1 << 26;
/// Subquery `s` stands as column `SUBQUERIES + s`.
const SUBQUERIES: usize = 1 << 27;

/// Collects the aggregates of a SELECT.
pub(super) struct AggregateCollector {
    calls: Vec<PendingCall>,
    /// Their places, by what they compute.
    known: FxHashMap<String, usize>,
    /// The legacy window of GROUP BY.
    pub window: Option<LegacyWindow>,
    /// An auxiliary function of the window is used.
    pub properties: bool,
    groupings: Vec<(Vec<usize>, bool)>,
    keys: Vec<Key>,
    sets: Option<Vec<Vec<usize>>>,
    may_be_empty: bool,
}

/// An aggregate over the row of FROM.
#[derive(Clone)]
struct PendingCall {
    function: Arc<str>,
    args: Vec<Rex>,
    distinct: bool,
    filter: Option<Rex>,
    ty: DataType,
    origins: Origins,
    name: Option<Arc<str>>,
}

impl PendingCall {
    /// What it computes, as text: calls that compute the same are one, however their arguments are spelled.
    fn key(&self) -> String {
        let mut key = format!("{}{}", self.function, if self.distinct { " DISTINCT" } else { "" });
        for arg in &self.args {
            key.push_str(&format!(", {}: {}", digest(&simplify::canonical(arg)), arg.ty.kind));
        }
        if let Some(filter) = &self.filter {
            key.push_str(" FILTER ");
            key.push_str(&digest(&simplify::canonical(filter)));
        }
        key
    }
}

impl AggregateCollector {
    /// An aggregate call.
    pub fn aggregate(
        &mut self,
        def: &'static AggregateDef,
        call: &FunctionCall,
        t: &mut Translator<'_>,
        inner: &mut SelectResolver<'_>,
    ) -> PlanResult<Rex> {
        let mut args = Vec::new();
        for arg in &call.args {
            match arg {
                FunctionArg::Expr(e) | FunctionArg::Named(_, e) => {
                    args.push(simplify::simplify(t.expr(e, inner)?));
                }
                FunctionArg::Star(span) if def.name != "COUNT" => {
                    return Err(PlanError::rejected(*span, format!("{}(*) does not exist", def.name))
                        .label("only COUNT takes `*`")
                        .into());
                }
                FunctionArg::Star(_) => {}
            }
        }
        wrap_json(def, &mut args);
        let types: Vec<ArgumentType<'_>> =
            args.iter().map(|a| ArgumentType { ty: &a.ty, literal: a.as_literal() }).collect();
        let is_star = matches!(call.args.as_slice(), [FunctionArg::Star(_)]);
        let ty = if is_star {
            TypeKind::BigInt.not_null()
        } else {
            def.check(&types, self.may_be_empty || call.filter.is_some())
                .map_err(|m| PlanError::rejected(call.span, m).label("here"))?
        };
        check_streaming(def, &args, call)?;
        super::call_clauses::check(def.name, call)?;
        if call.distinct && def.distinct == Distinct::Refused {
            return Err(PlanError::rejected(call.span, format!("{} takes no DISTINCT", def.name)).label("here").into());
        }
        let distinct = call.distinct && def.distinct == Distinct::Matters;
        let filter = match &call.filter {
            Some(e) => Some(simplify::simplify_condition(t.condition(e, inner, "FILTER")?)),
            None => None,
        };
        // A COUNT of something that is never NULL counts rows (Calcite's RexBuilder.addAggCall).
        if def.name == "COUNT" && !distinct && args.iter().all(|a| !a.ty.nullable && !a.ty.is_unknown()) {
            args.clear();
        }
        let pending = PendingCall {
            function: def.name.into(),
            args,
            distinct,
            filter: filter.filter(|f| !simplify::is_always_true(f)),
            ty,
            origins: Origins::at(call.span),
            name: None,
        };
        let k = *self.known.entry(pending.key()).or_insert(self.calls.len());
        if k == self.calls.len() {
            self.calls.push(pending);
        }
        Ok(Rex::input(AGGREGATES + k, self.calls[k].ty.clone()))
    }

    /// `TUMBLE_START(...)` and kin.
    pub fn window_function(
        &mut self,
        name: &str,
        call: &FunctionCall,
        t: &mut Translator<'_>,
        inner: &mut SelectResolver<'_>,
    ) -> Option<PlanResult<Rex>> {
        let result = super::legacy_window::auxiliary(self.window.as_ref(), name, call, t, inner)?;
        self.properties |= result.is_ok();
        Some(result)
    }

    /// `GROUPING(a)`, `GROUPING_ID(a, b)`.
    pub fn grouping_function(
        &mut self,
        name: &str,
        call: &FunctionCall,
        t: &mut Translator<'_>,
        inner: &mut SelectResolver<'_>,
    ) -> Option<PlanResult<Rex>> {
        if !matches!(name, "GROUPING" | "GROUPING_ID" | "GROUP_ID") {
            return None;
        }
        let mut keys = Vec::new();
        for arg in &call.args {
            let FunctionArg::Expr(e) = arg else { continue };
            match t.expr(e, inner) {
                Ok(rex) => match self.keys.iter().position(|k| k.rex == rex) {
                    Some(k) => keys.push(k),
                    None => {
                        return Some(Err(PlanError::rejected(
                            e.span,
                            format!("argument to {name} must be a grouped expression"),
                        )
                        .label("not grouped by")
                        .into()));
                    }
                },
                Err(e) => return Some(Err(e)),
            }
        }
        self.groupings.push((keys, name == "GROUPING_ID"));
        Some(Ok(Rex::input(GROUPINGS + self.groupings.len() - 1, TypeKind::BigInt.not_null())))
    }
}

/// Where the parts of a finished aggregate are.
struct Layout {
    keys: Vec<Key>,
    /// For each pending aggregate the expression over the aggregate's output.
    aggregates: Vec<Rex>,
    properties: Vec<Rex>,
    groupings: Vec<Rex>,
    /// What stands for the subqueries, once they are joined.
    subqueries: Vec<Rex>,
}

impl<'a> Builder<'a> {
    pub(super) fn aggregate_select(
        &mut self,
        select: &'a Select,
        rel: Rel,
        scope: &mut Scope,
        sort_items: &[&'a Expr],
    ) -> PlanResult<Rel> {
        let GroupItems { keys, sets, window, written_keys, .. } = self.group_items(select, scope)?;
        let mut collector = AggregateCollector {
            calls: Vec::new(),
            known: FxHashMap::default(),
            window,
            properties: false,
            groupings: Vec::new(),
            may_be_empty: keys.is_empty() || sets.as_ref().is_some_and(|s| s.iter().any(Vec::is_empty)),
            keys,
            sets,
        };
        let mut values = Values::default();
        let written = select.items.iter().filter_map(|i| match i {
            SelectItem::Expr { expr, .. } => Some(expr),
            _ => None,
        });
        for expr in written.chain(&select.having) {
            self.values_beside(expr, scope, &mut values)?;
        }
        let mut translator = Translator::new(self.catalog);
        let mut items = Vec::new();
        let mut names = ItemNames::default();
        for (i, item) in select.items.iter().enumerate() {
            match item {
                SelectItem::Expr { expr, alias } => {
                    let mut resolver = SelectResolver {
                        scope,
                        windows: &select.windows,
                        aggregates: Some(&mut collector),
                        over: true,
                        clause: "the select list",
                        subqueries: &values.joined,
                    };
                    let rex = translator.select_item(expr, &mut resolver)?;
                    let name = item_name(expr, alias.as_ref(), i);
                    if let Some(k) = rex.as_input().and_then(aggregate_index) {
                        collector.calls[k].name.get_or_insert_with(|| name.clone());
                    }
                    items.push(rex);
                    names.written(name);
                }
                SelectItem::Star(span) => {
                    scope.check_star(*span)?;
                    for (name, rex) in scope.star() {
                        items.push(rex.at(*span));
                        names.of_star(name);
                    }
                }
                SelectItem::QualifiedStar(table) => {
                    for c in scope.qualified_star(&table.parts)? {
                        items.push(scope.rex(c).at(table.span));
                        names.of_star(&scope.columns()[c].0);
                    }
                }
            }
        }
        let mut names = names.list;
        self.sort_own = items.len();
        self.sort_columns.clear();
        for expr in sort_items {
            let mut resolver = SelectResolver {
                scope,
                windows: &select.windows,
                aggregates: Some(&mut collector),
                over: true,
                clause: "ORDER BY",
                subqueries: &[],
            };
            let rex = translator.select_item(expr, &mut resolver)?;
            let place = items.iter().position(|i| *i == rex).unwrap_or_else(|| {
                names.push(item_name(expr, None, items.len()));
                items.push(rex);
                items.len() - 1
            });
            self.sort_columns.push(place);
        }
        let mut having = Having::default();
        for part in select.having.iter().flat_map(subquery::conjuncts) {
            let mut resolver = SelectResolver {
                scope,
                windows: &[],
                aggregates: Some(&mut collector),
                over: false,
                clause: "HAVING",
                subqueries: &values.joined,
            };
            match part {
                Conjunct::Partner { operand, query, negated, at } => {
                    let operands = operand.map(|_| {
                        let exprs = subquery::operands(operand).iter();
                        exprs.map(|e| translator.expr(e, &mut resolver)).collect::<PlanResult<Vec<Rex>>>()
                    });
                    let right = self.subquery(query, scope, at)?;
                    having.partners.push(Partners { operands: operands.transpose()?, right, negated, at });
                }
                Conjunct::Other { expr, negated } => {
                    let part = translator.condition(expr, &mut resolver, "HAVING")?;
                    having.others.push(if negated { subquery::not(part) } else { part });
                }
            }
        }
        self.having.extend(select.having.iter().map(|condition| condition.span));
        let at = select.group_by.as_ref().map_or(select.span, |g| g.span);
        let key_names = collector.keys.iter().map(|k| key_name(k, &items, &names, scope)).collect();
        let (mut rel, mut layout) = build_aggregate(rel, collector, written_keys, key_names, at)?;
        if let RelOp::Aggregate(aggregate) = &mut rel.op {
            aggregate.ttl = super::state_ttl::ttl_of_rows(select);
        }
        // The select list stands around what the clause makes.
        rel.origins = rel.origins.used_at(select.list_span());
        for Partners { operands, right, negated, at } in having.partners {
            refuse_correlated(&right, at)?;
            let over_result = |e: Rex| Ok(simplify::simplify(layout.finish(&e, at, scope)?));
            let operands = operands.map(|list| list.into_iter().map(over_result).collect::<PlanResult<Vec<Rex>>>());
            rel = subquery::semi_join(rel, operands.transpose()?, right, negated, at)?;
        }
        for (scalar, at) in values.scalars {
            let value;
            (rel, value) = subquery::join_scalar(rel, scalar, at);
            layout.subqueries.push(value);
        }
        if let (Some(condition), Some(span)) =
            (simplify::and_all(having.others), select.having.as_ref().map(|condition| condition.span))
        {
            let condition = layout.finish(&simplify::simplify_filter(condition), span, scope)?;
            rel = apply_filter(rel, condition, span);
        }
        let mut exprs = Vec::with_capacity(items.len());
        for item in &items {
            let span = item.origins.first().unwrap_or(select.span);
            exprs.push(simplify::simplify(layout.finish(item, span, scope)?));
        }
        let names = self.unique_names(names, self.sort_own);
        Ok(rel.project_as(exprs, names, Origins::at(select.list_span())))
    }
}

/// The subqueries in a select list with aggregates: they are joined to the results.
#[derive(Default)]
struct Values<'a> {
    joined: Vec<Joined<'a>>,
    scalars: Vec<(Scalar, Span)>,
}

/// HAVING: what needs a partner in a subquery, and the rest.
#[derive(Default)]
struct Having {
    partners: Vec<Partners>,
    others: Vec<Rex>,
}

/// `IN` or `EXISTS` in HAVING.
struct Partners {
    operands: Option<Vec<Rex>>,
    right: Rel,
    negated: bool,
    at: Span,
}

impl<'a> Builder<'a> {
    fn values_beside(&mut self, expr: &'a Expr, scope: &Scope, values: &mut Values<'a>) -> PlanResult<()> {
        let mut found = Vec::new();
        of_subqueries(expr, &mut |e| found.push(e));
        for expr in found {
            let ExprKind::Subquery(query) = &expr.kind else { continue };
            let scalar = self.scalar(query, scope, expr.span)?;
            if !scalar.conditions.is_empty() {
                return Err(correlated(expr.span));
            }
            let value = Rex::input(SUBQUERIES + values.scalars.len(), scalar.value.ty.clone()).at(expr.span);
            values.joined.push(Joined { expr, value });
            values.scalars.push((scalar, expr.span));
        }
        Ok(())
    }
}

fn refuse_correlated(rel: &Rel, at: Span) -> PlanResult<()> {
    if super::decorrelate::is_correlated(rel) { Err(correlated(at)) } else { Ok(()) }
}

fn correlated(at: Span) -> Box<PlanError> {
    PlanError::unsupported(at, "a subquery that refers to a query with aggregates around it").into()
}

/// Values go into JSON aggregates as JSON text (Flink's `WrapJsonAggFunctionArgumentsRule`).
fn wrap_json(def: &AggregateDef, args: &mut [Rex]) {
    if !matches!(def.name, "JSON_OBJECTAGG" | "JSON_ARRAYAGG") {
        return;
    }
    // Behind the value there may be `ABSENT ON NULL` or the like.
    let place = usize::from(def.name == "JSON_OBJECTAGG");
    if let (Some(value), Some(function)) = (args.get_mut(place), crate::catalog::functions::lookup("JSON_STRING")) {
        let origins = value.origins.clone();
        let ty = DataType { kind: TypeKind::string(), nullable: value.ty.nullable };
        *value = Rex::call(function, vec![value.clone()], ty).or_at(&origins);
    }
}

/// Aggregates that Flink has no streaming implementation for (its `AggFunctionFactory`).
fn check_streaming(def: &AggregateDef, args: &[Rex], call: &FunctionCall) -> PlanResult<()> {
    if def.name == "APPROX_COUNT_DISTINCT" {
        return Err(PlanError::rejected(call.span, "APPROX_COUNT_DISTINCT is not supported for streaming yet")
            .label("batch only")
            .help("use COUNT(DISTINCT ...)")
            .into());
    }
    let unordered = |ty: &DataType| {
        matches!(ty.kind, TypeKind::Array(_) | TypeKind::Multiset(_) | TypeKind::Map(..) | TypeKind::Row(_))
    };
    match args {
        [arg] if call.distinct && def.distinct == Distinct::Matters && unordered(&arg.ty) => {
            let message = format!("DISTINCT does not support the type {}", arg.ty.kind);
            Err(PlanError::rejected(call.span, message).label("values of this type cannot be keys of state").into())
        }
        [arg, ..] if matches!(def.name, "MAX" | "MIN") && unordered(&arg.ty) => {
            Err(PlanError::rejected(call.span, format!("{} does not support the type {}", def.name, arg.ty.kind))
                .label("values of this type have no order")
                .into())
        }
        _ => Ok(()),
    }
}

fn aggregate_index(column: usize) -> Option<usize> {
    (AGGREGATES..PROPERTIES).contains(&column).then(|| column - AGGREGATES)
}

/// A key takes the alias of the select item that shows it (the `nameMap` of Calcite's `AggConverter`); without one a column
/// keeps its name.
fn key_name(key: &Key, items: &[Rex], names: &[Arc<str>], scope: &Scope) -> Option<Arc<str>> {
    match (items.iter().position(|i| *i == key.rex), key.rex.as_input()) {
        (Some(i), _) => Some(names[i].clone()),
        (None, Some(i)) => Some(scope.columns()[i].0.as_str().into()),
        (None, None) => None,
    }
}

impl Layout {
    /// An expression over the row of FROM, over the aggregate's output.
    fn finish(&self, e: &Rex, at: Span, scope: &Scope) -> PlanResult<Rex> {
        if let Some(k) = self.keys.iter().position(|k| k.rex == *e) {
            return Ok(Rex::input(k, self.keys[k].ty.clone()).with_origins(&e.origins));
        }
        if let Some(i) = e.as_input() {
            if let Some(k) = aggregate_index(i) {
                return Ok(self.aggregates[k].clone().with_origins(&e.origins));
            }
            if i >= SUBQUERIES {
                return Ok(self.subqueries[i - SUBQUERIES].clone().with_origins(&e.origins));
            }
            if i >= GROUPINGS {
                return Ok(self.groupings[i - GROUPINGS].clone().with_origins(&e.origins));
            }
            if i >= PROPERTIES {
                return Ok(self.properties[i - PROPERTIES].clone().with_origins(&e.origins));
            }
            let name = &scope.columns()[i].0;
            return Err(PlanError::rejected(
                e.origins.first().unwrap_or(at),
                format!("Expression '{name}' is not being grouped"),
            )
            .label("neither grouped by nor aggregated")
            .help(format!("add `{name}` to GROUP BY, or aggregate it, such as MAX({name})"))
            .into());
        }
        let mut error = None;
        let out = e.map_children(&mut |child| match self.finish(child, at, scope) {
            Ok(r) => r,
            Err(err) => {
                error.get_or_insert(err);
                child.clone()
            }
        });
        error.map_or(Ok(out), Err)
    }
}

/// The projection below: keys first, then arguments that are no keys, then FILTER conditions.
struct Below {
    exprs: Vec<Rex>,
    names: Vec<Option<Arc<str>>>,
}

impl Below {
    fn add(&mut self, e: &Rex) -> usize {
        self.exprs.iter().position(|x| x == e).unwrap_or_else(|| {
            self.exprs.push(e.clone());
            self.names.push(None);
            self.exprs.len() - 1
        })
    }

    fn add_call(&mut self, call: &PendingCall, name: Arc<str>) -> AggCall {
        let args = call
            .args
            .iter()
            .enumerate()
            .map(|(i, a)| {
                // Constants after the first argument are the function's settings, not rows' values.
                if i > 0 && a.as_literal().is_some() {
                    AggArg::Constant(a.clone())
                } else {
                    AggArg::Column(self.add(a))
                }
            })
            .collect();
        let filter = call.filter.as_ref().map(|f| {
            let f = if f.ty.nullable { make::is_true(f.clone()) } else { f.clone() };
            self.add(&f)
        });
        AggCall {
            function: call.function.clone(),
            args,
            distinct: call.distinct,
            filter,
            ty: call.ty.clone(),
            name,
            monotonic: false,
            origins: call.origins.clone(),
        }
    }
}

fn build_aggregate(
    rel: Rel,
    collector: AggregateCollector,
    written_keys: Vec<WrittenKey>,
    key_names: Vec<Option<Arc<str>>>,
    at: Span,
) -> PlanResult<(Rel, Layout)> {
    let AggregateCollector { calls: pending, window, properties, groupings, keys, sets, .. } = collector;
    let mut below = Below { exprs: Vec::new(), names: Vec::new() };
    // The time column of a legacy window stands where the window stood in GROUP BY.
    let mut key_columns = vec![0; keys.len()];
    let mut time_column = 0;
    let clock = window.as_ref().is_some_and(|w| clock_place(&rel, &w.time).is_some());
    for key in &written_keys {
        match key {
            WrittenKey::Key(k) => {
                below.exprs.push(keys[*k].rex.clone());
                // Below a legacy window what is computed has no name of its own.
                let nameless = window.is_some() && keys[*k].rex.as_input().is_none();
                let number = || format!("$f{}", below.exprs.len() - 1).into();
                below.names.push(if nameless { Some(number()) } else { key_names[*k].clone() });
                key_columns[*k] = below.exprs.len() - 1;
            }
            _ => {
                if let Some(w) = &window {
                    below.exprs.push(w.time.clone());
                    let name = match clock_place(&rel, &w.time) {
                        Some(place) => Some(format!("$f{place}").into()),
                        None => renamed_below(&rel, &w.time).then(|| format!("$f{}", below.exprs.len() - 1).into()),
                    };
                    below.names.push(name);
                    time_column = below.exprs.len() - 1;
                }
            }
        }
    }
    let reduced = reduce(&pending);
    let first_call = keys.len() + usize::from(sets.is_some());
    let mut calls = Vec::with_capacity(reduced.calls.len());
    for (i, call) in reduced.calls.iter().enumerate() {
        let name = call.name.clone().unwrap_or_else(|| format!("$f{}", keys.len() + i).into());
        calls.push(below.add_call(call, name));
    }
    let written: Vec<WrittenCall> = pending
        .iter()
        .zip(&reduced.planned)
        .enumerate()
        .map(|(i, (call, planned))| {
            let name = call.name.clone().unwrap_or_else(|| format!("$f{}", keys.len() + i).into());
            // Arguments of a written call are among the planned calls' arguments, so nothing is added here.
            WrittenCall { call: below.add_call(call, name), planned: planned.clone() }
        })
        .collect();
    let names: Vec<Arc<str>> = below
        .names
        .iter()
        .zip(&below.exprs)
        .enumerate()
        .map(|(i, (name, e))| match (name, e.as_input()) {
            (Some(name), _) => name.clone(),
            (None, Some(c)) => rel.columns[c].name.clone(),
            (None, None) => format!("$f{i}").into(),
        })
        .collect();
    check_size(&below.exprs, &rel, at)?;
    let mut input = rel.project_as(below.exprs, unique_names(names), Origins::at(at));
    let mut expand_id = None;
    if let Some(sets) = &sets {
        let (expanded, id, moved) = expand(input, &key_columns, sets, &calls, at);
        input = expanded;
        expand_id = Some(id);
        for call in &mut calls {
            for arg in &mut call.args {
                if let AggArg::Column(c) = arg {
                    *c = moved[*c];
                }
            }
        }
        key_columns.push(id);
    }
    let written = written
        .into_iter()
        .map(|w| match &expand_id {
            Some(_) => WrittenCall { call: calls[w.planned[0]].clone(), ..w },
            None => w,
        })
        .collect();

    let mut columns: Vec<RelColumn> = key_columns.iter().map(|c| input.columns[*c].clone()).collect();
    columns.extend(calls.iter().map(|c| RelColumn::new(c.name.clone(), c.ty.clone())));
    let key_types: Vec<DataType> = key_columns.iter().map(|c| input.columns[*c].ty.clone()).collect();
    let key_origins: Vec<Origins> = keys.iter().map(|k| k.origins.clone()).collect();
    let aggregates = reduced.results.iter().map(|r| shift(r, first_call, &calls)).collect();
    let mut property_columns = Vec::new();
    let op = match window {
        Some(w) => {
            let first = columns.len();
            if properties {
                for (name, ty) in w.properties() {
                    property_columns.push(Rex::input(columns.len(), ty.clone()));
                    columns.push(RelColumn::new(name, ty));
                }
            }
            debug_assert!(columns.len() >= first);
            RelOp::GroupWindow(GroupWindow {
                kind: w.kind,
                time: time_column,
                clock,
                keys: key_columns,
                key_origins,
                written_keys,
                calls,
                written,
                properties,
                window: WindowOrigins { ..w.origins },
            })
        }
        None => {
            let mut key_origins = key_origins;
            if sets.is_some() {
                key_origins.push(Origins::at(at));
            }
            RelOp::Aggregate(Aggregate {
                keys: key_columns,
                key_origins,
                calls,
                written,
                distinct: false,
                grouping_sets: sets.as_ref().map(|_| at),
                ttl: None,
                split: Split::None,
            })
        }
    };
    let id_column = sets.as_ref().map(|_| Rex::input(keys.len(), TypeKind::BigInt.not_null()));
    let groupings = groupings
        .iter()
        .map(|(args, _)| grouping_value(args, keys.len(), sets.as_deref().unwrap_or(&[]), id_column.as_ref()))
        .collect();
    let keys = keys.into_iter().zip(key_types).map(|(k, ty)| Key { ty, ..k }).collect();
    let rel = Rel { op, inputs: vec![input], columns, origins: Origins::at(at) };
    Ok((rel, Layout { keys, aggregates, properties: property_columns, groupings, subqueries: Vec::new() }))
}

/// The place behind the columns of FROM where Flink puts a window's time that is `PROCTIME()` itself.
fn clock_place(rel: &Rel, time: &Rex) -> Option<usize> {
    match (&rel.op, time.as_input()) {
        (_, None) => Some(rel.columns.len()),
        (RelOp::Project(exprs), Some(i)) if exprs[i].as_input().is_none() => Some(rel.input().columns.len()),
        _ => None,
    }
}

/// True if a subquery gave the column another name: Flink then prints the window's time column by its place.
fn renamed_below(rel: &Rel, column: &Rex) -> bool {
    let (RelOp::Project(exprs), Some(i)) = (&rel.op, column.as_input()) else { return false };
    exprs[i].as_input().is_some_and(|j| rel.input().columns[j].name != rel.columns[i].name)
}

/// A result expression over planned calls, over the aggregate's output.
fn shift(e: &Rex, first_call: usize, calls: &[AggCall]) -> Rex {
    e.map_inputs(&mut |k, used| {
        let ty = calls.get(k).map_or_else(|| used.ty.clone(), |c| c.ty.clone());
        Rex { kind: RexKind::Input(first_call + k), ty, origins: used.origins.clone() }
    })
}

/// Planned calls, and for each written one what combines them.
struct Reduced {
    calls: Vec<PendingCall>,
    /// Their places, by what they compute.
    known: FxHashMap<String, usize>,
    /// Over planned calls by index.
    results: Vec<Rex>,
    planned: Vec<Vec<usize>>,
}

/// STDDEV and VAR become sums and a count, and then AVG and SUM beside them do too (Flink's `AggregateReduceFunctionsRule`).
fn reduce(pending: &[PendingCall]) -> Reduced {
    let mut out = Reduced { calls: Vec::new(), known: FxHashMap::default(), results: Vec::new(), planned: Vec::new() };
    let reduces = pending.iter().any(|c| make::is_variance(&c.function));
    for call in pending {
        let (result, planned) = if reduces { out.reduced(call) } else { out.kept(call) };
        out.results.push(result);
        out.planned.push(planned);
    }
    out
}

impl Reduced {
    fn add(&mut self, call: PendingCall) -> usize {
        let i = *self.known.entry(call.key()).or_insert(self.calls.len());
        if i == self.calls.len() {
            self.calls.push(call);
        }
        i
    }

    fn column(&self, i: usize) -> Rex {
        Rex::input(i, self.calls[i].ty.clone())
    }

    fn kept(&mut self, call: &PendingCall) -> (Rex, Vec<usize>) {
        let i = self.add(call.clone());
        (self.column(i), vec![i])
    }

    fn reduced(&mut self, call: &PendingCall) -> (Rex, Vec<usize>) {
        let Some(x) = call.args.first().cloned() else { return self.kept(call) };
        let sum_of = |arg: Rex| PendingCall {
            function: "SUM".into(),
            ty: make::sum_type(&arg.ty).with_nullable(true),
            args: vec![arg],
            name: None,
            ..call.clone()
        };
        let count =
            PendingCall { function: "COUNT".into(), ty: TypeKind::BigInt.not_null(), name: None, ..call.clone() };
        match &*call.function {
            f if make::is_variance(f) => {
                let squares = self.add(sum_of(make::square(x.clone())));
                let sum = self.add(sum_of(x));
                let n = self.add(count);
                let value = make::variance(f, self.column(squares), self.column(sum), self.column(n), &call.ty);
                (value, vec![squares, sum, n])
            }
            "AVG" => {
                let sum = self.add(sum_of(x));
                let n = self.add(count);
                (make::average(self.column(sum), self.column(n), &call.ty), vec![sum, n])
            }
            "SUM" => {
                let n = self.add(count);
                let ty = make::sum_type(&x.ty);
                let sum = self.add(PendingCall {
                    function: "$SUM0".into(),
                    ty: ty.clone().with_nullable(false),
                    ..call.clone()
                });
                (make::null_if_no_rows(self.column(n), self.column(sum), ty), vec![sum, n])
            }
            _ => self.kept(call),
        }
    }
}

/// Writes out grouping sets: the expanded row, the column that tells sets apart, and where columns went.
fn expand(input: Rel, keys: &[usize], sets: &[Vec<usize>], calls: &[AggCall], at: Span) -> (Rel, usize, Vec<usize>) {
    let width = input.columns.len();
    let mut columns = input.columns.clone();
    let in_all = |k: usize| sets.iter().all(|s| s.contains(&k));
    for (k, c) in keys.iter().enumerate() {
        if !in_all(k) {
            columns[*c].ty = columns[*c].ty.clone().with_nullable(true);
        }
    }
    let expand_id = width;
    columns.push(RelColumn::new("$e", TypeKind::BigInt.not_null()));
    // A key that is also an argument is carried a second time, since the first one turns NULL.
    let mut moved: Vec<usize> = (0..width).collect();
    let mut copies = Vec::new();
    for c in calls.iter().flat_map(AggCall::inputs) {
        let nulled = keys.iter().position(|k| *k == c).is_some_and(|k| !in_all(k));
        if nulled && moved[c] == c {
            moved[c] = columns.len();
            copies.push(c);
            columns.push(RelColumn::new(format!("{}_0", input.columns[c].name), input.columns[c].ty.clone()));
        }
    }
    let projects = sets
        .iter()
        .map(|set| {
            let mut row: Vec<Rex> = (0..width)
                .map(|c| match keys.iter().position(|k| *k == c) {
                    Some(k) if !set.contains(&k) => Rex::literal(Value::Null, columns[c].ty.clone()),
                    _ => input.column(c),
                })
                .collect();
            row.push(Rex::literal(Value::Int(set_id(set, keys.len())), TypeKind::BigInt.not_null()));
            row.extend(copies.iter().map(|c| input.column(*c)));
            row
        })
        .collect();
    let op = RelOp::Expand(Expand { projects, expand_id });
    (Rel { op, inputs: vec![input], columns, origins: Origins::at(at) }, expand_id, moved)
}

/// One bit per key that is not in the set, the last key lowest.
fn set_id(set: &[usize], keys: usize) -> i64 {
    (0..keys).filter(|k| !set.contains(k)).map(|k| 1i64 << (keys - 1 - k).min(62)).sum()
}

/// GROUPING over the column that tells sets apart.
fn grouping_value(args: &[usize], keys: usize, sets: &[Vec<usize>], id: Option<&Rex>) -> Rex {
    let value = |set: &[usize]| -> i64 { args.iter().fold(0, |acc, k| (acc << 1) | i64::from(!set.contains(k))) };
    let literal = |v: i64| Rex::literal(Value::Int(v), TypeKind::BigInt.not_null());
    let Some(id) = id else { return literal(0) };
    let branches = sets.iter().map(|s| (set_id(s, keys), value(s))).map(|(e, v)| (literal(e), literal(v))).collect();
    make::by_value(id.clone(), branches)
}
