//! SELECT: WHERE, the select list, DISTINCT; aggregates are in [`super::aggregate`].

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::Builder;
use super::aggregate::AggregateCollector;
use super::budget::check_size;
use super::from::FromItem;
use super::subquery::Joined;
use crate::catalog::aggregates::{self, AggregateKind};
use crate::logical::join::unique_names;
use crate::logical::rel::{Aggregate, Rel, RelOp, Split};
use crate::logical::rex::{Origins, Rex};
use crate::logical::scope::Scope;
use crate::logical::simplify;
use crate::logical::translate::{Resolver, Translator};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, FunctionCall, Ident, NamedWindow, Select, SelectItem};

/// Resolves names and calls inside one SELECT.
pub(super) struct SelectResolver<'s> {
    pub scope: &'s mut Scope,
    pub windows: &'s [NamedWindow],
    /// Collects aggregates where they are allowed.
    pub aggregates: Option<&'s mut AggregateCollector>,
    /// OVER is allowed here.
    pub over: bool,
    /// The clause, for messages.
    pub clause: &'static str,
    /// The subqueries that have become columns.
    pub subqueries: &'s [Joined<'s>],
}

impl Resolver for SelectResolver<'_> {
    fn column(&mut self, path: &[Ident]) -> PlanResult<Rex> {
        self.scope.resolve(path)
    }

    fn subquery(&mut self, expr: &Expr, _: &mut Translator<'_>) -> Option<PlanResult<Rex>> {
        let joined = self.subqueries.iter().find(|s| std::ptr::eq(s.expr, expr))?;
        Some(Ok(joined.value.clone()))
    }

    fn special(&mut self, call: &FunctionCall, t: &mut Translator<'_>) -> Option<PlanResult<Rex>> {
        if call.name.parts.len() != 1 {
            return None;
        }
        let name = call.name.last().to_ascii_uppercase();
        if call.over.is_some() {
            return Some(self.over_call(&name, call, t));
        }
        if let Some(collector) = self.aggregates.as_deref_mut() {
            let mut inner = SelectResolver {
                scope: self.scope,
                windows: self.windows,
                aggregates: None,
                over: false,
                clause: "the arguments of an aggregate",
                subqueries: &[],
            };
            if let Some(result) = collector.window_function(&name, call, t, &mut inner) {
                return Some(result);
            }
            if let Some(result) = collector.grouping_function(&name, call, t, &mut inner) {
                return Some(result);
            }
            let def = aggregates::lookup(&name)?;
            if def.kind == AggregateKind::OverOnly {
                return Some(Err(needs_over(&name, call.span)));
            }
            return Some(collector.aggregate(def, call, t, &mut inner));
        }
        let def = aggregates::lookup(&name)?;
        if def.kind == AggregateKind::OverOnly {
            return Some(Err(needs_over(&name, call.span)));
        }
        Some(Err(PlanError::rejected(call.span, format!("aggregate expression is illegal in {}", self.clause))
            .label("an aggregate is not allowed here")
            .help("filter on aggregates with HAVING, or in a query around this one")
            .into()))
    }
}

fn needs_over(name: &str, span: Span) -> Box<PlanError> {
    PlanError::rejected(span, format!("an OVER clause is necessary for {name}"))
        .label("no OVER here")
        .help(format!("write {name}(...) OVER (PARTITION BY ... ORDER BY ...)"))
        .into()
}

impl<'a> Builder<'a> {
    pub(super) fn select(&mut self, select: &'a Select) -> PlanResult<Rel> {
        if let Some(qualify) = &select.qualify {
            return Err(PlanError::unsupported(qualify.span, "QUALIFY").into());
        }
        super::as_of::check_lookup_hints(select)?;
        check_windows(&select.windows)?;
        let sort_items = std::mem::take(&mut self.sort_items);
        let aggregates = select.group_by.is_some()
            || select.having.is_some()
            || select.items.iter().any(|i| matches!(i, SelectItem::Expr { expr, .. } if contains_aggregate(expr)));
        super::state_ttl::check_hints(select, aggregates || select.distinct, self.target)?;
        // Rows that are put together anew have no order.
        self.top &= !aggregates && !select.distinct && sort_items.is_empty();
        let FromItem { mut rel, mut scope } = self.read_from(select)?;
        scope.within(self.outer.clone());
        self.top = false;
        if let Some(condition) = &select.selection {
            rel = self.filter(rel, condition, &mut scope, "WHERE")?;
        }
        let rel = if aggregates {
            self.aggregate_select(select, rel, &mut scope, &sort_items)?
        } else {
            self.plain_select(select, rel, &mut scope, &sort_items)?
        };
        if !select.distinct {
            return Ok(rel);
        }
        let mut rel = distinct_over(rel, select.span);
        if let (RelOp::Aggregate(distinct), false) = (&mut rel.op, aggregates) {
            distinct.ttl = super::state_ttl::ttl_of_rows(select);
        }
        Ok(rel)
    }

