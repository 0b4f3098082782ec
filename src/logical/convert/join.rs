//! Joins in FROM: `a JOIN b ON ...`, USING, NATURAL, CROSS JOIN and the comma.

use super::Builder;
use super::budget::check_size;
use super::from::FromItem;
use super::select::SelectResolver;
use super::state_ttl::{Keeper, ttl_of};
use crate::catalog::coercion::least_restrictive;
use crate::catalog::functions::{self, operators as op};
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::join::{Join, JoinType, shifted};
use crate::logical::rel::Rel;
use crate::logical::rex::{Origins, Rex};
use crate::logical::scope::Scope;
use crate::logical::simplify;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Ident, Join as JoinSyntax, JoinKind, Select, TableRef};

impl<'a> Builder<'a> {
    /// `a, b, c`: joins without a condition; WHERE may give one.
    pub(super) fn comma_joins(
        &mut self,
        first: &'a TableRef,
        others: &'a [TableRef],
        select: &'a Select,
    ) -> PlanResult<FromItem> {
        self.joins += 1;
        let mut left = self.table_ref(first, select)?;
        for (at, other) in others.iter().enumerate() {
            if let Some(dependent) = self.dependent(other, &left)? {
                left = self.beside(left, dependent, None)?;
                continue;
            }
            self.charge_join(other.span)?;
            let right = self.right_side(other, select)?;
            let as_of = self.as_of(other, (&left, &right), JoinType::Inner, select)?;
            check_names(&left.scope, &right.scope, other.span)?;
            let scope = left.scope.join(right.scope);
            // In a longer list the left side has no name.
            let sides = [(at == 0).then_some(first), Some(other)];
            let ttl = sides.map(|side| side.and_then(|table| ttl_of(select, table, Keeper::Join)));
            let join = Join { as_of, ttl, ..Join::new(JoinType::Inner, Vec::new(), Origins::none()) };
            left = FromItem { rel: Rel::join(left.rel, right.rel, join, Origins::at(other.span)), scope };
        }
        self.joins -= 1;
        Ok(left)
    }

    /// A join with its condition.
    pub(super) fn join(&mut self, join: &'a JoinSyntax, span: Span, select: &'a Select) -> PlanResult<FromItem> {
        self.charge_join(span)?;
        self.joins += 1;
        let left = self.table_ref(&join.left, select)?;
        if let Some(dependent) = self.dependent(&join.right, &left)? {
            self.joins -= 1;
            return self.beside(left, dependent, Some(join));
        }
        let right = self.right_side(&join.right, select)?;
        self.joins -= 1;
        check_names(&left.scope, &right.scope, join.right.span)?;
        let join_type = match join.kind {
            JoinKind::Inner | JoinKind::Cross => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            JoinKind::Right => JoinType::Right,
            JoinKind::Full => JoinType::Full,
        };
        let as_of = self.as_of(&join.right, (&left, &right), join_type, select)?;
        let common = self.common_columns(join, &left.scope, &right.scope)?;
        let mut conditions: Vec<Rex> = common.iter().map(|c| c.equality(&left.rel, &right.rel)).collect();
        let mut scope = left.scope.join(right.scope);
        let mut condition_origins = common.first().map_or_else(Origins::none, |c| Origins::at(c.at));
        if let Some(on) = &join.on {
            let mut resolver = SelectResolver {
                scope: &mut scope,
                windows: &[],
                aggregates: None,
                over: false,
                clause: "the ON clause",
                subqueries: &[],
            };
            let rex = Translator::new(self.catalog).condition(on, &mut resolver, "ON")?;
            check_size(std::slice::from_ref(&rex), &left.rel, on.span)?;
            check_size(std::slice::from_ref(&rex), &right.rel, on.span)?;
            conditions.extend(simplify::conjuncts(simplify::simplify_filter(rex)));
            condition_origins = Origins::at(on.span);
        }
        let width = left.rel.columns.len();
        let ttl = [&join.left, &join.right].map(|table| ttl_of(select, table, Keeper::Join));
        let join = Join { join_type, conditions, condition_origins, as_of, ttl };
        let rel = Rel::join(left.rel, right.rel, join, Origins::at(span));
        for (i, column) in rel.columns.iter().enumerate() {
            scope.set_type(i, column.ty.clone());
        }
        for c in &common {
            let (a, b) = (rel.column(c.left), rel.column(width + c.right));
            scope.merge(&c.name, c.left, width + c.right, either(a, b));
        }
        Ok(FromItem { rel, scope })
    }

    /// The columns that USING names or that NATURAL finds on both sides.
    fn common_columns(&self, join: &JoinSyntax, left: &Scope, right: &Scope) -> PlanResult<Vec<Common>> {
        let names: Vec<Ident> = if join.natural {
            let span = join.right.span;
            let theirs: Vec<&str> = right.names().collect();
            let shared = left.names().filter(|name| theirs.contains(name));
            shared.map(|name| Ident { value: name.to_owned(), quoted: true, span }).collect()
        } else {
            join.using.clone()
        };
        names
            .iter()
            .map(|name| {
                let (left, right) = (left.single(name)?, right.single(name)?);
                Ok(Common { name: name.value.clone(), left, right, at: name.span })
            })
            .collect()
    }
}

/// A column that both sides of a join share.
struct Common {
    name: String,
    left: usize,
    right: usize,
    at: Span,
}

impl Common {
    fn equality(&self, left: &Rel, right: &Rel) -> Rex {
        let a = left.column(self.left);
        let b = shifted(&right.column(self.right), isize::try_from(left.columns.len()).unwrap_or(isize::MAX));
        let nullable = a.ty.nullable || b.ty.nullable;
        Rex::call(&op::EQUALS, vec![a, b], DataType { kind: TypeKind::Boolean, nullable }).at(self.at)
    }
}

/// What a shared column is: the value of the side that has one.
fn either(a: Rex, b: Rex) -> Rex {
    let common = least_restrictive(&a.ty, &b.ty).unwrap_or_else(|| a.ty.clone());
    let nullable = a.ty.nullable && b.ty.nullable;
    match functions::lookup("COALESCE") {
        Some(coalesce) => simplify::simplify(Rex::call(coalesce, vec![a, b], common.with_nullable(nullable))),
        None => a,
    }
}

/// Flink refuses two items of one name.
pub(super) fn check_names(left: &Scope, right: &Scope, at: Span) -> PlanResult<()> {
    match left.shared_table(right) {
        None => Ok(()),
        Some(name) => Err(PlanError::rejected(at, format!("Duplicate relation name '{name}' in FROM clause"))
            .label("this name is taken")
            .help("give one of them another alias with AS")
            .into()),
    }
}
