//! FROM items that may refer to those on their left: `UNNEST`, `LATERAL TABLE(f(...))` and `LATERAL (SELECT ...)`.

use super::Builder;
use super::decorrelate::is_correlated;
use super::from::{FromItem, check_alias_list};
use super::join::check_names;
use crate::catalog::functions::operators as op;
use crate::catalog::types::DataType;
use crate::logical::correlate::{Correlate, TableFunction, unnested};
use crate::logical::join::{JoinType, Side, shifted, side};
use crate::logical::rel::{Rank, RankEnd, RankType, Rel, RelColumn, RelOp, SortKey};
use crate::logical::rex::{Origins, Rex, RexKind};
use crate::logical::scope::Scope;
use crate::logical::simplify;
use crate::logical::translate::{Resolver, Translator};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{
    Expr, ExprKind, FunctionCall, Ident, Join as JoinSyntax, JoinKind, Literal, TableAlias, TableRef, TableRefKind,
};

/// A FROM item that refers to those on its left.
pub(super) struct Dependent {
    what: What,
    /// The names of its columns.
    scope: Scope,
    at: Span,
}

enum What {
    /// A function is called for each row.
    Call(Correlate),
    /// The first rows per row of a `SELECT DISTINCT`: the rows of both.
    Top(Rel),
}

impl<'a> Builder<'a> {
    /// The item, if it refers to the items on its left; nothing if it stands alone.
    pub(super) fn dependent(&mut self, table: &'a TableRef, left: &FromItem) -> PlanResult<Option<Dependent>> {
        let at = table.span;
        match &table.kind {
            TableRefKind::Parenthesized(inner) if table.alias.is_none() => self.dependent(inner, left),
            TableRefKind::Unnest { expr, with_ordinality } => {
                let mut scope = left.scope.clone();
                scope.within(self.outer.clone());
                let (call, names) = self.unnest(expr, *with_ordinality, scope, &left.rel.columns, at)?;
                // Without a column of the left side it is the same rows every time, and joined as such.
                if !call.args.iter().any(reads_input) {
                    return Ok(None);
                }
                let scope = function_scope(&call, &names, table.alias.as_ref(), true)?;
                Ok(Some(Dependent { what: What::Call(call), scope, at }))
            }
            TableRefKind::Function { lateral: true, call, .. } if !super::window_tvf::is_window_function(call) => {
                let mut scope = left.scope.clone();
                scope.within(self.outer.clone());
                let call = self.table_call(call, scope, &left.rel.columns, table.alias.as_ref(), at)?;
                let scope = function_scope(&call, &[], table.alias.as_ref(), false)?;
                Ok(Some(Dependent { what: What::Call(call), scope, at }))
            }
            TableRefKind::Derived { lateral: true, query } => {
                let rel = self.subquery(query, &left.scope, at)?;
                let written = FromItem::written(rel, &[], &[]).called(table.alias.as_ref())?;
                let FromItem { rel, scope } = written;
                if !is_correlated(&rel) {
                    return Ok(None);
                }
                let what = match self.as_call(&rel, left, at)? {
                    Some(call) => What::Call(call),
                    None if limits(&rel) => What::Top(top_per_key(&rel, &left.rel).ok_or_else(|| beyond_the_call(at))?),
                    None => {
                        let what = "a lateral query that is more than UNNEST and a filter";
                        return Err(PlanError::unsupported(at, what).into());
                    }
                };
                Ok(Some(Dependent { what, scope, at }))
            }
            _ => Ok(None),
        }
    }

