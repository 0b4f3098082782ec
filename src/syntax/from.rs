//! The FROM clause: tables, subqueries, table functions, joins.

use super::ast::{
    Expr, ExprKind, FunctionArg, FunctionCall, Join, JoinKind, TableAlias, TableArgument, TableArgumentSource,
    TableRef, TableRefKind,
};
use super::parser::{Parsed, Parser};
use super::tokens::Kind;

/// Joins in one FROM item beyond this are an error: their tree is as deep as their number.
const MAX_JOINS: usize = 300;

impl Parser<'_, '_> {
    /// A FROM item with its joins.
    pub(super) fn table_ref(&mut self) -> Parsed<TableRef> {
        let start = self.index();
        let mut left = self.table_factor()?;
        let mut joins = 0;
        loop {
            let natural = self.at_word("NATURAL");
            if natural {
                self.advance();
            }
            let Some(kind) = self.join_kind()? else {
                if natural {
                    return Err(self.expected("JOIN after NATURAL"));
                }
                return Ok(left);
            };
            joins += 1;
            if joins > MAX_JOINS {
                return Err(self.too_deep());
            }
            let right = self.table_factor()?;
            let (mut on, mut using) = (None, Vec::new());
            if self.eat_word("ON") {
                on = Some(self.expr()?);
            } else if self.eat_word("USING") {
                using = self.names("after USING")?;
            } else if !natural && kind != JoinKind::Cross {
                return Err(self.expected("ON or USING after the joined table"));
            }
            let span = self.span_from(start);
            let join = Join { left, right, kind, natural, on, using };
            left = TableRef { kind: TableRefKind::Join(Box::new(join)), alias: None, span };
        }
    }

    fn join_kind(&mut self) -> Parsed<Option<JoinKind>> {
        let kind = if self.at_word("JOIN") || self.eat_word("INNER") {
            JoinKind::Inner
        } else if self.eat_word("CROSS") {
            JoinKind::Cross
        } else if self.eat_word("LEFT") {
            JoinKind::Left
        } else if self.eat_word("RIGHT") {
            JoinKind::Right
        } else if self.eat_word("FULL") {
            JoinKind::Full
        } else {
            return Ok(None);
        };
        if matches!(kind, JoinKind::Left | JoinKind::Right | JoinKind::Full) {
            self.eat_word("OUTER");
        }
        self.expect_word("JOIN", "")?;
        Ok(Some(kind))
    }

    fn table_factor(&mut self) -> Parsed<TableRef> {
        let start = self.index();
        let lateral = self.eat_word("LATERAL");
        let kind = if self.at_word("TABLE") && self.token(1).kind == Kind::LParen {
            self.advance();
            let open = self.open("")?;
            let call = self.table_call()?;
            self.close(open)?;
            TableRefKind::Function { lateral, wrapped: true, call }
        } else if self.at_word("UNNEST") && self.token(1).kind == Kind::LParen {
            self.advance();
            let open = self.open("")?;
            let expr = Box::new(self.expr()?);
            self.close(open)?;
            let with_ordinality = self.eat_words(&["WITH", "ORDINALITY"]);
            TableRefKind::Unnest { expr, with_ordinality }
        } else if self.at(Kind::LParen) {
            self.enter()?;
            let kind = self.parenthesized_table(lateral)?;
            self.leave();
            kind
        } else if lateral {
            return Err(self.expected("TABLE( or a subquery after LATERAL"));
        } else if self.at_table_call() {
            let call = self.table_call()?;
            TableRefKind::Function { lateral, wrapped: false, call }
        } else if self.at_name() {
            let table = self.named_table()?;
            return self.finish_table(table, start);
        } else if self.at_word("TABLE") && self.name_at(1) {
            self.advance();
            let table = self.named_table()?;
            return self.finish_table(table, start);
        } else {
            return Err(self.expected("a table name or a subquery"));
        };
        let table = TableRef { kind, alias: None, span: self.span_from(start) };
        self.finish_table(table, start)
    }

    /// True if `name(` or `a.b(` stands here.
    fn at_table_call(&self) -> bool {
        let mut ahead = 0;
        while self.token(ahead + 1).kind == Kind::Dot {
            ahead += 2;
        }
        matches!(self.token(ahead).kind, Kind::Word | Kind::Quoted)
            && !super::reserved::is_structural(self.text(self.token(0)))
            && self.token(ahead + 1).kind == Kind::LParen
    }

