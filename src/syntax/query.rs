//! Queries: WITH, set operations, SELECT and its clauses.

use super::ast::{Cte, Expr, GroupBy, GroupItem, NamedWindow, Query, Select, SelectItem, SetExpr, SetOperator};
use super::parser::{Parsed, Parser};
use super::tokens::Kind;

/// Queries one inside the other beyond this are an error.
const MAX_QUERIES: u32 = 60;

impl Parser<'_, '_> {
    /// A query with everything that belongs to it.
    pub(super) fn query(&mut self) -> Parsed<Query> {
        self.enter()?;
        let start = self.index();
        let mut with = Vec::new();
        if self.eat_word("WITH") {
            if self.at_word("RECURSIVE") {
                return Err(self.error("Flink has no recursive queries", "not supported", None));
            }
            with = self.comma_separated(Self::cte)?;
        }
        let body = self.set_operation(0)?;
        let order_by = if self.at_word("ORDER") { self.order_by()? } else { Vec::new() };
        let (mut limit, mut offset) = (None, None);
        loop {
            if limit.is_none() && self.eat_word("LIMIT") {
                if self.at_word("ALL") {
                    self.advance();
                } else {
                    limit = Some(self.expr()?);
                }
            } else if offset.is_none() && self.eat_word("OFFSET") {
                offset = Some(self.expr()?);
                let _ = self.eat_word("ROWS") || self.eat_word("ROW");
            } else if limit.is_none() && self.eat_word("FETCH") {
                if !self.eat_word("FIRST") && !self.eat_word("NEXT") {
                    return Err(self.expected("FIRST or NEXT after FETCH"));
                }
                limit = Some(self.expr()?);
                if !self.eat_word("ROWS") && !self.eat_word("ROW") {
                    return Err(self.expected("ROWS"));
                }
                self.expect_word("ONLY", "after ROWS")?;
            } else {
                break;
            }
        }
        self.leave();
        Ok(Query { with, body, order_by, limit, offset, span: self.span_from(start) })
    }

    /// Counts a level of nesting that sqlparser does not count.
    pub(super) fn enter(&mut self) -> Parsed<()> {
        let depth = self.cx.query_depth.get() + 1;
        if depth > MAX_QUERIES {
            return Err(self.too_deep());
        }
        self.cx.query_depth.set(depth);
        Ok(())
    }

    /// Leaves what [`Parser::enter`] entered. After an error the whole statement is given up, so no guard is needed.
    pub(super) fn leave(&mut self) {
        self.cx.query_depth.set(self.cx.query_depth.get() - 1);
    }

    fn cte(&mut self) -> Parsed<Cte> {
        let name = self.ident("a name for the common table expression")?;
        let columns = self.optional_names()?;
        self.expect_word("AS", "after the name of the common table expression")?;
        let open = self.open("before the query")?;
        let query = Box::new(self.query()?);
        self.close(open)?;
        Ok(Cte { name, columns, query })
    }

    /// Set operations; INTERSECT binds closer than UNION and EXCEPT.
    fn set_operation(&mut self, above: u8) -> Parsed<SetExpr> {
        let mut left = self.set_operand()?;
        let mut count = 0;
        loop {
            let (op, precedence) = if self.at_word("UNION") {
                (SetOperator::Union, 1)
            } else if self.at_word("MINUS") {
                return Err(self.error("Flink SQL has no MINUS", "not supported", Some("write EXCEPT")));
            } else if self.at_word("EXCEPT") {
                (SetOperator::Except, 1)
            } else if self.at_word("INTERSECT") {
                (SetOperator::Intersect, 2)
            } else {
                return Ok(left);
            };
            if precedence <= above {
                return Ok(left);
            }
            count += 1;
            if count > 300 {
                return Err(self.too_deep());
            }
            let start = self.index();
            self.advance();
            let all = self.eat_word("ALL");
            if !all {
                self.eat_word("DISTINCT");
            }
            let op_span = self.span_from(start);
            let right = self.set_operation(precedence)?;
            left = SetExpr::SetOperation { op, all, left: Box::new(left), right: Box::new(right), op_span };
        }
    }