    /// `left` with a dependent item beside it.
    pub(super) fn beside(
        &mut self,
        left: FromItem,
        right: Dependent,
        join: Option<&JoinSyntax>,
    ) -> PlanResult<FromItem> {
        let Dependent { what, scope: right, at } = right;
        self.charge_join(at)?;
        check_names(&left.scope, &right, at)?;
        let (join_type, on) = match join {
            None => (JoinType::Inner, None),
            Some(join) => (join_type(join, &left.scope, &right)?, join.on.as_ref()),
        };
        if let (What::Call(Correlate { function: TableFunction::User(_), .. }), JoinType::Left, Some(on)) =
            (&what, join_type, on)
            && !matches!(on.kind, ExprKind::Literal(Literal::Boolean(true)))
        {
            return Err(PlanError::rejected(
                on.span,
                "Left outer joins with a table function do not accept a predicate. Only literal TRUE is accepted.",
            )
            .label("not TRUE")
            .help("write ON TRUE, and the condition in WHERE or around the function's argument")
            .into());
        }
        let width = left.rel.columns.len();
        let mut scope = left.scope.join(right);
        let mut conditions = Vec::new();
        if let Some(on) = on {
            let mut resolver = super::select::SelectResolver {
                scope: &mut scope,
                windows: &[],
                aggregates: None,
                over: false,
                clause: "the ON clause",
                subqueries: &[],
            };
            let rex = Translator::new(self.catalog).condition(on, &mut resolver, "ON")?;
            conditions = simplify::conjuncts(simplify::simplify_filter(rex));
        }
        let on_span = on.map_or(at, |on| on.span);
        let mut call = match what {
            What::Call(call) => call,
            What::Top(rel) if join_type == JoinType::Inner && conditions.is_empty() => {
                return Ok(FromItem { rel, scope });
            }
            What::Top(_) => return Err(beyond_the_call(on_span)),
        };
        call.join_type = join_type;
        for c in conditions {
            if simplify::is_always_false(&c) || side(&c, width) != Side::Right {
                return Err(beyond_the_call(c.origins.first().unwrap_or(on_span)));
            }
            call.conditions.push(shifted(&c, -isize::try_from(width).unwrap_or(isize::MAX)));
        }
        let rel = Rel::correlate(left.rel, call, Origins::at(at));
        for (i, column) in rel.columns.iter().enumerate() {
            scope.set_type(i, column.ty.clone());
        }
        Ok(FromItem { rel, scope })
    }

    /// `UNNEST` without anything to its left.
    pub(super) fn unnest_alone(
        &mut self,
        expr: &'a Expr,
        with_ordinality: bool,
        alias: Option<&'a TableAlias>,
        at: Span,
    ) -> PlanResult<FromItem> {
        let mut scope = Scope::new();
        scope.within(self.outer.clone());
        let (call, names) = self.unnest(expr, with_ordinality, scope, &[], at)?;
        let scope = function_scope(&call, &names, alias, true)?;
        Ok(FromItem { rel: Rel::correlate(no_columns(at), call, Origins::at(at)), scope })
    }

    /// `TABLE(f(...))` without anything to its left.
    pub(super) fn table_call_alone(
        &mut self,
        call: &'a FunctionCall,
        alias: Option<&'a TableAlias>,
        at: Span,
    ) -> PlanResult<FromItem> {
        let mut scope = Scope::new();
        scope.within(self.outer.clone());
        let call = self.table_call(call, scope, &[], alias, at)?;
        let scope = function_scope(&call, &[], alias, false)?;
        Ok(FromItem { rel: Rel::correlate(no_columns(at), call, Origins::at(at)), scope })
    }

    fn unnest(
        &mut self,
        expr: &'a Expr,
        with_ordinality: bool,
        scope: Scope,
        input: &[RelColumn],
        at: Span,
    ) -> PlanResult<(Correlate, Vec<String>)> {
        let arg = Translator::new(self.catalog).expr(expr, &mut Collection { scope })?;
        let arg = simplify::simplify(arg);
        let Some((columns, names)) = unnested(&arg.ty, with_ordinality) else {
            if arg.ty.is_unknown() {
                let what = "UNNEST of a value whose type is not known";
                return Err(PlanError::unsupported(expr.span, what).help("declare the table with CREATE TABLE").into());
            }
            let message = format!("Cannot apply 'UNNEST' to arguments of type 'UNNEST(<{}>)'", arg.ty.kind);
            return Err(PlanError::rejected(expr.span, message)
                .label("not an array, map or multiset")
                .help("UNNEST takes an ARRAY, a MAP or a MULTISET")
                .into());
        };
        let function = TableFunction::Unnest { with_ordinality };
        Ok((self.call_of(function, vec![arg], columns, input, at), names))
    }

    fn table_call(
        &mut self,
        call: &'a FunctionCall,
        mut scope: Scope,
        input: &[RelColumn],
        alias: Option<&TableAlias>,
        at: Span,
    ) -> PlanResult<Correlate> {
        let (name, args) = Translator::new(self.catalog).table_call(call, &mut scope)?;
        // Only its Java class says what columns a function has.
        let Some(alias) = alias.filter(|a| !a.columns.is_empty()) else {
            let what = format!("the table function `{name}` without names for its columns");
            return Err(PlanError::unsupported(at, what).help("name them: AS t (a, b)").into());
        };
        let columns = alias.columns.iter().map(|c| RelColumn::new(c.value.as_str(), DataType::unknown())).collect();
        let args = args.into_iter().map(simplify::simplify).collect();
        Ok(self.call_of(TableFunction::User(name), args, columns, input, at))
    }

