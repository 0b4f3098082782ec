//! Subqueries in expressions become joins: `IN` and `EXISTS` that must hold become semi and anti joins (Flink's
//! `FlinkSubQueryRemoveRule`), a query that stands for a value an outer join with its one row (Calcite's `SubQueryRemoveRule`).

use std::sync::Arc;

use super::Builder;
use super::ast_columns::of_subqueries;
use super::decorrelate::{self, Scalar, decorrelate, has_one_row};
use super::membership::{Membership, only_truth_counts};
use super::select::{SelectResolver, apply_filter};
use crate::catalog::coercion::least_restrictive;
use crate::catalog::functions::operators as op;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::join::{Join, JoinType};
use crate::logical::rel::{AggArg, AggCall, Aggregate, Rel, RelColumn, RelOp, Split, WrittenCall};
use crate::logical::rex::{Origins, Rex, RexKind};
use crate::logical::scope::Scope;
use crate::logical::simplify;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, IsTest, Literal, Query, SelectItem, UnaryOp};

/// A subquery that has become a column of the row.
pub(super) struct Joined<'s> {
    /// Where it stood.
    pub expr: &'s Expr,
    /// The column, or what is computed from it.
    pub value: Rex,
}

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Rows pass for which it is TRUE.
    Condition,
    /// Its value is kept.
    Value,
}

/// True if a subquery stands in the expression.
pub(super) fn contains_subquery(expr: &Expr) -> bool {
    let mut found = false;
    of_subqueries(expr, &mut |_| found = true);
    found
}

/// A part of a condition, all of which must hold.
pub(super) enum Conjunct<'a> {
    /// A row must have a partner in the query, or none.
    Partner { operand: Option<&'a Expr>, query: &'a Query, negated: bool, at: Span },
    /// Anything else.
    Other { expr: &'a Expr, negated: bool },
}

/// The parts of a condition.
pub(super) fn conjuncts(expr: &Expr) -> Vec<Conjunct<'_>> {
    let mut out = Vec::new();
    split(expr, false, &mut out);
    out
}

fn split<'a>(expr: &'a Expr, negated: bool, out: &mut Vec<Conjunct<'a>>) {
    let at = expr.span;
    match &expr.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => split(inner, !negated, out),
        ExprKind::Binary(a, BinaryOp::And, b) if !negated => {
            split(a, false, out);
            split(b, false, out);
        }
        ExprKind::Binary(a, BinaryOp::Or, b) if negated => {
            split(a, true, out);
            split(b, true, out);
        }
        ExprKind::Is { expr: inner, test: IsTest::True, negated: false } if !negated && contains_subquery(inner) => {
            split(inner, false, out);
        }
        ExprKind::Binary(inner, BinaryOp::Eq, literal)
            if !negated
                && matches!(literal.kind, ExprKind::Literal(Literal::Boolean(true)))
                && matches!(inner.kind, ExprKind::InSubquery { .. } | ExprKind::Exists { .. }) =>
        {
            split(inner, false, out);
        }
        ExprKind::InSubquery { expr, query, negated: not } => {
            out.push(Conjunct::Partner { operand: Some(expr), query, negated: negated != *not, at });
        }
        ExprKind::Exists { query, negated: not } => {
            out.push(Conjunct::Partner { operand: None, query, negated: negated != *not, at });
        }
        _ => out.push(Conjunct::Other { expr, negated }),
    }
}

