//! ORDER BY, LIMIT and OFFSET of a query.

use super::Builder;
use crate::logical::rel::{Rel, RelOp, Sort, SortKey};
use crate::logical::rex::{Origins, Value};
use crate::logical::scope::Scope;
use crate::logical::simplify;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::syntax::ast::{Expr, ExprKind, Literal, OrderItem, Query, Select, SelectItem, SetExpr};

impl<'a> Builder<'a> {
    /// The body of a query with its order and limit. An order without limit counts only at the top: a subquery's rows have none.
    pub(super) fn body_with_order(&mut self, query: &'a Query) -> PlanResult<Rel> {
        let offset = query.offset.as_ref().map(|e| self.count(e)).transpose()?.unwrap_or(0);
        let fetch = query.limit.as_ref().map(|e| self.count(e)).transpose()?;
        let counts = fetch.is_some() || query.offset.is_some();
        if query.order_by.is_empty() && !counts {
            return self.set_expr(&query.body);
        }
        // What is ordered or limited itself has no order of its own.
        let top = std::mem::take(&mut self.top);
        refuse_two_orders(query)?;
        // Items that are neither a place nor a name of the result are computed beside it.
        let select = select_of(&query.body);
        let mut extra: Vec<&'a Expr> = Vec::new();
        for item in &query.order_by {
            if place_of(item, select)?.is_none() {
                extra.push(&item.expr);
            }
        }
        if extra.is_empty() || select.is_none() {
            let rel = self.set_expr(&query.body)?;
            return self.sorted(rel, query, (offset, fetch), top, select, &[]);
        }
        self.sort_items = extra;
        let rel = self.set_expr(&query.body)?;
        let places = std::mem::take(&mut self.sort_columns);
        let own = self.sort_own;
        let rel = self.sorted(rel, query, (offset, fetch), top, select, &places)?;
        let exprs = (0..own).map(|i| rel.column(i)).collect();
        let names = rel.columns[..own].iter().map(|c| c.name.clone()).collect();
        Ok(rel.project_as(exprs, names, Origins::at(query.span)))
    }

    fn sorted(
        &mut self,
        rel: Rel,
        query: &'a Query,
        (offset, fetch): (i64, Option<i64>),
        top: bool,
        select: Option<&Select>,
        places: &[usize],
    ) -> PlanResult<Rel> {
        let mut computed = places.iter();
        let mut keys = Vec::with_capacity(query.order_by.len());
        for item in &query.order_by {
            let column = match place_of(item, select)? {
                Some(Place::Ordinal(n)) if (1..=rel.columns.len()).contains(&n) => n - 1,
                Some(Place::Ordinal(_)) => {
                    return Err(PlanError::rejected(item.span, "ordinal out of range")
                        .label(format!("the query has {} columns", rel.columns.len()))
                        .into());
                }
                Some(Place::Item(i)) => i,
                None => match computed.next() {
                    Some(at) => *at,
                    None => self.column_of(&rel, item)?,
                },
            };
            // Once is enough (Calcite's `RelCollations.of` keeps the first).
            if keys.iter().any(|k: &SortKey| k.column == column) {
                continue;
            }
            keys.push(SortKey {
                column,
                descending: item.descending,
                nulls_first: item.nulls_first.unwrap_or(!item.descending),
                origins: Origins::at(item.span),
            });
        }
        let columns = rel.columns.clone();
        let range_origins =
            query.limit.as_ref().or(query.offset.as_ref()).map(|e| Origins::at(e.span)).unwrap_or_default();
        let at = query.order_by.first().map(|o| o.span).or(range_origins.first()).unwrap_or(query.span);
        let at = Origins::at(at);
        if fetch == Some(0) {
            return Ok(Rel { op: RelOp::Values(Vec::new()), inputs: Vec::new(), columns, origins: at });
        }
        if fetch.is_none() && offset == 0 && !top {
            return Ok(rel);
        }
        Ok(Rel {
            op: RelOp::Sort(Sort { keys, offset, fetch, range_origins }),
            inputs: vec![rel],
            columns,
            origins: at,
        })
    }

    /// A column of the result by its name.
    fn column_of(&mut self, rel: &Rel, item: &OrderItem) -> PlanResult<usize> {
        let mut scope = Scope::of_table(&[], rel.columns.iter().map(|c| (c.name.to_string(), c.ty.clone())));
        let rex = Translator::new(self.catalog).expr(&item.expr, &mut scope)?;
        rex.as_input()
            .ok_or_else(|| PlanError::unsupported(item.span, "ORDER BY of an expression over a set operation").into())
    }

    fn count(&mut self, e: &Expr) -> PlanResult<i64> {
        let mut scope = Scope::new();
        let rex = simplify::simplify(Translator::new(self.catalog).expr(e, &mut scope)?);
        match rex.as_literal() {
            Some(Value::Int(n)) if *n >= 0 => Ok(*n),
            _ => Err(PlanError::rejected(e.span, "LIMIT and OFFSET take a constant number of rows")
                .label("not a constant whole number")
                .into()),
        }
    }
}

/// Where an ORDER BY item is among the columns of the result.
enum Place {
    Ordinal(usize),
    Item(usize),
}

/// A number is a place, a name is an alias (or a plain column that is selected under its own name).
fn place_of(item: &OrderItem, select: Option<&Select>) -> PlanResult<Option<Place>> {
    Ok(match &item.expr.kind {
        // A fraction is cut off.
        ExprKind::Literal(Literal::Number(n)) => n.split('.').next().and_then(|n| n.parse().ok()).map(Place::Ordinal),
        ExprKind::Column(path) => {
            let [name] = path.as_slice() else { return Ok(None) };
            let Some(select) = select else { return Ok(None) };
            if select.items.iter().any(|i| !matches!(i, SelectItem::Expr { .. })) {
                return Ok(None);
            }
            let matches = |i: &SelectItem| match i {
                SelectItem::Expr { alias: Some(alias), .. } => alias.value == name.value,
                SelectItem::Expr { expr, alias: None } => {
                    matches!(&expr.kind, ExprKind::Column(p) if p.last().is_some_and(|l| l.value == name.value))
                }
                _ => false,
            };
            let mut found = select.items.iter().enumerate().filter(|(_, i)| matches(i)).map(|(at, _)| at);
            let first = found.next();
            if found.next().is_some() {
                return Err(PlanError::rejected(name.span, format!("Column '{}' is ambiguous", name.value))
                    .label("more than one item of the select list has this name")
                    .help("order by its number, or give one of them another name with AS")
                    .into());
            }
            first.map(Place::Item)
        }
        _ => None,
    })
}

/// Flink fails on `(SELECT ... LIMIT 3) ORDER BY a`: a query in parentheses with an order or limit takes no other around it.
fn refuse_two_orders(query: &Query) -> PlanResult<()> {
    let SetExpr::Query(inner) = &query.body else { return Ok(()) };
    let limits = |q: &Query| q.limit.as_ref().or(q.offset.as_ref()).map(|e| e.span);
    let own = inner.order_by.first().map(|o| o.span).or(limits(inner));
    let (Some(_), Some(outer)) = (own, query.order_by.first().map(|o| o.span).or(limits(query))) else { return Ok(()) };
    Err(PlanError::rejected(
        outer,
        "SQL validation failed: the query in parentheses has an ORDER BY or LIMIT of its own",
    )
    .label("a second one")
    .help("make it a subquery: SELECT * FROM (...)")
    .into())
}

fn select_of(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) if !select.distinct => Some(select),
        _ => None,
    }
}
