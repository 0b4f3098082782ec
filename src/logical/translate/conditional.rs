//! CASE and the functions that plans know as CASE.

use super::{Resolver, Translator, cast, operator};
use crate::catalog::coercion;
use crate::catalog::functions::operators as op;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::rex::Rex;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::Expr;

impl Translator<'_> {
    /// `CASE [x] WHEN c THEN v ... [ELSE e] END` as `CASE(c, v, ..., e)`.
    pub(super) fn case(
        &mut self,
        operand: Option<&Expr>,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        span: Span,
        r: &mut dyn Resolver,
    ) -> PlanResult<Rex> {
        let operand = operand.map(|e| self.expr(e, r)).transpose()?;
        let mut args = Vec::with_capacity(branches.len() * 2 + 1);
        for (when, then) in branches {
            let condition = self.expr(when, r)?;
            args.push(match &operand {
                Some(x) => operator::comparison(&op::EQUALS, x.clone(), condition, when.span)?,
                None => as_condition(condition, when.span)?,
            });
            args.push(self.expr(then, r)?);
        }
        args.push(match otherwise {
            Some(e) => self.expr(e, r)?,
            None => Rex::literal(crate::logical::rex::Value::Null, TypeKind::Null.nullable()).at(span),
        });
        case_of(args, span)
    }
}

fn as_condition(rex: Rex, span: Span) -> PlanResult<Rex> {
    match rex.ty.kind {
        TypeKind::Boolean | TypeKind::Unknown => Ok(rex),
        TypeKind::Null => Ok(Rex { ty: TypeKind::Boolean.nullable(), ..rex }),
        _ => Err(PlanError::rejected(span, "Expected a boolean type")
            .label(format!("this is {}", rex.ty.kind))
            .help("write a condition after WHEN, or `CASE x WHEN value THEN ...`")
            .into()),
    }
}

/// Brings the results of a CASE to their common type. Literals are taken as they are, the way Flink prints them.
pub(super) fn case_of(mut args: Vec<Rex>, span: Span) -> PlanResult<Rex> {
    let is_result = |i: usize, len: usize| i % 2 == 1 || i + 1 == len;
    let len = args.len();
    let results = args.iter().enumerate().filter(|(i, _)| is_result(*i, len)).map(|(_, a)| &a.ty);
    let Some(common) = coercion::least_restrictive_of(results) else {
        return Err(PlanError::rejected(span, "Illegal mixing of types in CASE or COALESCE statement")
            .label("the results have no common type")
            .help("cast the results to one type")
            .into());
    };
    if common.kind == TypeKind::Null {
        return Err(PlanError::rejected(span, "ELSE clause or at least one THEN clause must be non-NULL")
            .label("every result is NULL")
            .help("give one of them a type: CAST(NULL AS INT)")
            .into());
    }
    let common: DataType = common.materialized();
    for (i, arg) in args.iter_mut().enumerate() {
        if is_result(i, len) && needs_cast(arg, &common) {
            let taken = std::mem::replace(arg, Rex::boolean(true));
            *arg = cast::implicit(taken, &common.kind);
        }
    }
    Ok(Rex::call(&op::CASE, args, common).at(span))
}

/// Text of any length and literal numbers are left alone; NULL takes the type; all else is cast.
fn needs_cast(rex: &Rex, common: &DataType) -> bool {
    if rex.is_null_literal() {
        return true;
    }
    let ty = rex.ty.clone().materialized();
    let text = ty.is_character() && common.is_character();
    !ty.same_kind(common) && !text
}