impl<'a> Builder<'a> {
    /// A condition with subqueries in it.
    pub(super) fn filter_by_subqueries(
        &mut self,
        mut rel: Rel,
        condition: &'a Expr,
        scope: &mut Scope,
        clause: &'static str,
    ) -> PlanResult<Rel> {
        let own = rel.columns.clone();
        let mut others = Vec::new();
        let mut partners = false;
        for part in conjuncts(condition) {
            match part {
                Conjunct::Partner { operand, query, negated, at } => {
                    partners = true;
                    let mut translator = Translator::new(self.catalog);
                    let mut resolver = where_resolver(scope, &[]);
                    let operands = operands(operand)
                        .iter()
                        .map(|e| Ok(simplify::simplify(translator.expr(e, &mut resolver)?)))
                        .collect::<PlanResult<Vec<Rex>>>()?;
                    let right = self.subquery(query, scope, at)?;
                    rel = semi_join(rel, operand.is_some().then_some(operands), right, negated, at)?;
                }
                Conjunct::Other { expr, negated } => others.push((expr, negated)),
            }
        }
        let mut joined = Vec::new();
        for (expr, _) in &others {
            rel = self.join_values(rel, expr, Place::Condition, scope, &mut joined)?;
        }
        // Flink has another plan for a condition of both kinds.
        if partners && !joined.is_empty() && joined.iter().any(|j| !matches!(j.expr.kind, ExprKind::Subquery(_))) {
            let what = "IN or EXISTS under OR beside one that must hold";
            return Err(PlanError::unsupported(condition.span, what).into());
        }
        let mut parts = Vec::new();
        for (expr, negated) in others {
            let mut resolver = where_resolver(scope, &joined);
            let part = Translator::new(self.catalog).condition(expr, &mut resolver, clause)?;
            parts.push(if negated { not(part) } else { part });
        }
        super::budget::check_size(&parts, &rel, condition.span)?;
        if let Some(all) = simplify::and_all(parts) {
            rel = apply_filter(rel, all, condition.span);
        }
        Ok(only_columns(rel, &own))
    }

    /// Joins the values of subqueries in a select list.
    pub(super) fn join_items(
        &mut self,
        mut rel: Rel,
        items: &'a [SelectItem],
        scope: &Scope,
    ) -> PlanResult<(Rel, Vec<Joined<'a>>)> {
        let mut joined = Vec::new();
        for item in items {
            if let SelectItem::Expr { expr, .. } = item {
                rel = self.join_values(rel, expr, Place::Value, scope, &mut joined)?;
            }
        }
        Ok((rel, joined))
    }

    /// Joins the values of the subqueries in an expression. `IN` beside other subqueries is left: it is no value yet.
    fn join_values(
        &mut self,
        mut rel: Rel,
        expr: &'a Expr,
        place: Place,
        scope: &Scope,
        joined: &mut Vec<Joined<'a>>,
    ) -> PlanResult<Rel> {
        let mut found = Vec::new();
        of_subqueries(expr, &mut |e| found.push(e));
        let (root, alone) = (expr, found.len() == 1);
        for expr in found {
            let value;
            let truth = only_truth_counts(root, expr, place == Place::Condition);
            if place == Place::Condition && !truth && !matches!(expr.kind, ExprKind::Subquery(_)) {
                let what = "IN or EXISTS in a condition otherwise than under AND, OR and CASE";
                return Err(PlanError::unsupported(expr.span, what).into());
            }
            match &expr.kind {
                ExprKind::Subquery(query) => {
                    let scalar = self.scalar(query, scope, expr.span)?;
                    (rel, value) = join_scalar(rel, scalar, expr.span);
                }
                ExprKind::Exists { query, negated } => {
                    let rows = self.subquery(query, scope, expr.span)?;
                    (rel, value) = join_exists(rel, rows, *negated, expr.span)?;
                }
                ExprKind::InSubquery { expr: operand, query, negated } => {
                    // Of several Flink's versions make plans of their own.
                    if !alone {
                        continue;
                    }
                    let mut own = scope.clone();
                    let mut translator = Translator::new(self.catalog);
                    let mut resolver = where_resolver(&mut own, &[]);
                    let operands = operands(Some(operand))
                        .iter()
                        .map(|e| Ok(simplify::simplify(translator.expr(e, &mut resolver)?)))
                        .collect::<PlanResult<Vec<Rex>>>()?;
                    let rows = self.subquery(query, scope, expr.span)?;
                    let membership =
                        Membership { operands, negated: *negated, only_truth_counts: truth, at: expr.span };
                    (rel, value) = membership.join(rel, rows)?;
                }
                _ => continue,
            }
            joined.push(Joined { expr, value });
        }
        Ok(rel)
    }