    /// A call of a table function: queries among its arguments are tables.
    fn table_call(&mut self) -> Parsed<FunctionCall> {
        if !matches!(self.kind(), Kind::Word | Kind::Quoted | Kind::Placeholder) || self.at_word("SELECT") {
            return Err(self.expected("a table function"));
        }
        let mut call = self.call()?;
        for arg in &mut call.args {
            let (FunctionArg::Expr(expr) | FunctionArg::Named(_, expr)) = arg else { continue };
            if let ExprKind::Subquery(_) = expr.kind {
                let span = expr.span;
                let kind = std::mem::replace(&mut expr.kind, ExprKind::Default);
                if let ExprKind::Subquery(query) = kind {
                    let source = TableArgumentSource::Query(query);
                    let table = TableArgument { source, partition_by: Vec::new(), order_by: Vec::new() };
                    *expr = Expr { kind: ExprKind::TableArgument(Box::new(table)), span };
                }
            }
        }
        Ok(call)
    }

    /// `(query)`, or a join in parentheses.
    fn parenthesized_table(&mut self, lateral: bool) -> Parsed<TableRefKind> {
        let open = self.open("")?;
        if self.at_query() || self.starts_query_in_parentheses() {
            let query = Box::new(self.query()?);
            self.close(open)?;
            return Ok(TableRefKind::Derived { lateral, query });
        }
        let inner = self.table_ref()?;
        self.close(open)?;
        Ok(TableRefKind::Parenthesized(Box::new(inner)))
    }

    /// True at `((SELECT ...))`: a query in superfluous parentheses, not a join.
    fn starts_query_in_parentheses(&self) -> bool {
        let mut ahead = 0;
        let mut depth = 0usize;
        while self.token(ahead).kind == Kind::LParen {
            ahead += 1;
        }
        if ahead == 0 || !["SELECT", "WITH", "VALUES"].iter().any(|w| self.word_at(ahead, w)) {
            return false;
        }
        // The query ends where its parenthesis does; an alias or a join after it makes it a table.
        let mut i = 0;
        loop {
            match self.token(i).kind {
                Kind::LParen => depth += 1,
                Kind::RParen => {
                    depth -= 1;
                    if depth == 0 {
                        return self.token(i + 1).kind == Kind::RParen;
                    }
                }
                Kind::End => return false,
                _ => {}
            }
            i += 1;
        }
    }

    /// A table by name, with hints and `FOR SYSTEM_TIME AS OF`.
    pub(super) fn named_table(&mut self) -> Parsed<TableRef> {
        let start = self.index();
        let name = self.object_name("a table name")?;
        let mut hints = self.hints()?;
        let mut system_time = None;
        if self.at_word("FOR") {
            self.advance();
            if !self.eat_word("SYSTEM_TIME") {
                return Err(self.expected("SYSTEM_TIME AS OF after FOR"));
            }
            self.expect_word("AS", "after SYSTEM_TIME")?;
            self.expect_word("OF", "after AS")?;
            system_time = Some(Box::new(self.expr()?));
            hints.extend(self.hints()?);
        }
        let span = self.span_from(start);
        Ok(TableRef { kind: TableRefKind::Table { name, hints, system_time }, alias: None, span })
    }

    /// What may follow a table: MATCH_RECOGNIZE, alias, hints.
    fn finish_table(&mut self, mut table: TableRef, start: usize) -> Parsed<TableRef> {
        let takes_match =
            matches!(table.kind, TableRefKind::Table { .. } | TableRefKind::Derived { lateral: false, .. });
        if takes_match && self.at_word("MATCH_RECOGNIZE") {
            let matched = self.match_recognize(table)?;
            let kind = TableRefKind::MatchRecognize(Box::new(matched));
            table = TableRef { kind, alias: None, span: self.span_from(start) };
        }
        table.alias = self.table_alias()?;
        // Without an alias the hints at this place are the table's own, and taken.
        let late_hints = if table.alias.is_some() { self.hints()? } else { Vec::new() };
        if self.at_words(&["FOR", "SYSTEM_TIME"]) {
            return Err(self.error(
                "FOR SYSTEM_TIME AS OF stands before the alias",
                "after the alias",
                Some("write: table FOR SYSTEM_TIME AS OF time AS alias"),
            ));
        }
        if let TableRefKind::Table { hints, .. } = &mut table.kind {
            hints.extend(late_hints);
        }
        table.span = self.span_from(start);
        if self.at_word("MATCH_RECOGNIZE") {
            return Err(self.error(
                "MATCH_RECOGNIZE stands behind a table name or a subquery, before any alias",
                "not possible here",
                Some("write: table MATCH_RECOGNIZE (...) AS alias"),
            ));
        }
        if self.at_word("TABLESAMPLE") || self.at_word("PIVOT") || self.at_word("UNPIVOT") {
            let word = self.text(self.token(0)).to_ascii_uppercase();
            return Err(self.error(&format!("Flink has no {word}"), "not supported", None));
        }
        Ok(table)
    }

    fn table_alias(&mut self) -> Parsed<Option<TableAlias>> {
        if !self.eat_word("AS") && (!self.at_name() || self.at_qualify()) {
            return Ok(None);
        }
        let name = self.ident("an alias")?;
        Ok(Some(TableAlias { name, columns: self.optional_names()? }))
    }
}
