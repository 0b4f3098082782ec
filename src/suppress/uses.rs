//! Where views and CTEs are used, so that what is written in one can be accepted at its use.

use crate::source::Span;
use crate::syntax::ast::{
    Expr, ExprKind, FunctionArg, Query, Script, SetExpr, Statement, StatementKind, TableArgumentSource, TableRef,
    TableRefKind,
};

/// What has a name and what uses names.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// The extent of each view and CTE, with its name.
    definitions: Vec<(String, Span)>,
    /// The places of names in FROM.
    names: Vec<(String, Span)>,
}

impl Uses {
    /// Those of scripts.
    pub fn of<'s>(scripts: impl IntoIterator<Item = &'s Script>) -> Uses {
        let mut uses = Uses::default();
        scripts.into_iter().flat_map(|s| &s.statements).for_each(|s| uses.statement(s));
        uses
    }

    /// A clause, and where the views that it stands in are used, from the inside out.
    pub fn chain(&self, clause: Span) -> Vec<Span> {
        let mut chain = vec![clause];
        let mut at = 0;
        while at < chain.len() {
            let place = chain[at];
            at += 1;
            for (name, _) in self.definitions.iter().filter(|(_, extent)| extent.contains(place)) {
                for (_, used) in self.names.iter().filter(|(n, _)| n == name) {
                    if !chain.contains(used) {
                        chain.push(*used);
                    }
                }
            }
        }
        chain
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::CreateView(view) => {
                self.definitions.push((view.name.last().to_owned(), statement.span));
                self.query(&view.query);
            }
            StatementKind::CreateTable(table) => table.as_query.iter().for_each(|q| self.query(q)),
            StatementKind::Insert(insert) => self.query(&insert.query),
            StatementKind::StatementSet(inserts) => inserts.iter().for_each(|(insert, _)| self.query(&insert.query)),
            StatementKind::Query(query) => self.query(query),
            StatementKind::Wrapped { inner, .. } => self.statement(inner),
            _ => {}
        }
    }

    fn query(&mut self, query: &Query) {
        for cte in &query.with {
            self.definitions.push((cte.name.value.clone(), cte.query.span));
            self.query(&cte.query);
        }
        self.body(&query.body);
    }

    fn body(&mut self, body: &SetExpr) {
        // Unions are left-deep: walked, not recursed into.
        let mut body = body;
        loop {
            match body {
                SetExpr::Select(select) => return select.from.iter().for_each(|t| self.table(t)),
                SetExpr::Values(..) => return,
                SetExpr::SetOperation { left, right, .. } => {
                    self.body(right);
                    body = left;
                }
                SetExpr::Query(query) => return self.query(query),
            }
        }
    }

    fn table(&mut self, table: &TableRef) {
        // So are joins.
        let mut table = table;
        loop {
            match &table.kind {
                TableRefKind::Table { name, .. } => return self.names.push((name.last().to_owned(), table.span)),
                TableRefKind::Derived { query, .. } => return self.query(query),
                TableRefKind::Function { call, .. } => {
                    for arg in &call.args {
                        if let FunctionArg::Expr(arg) | FunctionArg::Named(_, arg) = arg {
                            self.argument(arg);
                        }
                    }
                    return;
                }
                TableRefKind::Unnest { .. } => return,
                TableRefKind::Join(join) => {
                    self.table(&join.right);
                    table = &join.left;
                }
                TableRefKind::MatchRecognize(pattern) => table = &pattern.input,
                TableRefKind::Parenthesized(inner) => table = inner,
            }
        }
    }

    fn argument(&mut self, arg: &Expr) {
        if let ExprKind::TableArgument(argument) = &arg.kind {
            match &argument.source {
                TableArgumentSource::Name(name) => self.names.push((name.last().to_owned(), arg.span)),
                TableArgumentSource::Query(query) => self.query(query),
            }
        }
    }
}