    /// A query that stands for a value.
    pub(super) fn scalar(&mut self, query: &'a Query, scope: &Scope, at: Span) -> PlanResult<Scalar> {
        let rel = self.subquery(query, scope, at)?;
        if rel.columns.len() != 1 {
            return Err(PlanError::rejected(
                at,
                format!("a subquery as a value has one column, not {}", rel.columns.len()),
            )
            .label("this is no single value")
            .help("select one column in it")
            .into());
        }
        decorrelate::scalar(rel, at)
    }

    /// The rows of a subquery that sees the columns of `scope`.
    pub(super) fn subquery(&mut self, query: &'a Query, scope: &Scope, at: Span) -> PlanResult<Rel> {
        self.charge_join(at)?;
        let outer = self.outer.replace(Arc::new(scope.clone()));
        let sort_items = std::mem::take(&mut self.sort_items);
        let sort_columns = std::mem::take(&mut self.sort_columns);
        let repeated = std::mem::take(&mut self.repeated);
        let (sort_own, top, joins) = (self.sort_own, self.top, self.joins);
        self.top = false;
        let result = self.query(query);
        (self.sort_own, self.top, self.joins) = (sort_own, top, joins);
        self.repeated = repeated;
        self.sort_columns = sort_columns;
        self.sort_items = sort_items;
        self.outer = outer;
        result
    }
}

fn where_resolver<'s>(scope: &'s mut Scope, subqueries: &'s [Joined<'s>]) -> SelectResolver<'s> {
    SelectResolver { scope, windows: &[], aggregates: None, over: false, clause: "the WHERE clause", subqueries }
}

/// The operands of `(a, b) IN (...)`.
pub(super) fn operands(operand: Option<&Expr>) -> &[Expr] {
    match operand {
        Some(Expr { kind: ExprKind::Row(items), .. }) => items,
        Some(one) => std::slice::from_ref(one),
        None => &[],
    }
}

/// `NOT`, for three-valued logic.
pub(super) fn not(e: Rex) -> Rex {
    let (nullable, origins) = (e.ty.nullable, e.origins.clone());
    Rex::call(&op::NOT, vec![e], DataType { kind: TypeKind::Boolean, nullable }).or_at(&origins)
}

/// Drops the columns behind `own`.
pub(super) fn only_columns(rel: Rel, own: &[RelColumn]) -> Rel {
    if rel.columns.len() == own.len() {
        return rel;
    }
    let exprs = (0..own.len()).map(|i| rel.column(i)).collect();
    rel.project_as(exprs, own.iter().map(|c| c.name.clone()).collect(), Origins::none())
}

/// `rel` with the row of a subquery beside each of its own, and the value that it stands for.
pub(super) fn join_scalar(rel: Rel, scalar: Scalar, at: Span) -> (Rel, Rex) {
    let width = rel.columns.len();
    let Scalar { right, conditions, value } = scalar;
    let conditions = conditions.iter().map(|c| over_both(c, width)).collect();
    let value = over_both(&value, width);
    let join = Join::new(JoinType::Left, conditions, Origins::at(at));
    (Rel::join(rel, right, join, Origins::at(at)), value)
}

/// `rel` with a mark beside each row that says whether the subquery has rows for it, and EXISTS over the mark.
fn join_exists(rel: Rel, subquery: Rel, negated: bool, at: Span) -> PlanResult<(Rel, Rex)> {
    if calls_table_function(&subquery) {
        return Err(PlanError::unsupported(at, "IN or EXISTS of a query with UNNEST or a table function").into());
    }
    if is_one_row(&subquery) {
        return Ok((rel, Rex::boolean(!negated).at(at)));
    }
    let (rel, mark) = join_scalar(rel, decorrelate::marked(subquery, at)?, at);
    let test = if negated { &op::IS_NULL } else { &op::IS_NOT_NULL };
    Ok((rel, Rex::call(test, vec![mark], TypeKind::Boolean.not_null()).at(at)))
}