    /// Conditions, simplified; one that never holds leaves no rows.
    pub(super) fn filter(
        &mut self,
        rel: Rel,
        condition: &'a Expr,
        scope: &mut Scope,
        clause: &'static str,
    ) -> PlanResult<Rel> {
        if super::subquery::contains_subquery(condition) {
            return self.filter_by_subqueries(rel, condition, scope, clause);
        }
        let mut resolver = SelectResolver {
            scope,
            windows: &[],
            aggregates: None,
            over: false,
            clause: "the WHERE clause",
            subqueries: &[],
        };
        let rex = Translator::new(self.catalog).condition(condition, &mut resolver, clause)?;
        check_size(std::slice::from_ref(&rex), &rel, condition.span)?;
        Ok(apply_filter(rel, rex, condition.span))
    }

    fn plain_select(
        &mut self,
        select: &'a Select,
        rel: Rel,
        scope: &mut Scope,
        sort_items: &[&'a Expr],
    ) -> PlanResult<Rel> {
        let (rel, subqueries) = self.join_items(rel, &select.items, scope)?;
        let mut translator = Translator::new(self.catalog);
        let mut exprs = Vec::new();
        let mut names = ItemNames::default();
        for (i, item) in select.items.iter().enumerate() {
            match item {
                SelectItem::Expr { expr, alias } => {
                    let mut resolver = SelectResolver {
                        scope,
                        windows: &select.windows,
                        aggregates: None,
                        over: true,
                        clause: "the select list",
                        subqueries: &subqueries,
                    };
                    exprs.push(simplify::simplify_item(translator.select_item(expr, &mut resolver)?));
                    names.written(item_name(expr, alias.as_ref(), i));
                }
                SelectItem::Star(span) => {
                    if scope.columns().is_empty() || select.from.is_empty() {
                        return Err(PlanError::rejected(*span, "SELECT * needs a table")
                            .label("there is no FROM")
                            .into());
                    }
                    scope.check_star(*span)?;
                    for (name, rex) in scope.star() {
                        exprs.push(rex.at(*span));
                        names.of_star(name);
                    }
                }
                SelectItem::QualifiedStar(table) => {
                    for c in scope.qualified_star(&table.parts)? {
                        exprs.push(scope.rex(c).at(table.span));
                        names.of_star(&scope.columns()[c].0);
                    }
                }
            }
        }
        let mut names = names.list;
        self.sort_own = exprs.len();
        self.sort_columns.clear();
        for expr in sort_items {
            let mut resolver = SelectResolver {
                scope,
                windows: &select.windows,
                aggregates: None,
                over: true,
                clause: "ORDER BY",
                subqueries: &[],
            };
            let rex = simplify::simplify(translator.select_item(expr, &mut resolver)?);
            let place = exprs.iter().position(|e| *e == rex).unwrap_or_else(|| {
                names.push(item_name(expr, None, exprs.len()));
                exprs.push(rex);
                exprs.len() - 1
            });
            self.sort_columns.push(place);
        }
        check_size(&exprs, &rel, select.span)?;
        if is_sorted(&rel) && exprs.iter().any(Rex::contains_over) {
            return Err(PlanError::rejected(select.span, "Flink finds no plan for OVER on the sorted rows of a view")
                .label("the view that is read here ends with ORDER BY")
                .help("take ORDER BY out of the view")
                .into());
        }
        let names = self.unique_names(names, self.sort_own);
        Ok(rel.project_as(exprs, names, Origins::at(select.list_span())))
    }
}

/// The names of a select list, in its order.
#[derive(Default)]
pub(super) struct ItemNames {
    pub list: Vec<Arc<str>>,
    taken: FxHashSet<Arc<str>>,
}

impl ItemNames {
    /// An item that is written out bears its name whoever else does.
    pub fn written(&mut self, name: Arc<str>) {
        self.taken.insert(name.clone());
        self.list.push(name);
    }