    fn call_of(
        &mut self,
        function: TableFunction,
        args: Vec<Rex>,
        columns: Vec<RelColumn>,
        input: &[RelColumn],
        at: Span,
    ) -> Correlate {
        let variable = self.budget.correlations;
        if args.iter().any(reads_input) {
            self.budget.correlations += 1;
        }
        Correlate {
            function,
            args,
            columns,
            join_type: JoinType::Inner,
            conditions: Vec::new(),
            variable,
            input_names: input.iter().map(|c| c.name.clone()).collect(),
            reads_not_null: false,
            call_origins: Origins::at(at),
        }
    }

    /// A lateral query that does no more than unnest a column of the left side and filter the rows.
    fn as_call(&mut self, rel: &Rel, left: &FromItem, at: Span) -> PlanResult<Option<Correlate>> {
        let mut conditions = Vec::new();
        let Some(call) = call_below(rel, &mut conditions) else { return Ok(None) };
        if conditions.iter().any(reads_outer) {
            return Err(beyond_the_call(at));
        }
        // The function's row as the query has it.
        let bare = match &rel.op {
            RelOp::Project(exprs) => exprs.iter().enumerate().all(|(i, e)| e.as_input() == Some(i)),
            _ => true,
        };
        if !bare || rel.columns.len() != call.columns.len() {
            return Err(PlanError::unsupported(at, "a lateral query that computes columns of what it unnests").into());
        }
        let mut call = call.clone();
        call.args = call.args.iter().map(super::subquery::inner_columns).collect();
        call.conditions.extend(conditions);
        call.input_names = left.rel.columns.iter().map(|c| c.name.clone()).collect();
        call.variable = self.budget.correlations;
        self.budget.correlations += 1;
        Ok(Some(call))
    }
}

/// The call at the bottom of a query that only filters and passes on, with the filters as conditions over its row.
fn call_below<'r>(rel: &'r Rel, conditions: &mut Vec<Rex>) -> Option<&'r Correlate> {
    match &rel.op {
        RelOp::Correlate(call) if rel.input().columns.is_empty() && call.args.iter().any(reads_outer) => Some(call),
        RelOp::Filter(own) => {
            let call = call_below(rel.input(), conditions)?;
            conditions.extend(own.iter().cloned());
            Some(call)
        }
        RelOp::Project(exprs) => {
            let call = call_below(rel.input(), conditions)?;
            exprs.iter().all(|e| e.as_input().is_some()).then_some(call)
        }
        _ => None,
    }
}

fn join_type(join: &JoinSyntax, left: &Scope, right: &Scope) -> PlanResult<JoinType> {
    let at = join.right.span;
    if !join.using.is_empty() || join.natural && left.names().any(|n| right.names().any(|m| m == n)) {
        return Err(PlanError::unsupported(at, "a common column of a table and a table function").into());
    }
    match join.kind {
        JoinKind::Inner | JoinKind::Cross => Ok(JoinType::Inner),
        JoinKind::Left => Ok(JoinType::Left),
        JoinKind::Right | JoinKind::Full => {
            let word = if join.kind == JoinKind::Right { "RIGHT" } else { "FULL" };
            Err(PlanError::rejected(at, format!("Unknown join type {word}"))
                .label("this refers to the left side, row by row")
                .help("use CROSS JOIN, or LEFT JOIN ... ON TRUE")
                .into())
        }
    }
}

/// Flink has no plan for a condition that looks at more than the function's row.
fn beyond_the_call(at: Span) -> Box<PlanError> {
    PlanError::rejected(at, "unexpected correlate variable in the plan")
        .label("this looks at more than the row that the function makes")
        .help("write the condition in WHERE")
        .into()
}

/// The names that the function's columns go by.
fn function_scope(
    call: &Correlate,
    names: &[String],
    alias: Option<&TableAlias>,
    alias_names_scalar: bool,
) -> PlanResult<Scope> {
    let mut names: Vec<String> = names.to_vec();
    let qualifier = alias.map(|a| a.name.value.as_str());
    if let Some(alias) = alias {
        if !alias.columns.is_empty() {
            check_alias_list(&alias.columns, call.columns.len(), alias.name.span)?;
            names = alias.columns.iter().map(|c| c.value.clone()).collect();
        } else if alias_names_scalar && names.len() == 1 && names[0] == "EXPR$0" {
            // A column of its own kind is called as its table.
            names = vec![alias.name.value.clone()];
        }
    }
    let name: Vec<&str> = qualifier.into_iter().collect();
    Ok(Scope::of_table(&name, names.into_iter().zip(call.columns.iter().map(|c| c.ty.clone()))))
}

/// True if a query takes the first of its rows only.
fn limits(rel: &Rel) -> bool {
    matches!(rel.op, RelOp::Sort(_)) || rel.inputs.iter().any(limits)
}