/// A condition over the columns of a subquery and of the query around it, over both rows side by side.
fn over_both(condition: &Rex, width: usize) -> Rex {
    let shifted = condition.map_inputs(&mut |i, used| Rex { kind: RexKind::Input(i + width), ..used.clone() });
    inner_columns(&shifted)
}

pub(super) fn inner_columns(e: &Rex) -> Rex {
    match e.kind {
        RexKind::Outer(i) => Rex { kind: RexKind::Input(i), ..e.clone() },
        _ => e.map_children(&mut |child| inner_columns(child)),
    }
}

/// The rows of `rel` that have a partner among those of a subquery, or that have none. Without operands it is `EXISTS`.
pub(super) fn semi_join(
    rel: Rel,
    operands: Option<Vec<Rex>>,
    subquery: Rel,
    negated: bool,
    at: Span,
) -> PlanResult<Rel> {
    if calls_table_function(&subquery) {
        return Err(PlanError::unsupported(at, "IN or EXISTS of a query with UNNEST or a table function").into());
    }
    let own = rel.columns.clone();
    let join_type = if negated { JoinType::Anti } else { JoinType::Semi };
    let Some(operands) = operands else {
        if is_one_row(&subquery) {
            return Ok(if negated { apply_filter(rel, Rex::boolean(false), at) } else { rel });
        }
        let found = decorrelate(subquery)?;
        let width = rel.columns.len();
        let (right, conditions) = if found.conditions.is_empty() {
            let right = any_row(found.rel, at);
            let exists = Rex::input(width, right.columns[0].ty.clone()).at(at);
            (right, vec![exists])
        } else {
            check_comparisons(&found.conditions, at)?;
            (found.rel, found.conditions.iter().map(|c| over_both(c, width)).collect())
        };
        let join = Join::new(join_type, conditions, Origins::at(at));
        return Ok(Rel::join(rel, right, join, Origins::at(at)));
    };
    check_operands(&operands, &subquery, at)?;
    let (left, places) = with_operands(rel, operands);
    let width = left.columns.len();
    let found = decorrelate(subquery)?;
    check_comparisons(&found.conditions, at)?;
    let mut conditions = Vec::new();
    for (i, place) in places.into_iter().enumerate() {
        let (a, b) = (left.column(place), Rex::input(width + i, found.rel.columns[i].ty.clone()));
        conditions.push(if negated { equal_or_unknown(a, b, at) } else { equal(a, b, at) });
    }
    conditions.extend(found.conditions.iter().map(|c| over_both(c, width)));
    let join = Join::new(join_type, conditions, Origins::at(at));
    Ok(only_columns(Rel::join(left, found.rel, join, Origins::at(at)), &own))
}

/// Flink's subqueries with a correlation variable of their own become other joins.
pub(super) fn calls_table_function(rel: &Rel) -> bool {
    matches!(rel.op, RelOp::Correlate(_)) || rel.inputs.iter().any(calls_table_function)
}

/// Of conditions that refer to the query around, Flink takes comparisons only; for others it has another plan.
fn check_comparisons(conditions: &[Rex], at: Span) -> PlanResult<()> {
    let is_comparison = |c: &Rex| match &c.kind {
        RexKind::Call(f, _) => matches!(f.name(), "=" | "<>" | "<" | "<=" | ">" | ">="),
        _ => false,
    };
    match conditions.iter().find(|c| !is_comparison(c)) {
        Some(c) => {
            let at = c.origins.first().unwrap_or(at);
            Err(PlanError::unsupported(at, "a subquery that refers to the query around it by other than comparisons")
                .into())
        }
        None => Ok(()),
    }
}