    fn set_operand(&mut self) -> Parsed<SetExpr> {
        let start = self.index();
        if self.at_word("SELECT") {
            return Ok(SetExpr::Select(Box::new(self.select()?)));
        }
        if self.eat_word("VALUES") {
            let rows = self.comma_separated(Self::values_row)?;
            return Ok(SetExpr::Values(rows, self.span_from(start)));
        }
        if self.at(Kind::LParen) {
            let open = self.open("")?;
            let query = self.query()?;
            self.close(open)?;
            return Ok(SetExpr::Query(Box::new(query)));
        }
        if self.at_word("TABLE") && self.name_at(1) {
            self.advance();
            return self.explicit_table(start);
        }
        Err(self.expected("SELECT, VALUES or a query in parentheses"))
    }

    /// `TABLE t`, the same as `SELECT * FROM t`.
    fn explicit_table(&mut self, start: usize) -> Parsed<SetExpr> {
        let table = self.named_table()?;
        let span = self.span_from(start);
        Ok(SetExpr::Select(Box::new(Select {
            distinct: false,
            hints: Vec::new(),
            items: vec![SelectItem::Star(span)],
            from: vec![table],
            selection: None,
            group_by: None,
            having: None,
            qualify: None,
            windows: Vec::new(),
            span,
        })))
    }

    fn values_row(&mut self) -> Parsed<Vec<Expr>> {
        self.eat_word("ROW");
        if self.at(Kind::LParen) {
            let open = self.open("")?;
            let row = self.comma_separated(Self::expr)?;
            self.close(open)?;
            return Ok(row);
        }
        Ok(vec![self.expr()?])
    }

    fn select(&mut self) -> Parsed<Select> {
        let start = self.index();
        self.advance();
        let hints = self.hints()?;
        let distinct = self.eat_word("DISTINCT");
        if !distinct {
            self.eat_word("ALL");
        }
        let items = self.comma_separated(Self::select_item)?;
        let mut select = Select {
            distinct,
            hints,
            items,
            from: Vec::new(),
            selection: None,
            group_by: None,
            having: None,
            qualify: None,
            windows: Vec::new(),
            span: self.span_from(start),
        };
        if self.eat_word("FROM") {
            select.from = self.comma_separated(Self::table_ref)?;
        } else {
            self.refuse_word_after_item()?;
        }
        if self.eat_word("WHERE") {
            select.selection = Some(self.expr()?);
        }
        if self.at_word("GROUP") {
            select.group_by = Some(self.group_by()?);
        }
        if self.eat_word("HAVING") {
            select.having = Some(self.expr()?);
        }
        if self.at_word("QUALIFY") {
            self.advance();
            select.qualify = Some(self.expr()?);
        }
        if self.eat_word("WINDOW") {
            select.windows = self.comma_separated(Self::named_window)?;
        }
        if select.qualify.is_none() && self.at_word("QUALIFY") {
            self.advance();
            select.qualify = Some(self.expr()?);
        }
        select.span = self.span_from(start);
        Ok(select)
    }

    /// After a select item: a reserved word there was meant as an alias.
    fn refuse_word_after_item(&self) -> Parsed<()> {
        const MAY_FOLLOW: &[&str] = &[
            "FROM",
            "ORDER",
            "LIMIT",
            "OFFSET",
            "FETCH",
            "UNION",
            "EXCEPT",
            "MINUS",
            "INTERSECT",
            "INSERT",
            "CREATE",
            "SET",
            "END",
            "ON",
        ];
        if self.at(Kind::Word) && !self.at_any(MAY_FOLLOW) && !self.at_name() {
            return Err(self.expected("an alias or FROM"));
        }
        Ok(())
    }

    fn select_item(&mut self) -> Parsed<SelectItem> {
        if self.at(Kind::Star) {
            let span = self.span();
            self.advance();
            return Ok(SelectItem::Star(span));
        }
        if let Some(parts) = self.qualified_star() {
            let name = self.object_name_of(parts)?;
            return Ok(SelectItem::QualifiedStar(name));
        }
        let expr = self.expr()?;
        let alias = if self.eat_word("AS") {
            if self.at(Kind::String) {
                return Err(self.error(
                    "an alias is a name, not a string",
                    "a string",
                    Some("put the alias in backticks instead of single quotes"),
                ));
            }
            Some(self.ident("an alias")?)
        } else if self.at_name() && !self.at_qualify() {
            Some(self.ident("an alias")?)
        } else {
            None
        };
        Ok(SelectItem::Expr { expr, alias })
    }

