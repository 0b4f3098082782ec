//! `IN` under OR, in CASE and in a select list: a mark beside each row says whether the query has the value (Calcite's
//! `SubQueryRemoveRule.rewriteIn`).

use super::ast_columns::of_subqueries;
use super::decorrelate;
use super::select::distinct_over;
use super::subquery::{aggregate_of, calls_table_function, check_operands, equal, with_operands};
use crate::catalog::functions::operators as op;
use crate::catalog::types::TypeKind;
use crate::logical::join::{Join, JoinType};
use crate::logical::rel::{AggArg, AggCall, Rel};
use crate::logical::rex::{Origins, Rex, Value};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind};

/// True if it does not matter whether `inner` is FALSE or unknown; `outer`: it does not matter for the whole.
pub(super) fn only_truth_counts(whole: &Expr, inner: &Expr, outer: bool) -> bool {
    if std::ptr::eq(whole, inner) {
        return outer;
    }
    let within = |e: &Expr| {
        let mut found = false;
        of_subqueries(e, &mut |s| found |= std::ptr::eq(s, inner));
        found
    };
    match &whole.kind {
        ExprKind::Binary(a, BinaryOp::And | BinaryOp::Or, b) => {
            let side = if within(a) { a } else { b };
            only_truth_counts(side, inner, outer)
        }
        ExprKind::Case { operand: None, branches, .. } => {
            branches.iter().any(|(when, _)| within(when) && only_truth_counts(when, inner, true))
        }
        _ => false,
    }
}

/// `IN` as a value (Calcite's `SubQueryRemoveRule.rewriteIn`).
pub(super) struct Membership {
    /// What is looked for.
    pub operands: Vec<Rex>,
    /// `NOT IN`.
    pub negated: bool,
    /// It does not matter whether it is FALSE or unknown.
    pub only_truth_counts: bool,
    /// Where it is written.
    pub at: Span,
}

impl Membership {
    /// `rel` with what the value needs beside each row, and the value.
    pub fn join(self, rel: Rel, subquery: Rel) -> PlanResult<(Rel, Rex)> {
        let Membership { operands, negated, only_truth_counts, at } = self;
        let unsupported = |what: &str| Err(PlanError::unsupported(at, what).into());
        if calls_table_function(&subquery) {
            return unsupported("IN or EXISTS of a query with UNNEST or a table function");
        }
        if decorrelate::is_correlated(&subquery) {
            return unsupported(
                "IN under OR, in CASE or in a select list, of a query that refers to the one around it",
            );
        }
        check_operands(&operands, &subquery, at)?;
        let nullable_operands: Vec<usize> = (0..operands.len()).filter(|i| operands[*i].ty.nullable).collect();
        let unknown = !nullable_operands.is_empty() || subquery.columns.iter().any(|c| c.ty.nullable);
        let counted_column = subquery.columns.len() == 1 && subquery.columns[0].ty.nullable;
        let may_be_unknown = unknown && !only_truth_counts;
        let told = counted_column && nullable_operands.len() == 1 && !negated;
        if may_be_unknown && !told || unknown && negated && !counted_column {
            return unsupported("IN whose result may be unknown, as a value");
        }
        let (mut left, places) = with_operands(rel, operands);
        let counts = left.columns.len();
        if unknown {
            let join = Join::new(JoinType::Inner, Vec::new(), Origins::at(at));
            left = Rel::join(left, counted(subquery.clone(), negated || may_be_unknown, at), join, Origins::at(at));
        }
        let width = left.columns.len();
        let right = decorrelate::with_mark(distinct_over(subquery, at), "i", at);
        let pairs = places.iter().enumerate();
        let conditions = pairs.map(|(i, place)| {
            let own = Rex::input(width + i, right.columns[i].ty.clone());
            equal(left.column(*place), own, at)
        });
        let join = Join::new(JoinType::Left, conditions.collect(), Origins::at(at));
        let rel = Rel::join(left, right, join, Origins::at(at));
        let boolean = |def, args| Rex::call(def, args, TypeKind::Boolean.not_null()).at(at);
        let mark = rel.column(rel.columns.len() - 1);
        let zero = Rex::literal(Value::Int(0), TypeKind::Int.not_null());
        let known = |list: &mut Vec<Rex>| {
            list.extend(nullable_operands.iter().map(|i| boolean(&op::IS_NOT_NULL, vec![rel.column(places[*i])])));
        };
        let value = match (negated, unknown) {
            (false, false) => boolean(&op::IS_NOT_NULL, vec![mark]),
            (true, false) => boolean(&op::IS_NULL, vec![mark]),
            (false, true) if may_be_unknown => {
                let some = boolean(&op::NOT_EQUALS, vec![rel.column(counts), zero]);
                let nulls = boolean(&op::LESS, vec![rel.column(counts + 1), rel.column(counts)]);
                let operand = rel.column(places[0]);
                let is_null = |e: &Rex| boolean(&op::IS_NULL, vec![e.clone()]);
                let is_some = |e: &Rex| boolean(&op::IS_NOT_NULL, vec![e.clone()]);
                let or_unknown = |def, args| Rex::call(def, args, TypeKind::Boolean.nullable()).at(at);
                let open = || Rex::null(TypeKind::Boolean.nullable());
                let of_null = or_unknown(&op::AND, vec![is_null(&operand), open(), some.clone()]);
                let found = boolean(&op::AND, vec![is_some(&mark), some.clone(), is_some(&operand)]);
                let of_other = vec![nulls, open(), some, is_some(&operand), is_null(&mark)];
                or_unknown(&op::OR, vec![of_null, found, or_unknown(&op::AND, of_other)])
            }
            (false, true) => {
                let some = boolean(&op::NOT_EQUALS, vec![rel.column(counts), zero]);
                let mut all = vec![some, boolean(&op::IS_NOT_NULL, vec![mark])];
                known(&mut all);
                boolean(&op::AND, all)
            }
            (true, true) => {
                let none = boolean(&op::EQUALS, vec![rel.column(counts), zero]);
                let no_null = boolean(&op::GREATER_OR_EQUAL, vec![rel.column(counts + 1), rel.column(counts)]);
                let mut all = vec![boolean(&op::IS_NULL, vec![mark]), no_null];
                known(&mut all);
                boolean(&op::OR, vec![none, boolean(&op::AND, all)])
            }
        };
        Ok((rel, value))
    }
}

/// How many rows there are, and how many of them are not NULL if that matters.
fn counted(rel: Rel, nulls_matter: bool, at: Span) -> Rel {
    let call = |args: Vec<AggArg>, name: &str| AggCall {
        function: "COUNT".into(),
        args,
        distinct: false,
        monotonic: false,
        filter: None,
        ty: TypeKind::BigInt.not_null(),
        name: name.into(),
        origins: Origins::at(at),
    };
    let mut calls = vec![call(Vec::new(), "c")];
    if nulls_matter {
        calls.push(call(vec![AggArg::Column(0)], "ck"));
    }
    aggregate_of(rel, calls, at)
}
