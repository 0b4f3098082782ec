//! UNION ALL, UNION, INTERSECT and EXCEPT.

use super::Builder;
use super::select::distinct_over;
use crate::catalog::coercion;
use crate::catalog::functions::operators as op;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::join::{Join, JoinType};
use crate::logical::make;
use crate::logical::rel::{Rel, RelColumn, RelOp};
use crate::logical::rex::{Origins, Rex};
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
    /// INTERSECT and EXCEPT: the rows of the left query that the right one has, or has not, each once (Calcite's
    /// `IntersectToSemiJoinRule` and `MinusToAntiJoinRule` in Flink's form).
    fn common_or_other_rows(
        &mut self,
        op: SetOperator,
        all: bool,
        (left, right): (&'a SetExpr, &'a SetExpr),
        at: Span,
    ) -> PlanResult<Rel> {
        let intersects = op == SetOperator::Intersect;
        let name = if intersects { "INTERSECT" } else { "EXCEPT" };
        if all {
            return Err(PlanError::unsupported(at, format_args!("{name} ALL")).into());
        }
        // Flink takes several of one kind together.
        let is_same = |e: &SetExpr| matches!(e, SetExpr::SetOperation { op: other, .. } if *other == op);
        if is_same(left) || is_same(right) {
            return Err(PlanError::unsupported(at, format_args!("more than one {name} in a row")).into());
        }
        let inputs = vec![self.set_expr(left)?, self.set_expr(right)?];
        let Ok([left, right]) = <[Rel; 2]>::try_from(of_common_types(inputs, name, at)?.1) else {
            unreachable!("it has two inputs")
        };
        let width = left.columns.len();
        let conditions = (0..width).map(|i| {
            let b = Rex::input(width + i, right.columns[i].ty.clone());
            equal_or_both_null(left.column(i), b, at)
        });
        let join_type = if intersects { JoinType::Semi } else { JoinType::Anti };
        let join = Join::new(join_type, conditions.collect(), Origins::at(at));
        Ok(distinct_over(Rel::join(left, right, join, Origins::at(at)), at))
    }
}

fn equal_or_both_null(a: Rex, b: Rex, at: Span) -> Rex {
    let (not_null, nullable) = (!a.ty.nullable && !b.ty.nullable, a.ty.nullable || b.ty.nullable);
    let boolean = |nullable| DataType { kind: TypeKind::Boolean, nullable };
    let is_null = |e: &Rex| Rex::call(&op::IS_NULL, vec![e.clone()], boolean(false)).at(at);
    let nulls = vec![is_null(&a), is_null(&b)];
    let equal = Rex::call(&op::EQUALS, vec![a, b], boolean(nullable)).at(at);
    if not_null {
        return equal;
    }
    let both = Rex::call(&op::AND, nulls, boolean(false)).at(at);
    Rex::call(&op::OR, vec![equal, both], boolean(nullable)).at(at)
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
