//! UNION ALL, UNION, INTERSECT and EXCEPT.

use super::Builder;
use super::select::distinct_over;
use crate::catalog::coercion;
use crate::logical::make;
use crate::logical::rel::{Rel, RelColumn, RelOp, SetKind, SetOperation, Times, Unread};
use crate::logical::rex::Origins;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{SetExpr, SetOperator};
use crate::target::Target;

impl<'a> Builder<'a> {
    pub(super) fn set_operation(
        &mut self,
        op: SetOperator,
        all: bool,
        left: &'a SetExpr,
        right: &'a SetExpr,
        at: Span,
    ) -> PlanResult<Rel> {
        if op != SetOperator::Union {
            return self.common_or_other_rows(op, all, (left, right), at);
        }
        // A chain of unions is a left-deep tree: it is walked, not recursed into.
        let mut branches = vec![right];
        let mut rest = left;
        while let SetExpr::SetOperation { op: SetOperator::Union, all: inner, left, right, .. } = rest {
            if *inner != all {
                break;
            }
            branches.push(right);
            rest = left;
        }
        branches.push(rest);
        branches.reverse();
        let inputs = branches.into_iter().map(|b| self.set_expr(b)).collect::<PlanResult<Vec<_>>>()?;
        let union = union_all(inputs, at)?;
        Ok(if all { union } else { distinct_over(union, at) })
    }
}

impl<'a> Builder<'a> {
    /// INTERSECT and EXCEPT. Several in a row are taken one after the other.
    fn common_or_other_rows(
        &mut self,
        op: SetOperator,
        all: bool,
        (left, right): (&'a SetExpr, &'a SetExpr),
        at: Span,
    ) -> PlanResult<Rel> {
        let (kind, name) = match op {
            SetOperator::Intersect => (SetKind::Intersect, "INTERSECT"),
            _ => (SetKind::Except, "EXCEPT"),
        };
        let inputs = vec![self.set_expr(left)?, self.set_expr(right)?];
        let (columns, inputs) = of_common_types(inputs, name, at)?;
        let inputs: Vec<Rel> = inputs.into_iter().map(|input| as_nullable_as(input, &columns)).collect();
        let unread = if self.target == Target::Flink22 { Unread::Rows } else { Unread::Constant };
        let times = if all { Times::Counted { unread } } else { Times::Once };
        Ok(Rel { op: RelOp::Set(SetOperation { kind, times }), inputs, columns, origins: Origins::at(at) })
    }
}

/// Columns that are NOT NULL in one input only are cast, by which Flink forgets that they are unique.
fn as_nullable_as(input: Rel, columns: &[RelColumn]) -> Rel {
    let exprs = columns.iter().enumerate().map(|(i, c)| {
        let column = input.column(i);
        if c.ty.nullable && !column.ty.nullable && !column.ty.is_unknown() {
            let ty = column.ty.clone().with_nullable(true);
            make::cast(column, ty)
        } else {
            column
        }
    });
    let (exprs, names) = (exprs.collect(), input.columns.iter().map(|c| c.name.clone()).collect());
    input.project_as(exprs, names, Origins::none())
}

/// Inputs are cast to common types; the first one names the columns.
pub(super) fn union_all(inputs: Vec<Rel>, at: Span) -> PlanResult<Rel> {
    let (columns, inputs) = of_common_types(inputs, "UNION", at)?;
    Ok(Rel { op: RelOp::Union, inputs, columns, origins: Origins::at(at) })
}

/// The inputs of a set operation, cast to common types, and its columns.
fn of_common_types(inputs: Vec<Rel>, name: &str, at: Span) -> PlanResult<(Vec<RelColumn>, Vec<Rel>)> {
    let width = inputs[0].columns.len();
    if let Some(other) = inputs.iter().find(|i| i.columns.len() != width) {
        let here = other.origins.first().unwrap_or(at);
        return Err(PlanError::rejected(here, format!("column count mismatch in {name}"))
            .label(format!("{} columns here, {width} in the first query", other.columns.len()))
            .help("select the same number of columns in every branch")
            .into());
    }
    let mut columns: Vec<RelColumn> = Vec::with_capacity(width);
    for i in 0..width {
        let types = inputs.iter().map(|r| &r.columns[i].ty);
        let Some(ty) = coercion::least_restrictive_of(types) else {
            let column = &inputs[0].columns[i].name;
            return Err(PlanError::rejected(at, format!("type mismatch in column {} (`{column}`) of {name}", i + 1))
                .label("the branches differ in this column's type")
                .help("cast it to one type in every branch")
                .into());
        };
        columns.push(RelColumn::new(inputs[0].columns[i].name.clone(), ty));
    }
    let inputs = inputs
        .into_iter()
        .map(|input| {
            let exprs = columns.iter().enumerate().map(|(i, c)| make::cast_kind(input.column(i), &c.ty)).collect();
            let names = input.columns.iter().map(|c| c.name.clone()).collect();
            input.project_as(exprs, names, Origins::none())
        })
        .collect();
    Ok((columns, inputs))
}
