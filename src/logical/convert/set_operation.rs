//! UNION ALL and UNION.

use super::Builder;
use super::select::distinct_over;
use crate::catalog::coercion;
use crate::logical::make;
use crate::logical::rel::{Rel, RelColumn, RelOp};
use crate::logical::rex::Origins;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{SetExpr, SetOperator};

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
            let name = if op == SetOperator::Intersect { "INTERSECT" } else { "EXCEPT" };
            return Err(PlanError::unsupported(at, name).into());
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

/// Inputs are cast to common types; the first one names the columns.
pub(super) fn union_all(inputs: Vec<Rel>, at: Span) -> PlanResult<Rel> {
    let width = inputs[0].columns.len();
    if let Some(other) = inputs.iter().find(|i| i.columns.len() != width) {
        let here = other.origins.first().unwrap_or(at);
        return Err(PlanError::rejected(here, "column count mismatch in UNION")
            .label(format!("{} columns here, {width} in the first query", other.columns.len()))
            .help("select the same number of columns in every branch")
            .into());
    }
    let mut columns: Vec<RelColumn> = Vec::with_capacity(width);
    for i in 0..width {
        let types = inputs.iter().map(|r| &r.columns[i].ty);
        let Some(ty) = coercion::least_restrictive_of(types) else {
            let name = &inputs[0].columns[i].name;
            return Err(PlanError::rejected(at, format!("type mismatch in column {} (`{name}`) of UNION", i + 1))
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
    Ok(Rel { op: RelOp::Union, inputs, columns, origins: Origins::at(at) })
}