/// `SELECT DISTINCT key` beside the first rows of the same table with that key is a Top-N (Flink's `CorrelateSortToRankRule`).
fn top_per_key(query: &Rel, left: &Rel) -> Option<Rel> {
    let (RelOp::Aggregate(distinct), of) = (&left.op, left.inputs.first()?) else { return None };
    let (keys, of) = passed_on(of);
    if !distinct.calls.is_empty() || distinct.grouping_sets.is_some() {
        return None;
    }
    let (shown, limited) = passed_on(query);
    let (RelOp::Sort(sort), sorted) = (&limited.op, limited.inputs.first()?) else { return None };
    let (passed, below) = passed_on(sorted);
    let RelOp::Filter(conditions) = &below.op else { return None };
    let rows = below.input();
    let (RelOp::Scan(a), RelOp::Scan(b)) = (&of.op, &rows.op) else { return None };
    let end = sort.fetch.filter(|n| *n > 0 && sort.offset == 0 && a.table.path == b.table.path)?;
    let mut partition = Vec::with_capacity(conditions.len());
    for c in conditions {
        let [x, y] = c.as_call(op::EQUALS.name)? else { return None };
        let (outer, own) = if x.as_input().is_some() { (y, x) } else { (x, y) };
        let (RexKind::Outer(i), Some(own)) = (&outer.kind, own.as_input()) else { return None };
        if keys.get(*distinct.keys.get(*i)?) != Some(&own) {
            return None;
        }
        partition.push(own);
    }
    if partition.len() != distinct.keys.len() {
        return None;
    }
    let order = sort.keys.iter().map(|k| Some(SortKey { column: *passed.get(k.column)?, ..k.clone() }));
    let rank = Rank {
        rank_type: RankType::RowNumber,
        partition_origins: vec![Origins::none(); partition.len()],
        partition,
        order: order.collect::<Option<_>>()?,
        start: 1,
        end: RankEnd::At(end),
        range_origins: sort.range_origins.clone(),
        output_number: false,
    };
    let (columns, origins) = (rows.columns.clone(), query.origins.clone());
    let ranked = Rel { op: RelOp::Rank(rank), inputs: vec![rows.clone()], columns, origins };
    let places = distinct
        .keys
        .iter()
        .map(|k| keys[*k])
        .chain(shown.iter().map(|i| passed.get(*i).copied().unwrap_or(usize::MAX)));
    let places: Vec<usize> = places.collect();
    if places.contains(&usize::MAX) {
        return None;
    }
    let exprs: Vec<Rex> = places.iter().map(|i| ranked.column(*i)).collect();
    let names = left.columns.iter().chain(&query.columns).map(|c| c.name.clone()).collect();
    Some(ranked.project_as(exprs, names, Origins::none()))
}

/// The columns of an operator below that projections pass on, and that operator. A column that is computed has none.
fn passed_on(rel: &Rel) -> (Vec<usize>, &Rel) {
    match &rel.op {
        RelOp::Project(exprs) => {
            let (below, found) = passed_on(rel.input());
            let place = |e: &Rex| e.as_input().and_then(|i| below.get(i).copied()).unwrap_or(usize::MAX);
            (exprs.iter().map(place).collect(), found)
        }
        _ => ((0..rel.columns.len()).collect(), rel),
    }
}

/// One row without columns.
fn no_columns(at: Span) -> Rel {
    Rel { op: RelOp::Values(vec![Vec::new()]), inputs: Vec::new(), columns: Vec::new(), origins: Origins::at(at) }
}

fn reads_input(e: &Rex) -> bool {
    let mut found = false;
    e.visit(&mut |r| found |= r.as_input().is_some());
    found
}

fn reads_outer(e: &Rex) -> bool {
    let mut found = false;
    e.visit(&mut |r| found |= matches!(r.kind, RexKind::Outer(_)));
    found
}

/// Names inside of `UNNEST( )`.
struct Collection {
    scope: Scope,
}

impl Resolver for Collection {
    /// Flink finds a field of a row only with the table's name before it.
    fn column(&mut self, path: &[Ident]) -> PlanResult<Rex> {
        let rex = self.scope.resolve(path)?;
        if let [first, second, ..] = path
            && !self.scope.has_table(&first.value)
            && matches!(rex.kind, RexKind::Field(..))
        {
            let span = path.iter().fold(first.span, |s, i| s.to(i.span));
            let name = &first.value;
            return Err(PlanError::rejected(span, format!("Column '{name}.{name}' not found"))
                .label("Flink takes the row's name for a table's here")
                .help(format!("write the table's name before it: t.{name}.{}", second.value))
                .into());
        }
        Ok(rex)
    }
}