/// As many operands as columns, of types that can be compared.
pub(super) fn check_operands(operands: &[Rex], subquery: &Rel, at: Span) -> PlanResult<()> {
    if operands.len() != subquery.columns.len() {
        let message = format!(
            "Values passed to IN operator must have compatible types: {} on the left, {} columns in the query",
            operands.len(),
            subquery.columns.len()
        );
        return Err(PlanError::rejected(at, message).label("here").into());
    }
    for (a, b) in operands.iter().zip(&subquery.columns) {
        if least_restrictive(&a.ty, &b.ty).is_none() && !a.ty.is_unknown() && !b.ty.is_unknown() {
            let message = format!("Values passed to IN operator must have compatible types: {} and {}", a.ty, b.ty);
            return Err(PlanError::rejected(at, message).label("these cannot be compared").into());
        }
    }
    Ok(())
}

/// Operands that are no columns are computed below the join.
pub(super) fn with_operands(rel: Rel, operands: Vec<Rex>) -> (Rel, Vec<usize>) {
    let mut exprs = rel.all_columns();
    let mut names: Vec<Arc<str>> = rel.columns.iter().map(|c| c.name.clone()).collect();
    let place = |operand: Rex| {
        operand.as_input().unwrap_or_else(|| {
            names.push(format!("$f{}", names.len()).into());
            exprs.push(operand);
            exprs.len() - 1
        })
    };
    let places = operands.into_iter().map(place).collect();
    if exprs.len() == rel.columns.len() {
        return (rel, places);
    }
    (rel.project_as(exprs, names, Origins::none()), places)
}

pub(super) fn equal(a: Rex, b: Rex, at: Span) -> Rex {
    let nullable = a.ty.nullable || b.ty.nullable;
    Rex::call(&op::EQUALS, vec![a, b], DataType { kind: TypeKind::Boolean, nullable }).at(at)
}

/// `NOT IN` is not TRUE for what may be equal: where one of both is NULL.
fn equal_or_unknown(a: Rex, b: Rex, at: Span) -> Rex {
    let is_null = |e: &Rex| Rex::call(&op::IS_NULL, vec![e.clone()], TypeKind::Boolean.not_null()).at(at);
    let mut parts: Vec<Rex> = [&a, &b].into_iter().filter(|e| e.ty.nullable).map(is_null).collect();
    parts.push(equal(a, b, at));
    simplify::or_all(parts).expect("there is an equality").at(at)
}

/// True for a query that always has one row.
fn is_one_row(rel: &Rel) -> bool {
    match &rel.op {
        RelOp::Project(_) => is_one_row(rel.input()),
        RelOp::Aggregate(_) => has_one_row(rel),
        _ => false,
    }
}

/// One row that says whether `rel` has any.
fn any_row(rel: Rel, at: Span) -> Rel {
    let marked = rel.project_as(vec![Rex::boolean(true)], vec!["i".into()], Origins::at(at));
    let call = AggCall {
        function: "MIN".into(),
        args: vec![AggArg::Column(0)],
        distinct: false,
        filter: None,
        ty: TypeKind::Boolean.nullable(),
        name: "m".into(),
        monotonic: false,
        origins: Origins::at(at),
    };
    let counted = aggregate_of(marked, vec![call], at);
    let m = counted.column(0);
    let found = Rex::call(&op::IS_NOT_NULL, vec![m], TypeKind::Boolean.not_null()).at(at);
    counted.project_as(vec![found], vec!["$f0".into()], Origins::at(at))
}

/// An aggregate of all rows.
pub(super) fn aggregate_of(rel: Rel, calls: Vec<AggCall>, at: Span) -> Rel {
    let columns = calls.iter().map(|call| RelColumn::new(call.name.clone(), call.ty.clone())).collect();
    let written = calls.iter().enumerate();
    let op = RelOp::Aggregate(Aggregate {
        keys: Vec::new(),
        key_origins: Vec::new(),
        written: written.map(|(i, call)| WrittenCall { call: call.clone(), planned: vec![i] }).collect(),
        calls,
        distinct: false,
        grouping_sets: None,
        ttl: None,
        split: Split::None,
    });
    Rel { op, inputs: vec![rel], columns, origins: Origins::at(at) }
}