    /// True at a QUALIFY clause, not at a thing called so.
    pub(super) fn at_qualify(&self) -> bool {
        self.at_word("QUALIFY") && matches!(self.token(1).kind, Kind::Word | Kind::Quoted | Kind::LParen | Kind::Number)
    }

    /// If `a.b.*` stands here, the number of its names.
    fn qualified_star(&self) -> Option<usize> {
        let mut ahead = 0;
        loop {
            let name = matches!(self.token(ahead).kind, Kind::Word | Kind::Quoted | Kind::Placeholder);
            if !name || self.token(ahead + 1).kind != Kind::Dot {
                return None;
            }
            ahead += 2;
            if self.token(ahead).kind == Kind::Star {
                return Some(ahead / 2);
            }
        }
    }

    fn object_name_of(&mut self, parts: usize) -> Parsed<super::ast::ObjectName> {
        let start = self.index();
        let mut names = Vec::with_capacity(parts);
        for _ in 0..parts {
            names.push(self.ident("a table name")?);
            self.advance();
        }
        self.advance();
        Ok(super::ast::ObjectName { parts: names, span: self.span_from(start) })
    }

    fn group_by(&mut self) -> Parsed<GroupBy> {
        let start = self.index();
        self.advance();
        self.expect_word("BY", "after GROUP")?;
        if !self.eat_word("DISTINCT") {
            self.eat_word("ALL");
        }
        let items = self.comma_separated(Self::group_item)?;
        Ok(GroupBy { items, span: self.span_from(start) })
    }

    fn group_item(&mut self) -> Parsed<GroupItem> {
        let start = self.index();
        if self.eat_words(&["GROUPING", "SETS"]) {
            let open = self.open("after GROUPING SETS")?;
            let mut sets = Vec::new();
            loop {
                self.grouping_set(&mut sets)?;
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
            self.close(open)?;
            return Ok(GroupItem::GroupingSets(sets, self.span_from(start)));
        }
        if (self.at_word("CUBE") || self.at_word("ROLLUP")) && self.token(1).kind == Kind::LParen {
            let cube = self.at_word("CUBE");
            self.advance();
            let lists = self.parenthesized("", Self::composite)?;
            let span = self.span_from(start);
            return Ok(if cube { GroupItem::Cube(lists, span) } else { GroupItem::Rollup(lists, span) });
        }
        if self.at(Kind::LParen) && self.token(1).kind == Kind::RParen {
            self.advance();
            self.advance();
            return Ok(GroupItem::GroupingSets(vec![Vec::new()], self.span_from(start)));
        }
        Ok(GroupItem::Expr(self.expr()?))
    }

    /// An entry of GROUPING SETS: `(a, b)`, `a`, `()`, or CUBE and ROLLUP, which stand for several.
    fn grouping_set(&mut self, sets: &mut Vec<Vec<Expr>>) -> Parsed<()> {
        if (self.at_word("CUBE") || self.at_word("ROLLUP")) && self.token(1).kind == Kind::LParen {
            let cube = self.at_word("CUBE");
            self.advance();
            let start = self.index();
            let lists = self.parenthesized("", Self::composite)?;
            if cube && lists.len() > 10 {
                let span = self.span_from(start);
                return Err(self.error_at(span, "CUBE of so many columns has too many sets", "more than 10", None));
            }
            if cube {
                for mask in (0..1u32 << lists.len()).rev() {
                    let chosen = lists.iter().enumerate().filter(|(i, _)| mask & (1 << (lists.len() - 1 - i)) != 0);
                    sets.push(chosen.flat_map(|(_, list)| list.iter().cloned()).collect());
                }
            } else {
                for len in (0..=lists.len()).rev() {
                    sets.push(lists[..len].iter().flatten().cloned().collect());
                }
            }
            return Ok(());
        }
        sets.push(self.composite()?);
        Ok(())
    }

    /// `a`, `(a, b)` or `()`.
    fn composite(&mut self) -> Parsed<Vec<Expr>> {
        if !self.at(Kind::LParen) {
            return Ok(vec![self.expr()?]);
        }
        let open = self.open("")?;
        let items = if self.at(Kind::RParen) { Vec::new() } else { self.comma_separated(Self::expr)? };
        self.close(open)?;
        Ok(items)
    }

    fn named_window(&mut self) -> Parsed<NamedWindow> {
        let name = self.ident("the name of a window")?;
        self.expect_word("AS", "after the name of the window")?;
        Ok(NamedWindow { name, spec: self.window_spec()? })
    }
}
