//! WITH, the body, ORDER BY and LIMIT.

use super::{Builder, CteBinding};
use crate::logical::rel::{Rel, RelColumn, RelOp};
use crate::logical::rex::Origins;
use crate::logical::translate::Translator;
use crate::logical::{scope::Scope, simplify};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, Literal, Query, SetExpr};

impl<'a> Builder<'a> {
    pub(super) fn query(&mut self, query: &'a Query) -> PlanResult<Rel> {
        self.enter(query.span)?;
        let visible = self.ctes.len();
        for cte in &query.with {
            if let (true, Some(name)) = (cte.columns.is_empty(), cte.query.repeated_name()) {
                return Err(super::from::duplicate_in_cte(&name.value, name.span));
            }
            let binding = CteBinding {
                name: &cte.name.value,
                columns: &cte.columns,
                query: &cte.query,
                visible: self.ctes.len(),
            };
            self.ctes.push(binding);
        }
        let result = self.body_with_order(query);
        self.ctes.truncate(visible);
        self.leave();
        result
    }

    pub(super) fn set_expr(&mut self, body: &'a SetExpr) -> PlanResult<Rel> {
        self.top &= matches!(body, SetExpr::Select(_) | SetExpr::Query(_));
        if !matches!(body, SetExpr::Select(_) | SetExpr::Query(_)) {
            self.repeated.clear();
        }
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Values(rows, span) => self.values(rows, *span),
            SetExpr::SetOperation { op, all, left, right, op_span } => {
                let union = self.set_operation(*op, *all, left, right, *op_span);
                self.repeated.clear();
                union
            }
            SetExpr::Query(query) => self.query(query),
        }
    }

    /// `VALUES (1, 'a'), (2, 'bb')`: literal rows of a common type.
    fn values(&mut self, rows: &'a [Vec<Expr>], span: Span) -> PlanResult<Rel> {
        let mut translator = Translator::new(self.catalog);
        let mut scope = Scope::new();
        let mut out = Vec::with_capacity(rows.len());
        if let Some(null) = rows.iter().flatten().find(|e| matches!(e.kind, ExprKind::Literal(Literal::Null))) {
            return Err(PlanError::rejected(null.span, "illegal use of 'NULL'")
                .label("its type is not known here")
                .help("write CAST(NULL AS ...)")
                .into());
        }
        for row in rows {
            let mut values = Vec::with_capacity(row.len());
            for e in row {
                values.push(simplify::simplify(translator.expr(e, &mut scope)?));
            }
            out.push(values);
        }
        let Some(first) = out.first() else {
            return Err(PlanError::rejected(span, "VALUES has no rows").into());
        };
        let width = first.len();
        if let Some(bad) = rows.iter().find(|r| r.len() != width) {
            let at = bad.first().map_or(span, |e| bad.iter().fold(e.span, |s, e| s.to(e.span)));
            return Err(PlanError::rejected(at, "values passed to VALUES operator must have compatible types")
                .label(format!("{} values here, {width} in the first row", bad.len()))
                .into());
        }
        let columns: Vec<RelColumn> = (0..width)
            .map(|i| {
                let types = out.iter().map(|r| &r[i].ty);
                let ty = crate::catalog::coercion::least_restrictive_of(types).unwrap_or_else(|| first[i].ty.clone());
                RelColumn::new(format!("EXPR${i}"), ty)
            })
            .collect();
        let all_literals =
            rows.iter().flatten().all(is_literal) && out.iter().flatten().all(|e| e.as_literal().is_some());
        if all_literals {
            return Ok(Rel { op: RelOp::Values(out), inputs: Vec::new(), columns, origins: Origins::at(span) });
        }
        // Rows that compute something are projections of one dummy row each (Calcite does the same).
        let names: Vec<_> = columns.iter().map(|c| c.name.clone()).collect();
        let mut branches: Vec<Rel> =
            out.into_iter().map(|row| self.one_row(span).project_as(row, names.clone(), Origins::at(span))).collect();
        if branches.len() == 1 {
            return Ok(branches.remove(0));
        }
        super::set_operation::union_all(branches, span)
    }

    /// The row of a SELECT without FROM.
    pub(super) fn one_row(&self, span: Span) -> Rel {
        use crate::catalog::types::TypeKind;
        use crate::logical::rex::{Rex, Value};
        let zero = Rex::literal(Value::Int(0), TypeKind::Int.not_null());
        let columns = vec![RelColumn::new("ZERO", TypeKind::Int.not_null())];
        Rel { op: RelOp::Values(vec![vec![zero]]), inputs: Vec::new(), columns, origins: Origins::at(span) }
    }
}

/// A literal as it stands; a call that gives a constant is none (Calcite's `convertRowValues`).
fn is_literal(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Literal(_) => true,
        ExprKind::Unary(_, inner) => matches!(inner.kind, ExprKind::Literal(Literal::Number(_))),
        _ => false,
    }
}