    /// A column that `*` brings gets a number if its name is taken (Calcite's `addToSelectList`).
    pub fn of_star(&mut self, name: &str) {
        let mut candidate: Arc<str> = name.into();
        let mut number = 0;
        while !self.taken.insert(candidate.clone()) {
            candidate = format!("{name}{number}").into();
            number += 1;
        }
        self.list.push(candidate);
    }
}

impl Builder<'_> {
    /// The names that the plan gives the columns of a SELECT, of which the first `own` are its own; notes which of them share
    /// a name in the text.
    pub(super) fn unique_names(&mut self, names: Vec<Arc<str>>, own: usize) -> Vec<Arc<str>> {
        let given = unique_names(names.clone());
        self.repeated.clear();
        let differ = names.into_iter().zip(&given).take(own).enumerate().filter(|(_, (name, given))| name != *given);
        self.repeated.extend(differ.map(|(i, (name, _))| (i, name)));
        given
    }
}

/// True if nothing but projections and filters stands on an order without limit.
fn is_sorted(rel: &Rel) -> bool {
    match &rel.op {
        RelOp::Sort(sort) => sort.fetch.is_none() && sort.offset == 0,
        RelOp::Project(_) | RelOp::Filter(_) => is_sorted(rel.input()),
        _ => false,
    }
}

/// A filter on top of `rel`.
pub(super) fn apply_filter(rel: Rel, condition: Rex, at: Span) -> Rel {
    let conjuncts: Vec<Rex> = simplify::conjuncts(simplify::simplify_filter(condition));
    if conjuncts.iter().any(simplify::is_always_false) {
        return Rel {
            op: RelOp::Values(Vec::new()),
            inputs: Vec::new(),
            columns: rel.columns,
            origins: Origins::at(at),
        };
    }
    let conditions = conjuncts.into_iter().filter(|c| !simplify::is_always_true(c)).collect();
    rel.filter(conditions, Origins::at(at))
}

/// `SELECT DISTINCT`, `UNION`: an aggregate by all columns without calls.
pub(super) fn distinct_over(rel: Rel, at: Span) -> Rel {
    let columns = rel.columns.clone();
    let keys: Vec<usize> = (0..columns.len()).collect();
    let op = RelOp::Aggregate(Aggregate {
        key_origins: keys.iter().map(|_| Origins::at(at)).collect(),
        keys,
        calls: Vec::new(),
        written: Vec::new(),
        distinct: true,
        grouping_sets: None,
        ttl: None,
        split: Split::None,
    });
    Rel { op, inputs: vec![rel], columns, origins: Origins::at(at) }
}

/// The name of a select item: its alias, the column's own name, or `EXPR$i`.
pub(super) fn item_name(expr: &Expr, alias: Option<&Ident>, i: usize) -> Arc<str> {
    match (alias, &expr.kind) {
        (Some(alias), _) => alias.value.as_str().into(),
        (None, ExprKind::Column(path)) => path.last().map_or("", |p| p.value.as_str()).into(),
        (None, ExprKind::Field(_, name)) => name.value.as_str().into(),
        _ => format!("EXPR${i}").into(),
    }
}

/// True if an aggregate (not over a window) is called in the expression.
fn contains_aggregate(expr: &Expr) -> bool {
    let mut found = false;
    super::ast_columns::of_calls(expr, &mut |call| {
        let plain = call.over.is_none() && call.name.parts.len() == 1;
        found |= plain && aggregates::lookup(call.name.last()).is_some_and(|d| d.kind == AggregateKind::Aggregate);
    });
    found
}

/// Calcite refuses two windows of one clause with the same definition.
fn check_windows(windows: &[NamedWindow]) -> PlanResult<()> {
    for (i, w) in windows.iter().enumerate() {
        if let Some(first) = windows[..i].iter().find(|o| o.name.value == w.name.value) {
            return Err(PlanError::rejected(w.name.span, format!("duplicate window name `{}`", first.name.value))
                .label("this name is taken")
                .help("give the window another name")
                .into());
        }
        if windows[..i].iter().any(|o| super::over::same_window(&o.spec, &w.spec)) {
            return Err(PlanError::rejected(
                w.spec.span,
                "duplicate window specification not allowed in the same window clause",
            )
            .label("the same definition as an earlier window")
            .help("use the earlier window's name")
            .into());
        }
    }
    Ok(())
}
